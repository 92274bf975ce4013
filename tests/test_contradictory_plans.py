"""A plan that has steps and says that it can't be done, or that a person must be asked first: one of both holds."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import graphs
from tests.support.endpoint import endpoint  # noqa: F401
from tests.support.model_server import ModelServer
from tests.support.runs import THREAD, WHOLE_PLANS, after_planning, plan, step, turn
from tests.support.script import Reply
from tools.tool import read, write

STEPS = [step("a", "look", name="x" * 300), step("b", "pay", to="${steps.a}")]
BESIDE: dict[str, dict[str, Any]] = {
    "impossible": {"impossible": "no tool may pay"},
    "questions": {"questions": [{"name": "whom", "question": "Whom?"}]},
}
ENDS = {"impossible": ("cannot_be_done", "no tool may pay"), "questions": ("needs_input", "Whom?")}
each_kind = pytest.mark.parametrize("kind", BESIDE)


class Till:
    """A read and a write with a trace."""

    def __init__(self) -> None:
        self.paid: list[str] = []

    def look(self, name: str) -> str:
        """Looks a name up."""
        return name[:1]

    def pay(self, to: str) -> str:
        """Pays."""
        self.paid.append(to)
        return f"paid {to}"

    @property
    def context(self) -> dict[str, Any]:
        return {"tools": [read(self.look), write(self.pay)], "writes": "allow"}


def both(kind: str, **more: Any) -> Reply:
    """A plan with steps and what can't stand beside them."""
    written = {"goal": "g", "steps": STEPS, **BESIDE[kind]}
    return Reply(written, schema="plan", when="Role: planner", **more)


@each_kind
@pytest.mark.parametrize("pattern", WHOLE_PLANS)
def test_it_goes_back_to_the_planner_and_what_it_says_then_counts(
    pattern: str, kind: str, model_server: ModelServer
) -> None:
    till = Till()
    model_server.reply(both(kind), plan(*STEPS), *after_planning(pattern, "fine"))
    report = graphs.load(pattern, context=till.context).invoke({"task": "pay x"})["report"]
    assert (report["stop"]["reason"], till.paid) == ("done", ["x"])
    told = str(model_server.requests[1]["messages"])
    assert f"leave `{kind}` out" in told and ENDS[kind][1] in told


@each_kind
@pytest.mark.parametrize("pattern", WHOLE_PLANS)
def test_where_it_stays_so_the_run_ends_as_what_stands_beside_the_steps_says_and_nothing_is_written(
    pattern: str, kind: str, model_server: ModelServer
) -> None:
    till = Till()
    model_server.reply(*[both(kind, pace=0.002)] * 3)
    context = {**till.context, "stream_plan": True}
    report = graphs.load(pattern, context=context).invoke({"task": "pay x"})["report"]
    reason, words = ENDS[kind]
    assert report["stop"]["reason"] == reason and words in report["stop"]["message"]
    assert (till.paid, report["results"], report["plans"]) == ([], [], [])


@each_kind
def test_in_words_or_in_the_middle_of_turns_it_is_the_same(kind: str, model_server: ModelServer) -> None:
    outline = Reply({"goal": "g", "steps": ["Think."], **BESIDE[kind]}, schema="outline", when="Role: outliner")
    model_server.reply(*[outline] * 3)
    report = graphs.load("plan_and_solve").invoke({"task": "think"})["report"]
    assert (report["stop"]["reason"], report["results"]) == (ENDS[kind][0], [])
    till = Till()
    model_server.reply(turn("If x is known it can be paid."), *[both(kind)] * 3)
    report = graphs.load("combined", context=till.context).invoke({"task": "pay x"})["report"]
    assert (report["stop"]["reason"], till.paid) == (ENDS[kind][0], [])


def test_a_question_is_asked_before_anything_runs_and_no_contradiction_once_it_was_answered(
    model_server: ModelServer,
) -> None:
    till = Till()
    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context=till.context)
    model_server.reply(*[both("questions")] * 3)
    [asked] = graph.invoke({"task": "pay x"}, THREAD)["__interrupt__"]
    assert (asked.value["kind"], till.paid) == ("question", [])
    model_server.reply(both("questions"))
    answer = {asked.id: {"decisions": [{"type": "respond", "message": "x"}]}}
    report = graph.invoke(Command(resume=answer), THREAD)["report"]
    assert (report["stop"]["reason"], till.paid) == ("done", ["x"])
