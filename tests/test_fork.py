"""Forks in Python: an earlier point of a thread becomes a thread of its own; the old one stays, no write runs twice."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

import graphs
from state.errors import InputError
from tests.support.plans import PLANNING, by_step, plan, replies_after_plan, step
from tests.support.scripted_model import ScriptedModel
from tools.tool import read, write

WORK = plan(
    step("a", "look", {"name": "a"}),
    step("b", "look", {"name": "${steps.a}"}),
    step("c", "look", {"name": "c"}),
    step("p", "pay", {"amount": 7}, after=["b"]),
)
calls: list[Any] = []


def look(name: str) -> str:
    """Looks something up."""
    calls.append(name)
    return f"result of {name}"


def pay(amount: int) -> int:
    """Pays."""
    calls.append(amount)
    return amount


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def answers(out: Any, word: str = "approve") -> Any:
    return Command(resume={one.id: {"decisions": [{"type": word}]} for one in out["__interrupt__"]})


async def paid(pattern: str, model: ScriptedModel, saver: BaseCheckpointSaver[Any] | None = None) -> Any:
    """A run on the thread old, with its payment approved; nothing is noted of its calls."""
    model.reply(WORK, *replies_after_plan(pattern))
    context = {"model": model, "tools": [read(look), write(pay)]}
    graph = graphs.load(pattern, checkpointer=saver or InMemorySaver(), context=context)
    out = await graph.ainvoke({"task": "pay it"}, thread("old"))
    await graph.ainvoke(answers(out), thread("old"))
    calls.clear()
    return graph


@pytest.mark.parametrize("pattern", PLANNING)
async def test_from_the_plan_everything_runs_again_but_the_write(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    graph = await paid(pattern, scripted_model)
    before = await graph.aget_state(thread("old"))
    graphs.fork(graph, thread("old"), at=1, into=thread("new"))
    scripted_model.reply(*replies_after_plan(pattern))
    asked = await graph.ainvoke(None, thread("new"))
    [said] = asked["__interrupt__"][0].value["action_requests"]
    assert said["description"].endswith(
        "done already in step p; approve does not repeat it and takes the result of then."
    )
    out = await graph.ainvoke(answers(asked), thread("new"))
    assert sorted(calls) == ["a", "c", "result of a"]
    assert out["report"]["stop"]["reason"] == "done"
    assert "not repeated" in by_step(out["report"])["p"]["note"]
    assert out["report"]["request"] == before.values["report"]["request"]
    assert await graph.aget_state(thread("old")) == before


async def test_who_is_asked_again_is_told_of_what_is_done_only_where_it_is_the_same_write(
    scripted_model: ScriptedModel, home: Path
) -> None:
    fails = step("b", "look", {"name": ""}, accept=["len(output) > 99"], after=["a"])
    first = plan(step("a", "pay", {"amount": 7}), fails)
    again = plan(step("c", "pay", {"amount": 7.0}), step("d", "pay", {"amount": 8}))
    context = {"model": scripted_model, "tools": [read(look), write(pay)]}
    graph = graphs.load("plan_and_execute", checkpointer=InMemorySaver(), context=context)
    scripted_model.reply(first)
    out = await graph.ainvoke({"task": "pay it"}, thread("again"))
    assert "done already" not in str(out["__interrupt__"])
    scripted_model.reply(again)
    out = await graph.ainvoke(answers(out), thread("again"))
    told = {one.value["step"]: one.value["action_requests"][0]["description"] for one in out["__interrupt__"]}
    assert {name: "done already in step a" in words for name, words in told.items()} == {"c": True, "d": False}


async def test_before_a_step_only_what_needs_it_runs_again(scripted_model: ScriptedModel, home: Path) -> None:
    graph = await paid("one_shot", scripted_model)
    graphs.fork(graph, thread("old"), at="b", into=thread("new"))
    await graph.ainvoke(None, thread("new"))
    assert calls == ["result of a"]


async def test_at_a_question_another_answer_is_given(scripted_model: ScriptedModel, home: Path) -> None:
    graph = await paid("one_shot", scripted_model)
    [question] = [at for at, what in graphs.fork_points(graph, thread("old")).items() if "question" in what]
    graphs.fork(graph, thread("old"), at=question, into=thread("new"))
    out = await graph.ainvoke(answers(await graph.ainvoke(None, thread("new")), "reject"), thread("new"))
    assert (calls, out["report"]["stop"]["reason"]) == ([], "rejected")


async def test_at_a_checkpoint_on_a_saver_of_this_loop(
    scripted_model: ScriptedModel, home: Path, tmp_path: Path
) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver:
        graph = await paid("one_shot", scripted_model, saver)
        history = [snapshot async for snapshot in graph.aget_state_history(thread("old"))]
        last = next(snapshot for snapshot in history if snapshot.next == ("conclude",))
        point = last.config["configurable"]["checkpoint_id"]
        await graphs.afork(graph, thread("old"), at=point, into=thread("new"))
        out = await graph.ainvoke(None, thread("new"))
    assert (calls, out["report"]["stop"]["reason"]) == ([], "done")


async def test_a_point_or_a_thread_that_does_not_do_is_named(scripted_model: ScriptedModel, home: Path) -> None:
    graph = await paid("one_shot", scripted_model)
    with pytest.raises(InputError, match="no point '2' to fork at; there are: 1, a"):
        graphs.fork(graph, thread("old"), at=2, into=thread("new"))
    with pytest.raises(InputError, match="'old' is there already"):
        graphs.fork(graph, thread("old"), at=1, into=thread("old"))


@pytest.mark.parametrize("tighter", [{"shadow": True}, {"writes": "deny"}, {"limits": {"tool_calls": 0}}], ids=str)
async def test_what_a_fork_forbids_more_holds_for_all_that_follows_in_it(
    scripted_model: ScriptedModel, home: Path, tighter: dict[str, Any]
) -> None:
    scripted_model.reply(plan(step("p", "pay", {"amount": 7})))
    calls.clear()
    context = {"model": scripted_model, "tools": [write(pay)]}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context=context)
    await graph.ainvoke({"task": "x"}, thread("old"))
    graphs.fork(graph.with_context(tighter), thread("old"), at=1, into=thread("new"))
    out = await graph.ainvoke(None, thread("new"))
    assert (calls, out.get("__interrupt__", [])) == ([], [])
    settings = (await graph.aget_state(thread("old"))).values["request"]["settings"]
    assert (settings["shadow"], settings["writes"], settings["limits"]["tool_calls"]) == (False, "ask", None)


async def test_a_fork_without_running_is_refused(scripted_model: ScriptedModel, home: Path) -> None:
    graph = await paid("one_shot", scripted_model)
    with pytest.raises(InputError, match="dry_run"):
        graphs.fork(graph.with_context({"dry_run": True}), thread("old"), at=1, into=thread("new"))
    assert not (await graph.aget_state(thread("new"))).created_at
