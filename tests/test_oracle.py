"""With an oracle for a model every pattern must be right on every public task, with exact counts of calls.

What that shows: references arrive at the right place, plans run in the right order and at the right time, and
nothing is called once too often. Data: the folder that FORETHOUGHT_DATA names.
"""

import asyncio
import json
import random
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import looptime
import pytest

from evals import asynchow, gsm8k, mathqa, nestful, nestools
from evals.nestful_defects import STRICT, STRUCTURE
from evals.oracle import MODEL_CALLS, OracleModel
from evals.runner import Record, run_tasks
from evals.tasks import Task, by_text, same_answer
from nodes.drafting import new_steps
from nodes.plan_check import check_plan
from state.errors import InputError
from state.plan import PlanDraft, StepDraft
from tests.support.gold import CALL_TOOLS, DATA, IN_TURNS, PLANNING, needs_data, wrong
from tests.support.model_server import ModelServer
from tests.support.protocol import Body, text_of
from tests.support.script import Reply
from tools.catalogue import Catalogue

pytestmark = [needs_data, pytest.mark.slow]

WHOLE_PLANS = [pattern for pattern in PLANNING if pattern not in IN_TURNS]
"""Patterns that have the whole plan before anything runs."""
REFUSED = {"nestful": len(STRUCTURE), "nestful strict": len(STRUCTURE) + len(STRICT), "gsm8k": 27}
"""How many gold plans of a set contradict their own specification, or do not lead to the answer."""
SEED, FEW = 20240807, 5

READ: dict[str, Callable[[], list[Task]]] = {
    "nestful": lambda: [task for task in nestful.tasks(DATA, strict=False) if task.id not in STRUCTURE],
    "nestful strict": lambda: [task for task in nestful.tasks(DATA) if task.id not in {*STRUCTURE, *STRICT}],
    "nestools": lambda: list(nestools.tasks(DATA)),
    "mathqa": lambda: list(mathqa.tasks(DATA)),
    "asynchow": lambda: list(asynchow.tasks(DATA)),
    "gsm8k": lambda: [task for task in gsm8k.tasks(DATA) if task.id not in unsound()],
}

RUNS = [
    *((name, pattern) for name in READ for pattern in CALL_TOOLS), ("mathqa", "plan_and_solve"),
    ("gsm8k", "plan_and_solve"),
]  # fmt: skip


@cache
def unsound() -> set[str]:
    return {f"gsm8k-{row['id']}" for row in gsm8k.rows(DATA) if not gsm8k.is_sound(row)}


@cache
def sound(name: str) -> list[Task]:
    return READ[name]()


def few(name: str) -> list[Task]:
    return random.Random(SEED).sample(sound(name), FEW)


def codes(task: Task) -> set[str]:
    tools = Catalogue(task.tools)
    steps = new_steps(PlanDraft(steps=list(task.gold)), 1, {}, tools)
    return {finding["code"] for finding in check_plan(steps, tools)}


def on_virtual_clock(work: Coroutine[Any, Any, list[Record]]) -> list[Record]:
    """Time goes on only when nothing is left to do, and then at once."""
    loop: Any = looptime.new_event_loop()
    loop._clock_resolution = 1e-6  # asyncio's nanosecond is lost in the float of a later year, and no timer is due
    try:
        records: list[Record] = loop.run_until_complete(work)
        return records
    finally:  # not asyncio.Runner: it waits 300 s for the threads to end, which on this clock are over at once
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


def run(tasks: Sequence[Task], pattern: str, **settings: Any) -> list[Record]:
    tasks = [replace(task, check=check_in(pattern, task), judge=None) for task in tasks]
    chosen = {"model": OracleModel.of(tasks), **settings}
    if tasks[0].tools != (asynchow.DO,):  # a tool that runs in a thread would be too late on a clock that leaps
        return asyncio.run(run_tasks(tasks, pattern, settings=chosen))
    # all at once, as time is virtual: the clock goes on in days, and one after the other they take twenty years
    return on_virtual_clock(run_tasks(tasks, pattern, at_once=len(tasks), settings=chosen))


def check_in(pattern: str, task: Task) -> Any:
    """What is right in a pattern that does one thing after the other, or calls no tool."""
    if pattern in IN_TURNS and task.check is asynchow.on_time:
        return asynchow.in_turn
    return same_answer if pattern == "plan_and_solve" else task.check


# --- what is read


@pytest.mark.parametrize("name", READ)
def test_no_row_is_left_out(name: str) -> None:
    tasks = sound(name)
    assert len(tasks) == published(name) - REFUSED.get(name, 0) > 0
    assert len(by_text(tasks)) == len(tasks)
    assert all(len(task.expected()) == len(task.gold) for task in tasks)


def published(name: str) -> int:
    folder = DATA / name.split()[0]
    if folder.name == "nestful":
        return sum(len(json.loads(path.read_text())) for path in folder.glob("*executable*-data.json"))
    return sum(len(path.read_text().splitlines()) for path in folder.glob("*.jsonl"))


@pytest.mark.parametrize("name", READ)
def test_sound_gold_plans_have_no_finding(name: str) -> None:
    assert {task.id: found for task in sound(name) if (found := codes(task))} == {}


def test_exactly_the_defective_gold_plans_of_nestful_are_refused_each_for_its_reason() -> None:
    found = {task.id: codes(task) for task in nestful.tasks(DATA, strict=False)}
    assert len(found) == 300
    assert {name: why for name, why in found.items() if why} == STRUCTURE


def test_exactly_the_gold_plans_that_break_their_specification_are_refused_where_it_is_taken_at_its_word() -> None:
    found = {task.id: codes(task) for task in nestful.tasks(DATA)}
    assert {name: why for name, why in found.items() if why and name not in STRUCTURE} == STRICT
    assert all(STRUCTURE[name] <= found[name] for name in STRUCTURE)


@pytest.mark.parametrize("pattern", WHOLE_PLANS)
def test_a_defective_gold_plan_ends_by_name_and_nothing_runs(pattern: str) -> None:
    tasks = [task for task in nestful.tasks(DATA, strict=False) if task.id in STRUCTURE]
    for record in run(random.Random(SEED).sample(tasks, FEW), pattern):
        assert (record["stop"], record["tool_calls"], record["model_calls"]) == ("plan_invalid", 0, 3), record["task"]


def test_in_turns_a_defective_gold_plan_ends_by_name_where_the_defect_is() -> None:
    tasks = [task for task in nestful.tasks(DATA, strict=False) if task.id in STRUCTURE]
    tasks = random.Random(SEED).sample(tasks, FEW)
    for task, record in zip(tasks, run(tasks, "react"), strict=True):
        assert record["stop"] == "plan_invalid", record["task"]
        assert record["tool_calls"] < len(task.gold)
        told = record["tool_calls"] > 0  # what was found until then goes into one more call, for an answer
        assert record["model_calls"] == record["tool_calls"] + 3 + told


# --- every plan right


@pytest.mark.parametrize(("name", "pattern"), RUNS)
def test_a_few_of_each_set_are_right_with_exact_counts(name: str, pattern: str) -> None:
    assert wrong(few(name), run(few(name), pattern)) == []


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "pattern"), RUNS)
def test_every_one_is_right_with_exact_counts(name: str, pattern: str, capsys: pytest.CaptureFixture[str]) -> None:
    tasks = sound(name)
    failed = wrong(tasks, run(tasks, pattern))
    with capsys.disabled():
        print(f"\n{name}, {pattern}: {len(tasks) - len(failed)} of {len(tasks)} right", end=" ")
    assert failed == []


# --- time


@pytest.mark.parametrize("pattern", WHOLE_PLANS)
def test_the_makespan_is_the_critical_path(pattern: str) -> None:
    tasks = few("asynchow")
    rows = {f"asynchow-{place}": row for place, row in enumerate(asynchow.rows(DATA))}
    for record in run(tasks, pattern):
        critical = rows[record["task"]]["critical_path_s"]
        assert asynchow.makespan(record["report"]["results"]) == pytest.approx(critical, abs=1e-3), record["task"]


@pytest.mark.parametrize("pattern", PLANNING)
def test_one_step_at_a_time_takes_the_sum_of_all(pattern: str) -> None:
    wide = [task for task in few("asynchow") if sum(not step.after for step in task.gold) > 1]
    for task, record in zip(wide, run(wide, pattern, concurrency=1), strict=True):
        seconds = sum(step.args["seconds"] for step in task.gold)
        assert asynchow.makespan(record["report"]["results"]) == pytest.approx(seconds, abs=1e-3)
        assert asynchow.on_time(task, record["report"]["results"]) != []


# --- the checks are sharp


def test_a_wrong_reference_shows_downstream() -> None:
    for name in ("nestful", "nestools", "mathqa"):
        changed = [with_gold(task, swapped) for task in sound(name)[:40] if (swapped := swap_references(task.gold))]
        assert changed
        assert [record["task"] for record in run(changed, "one_shot") if record["success"]] == []


def test_a_step_that_does_not_wait_for_its_inputs_is_found() -> None:
    tasks = [
        task for task in sound("asynchow") if any(step.after and after_takes_time(task, step) for step in task.gold)
    ]
    hasty = [with_gold(task, tuple(step.model_copy(update={"after": []}) for step in task.gold)) for task in tasks]
    assert [record["task"] for record in run(hasty, "one_shot") if record["success"]] == []


def with_gold(task: Task, gold: Sequence[StepDraft]) -> Task:
    return replace(task, gold=tuple(gold))


def after_takes_time(task: Task, step: StepDraft) -> bool:
    return any(other.args["seconds"] > 0 for other in task.gold if other.id in step.after)


def swap_references(gold: Sequence[StepDraft]) -> list[StepDraft] | None:
    """The plan with one argument that is a reference replaced by a constant of no meaning, or None without one."""
    for place, step in enumerate(gold):
        for name, value in step.args.items():
            if isinstance(value, str) and value.startswith("${steps."):
                other = 987654.25 if "arg_" in name else "somewhere else"
                changed = step.model_copy(update={"args": {**step.args, name: other}})
                return [*gold[:place], changed, *gold[place + 1 :]]
    return None


# --- the wire


@pytest.mark.parametrize("pattern", PLANNING)
def test_the_oracle_is_right_behind_a_server_too(
    pattern: str, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = [*few("nestful")[:2], *few("nestools")[:2], *few("mathqa")[:1]]
    oracle = OracleModel.of(tasks)
    for name, value in model_server.environment.items():
        monkeypatch.setenv(name, value)

    def say(body: Body) -> Any:
        return oracle.reply("\n".join(map(text_of, body["messages"])))

    model_server.reply(*[Reply(say) for _ in range(sum(MODEL_CALLS[pattern](len(task.gold)) for task in tasks))])
    assert wrong(tasks, asyncio.run(run_tasks(tasks, pattern))) == []


def test_the_oracle_says_what_it_does_not_know() -> None:
    tasks = few("mathqa")
    with pytest.raises(InputError, match="no gold for the task"):
        OracleModel.of(tasks[1:]).reply(f'Role: planner\n<task>\n"{tasks[0].text}"\n</task>')
    with pytest.raises(InputError, match="have the same text"):
        OracleModel.of([tasks[0], replace(tasks[0], id="other")])
