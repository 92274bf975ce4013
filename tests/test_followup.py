"""A follow-up on the same thread knows the earlier requests, with fresh counters and a fresh plan (A14)."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Overwrite
from typing_extensions import TypedDict

import graphs
from graphs import _given
from nodes.prompts.fence import read_fences
from tests.support.plans import plan, step
from tests.support.scripted_model import ScriptedModel
from tools.tool import read, write

THREAD: Any = {"configurable": {"thread_id": "t"}}


class Outer(TypedDict, total=False):
    """A graph around a pattern."""

    task: str
    report: Any


def look(name: str) -> str:
    """Looks something up."""
    return f"result of {name}"


def pay(amount: int) -> int:
    """Pays."""
    return amount


def fences(request: Any) -> dict[str, Any]:
    return read_fences("\n".join(str(message["content"]) for message in request["messages"]))


async def test_planner_and_answerer_of_a_follow_up_see_the_last_three_requests(
    scripted_model: ScriptedModel, home: Path
) -> None:
    graph = graphs.load("plan_and_execute", checkpointer=InMemorySaver())
    context = {"model": scripted_model, "tools": [read(look)]}
    for number in range(5):
        scripted_model.reply(plan(step("a", "look", {"name": str(number)})), f"answer {number}")
        await graph.ainvoke({"task": f"task {number}"}, THREAD, context=context)
    assert "earlier" not in fences(scripted_model.requests[0])
    planner, answerer = fences(scripted_model.requests[-2]), fences(scripted_model.requests[-1])
    told = [{"task": f"task {n}", "answer": f"answer {n}", "stop": "done"} for n in (1, 2, 3)]
    assert planner["earlier"] == told == answerer["earlier"]
    assert planner["task"] == "task 4"


async def test_a_new_task_on_a_thread_that_waits_drops_what_waited_and_says_so(
    scripted_model: ScriptedModel, home: Path
) -> None:
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    context = {"model": scripted_model, "tools": [read(look), write(pay)]}
    scripted_model.reply(plan(step("a", "pay", {"amount": 1})), plan(step("a", "look", {"name": "x"})))
    first = await graph.ainvoke({"task": "pay 1"}, THREAD, context=context)
    out = await graph.ainvoke({"task": "look x"}, THREAD, context=context)
    assert out["report"]["stop"]["reason"] == "done"
    assert out["report"]["writes"] == []
    assert first["report"]["request"] in out["events"][0]["reason"] and "dropped" in out["events"][0]["reason"]
    assert fences(scripted_model.requests[-1])["earlier"][0]["stop"] == "needs_approval"
    assert (await graph.aget_state(THREAD)).next == ()


ODD: tuple[dict[str, Any], ...] = (
    {"report": "x"},
    {"report": {"answer": 5}},
    {"report": [1]},
    {"report": {"answer": 5, "stop": {"kind": "pause"}}},
    {"report": {"answer": 1, "stop": {"kind": "pause", "reason": [], "message": "", "evidence": []}}},
    {"request": {"earlier": 5}},
    {"request": {"task": None}},
    {"request": Overwrite({"task": {}})},
)


@pytest.mark.parametrize("odd", ODD, ids=str)
async def test_a_follow_up_on_a_thread_that_holds_what_no_run_writes_is_told_nothing_of_it_and_says_so(
    odd: dict[str, Any], scripted_model: ScriptedModel, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = graphs.load("plan_and_execute", checkpointer=InMemorySaver())
    context = {"model": scripted_model, "tools": [read(look)]}
    for number in (0, 1):
        scripted_model.reply(plan(step("a", "look", {"name": "x"})), f"answer {number}")
    await graph.ainvoke({"task": "first"}, THREAD, context=context)
    with monkeypatch.context() as without:
        without.setattr(_given, "check_edit", lambda edit: None)  # another graph of the server has no such check
        await graph.aupdate_state(THREAD, odd)
    out = await graph.ainvoke({"task": "second"}, THREAD, context=context)
    assert (out["report"]["answer"], out["report"]["stop"]["reason"]) == ("answer 1", "done")
    assert "nothing of an earlier request is told" in out["events"][0]["reason"]
    assert "earlier" not in fences(scripted_model.requests[-2])


async def test_a_graph_around_a_pattern_may_hold_any_report_of_its_own(home: Path) -> None:
    outer = StateGraph(Outer)
    outer.add_node("plan", graphs.load("one_shot"))
    outer.add_edge(START, "plan")
    out = await outer.compile().ainvoke({"task": "add 1 and 2", "report": "none yet"})
    assert out["report"]["answer"] == "3"
