"""Look-ups that begin while their plan is still being written: what begins, what waits, and what was in vain."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import graphs
from nodes import ahead
from tests.support.endpoint import endpoint  # noqa: F401
from tests.support.model_server import ModelServer
from tests.support.runs import after_planning, plan, results, says, statuses, step
from tests.support.script import Reply, failure
from tools.tool import Tool, read, write

PATTERNS = ("one_shot", "plan_and_execute", "rewoo", "self_reflection", "plan_act_reflect")
PACE = 0.004
"""Seconds between two pieces, so that a plan takes a while."""


class World:
    """Tools that note what they did."""

    def __init__(self) -> None:
        self.did: list[str] = []
        self.stopped: list[str] = []

    async def look(self, name: str, after: Any = None) -> str:
        """Looks something up."""
        self.did.append(f"look {name}")
        return f"[{name}]"

    async def wait(self, name: str) -> str:
        """Looks for a long time."""
        self.did.append(f"wait {name}")
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            self.stopped.append(name)
            raise
        return name

    async def pay(self, amount: int) -> int:
        """Pays."""
        self.did.append(f"pay {amount}")
        return amount

    @property
    def tools(self) -> list[Tool]:
        return [read(self.look), read(self.wait), write(self.pay)]


@pytest.fixture
def world() -> World:
    return World()


def slowly(reply: Reply, **more: Any) -> Reply:
    """The same reply in pieces, with time between them."""
    return Reply(**{**vars(reply), "pace": PACE, **more})


def told(pattern: str, world: World, **settings: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The report of a run, and the events in the order in which they came."""
    context = {"tools": world.tools, "writes": "allow", "stream_plan": True, **settings}
    report: dict[str, Any] = {}
    seen: list[tuple[str, str]] = []
    stream = graphs.load(pattern, context=context).stream({"task": "Do it."}, stream_mode=["custom", "updates"])
    for mode, part in stream:
        if mode == "custom":
            seen.append((part["event"], part["step"]))
        else:
            report = next((update["report"] for update in part.values() if update and "report" in update), report)
    return report, seen


def began_first(seen: list[tuple[str, str]]) -> list[str]:
    """The steps that began before the plan was whole."""
    return [name for event, name in seen[: seen.index(("plan", ""))] if event == "step_started"]


THREE = [
    step("E1", "look", name="一"),
    step("E2", "look", name='b"}], \n', after="${steps.E1}"),
    step("E3", "look", name="c"),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_look_ups_begin_while_the_plan_is_still_being_written_and_run_once(
    pattern: str, world: World, model_server: ModelServer
) -> None:
    long = step("E4", "look", name="x" * 300)
    model_server.reply(slowly(plan(*THREE, long)), *after_planning(pattern, "fine"))
    report, seen = told(pattern, world)
    assert report["stop"]["reason"] == "done" and began_first(seen)[:3] == ["E1", "E2", "E3"]
    assert sorted(world.did) == sorted([f"look {name}" for name in ("一", 'b"}], \n', "c", "x" * 300)])
    assert report["usage"]["tool_calls"] == 4 and list(results(report)) == ["E1", "E3", "E4", "E2"]
    assert seen.count(("step_done", "E1")) == 1


def test_without_the_setting_nothing_begins_before_the_plan_is_whole(world: World, model_server: ModelServer) -> None:
    model_server.reply(slowly(plan(*THREE)))
    _, seen = told("one_shot", world, stream_plan=False)
    assert began_first(seen) == [] and "stream" not in model_server.requests[0]


@pytest.mark.parametrize("left", [0, 1, 2, 3])
def test_it_begins_whatever_way_to_a_typed_reply_the_server_takes(
    left: int, world: World, model_server: ModelServer
) -> None:
    refused = ("json_schema", "tool_choice", "json_object")[:left]
    model_server.reply(*[failure(400, f"{name} is not supported", when="Role: planner") for name in refused])
    steps = [step("a", "look", name="一"), step("b", "look", name="y" * 300)]
    text = json.dumps({"steps": steps})  # as a model writes it: characters as escapes, after its thoughts, in a fence
    words = Reply(f"<think>two steps {{}}</think>\n```json\n{text}\n```", when="Role: planner")
    model_server.reply(slowly(words if left > 1 else plan(*steps)))
    report, seen = told("one_shot", world)
    assert report["stop"]["reason"] == "done" and began_first(seen)[0] == "a"
    assert world.did == ["look 一", f"look {'y' * 300}"] and len(model_server.requests) == left + 1


def test_a_server_that_takes_no_stream_is_asked_without_one(world: World, model_server: ModelServer) -> None:
    model_server.reply(failure(500, "can not use tools with stream", when="Role: planner"), plan(*THREE))
    report, _ = told("one_shot", world)
    assert report["stop"]["reason"] == "done"
    assert [body.get("stream") for body in model_server.requests] == [True, None]
    assert "stream_options" not in model_server.requests[1]


def test_a_write_waits_for_the_whole_plan_and_so_does_what_needs_it(world: World, model_server: ModelServer) -> None:
    steps = [step("p", "pay", amount=1), step("q", "look", name="q", after="${steps.p}"), step("r", "look", name="r")]
    more = step("m", "look", name="${steps.item}", more={"each": "${steps.inputs.list}"})
    model_server.reply(slowly(plan(*steps, more, step("z", "look", name="z" * 300))))
    context = {"tools": world.tools, "writes": "allow", "stream_plan": True}
    given = {"task": "Do it.", "inputs": {"list": ["m1"]}}
    seen = [
        (part["event"], part["step"])
        for part in graphs.load("one_shot", context=context).stream(given, stream_mode="custom")
    ]
    assert set(began_first(seen)) == {"r", "z"}
    assert sorted(world.did) == ["look m1", "look q", "look r", f"look {'z' * 300}", "pay 1"]


@pytest.mark.parametrize(
    "settings",
    [{"approve_plan": "always"}, {"check_after": "step"}, {"check_after": "critical"}, {"dry_run": True}],
    ids=str,
)
def test_nothing_begins_early_where_the_plan_is_to_be_seen_first(
    settings: dict[str, Any], world: World, model_server: ModelServer
) -> None:
    model_server.reply(slowly(plan(*THREE)))
    _, seen = told("one_shot", world, **settings)
    assert began_first(seen) == []


def test_a_read_that_a_person_must_approve_does_not_begin_early(world: World, model_server: ModelServer) -> None:
    model_server.reply(slowly(plan(*THREE)))
    graph = graphs.load("rewoo", context={"tools": world.tools, "stream_plan": True})
    report = graph.invoke({"task": "Do it.", "constraints": {"approve": ["look"]}})["report"]
    assert world.did == [] and report["stop"]["reason"] == "needs_approval"


def test_no_write_happens_for_a_plan_with_a_finding_and_a_look_up_that_stays_is_kept(
    world: World, model_server: ModelServer
) -> None:
    first, pay = step("a", "look", name="a"), step("p", "pay", amount=1)
    wrong = step("b", "lock", name="b")
    model_server.reply(slowly(plan(first, pay, wrong)), plan(first, step("b", "look", name="b", after="${steps.a}")))
    report, seen = told("one_shot", world)
    assert report["stop"]["reason"] == "done" and began_first(seen) == ["a", "b"]
    assert sorted(world.did) == ["look a", "look b"] and report["usage"]["tool_calls"] == 2
    assert [event for event, _ in seen].count("steps_withdrawn") == 0


def test_what_comes_back_otherwise_was_in_vain_and_only_its_calls_count(
    world: World, model_server: ModelServer
) -> None:
    old = [step("a", "look", name="old"), step("w", "wait", name="w"), step("v", "look", name="v", after="${steps.w}")]
    new = plan(step("a", "look", name="new"), step("b", "look", name="b", after="${steps.a}"))
    model_server.reply(slowly(plan(*old, step("b", "lock"))), new)
    report, seen = told("one_shot", world, limits={"steps": 3, "same_call": 1})
    assert report["stop"]["reason"] == "done"
    assert {name: one["output"] for name, one in results(report).items()} == {"a": "[new]", "b": "[b]"}
    assert (world.did, world.stopped) == (["look old", "wait w", "look new", "look b"], ["w"])
    assert report["usage"]["tool_calls"] == 4 and ("steps_withdrawn", "") in seen


def test_a_plan_that_is_given_up_leaves_nothing_running_and_no_results(world: World, model_server: ModelServer) -> None:
    wrong = slowly(plan(step("w", "wait", name="w"), step("a", "look", name="a"), step("b", "lock", name="b" * 200)))
    model_server.reply(wrong, wrong, wrong)
    report, _ = told("one_shot", world)
    assert report["stop"]["reason"] == "plan_invalid" and report["results"] == []
    assert (sorted(world.did), world.stopped) == (["look a", "wait w"], ["w"])


def test_a_step_whose_id_comes_twice_is_stopped_with_what_needs_it(world: World, model_server: ModelServer) -> None:
    twice = [step("w", "wait", name="1"), step("v", "look", name="v", after="${steps.w}"), step("w", "wait", name="2")]
    model_server.reply(slowly(plan(*twice)), plan(step("w", "look", name="3")))
    report, _ = told("one_shot", world)
    assert (world.did, world.stopped) == (["wait 1", "look 3"], ["1"])
    assert report["stop"]["reason"] == "done" and report["answer"] == "[3]"


def test_a_stream_that_breaks_off_is_asked_for_again_and_no_step_runs_twice(
    world: World, model_server: ModelServer
) -> None:
    whole = plan(*THREE, step("E4", "look", name="x" * 200))
    model_server.reply(slowly(whole, end="drop"), slowly(whole))
    report, seen = told("one_shot", world)
    assert report["stop"]["reason"] == "done" and len(model_server.requests) == 2
    assert len(world.did) == 4 and "E1" in began_first(seen)


def test_steps_that_no_executor_takes_over_end_with_the_run(world: World, model_server: ModelServer) -> None:
    model_server.reply(slowly(plan(step("w", "wait", name="w"), step("z", "look", name="z" * 300))))
    report, _ = told("one_shot", world, stop_when="model_calls >= 1")
    assert report["stop"]["reason"] == "stop_condition" and report["results"] == []
    assert (world.stopped, ahead._waiting) == (["w"], {})


async def test_a_run_that_is_cancelled_in_mid_plan_stops_what_had_begun(
    world: World, model_server: ModelServer
) -> None:
    model_server.reply(
        slowly(plan(step("w", "wait", name="w"), *[step(f"z{n}", "look", name="z" * 300) for n in range(9)]))
    )
    graph = graphs.load("one_shot", context={"tools": world.tools, "stream_plan": True})
    run = asyncio.ensure_future(graph.ainvoke({"task": "Do it."}))
    while not world.did:
        await asyncio.sleep(0.01)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert world.stopped == ["w"]


async def test_steps_that_nobody_takes_over_in_time_are_stopped(
    world: World, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "GRACE", 0.1)
    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context={"tools": world.tools, "stream_plan": True})
    model_server.reply(slowly(plan(step("w", "wait", name="w"), step("z", "look", name="z" * 300))))
    thread: Any = {"configurable": {"thread_id": "t"}}
    await graph.ainvoke({"task": "Do it."}, thread, interrupt_after=["plan"])
    while not world.stopped:
        await asyncio.sleep(0.02)
    assert world.did[0] == "wait w" and ahead._waiting == {}


async def test_a_replay_serves_a_run_whose_steps_began_early_and_in_vain(
    world: World, model_server: ModelServer, tmp_path: Path
) -> None:
    file = tmp_path / "run.jsonl"
    old = [step("a", "look", name="old"), step("v", "look", name="v", after="${steps.a}")]
    new = plan(step("a", "look", name="new"), step("b", "look", name="b", after="${steps.a}"))
    model_server.reply(slowly(plan(*old, step("b", "lock"))), slowly(new), says("fine"))
    context = {"tools": world.tools, "stream_plan": True, "record": str(file)}
    report = (await graphs.load("plan_and_execute").ainvoke({"task": "Do it."}, context=context))["report"]
    replayed = await asyncio.to_thread(graphs.replay, file)
    assert replayed.difference == "" and replayed.report["answer"] == report["answer"] == "fine"
    assert statuses(replayed.report) == {"a": "done", "b": "done"}


def test_a_next_version_begins_early_with_what_is_new_and_not_with_what_had_failed(
    world: World, model_server: ModelServer
) -> None:
    async def fail(name: str) -> str:
        """Fails."""
        world.did.append(f"fail {name}")
        raise ValueError("broken")

    first = plan(step("a", "look", name="a"), step("f", "fail", name="f"))
    again = [
        step("f2", "fail", name="f"),
        step("b", "look", name="b", after="${steps.a}"),
        step("z", "look", name="z" * 300),
    ]
    model_server.reply(first, slowly(plan(*again)), says("half"))
    tools = [*world.tools, read(fail)]
    _, seen = told("plan_and_execute", world, tools=tools, limits={"retries": 0, "replans": 1})
    second = seen[seen.index(("plan", "")) + 1 :]
    assert [name for name in began_first(second) if name in ("b", "z", "f2")] == ["b", "z"]
    assert world.did.count("fail f") == 2 and world.did.count("look b") == 1 and world.did.count("look a") == 1


def test_the_limit_of_steps_at_once_holds_for_early_and_later_ones_together(
    model_server: ModelServer, world: World
) -> None:
    now, most = 0, 0

    async def busy(name: str) -> str:
        """Is busy."""
        nonlocal now, most
        now, most = now + 1, max(most, now + 1)
        await asyncio.sleep(0.02)
        now -= 1
        return name

    steps = [step(f"s{n}", "busy", name=str(n)) for n in range(6)]
    model_server.reply(slowly(plan(*steps)))
    report, _ = told("one_shot", world, tools=[read(busy)], concurrency=2)
    assert report["stop"]["reason"] == "done" and most == 2
