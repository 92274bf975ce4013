"""An answer in Python to one of several open questions: by LangGraph's id or by ours, and one line where by none."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import graphs
from state.errors import InputError
from tests.support.plans import plan, step
from tests.support.scripted_model import ScriptedModel
from tools.tool import write

THREAD: Any = {"configurable": {"thread_id": "t"}}


@pytest.fixture
def asking(scripted_model: ScriptedModel, home: Any) -> Any:
    """A run that asks about two payments; `paid` is what was made of them."""
    paid: list[int] = []

    def pay(amount: int) -> int:
        """Pays."""
        paid.append(amount)
        return amount

    scripted_model.reply(plan(step("s1", "pay", {"amount": 1}), step("s2", "pay", {"amount": 2})))
    context = {"model": scripted_model, "tools": [write(pay)]}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context=context)
    out = graph.invoke({"task": "pay"}, THREAD)
    return graph, out, paid


ANSWERS = ["approve", {"type": "approve"}, {"decisions": [{"type": "approve"}]}, {"xx": "approve"}]


@pytest.mark.parametrize("answer", ANSWERS, ids=str)
def test_an_answer_that_does_not_say_which_is_one_line_and_the_questions_stay_open(answer: Any, asking: Any) -> None:
    graph, out, paid = asking
    ours = [ask["id"] for ask in out["report"]["open_requests"]]
    with pytest.raises(InputError) as caught:
        graph.invoke(Command(resume=answer), THREAD)
    said = str(caught.value)
    assert said.startswith("there is no open question xx" if "xx" in str(answer) else "2 questions are open")
    assert all(f"{name} (pay of step s{n})" in said for n, name in enumerate(ours, 1)) and "\n" not in said
    assert len(graph.get_state(THREAD).interrupts) == 2 and paid == []


@pytest.mark.parametrize("by", ["ours", "LangGraph's", "both"])
def test_an_answer_stands_under_the_id_of_the_report_or_of_the_interrupt(by: str, asking: Any) -> None:
    graph, out, paid = asking
    ours = [ask["id"] for ask in out["report"]["open_requests"]]
    theirs = [one.id for one in out["__interrupt__"]]
    ids = {"ours": ours, "LangGraph's": theirs, "both": [ours[0], theirs[1]]}[by]
    out = graph.invoke(Command(resume={ids[0]: {"type": "approve"}, ids[1]: {"type": "reject"}}), THREAD)
    assert paid == [1]


def test_one_open_question_needs_no_id(asking: Any) -> None:
    graph, out, paid = asking
    graph.invoke(Command(resume={out["__interrupt__"][0].id: {"type": "approve"}}), THREAD)
    graph.invoke(Command(resume="approve"), THREAD)
    assert paid == [1, 2]
