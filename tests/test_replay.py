"""Replay: a recorded run comes out the same with nothing outside touched, or the first difference is named."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import graphs
from nodes.calls import Outcome
from state.errors import InputError, ToolFailed
from tests.support.plans import PLANNING, plan, replies_after_plan, step
from tests.support.scripted_model import ScriptedModel
from tools.tool import ToolEnv, read, write

THREAD: Any = {"configurable": {"thread_id": "t"}}
WORK = plan(
    step("a", "look", {"name": "a"}),
    step("b", "look", {"name": "b"}),
    step("p", "pay", {"amount": 7}, after=["a", "b"]),
    step("s", "short", {"text": "${steps.a}"}),
)


class World:
    """Tools that really do something: lines in a file, and a count of calls."""

    def __init__(self, folder: Path) -> None:
        self.file, self.calls, self.down = folder / "paid", 0, 0

    async def look(self, name: str) -> str:
        """Looks something up."""
        self.calls += 1
        if self.down:
            self.down -= 1
            raise ToolFailed("try again", "transient")
        return f"result of {name}"

    async def pay(self, amount: int) -> dict[str, int]:
        """Pays."""
        self.calls += 1
        with self.file.open("a") as lines:
            lines.write(f"{amount}\n")
        return {"paid": amount}

    async def short(self, text: str, env: ToolEnv) -> str:
        """Makes a text short."""
        self.calls += 1
        assert env.ask
        return await env.ask("Make it short.", text)

    async def unpay(self, amount: int) -> str:
        """Pays back."""
        return f"back {amount}"

    def tools(self) -> list[Any]:
        undo: Callable[..., Any] = lambda args, output: ("unpay", {"amount": args["amount"]})  # noqa: E731
        return [
            read(self.look),
            write(self.pay, compensate=undo),
            write(self.unpay),
            read(self.short, uses_model=True),
        ]


@pytest.fixture
def world(tmp_path: Path, home: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


async def run(
    pattern: str, model: ScriptedModel, world: World, file: Path, answer: str = "approve", **more: Any
) -> Any:
    """A run that is kept, with the same answer to every question."""
    graph = graphs.load(pattern, checkpointer=InMemorySaver())
    context = {"model": model, "tools": world.tools(), "record": str(file), **more}
    out = await graph.ainvoke({"task": "pay it"}, THREAD, context=context)
    while (asked := out.get("__interrupt__")) and answer:
        given = Command(resume={one.id: {"decisions": [{"type": answer}]} for one in asked})
        out = await graph.ainvoke(given, THREAD, context=context)
    return out["report"]


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("pattern", PLANNING)
async def test_a_run_with_an_approval_comes_out_the_same_and_touches_nothing(
    scripted_model: ScriptedModel, world: World, file: Path, home: Path, pattern: str, own: bool
) -> None:
    scripted_model.reply(WORK, "a short text", *replies_after_plan(pattern))
    first = await run(pattern, scripted_model, world, file)
    before, calls, kept = file.read_bytes(), world.calls, sorted(home.rglob("*"))
    again = graphs.replay(file, context={"tools": world.tools()} if own else None)
    assert (again.same, again.difference) == (True, "")
    assert (again.report["answer"], again.report["stop"]["reason"]) == (first["answer"], "done")
    assert again.report["usage"]["tokens"] == first["usage"]["tokens"]
    assert again.report["usage"]["tool_calls"] == first["usage"]["tool_calls"] == 4
    assert (file.read_bytes(), world.calls, sorted(home.rglob("*"))) == (before, calls, kept)
    assert world.file.read_text() == "7\n"


async def test_every_exchange_is_recorded_with_arguments_result_attempt_and_class(
    scripted_model: ScriptedModel, world: World, file: Path
) -> None:
    world.down = 1
    scripted_model.reply(plan(step("a", "look", {"name": "a"})))
    await run("one_shot", scripted_model, world, file)
    tried, called = (entry for entry in lines(file) if "tool" in entry)
    assert (tried["attempt"], tried["error"]["class"], tried["args"]) == (1, "transient", {"name": "a"})
    assert (called["outcome"]["output"], called["outcome"]["attempts"]) == ("result of a", 2)
    assert {*called["outcome"], "args"} == {one.name for one in fields(Outcome)}  # a replay lacks none of it
    assert graphs.replay(file).same


async def test_a_failed_run_that_offers_to_undo_is_replayed_with_the_undo(
    scripted_model: ScriptedModel, world: World, file: Path
) -> None:
    async def fail() -> str:
        """Fails."""
        raise ToolFailed("it is broken")

    tools = [read(fail), *world.tools()]
    scripted_model.reply(plan(step("p", "pay", {"amount": 7}), step("z", "fail", after=["p"])))
    first = await run("one_shot", scripted_model, world, file, tools=tools)
    again = graphs.replay(file)
    assert "undo_p" in {result["step"] for result in first["results"]}
    assert (again.difference, again.report["writes"]) == ("", first["writes"])


async def test_a_run_that_waits_is_replayed_up_to_its_question(
    scripted_model: ScriptedModel, world: World, file: Path
) -> None:
    scripted_model.reply(WORK, "a short text")
    first = await run("one_shot", scripted_model, world, file, answer="")
    again = graphs.replay(file)
    assert again.same and not again.ran_out
    assert again.report["open_requests"] == first["open_requests"]


async def test_a_spent_budget_is_replayed_as_one(scripted_model: ScriptedModel, world: World, file: Path) -> None:
    scripted_model.reply(WORK, *replies_after_plan("plan_and_execute"))
    first = await run("plan_and_execute", scripted_model, world, file, limits={"tool_calls": 1}, writes="allow")
    again = graphs.replay(file)
    assert (again.difference, again.report["stop"]["reason"]) == ("", first["stop"]["reason"])


async def test_time_that_was_over_is_over_again_though_a_replay_takes_none(
    scripted_model: ScriptedModel, world: World, file: Path
) -> None:
    async def slow() -> str:
        """Takes long."""
        await asyncio.sleep(30)
        return "late"

    scripted_model.reply(plan(step("a", "slow"), step("b", "look", {"name": "b"}, after=["a"])))
    tools = [read(slow), *world.tools()]
    first = await run("one_shot", scripted_model, world, file, tools=tools, limits={"seconds": 1.0})
    assert first["stop"]["reason"] == "seconds"
    again = graphs.replay(file)
    assert (again.difference, again.report["stop"]["reason"]) == ("", "seconds")


async def test_a_deadline_that_has_passed_since_holds_as_it_did_then(
    scripted_model: ScriptedModel, world: World, file: Path
) -> None:
    until = datetime.now(UTC) + timedelta(seconds=2)
    scripted_model.reply(plan(step("p", "pay", {"amount": 7})))
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    context = {"model": scripted_model, "tools": world.tools(), "record": str(file), "writes": "allow"}
    task = {"task": "pay it", "constraints": {"deadline": until.isoformat()}}
    out = await graph.ainvoke(task, THREAD, context=context)
    assert out["report"]["stop"]["reason"] == "done"
    change(file, until.isoformat(), (until - timedelta(seconds=1.5)).isoformat())
    entries = [{**entry, "at": entry["at"] - 60} for entry in lines(file)]
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    assert graphs.replay(file).difference == ""


async def test_a_recording_grows_with_the_work_and_no_faster(
    scripted_model: ScriptedModel, world: World, tmp_path: Path
) -> None:
    sizes = []
    for count in (5, 10, 15):
        file = tmp_path / f"{count}.jsonl"
        scripted_model.reply(plan(*(step(f"s{n}", "look", {"name": str(n)}) for n in range(count))))
        await run("one_shot", scripted_model, world, file)
        sizes.append(file.stat().st_size)
    assert sizes[2] - sizes[1] <= 1.1 * (sizes[1] - sizes[0])


async def test_a_large_result_is_served_whole(scripted_model: ScriptedModel, home: Path, file: Path) -> None:
    def many() -> list[int]:
        """Numbers."""
        return list(range(5000))

    def one(value: int) -> int:
        """One of them."""
        return value

    scripted_model.reply(plan(step("a", "many"), step("b", "one", {"value": "${steps.a[4321]}"})))
    context = {"model": scripted_model, "tools": [read(many), read(one)], "record": str(file)}
    await graphs.load("one_shot").ainvoke({"task": "numbers"}, context=context)
    again = graphs.replay(file)
    assert (again.difference, again.report["results"][1]["output"]) == ("", 4321)


async def test_stale_evidence_is_replayed_as_it_was_found(
    scripted_model: ScriptedModel, world: World, file: Path
) -> None:
    async def price() -> int:
        """The price."""
        world.calls += 1
        return world.calls

    tools = [read(price), *world.tools()]
    scripted_model.reply(plan(step("a", "price"), step("p", "pay", {"amount": "${steps.a}"})))
    first = await run("one_shot", scripted_model, world, file, lease=0, writes="allow", tools=tools)
    assert first["results"][1]["failure"]["cls"] == "stale"
    again = graphs.replay(file)
    assert (again.difference, again.report["results"][1]["failure"]["cls"]) == ("", "stale")


async def test_what_a_resume_forbids_is_forbidden_in_the_replay(
    scripted_model: ScriptedModel, world: World, file: Path
) -> None:
    scripted_model.reply(plan(step("p", "pay", {"amount": 7})))
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    context = {"model": scripted_model, "tools": world.tools(), "record": str(file)}
    out = await graph.ainvoke({"task": "pay it"}, THREAD, context=context)
    given = Command(resume={one.id: {"decisions": [{"type": "approve"}]} for one in out["__interrupt__"]})
    out = await graph.ainvoke(given, THREAD, context={**context, "deny": ["pay"]})
    assert out["report"]["results"][0]["failure"]["cls"] == "policy"
    assert graphs.replay(file).difference == ""


async def test_each_part_of_a_map_step_is_served_its_own_result(
    scripted_model: ScriptedModel, world: World, file: Path
) -> None:
    steps = [step("m", "look", {"name": "${steps.item}"}, each="${steps.inputs.names}")]
    scripted_model.reply(plan(*steps))
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    context = {"model": scripted_model, "tools": world.tools(), "record": str(file)}
    task = {"task": "look", "inputs": {"names": ["x", "y", "z"]}}
    out = await graph.ainvoke(task, THREAD, context=context)
    again = graphs.replay(file)
    assert again.difference == "" and world.calls == 3
    assert again.report["results"][0]["output"] == out["report"]["results"][0]["output"]


# ---- what differs


@pytest.fixture
async def recorded(scripted_model: ScriptedModel, world: World, file: Path) -> Path:
    scripted_model.reply(WORK, "a short text", "the answer")
    await run("plan_and_execute", scripted_model, world, file)
    return file


async def test_a_changed_prompt_is_the_first_difference(recorded: Path, world: World) -> None:
    tools = world.tools()
    tools[0] = read(world.look, name="look_up")
    again = graphs.replay(recorded, context={"tools": tools})
    assert not again.same
    assert again.difference.startswith("planner: request 1 is not the one recorded: messages")


async def test_a_changed_argument_is_the_first_difference(recorded: Path) -> None:
    change(recorded, '"args": {"amount": 7}, "outcome"', '"args": {"amount": 8}, "outcome"')
    again = graphs.replay(recorded)
    assert again.difference == "step p, call of pay: args.amount: recorded '8', now '7'"


async def test_a_changed_end_is_a_difference(recorded: Path) -> None:
    change(recorded, '"stop": "done"', '"stop": "steps_failed"')
    assert graphs.replay(recorded).difference == "the end: stop, character 0: recorded 'steps_failed', now 'done'"


async def test_a_call_that_no_longer_comes_is_a_difference(recorded: Path) -> None:
    extra = next(entry for entry in lines(recorded) if entry.get("step") == "a" and "outcome" in entry)
    text = recorded.read_text().splitlines(keepends=True)
    text.insert(2, json.dumps({**extra, "step": "x"}) + "\n")
    recorded.write_text("".join(text))
    assert graphs.replay(recorded).difference == "the call of look in step x was recorded and did not come"


async def test_a_recording_that_was_cut_off_is_the_same_as_far_as_it_goes(recorded: Path) -> None:
    text = recorded.read_text().splitlines(keepends=True)
    recorded.write_text("".join(text[:-2]) + text[-1][:30])
    again = graphs.replay(recorded)
    assert again.same and again.ran_out


async def test_what_a_killed_process_did_and_the_next_did_again_is_served_once(recorded: Path) -> None:
    entries = lines(recorded)
    lost = [{**entry, "leg": "killed"} for entry in entries if "begin" not in entry and "end" not in entry][:3]
    lost[1:] = [json.loads(json.dumps(entry).replace("result of", "lost result of")) for entry in lost[1:]]
    every = [{**entries[0], "leg": "killed"}, *lost, *entries[1:]]
    recorded.write_text("".join(json.dumps(entry) + "\n" for entry in every))
    assert graphs.replay(recorded).difference == ""


async def test_without_a_beginning_it_is_no_whole_run(recorded: Path) -> None:
    text = recorded.read_text().splitlines(keepends=True)
    recorded.write_text("".join(text[1:]))
    with pytest.raises(InputError, match="no beginning"):
        graphs.replay(recorded)


async def test_a_recording_that_breaks_in_mid_run_is_told_and_the_run_goes_on(
    scripted_model: ScriptedModel, world: World, tmp_path: Path
) -> None:
    folder = tmp_path / "gone"

    async def spoil() -> str:
        """Takes the place of the recording away."""
        (folder / "run.jsonl").unlink()
        (folder / "run.jsonl").mkdir()
        return "done"

    scripted_model.reply(plan(step("a", "spoil"), step("b", "look", {"name": "b"}, after=["a"])))
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    context = {"model": scripted_model, "tools": [read(spoil), *world.tools()], "record": str(folder / "run.jsonl")}
    out = await graph.ainvoke({"task": "spoil it"}, THREAD, context=context)
    assert out["report"]["stop"]["reason"] == "done"
    assert [event["event"] for event in out["events"]].count("recording_lost") == 1


async def test_steps_that_failed_side_by_side_beyond_the_limit_do_so_in_the_replay(
    scripted_model: ScriptedModel, file: Path, home: Path
) -> None:
    async def look_up(name: str) -> str:
        """Fails."""
        raise LookupError(name)

    scripted_model.reply(plan(*[step(f"s{n}", "look_up", {"name": str(n)}) for n in range(3)]))
    settings = {"model": scripted_model, "tools": [read(look_up)], "record": str(file), "limits": {"failures": 2}}
    out = await graphs.load("one_shot").ainvoke({"task": "look"}, context=settings)
    told = "limit failures reached: 3 steps failed, 2 may; those that ran side by side had begun before that"
    assert out["report"]["stop"]["message"] == told
    again = await asyncio.to_thread(graphs.replay, file)
    assert again.same, again.difference


async def test_a_recording_that_was_edited_is_one_line_that_names_it(
    scripted_model: ScriptedModel, home: Path, tmp_path: Path
) -> None:
    world, file = World(tmp_path), tmp_path / "edited.jsonl"
    scripted_model.reply(plan(step("a", "look", {"name": "a"})))
    context = {"model": scripted_model, "tools": [read(world.look)], "record": str(tmp_path / "run.jsonl")}
    await graphs.load("one_shot").ainvoke({"task": "x"}, context=context)
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    for place, key in [(place, key) for place, line in enumerate(lines) for key in line if key != "run"]:
        edited = [{k: v for k, v in line.items() if (n, k) != (place, key)} for n, line in enumerate(lines)]
        file.write_text("\n".join(map(json.dumps, edited)) + "\n")
        try:
            graphs.replay(file)
        except InputError as error:
            assert "record" in str(error) and "\n" not in str(error)
