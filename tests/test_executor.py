"""The executor by itself: identity of tasks on resume, parts of a map, what is due, and the order of equal writes."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

import graphs
from graphs._bridge import Builder
from nodes.board import Board
from nodes.drafting import new_steps
from nodes.executor import due_steps, run_steps, whole
from nodes.intake import intake
from nodes.parts import MOST_TASKS
from nodes.run import open_run
from state.channels import Input, Results, State
from state.plan import PlanDraft, needs, ordered
from state.request import Request
from state.usage import Usage
from tests.support.plans import by_step, plan, step
from tests.support.scripted_model import ScriptedModel
from tools.catalogue import Catalogue
from tools.tool import read


class RunInput(TypedDict):
    request: Request


class RunUpdate(TypedDict):
    results: Results
    usage: Usage


def one_node(plans: list[Any], fail_first: bool) -> Any:
    """A graph whose one node runs the next of these plans each time it is entered."""
    entered = iter(plans)

    async def node(state: RunInput, runtime: Runtime[Any]) -> RunUpdate:
        run = open_run(state, runtime)
        draft = PlanDraft.model_validate(next(entered))
        steps = ordered(new_steps(draft, 1, {}, run.tools))
        results = await run_steps(whole(steps), Board({}, {}, "."), {}, run)
        if draft.goal == "crash":
            raise RuntimeError("crash")
        return {"results": results, "usage": run.meter.usage()}

    builder = Builder(State, input_schema=Input)
    builder.add_node("intake", intake("one_shot"))
    builder.add_node("node", node)
    builder.add_edge(START, "intake")
    builder.add_edge("intake", "node")
    builder.add_edge("node", END)
    return builder.compile(InMemorySaver())


@pytest.mark.parametrize(
    ("second", "outputs"),
    [
        (plan(step("b", "echo", {"n": 2}), step("a", "echo", {"n": 1})), {"a": 1, "b": 2}),
        (plan(step("a", "echo", {"n": 7}), step("b", "echo", {"n": 8})), {"a": 7, "b": 8}),
        (plan(step("b", "echo", {"n": 1}), step("a", "echo", {"n": 2})), {"a": 2, "b": 1}),
    ],
    ids=["another order", "another content", "swapped ids"],
)
async def test_a_resumed_run_whose_plan_came_back_different_never_hands_one_step_anothers_result(
    second: Any, outputs: dict[str, int]
) -> None:
    async def echo(n: int) -> int:
        """Gives it back."""
        return n

    first = plan(step("a", "echo", {"n": 1}), step("b", "echo", {"n": 2}), goal="crash")
    graph = one_node([first, second], fail_first=True)
    thread: Any = {"configurable": {"thread_id": "t"}}
    with pytest.raises(RuntimeError, match="crash"):
        await graph.ainvoke({"task": "x"}, thread, context={"tools": [read(echo)]})
    out = await graph.ainvoke(None, thread, context={"tools": [read(echo)]})
    assert {name: result["output"] for name, result in out["results"].items()} == outputs


async def test_model_calls_of_steps_that_finished_before_a_crash_are_counted_after_it() -> None:
    model = ScriptedModel()
    model.reply("bonjour")
    same = plan(step("t", "translate", {"text": "good day", "language": "French"}))
    graph = one_node([{**same, "goal": "crash"}, same], fail_first=True)
    thread: Any = {"configurable": {"thread_id": "t"}}
    with pytest.raises(RuntimeError, match="crash"):
        await graph.ainvoke({"task": "x"}, thread, context={"model": model})
    out = await graph.ainvoke(None, thread, context={"model": model})
    used = out["results"]["t"]["usage"]
    assert (out["usage"]["model_calls"], out["usage"]["tokens"]) == (1, used["tokens_in"] + used["tokens_out"])
    assert (used["calls"], model.problems()) == (1, [])


@pytest.mark.parametrize("numbers_of", [[3, 1, 2], list(range(450))], ids=["a task each", "three to a task"])
async def test_parts_of_a_map_that_finished_before_a_crash_do_not_run_again(numbers_of: list[int]) -> None:
    calls: list[int] = []

    async def echo(n: int) -> int:
        """Gives it back."""
        calls.append(n)
        return n

    async def numbers() -> list[int]:
        """Some numbers."""
        return numbers_of

    same = plan(step("l", "numbers"), step("m", "echo", {"n": "${steps.item}"}, each="${steps.l}"))
    graph = one_node([{**same, "goal": "crash"}, same], fail_first=True)
    thread: Any = {"configurable": {"thread_id": "t"}}
    tools = {"tools": [read(echo), read(numbers)]}
    with pytest.raises(RuntimeError, match="crash"):
        await graph.ainvoke({"task": "x"}, thread, context=tools)
    out = await graph.ainvoke(None, thread, context=tools)
    assert sorted(calls) == sorted(numbers_of)
    assert out["results"]["m"]["output"] == numbers_of
    assert [part["output"] for part in out["results"]["m"]["parts"]] == numbers_of


def going_over(size: int, home: Path, **context: Any) -> tuple[list[int], dict[str, Any]]:
    """A workflow whose one step goes over a list; what its tool was called with, and the settings."""
    calls: list[int] = []

    async def echo(n: int) -> int:
        """Gives it back."""
        calls.append(n)
        return n

    async def numbers() -> list[int]:
        """Many numbers."""
        return list(range(size))

    steps = [step("l", "numbers"), step("m", "echo", {"n": "${steps.item}"}, each="${steps.l}")]
    tools = [read(echo), read(numbers)]
    return calls, {"plan": {"goal": "g", "steps": steps}, "tools": tools, "home": str(home), **context}


async def test_the_parts_of_a_long_list_share_tasks_and_keep_their_order(tmp_path: Path) -> None:
    calls, context = going_over(1000, tmp_path)
    graph, tasks = graphs.load("workflow", context=context), 0
    async for part in graph.astream({"task": "t"}, stream_mode="updates"):
        tasks += any(name.startswith("m[") for name in part)
        report = part.get("conclude", {}).get("report")
    assert tasks == MOST_TASKS and len(calls) == 1000
    assert [one["index"] for one in report["results"][1]["parts"]] == list(range(1000))


async def test_once_a_budget_refused_a_part_no_other_begins(tmp_path: Path) -> None:
    calls, context = going_over(5000, tmp_path, limits={"tool_calls": 40})
    report = (await graphs.load("workflow", context=context).ainvoke({"task": "t"}))["report"]
    assert (report["stop"]["reason"], len(calls)) == ("tool_calls", 39)
    parts = report["results"][1]["parts"]
    assert len(parts) == 5000 and {one["failure"]["cls"] for one in parts if one["status"] == "not_run"} == {"budget"}


async def test_a_list_that_is_too_long_to_go_over_is_said_with_what_would_be_right(tmp_path: Path) -> None:
    calls, context = going_over(10_001, tmp_path)
    report = (await graphs.load("workflow", context=context).ainvoke({"task": "t"}))["report"]
    assert calls == [] and "10,001 items, a step goes over at most 10,000; right would be" in report["stop"]["message"]


async def test_a_step_over_no_items_is_done(tmp_path: Path) -> None:
    _, context = going_over(0, tmp_path)
    report = (await graphs.load("workflow", context=context).ainvoke({"task": "t"}))["report"]
    assert (report["stop"]["reason"], report["results"][1]["output"]) == ("done", [])


def drafted(*steps: dict[str, Any]) -> Any:
    return new_steps(PlanDraft.model_validate(plan(*steps)), 1, {}, Catalogue())


def test_due_is_the_whole_plan_one_step_or_up_to_the_next_critical_one() -> None:
    steps = drafted(
        step("a", "t"),
        step("b", "t", critical=True, after=["a"]),
        step("c", "t", after=["b"]),
        step("d", "t", after=["c"]),
    )
    assert [s["id"] for s in due_steps(steps, {}, "plan")] == ["a", "b", "c", "d"]
    assert [s["id"] for s in due_steps(steps, {}, "step")] == ["a"]
    assert [s["id"] for s in due_steps(steps, {}, "critical")] == ["a", "b"]
    done: Any = {"a": {"status": "done"}, "b": {"status": "waiting"}}
    assert [s["id"] for s in due_steps(steps, done, "critical")] == ["b"]


@given(st.data())
def test_every_order_of_writing_a_plan_gives_an_order_in_which_needs_come_first(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 12))
    names = [f"s{n}" for n in range(size)]
    steps = []
    for n, name in enumerate(names):
        earlier = data.draw(st.lists(st.sampled_from(names[:n]), unique=True)) if n else []
        steps.append(step(name, "t", {"x": [f"${{steps.{other}}}" for other in earlier]}))
    shuffled = drafted(*data.draw(st.permutations(steps)))
    order = [s["id"] for s in ordered(shuffled)]
    assert sorted(order) == sorted(names)
    assert all(order.index(other) < order.index(s["id"]) for s in shuffled for other in needs(s))


async def test_a_plan_can_be_forked_from_a_checkpoint_and_the_writes_done_stay_done(
    scripted_model: ScriptedModel, home: Path
) -> None:
    from tools.tool import write

    paid: list[int] = []

    def pay(amount: int) -> int:
        """Pays."""
        paid.append(amount)
        return amount

    graph = graphs.load("plan_and_execute", checkpointer=InMemorySaver())
    scripted_model.reply(plan(step("a", "pay", {"amount": 5})), "first", "second")
    thread: Any = {"configurable": {"thread_id": "t"}}
    context = {"model": scripted_model, "tools": [write(pay)], "writes": "allow"}
    await graph.ainvoke({"task": "pay"}, thread, context=context)
    history = [state async for state in graph.aget_state_history(thread)]
    before = next(state for state in history if state.next == ("execute",))
    out = await graph.ainvoke(None, before.config, context=context)
    assert out["report"]["answer"] == "second"
    assert "not repeated" in by_step(out["report"])["a"]["note"]
    assert paid == [5]


def test_the_next_step_is_found_without_a_look_at_every_step_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def seen(step: Any) -> list[str]:
        looked.append(step["id"])
        return needs(step)

    monkeypatch.setattr("nodes.executor.needs", seen)
    draft = plan(*(step(f"s{n}", "work", {"name": "x"}, after=[f"s{n - 1}"] if n else []) for n in range(50)))
    steps = new_steps(PlanDraft.model_validate(draft), 1, {}, Catalogue())
    assert [one["id"] for one in due_steps(steps, {}, "step")] == looked == ["s0"]
