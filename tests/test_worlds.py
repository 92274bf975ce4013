"""Worlds that remember, driven by the oracle: BFCL's dialogues over live tools, tasks of tau-bench as recorded."""

import asyncio
import json
import os
import random
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

import pytest

from evals import bfcl, tau
from evals.oracle import OracleModel
from evals.runner import Record, run_dialogues, run_tasks
from evals.tasks import Dialogue, Task, by_text, json_lines
from nodes.drafting import new_steps
from nodes.plan_check import check_plan
from state.errors import ToolFailed
from state.plan import PlanDraft
from tests.support.gold import CALL_TOOLS, DATA, needs_data, wrong
from tools.catalogue import Catalogue
from tools.tool import ToolEnv

pytestmark = [needs_data, pytest.mark.slow]
needs_tools = pytest.mark.skipif(
    find_spec("bfcl_eval") is None and not os.environ.get("CI"), reason="needs bfcl-eval, which `make venv` installs"
)
SEED = 20240807


@cache
def dialogues() -> dict[str, Dialogue]:
    return {dialogue.id: dialogue for dialogue in bfcl.dialogues(DATA)}


@cache
def recorded() -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in json_lines(DATA / "bfcl" / "multi_turn_base_recorded.jsonl")}


@cache
def retail() -> dict[str, Task]:
    return {task.id: task for task in tau.tasks(DATA)}


def sound_dialogues() -> list[Dialogue]:
    return [one for one in dialogues().values() if one.id not in bfcl.DEFECTIVE]


def sound_retail() -> list[Task]:
    return [task for task in retail().values() if task.id not in tau.DEFECTIVE]


def turns(chosen: Sequence[Dialogue]) -> list[Task]:
    return [task for dialogue in chosen for task in dialogue.begin()]


def talk(chosen: Sequence[Dialogue], pattern: str, oracle: OracleModel | None = None) -> list[Record]:
    return asyncio.run(run_dialogues(chosen, pattern, settings={"model": oracle or OracleModel.of(turns(chosen))}))


def serve(tasks: Sequence[Task], pattern: str) -> list[Record]:
    return asyncio.run(run_tasks(tasks, pattern, settings={"model": OracleModel.of(tasks)}))


def codes(task: Task) -> set[str]:
    tools = Catalogue(task.tools)
    steps = new_steps(PlanDraft(steps=list(task.gold)), 1, {}, tools)
    return {finding["code"] for finding in check_plan(steps, tools)}


def gold_calls(row: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for turn in row["turns"] for step in turn["steps"]]


# --- BFCL multi-turn


@needs_tools
def test_every_dialogue_is_read_and_every_turn_can_be_told_from_the_others() -> None:
    tasks = turns(list(dialogues().values()))
    assert (len(dialogues()), len(tasks), len(by_text(tasks))) == (100, 373, 373)
    assert {task.id: found for task in tasks if task.gold and (found := codes(task))} == {}
    assert sum("${steps." in json.dumps(step.args) for task in tasks for step in task.gold) == 39


@needs_tools
def test_exactly_the_named_dialogues_are_not_as_the_live_tools_have_them() -> None:
    def as_recorded(row: dict[str, Any]) -> bool:
        world = bfcl.World(row)
        return all([world.call(step["tool"], step["args"]) == step["obs"] for step in gold_calls(row)])

    silent = {row["id"] for row in recorded().values() if not all(turn["steps"] for turn in row["turns"])}
    assert {row["id"] for row in recorded().values() if not as_recorded(row)} | silent == set(bfcl.DEFECTIVE)


@needs_tools
def test_no_call_of_a_tool_that_counts_as_a_read_changes_the_world() -> None:
    reads = 0
    for dialogue in dialogues().values():
        row = recorded()[dialogue.id]
        world = bfcl.World(row)
        effects = {tool.name: tool.effect for tool in dialogue.begin()[0].tools}
        for step in gold_calls(row):
            before = world.state()
            world.call(step["tool"], step["args"])
            reads += effects[step["tool"]] == "read"
            assert world.state() == before or effects[step["tool"]] == "write", (dialogue.id, step["id"])
    assert reads > 200


@needs_tools
@pytest.mark.parametrize("pattern", CALL_TOOLS)
def test_a_few_dialogues_are_right_turn_by_turn_with_exact_counts(pattern: str) -> None:
    chosen = random.Random(SEED).sample(sound_dialogues(), 2)
    assert wrong(turns(chosen), talk(chosen, pattern)) == []


@needs_tools
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("pattern", CALL_TOOLS)
def test_every_dialogue_is_right_turn_by_turn_with_exact_counts(
    pattern: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = turns(sound_dialogues())
    failed = wrong(tasks, talk(sound_dialogues(), pattern))
    with capsys.disabled():
        print(f"\nbfcl, {pattern}: {len(tasks) - len(failed)} of {len(tasks)} right", end=" ")
    assert failed == []


@needs_tools
@pytest.mark.parametrize("pattern", ["one_shot", "plan_and_execute", "react"])
def test_a_defective_dialogue_is_wrong_in_the_named_turns_and_nowhere_else(pattern: str) -> None:
    chosen = [dialogues()[name] for name in bfcl.DEFECTIVE]
    found = {record["task"]: record for record in talk(chosen, pattern) if not record["success"]}
    assert list(found) == ["multi_turn_base_90/3", "multi_turn_base_180/4", "multi_turn_base_180/5"]
    silent = [found["multi_turn_base_180/4"], found["multi_turn_base_180/5"]]
    assert [(one["stop"], one["tool_calls"]) for one in silent] == [("cannot_be_done", 0)] * 2


@needs_tools
def test_a_write_that_is_left_out_shows_in_the_state_of_the_world() -> None:
    def shorter(task: Task) -> Task:
        return Task(task.id, task.text, task.tools, task.gold[:-1], task.expected, task.check)

    chosen = [
        one
        for one in sound_dialogues()
        if len(gold := one.begin()[0].gold) > 1 and effect_of(one, gold[-1].tool) == "write"
    ][:6]
    oracle = OracleModel.of([shorter(task) if task.id.endswith("/1") else task for task in turns(chosen)])
    records = [record for record in talk(chosen, "one_shot", oracle) if record["task"].endswith("/1")]
    assert len(records) == 6
    assert all(any("the world is not in the state" in line for line in one["problems"]) for one in records)


def effect_of(dialogue: Dialogue, name: str) -> str:
    return next(tool.effect for tool in dialogue.begin()[0].tools if tool.name == name)


@needs_tools
def test_the_state_survives_a_folder_that_contains_itself() -> None:
    world = bfcl.World(next(row for row in recorded().values() if row["classes"] == ["GorillaFileSystem"]))
    world.call("mkdir", {"dir_name": "a"})
    before = world.state()
    world.call("mv", {"source": "a", "destination": "a"})
    assert world.state() != before


@needs_tools
def test_a_number_too_long_to_be_written_down_is_a_failure_of_the_call() -> None:
    world = bfcl.World(next(row for row in recorded().values() if "MathAPI" in row["classes"]))
    with pytest.raises(ToolFailed, match="power failed"):
        world.call("power", {"base": 10, "exponent": 5000})


@needs_tools
def test_what_a_tool_does_to_its_arguments_and_outputs_stays_with_the_world() -> None:
    world = bfcl.World(recorded()["multi_turn_base_90"])
    for step in gold_calls(recorded()["multi_turn_base_90"]):
        args = json.loads(json.dumps(step["args"]))
        output = world.call(step["tool"], args)
        assert args == step["args"]
        before = world.state()
        if isinstance(output, dict):
            output.clear()
        assert world.state() == before


# --- tau-bench, retail


def test_exactly_the_tasks_whose_gold_the_service_refuses_are_named() -> None:
    rows = list(json_lines(DATA / "tau" / "retail_train.jsonl"))
    assert len(retail()) == len(rows) == len(by_text(list(retail().values()))) == 150
    assert {row["id"] for row in rows if any(step["error"] for step in row["steps"])} == set(tau.DEFECTIVE)
    assert {task.id: found for task in retail().values() if (found := codes(task))} == {}


async def test_what_was_not_recorded_is_an_error() -> None:
    task = sound_retail()[0]
    gold = task.gold[0]
    [tool] = [one for one in task.tools if one.name == gold.tool]
    assert await tool.run(dict(gold.args), ToolEnv()) == task.answer()
    with pytest.raises(ToolFailed, match="was not recorded with these arguments"):
        await tool.run({**gold.args, "order_id": "#W0000000"}, ToolEnv())


@pytest.mark.parametrize("pattern", CALL_TOOLS)
def test_a_few_retail_tasks_are_right_with_exact_counts(pattern: str) -> None:
    long = [task for task in sound_retail() if len(task.gold) > 2]
    chosen = random.Random(SEED).sample(long, 3)
    assert wrong(chosen, serve(chosen, pattern)) == []


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("pattern", CALL_TOOLS)
def test_every_retail_task_is_right_with_exact_counts(pattern: str, capsys: pytest.CaptureFixture[str]) -> None:
    failed = wrong(sound_retail(), serve(sound_retail(), pattern))
    with capsys.disabled():
        print(f"\ntau, {pattern}: {len(sound_retail()) - len(failed)} of {len(sound_retail())} right", end=" ")
    assert failed == []


@pytest.mark.parametrize("pattern", ["one_shot", "plan_and_execute", "react"])
def test_a_gold_call_that_the_service_refuses_is_not_reported_as_done(pattern: str) -> None:
    chosen = [retail()[name] for name in tau.DEFECTIVE]
    for record in serve(chosen, pattern):
        refused = [one for one in record["report"]["results"] if one["status"] == "failed"]
        assert not record["success"]
        assert ["insufficient gift card balance" in one["failure"]["message"] for one in refused] == [True]
