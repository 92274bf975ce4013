"""What the noisy oracle shows of the patterns: where reflecting is worth it, where not, and what always holds.

Simulated: the figures say how patterns take faults of a known rate, and not how good any model is.
"""

import asyncio
import copy
import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

import pytest

from evals import bfcl, mathqa, nestful
from evals.intervals import paired_difference
from evals.nestful_defects import STRICT, STRUCTURE
from evals.noise import noisy
from evals.runner import Record, run_tasks
from evals.tasks import Task
from evals.truth import mended
from state.errors import ToolFailed
from state.plan import StepDraft, canonical
from tests.support.gold import DATA, PLANNING, needs_data
from tests.test_worlds import needs_tools

pytestmark = [needs_data, pytest.mark.slow]
ROUNDS = {"replans": 3, "attempts": 3, "reflections": 2, "steps": 80, "iterations": 40, "failures": 20}
"""As the reference has it: three replans, three rounds; long plans meet no other limit."""
SEED, SEEDS = 20240807, 3
FEW = 160


def run(tasks: Sequence[Task], pattern: str, *, limits: dict[str, Any] = ROUNDS, **how: Any) -> list[Record]:
    settings = {"model": noisy(tasks, **how), "limits": limits}
    return asyncio.run(run_tasks(tasks, pattern, settings=settings))


def long_dialogues() -> list[Task]:
    """Dialogues of five calls and more, in worlds that are as new."""
    return [task for task in bfcl.whole_dialogues(DATA) if len(task.gold) >= 5]


@cache
def nested() -> list[Task]:
    """Tasks in which every fault is silent: a stub gives an output for whatever it gets."""
    rows = [task for task in nestful.tasks(DATA) if task.id not in {*STRUCTURE, *STRICT}]
    several = [task for task in [*rows, *mathqa.tasks(DATA)] if len(task.gold) > 2]
    return mended(random.Random(SEED).sample(several, FEW))


def over(tasks: Callable[[], list[Task]], pattern: str, seeds: int = SEEDS, **how: Any) -> list[Record]:
    """Runs with several seeds; every pattern meets the same faults at its first attempt."""
    return [record for seed in range(seeds) for record in run(tasks(), pattern, seed=seed, **how)]


def share(records: Sequence[Record]) -> float:
    return sum(record["success"] for record in records) / len(records)


def calls(records: Sequence[Record]) -> float:
    return sum(record["model_calls"] for record in records) / len(records)


def better(first: Sequence[Record], second: Sequence[Record]) -> float:
    """By how much the first is surely better: the low end of the interval of the difference, task by task."""
    pairs = [(one["success"], other["success"]) for one, other in zip(first, second, strict=True)]
    return paired_difference(pairs).low


@needs_tools
@pytest.mark.timeout(300)
@pytest.mark.parametrize("pattern", PLANNING)
def test_without_noise_every_whole_dialogue_is_right(pattern: str) -> None:
    """Among them those in which gold calls the same twice."""
    records = run(long_dialogues(), pattern, p=0.0, false_alarm=0.0)
    assert {record["task"]: record["problems"] for record in records if not record["success"]} == {}


@needs_tools
@pytest.mark.timeout(300)
def test_from_five_calls_on_one_shot_is_worse_than_planning_again_and_that_is_worse_than_reflecting() -> None:
    runs = {name: over(long_dialogues, name) for name in ("one_shot", "plan_and_execute", "self_reflection")}
    assert better(runs["plan_and_execute"], runs["one_shot"]) > 0.05
    assert better(runs["self_reflection"], runs["plan_and_execute"]) > 0.01


@pytest.mark.timeout(300)
def test_where_code_sees_nothing_a_blind_critic_is_no_better_than_one_shot() -> None:
    blind = over(nested, "self_reflection", seeds=1, recall=0.0, false_alarm=0.0)
    once = over(nested, "one_shot", seeds=1)
    assert [record["success"] for record in blind] == [record["success"] for record in once]
    assert 0.5 < share(once) < 0.95
    seeing = over(nested, "self_reflection", seeds=1, false_alarm=0.0)
    assert better(seeing, blind) > 0.05


@needs_tools
@pytest.mark.timeout(300)
def test_where_code_sees_failures_a_blind_critic_is_no_better_than_planning_again() -> None:
    blind = over(long_dialogues, "self_reflection", seeds=2, recall=0.0, false_alarm=0.0)
    again = over(long_dialogues, "plan_and_execute", seeds=2)
    assert better(blind, again) <= 0


@pytest.mark.timeout(300)
def test_a_harsh_critic_costs_more_and_does_not_win() -> None:
    fair = over(nested, "self_reflection", seeds=1)
    harsh = over(nested, "self_reflection", seeds=1, false_alarm=0.5)
    assert calls(harsh) > calls(fair) + 1
    assert better(fair, harsh) > 0
    once = over(nested, "one_shot", seeds=1)
    assert better(harsh, once) <= 0


class Logged(bfcl.World):
    """A world that notes what was really called in it, and whether it succeeded."""

    made: ClassVar[list["Logged"]] = []

    def __init__(self, row: Any) -> None:
        super().__init__(row)
        self.row, self.log = row, list[tuple[str, dict[str, Any], bool]]()
        Logged.made.append(self)

    def call(self, tool: str, args: Any) -> Any:
        self.log.append((tool, copy.deepcopy(dict(args)), False))
        output = super().call(tool, args)
        self.log[-1] = (*self.log[-1][:2], True)
        return output

    def succeeded(self) -> Counter[str]:
        """How often each call did."""
        return Counter(canonical([tool, args]) for tool, args, well in self.log if well)

    def again(self) -> str:
        """The state of a world as new in which the same was called, and nothing else; some failures leave traces."""
        fresh = Logged(self.row)
        for tool, args, _ in self.log:
            with suppress(ToolFailed):
                fresh.call(tool, args)
        return fresh.state()


@needs_tools
@pytest.mark.timeout(300)
@pytest.mark.parametrize("pattern", [*PLANNING, "retry"])
def test_no_finished_step_runs_twice(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call that succeeded is that of one finished step, and nothing but calls of steps changed the world."""
    monkeypatch.setattr(bfcl, "World", Logged)
    monkeypatch.setattr(Logged, "made", [])
    every = list(bfcl.whole_dialogues(DATA))
    worlds = dict(zip([task.id for task in every], Logged.made[::2], strict=True))  # the others are those of gold
    tasks = [task for task in every if len(task.gold) >= 5][:40]
    for record in run(tasks, pattern, p=0.3):
        world, results = worlds[record["task"]], record["report"]["results"]
        finished = Counter(canonical([one["tool"], one["args"]]) for one in results if one["status"] == "done")
        assert world.succeeded() <= finished, record["task"]
        assert len(world.log) == sum(one["attempts"] for one in results) == record["tool_calls"], record["task"]
        assert world.again() == world.state(), record["task"]


@needs_tools
@pytest.mark.timeout(300)
@pytest.mark.parametrize("pattern", [*PLANNING, "retry"])
def test_the_budget_holds_where_every_second_call_is_wrong(pattern: str) -> None:
    most = {"model_calls": 6, "tool_calls": 8}
    records = run(long_dialogues()[:50], pattern, limits={**ROUNDS, **most}, p=0.5)
    for record in records:
        assert record["model_calls"] <= most["model_calls"], record["task"]
        assert record["tool_calls"] <= most["tool_calls"], record["task"]
        assert record["report"]["stop"]["message"]
    ends = Counter(record["stop"] for record in records)
    assert pattern in ("one_shot", "rewoo") or ends["model_calls"] + ends["tool_calls"] > 5, ends


@pytest.mark.timeout(300)
@pytest.mark.parametrize("pattern", ["react", "combined"])
def test_a_limit_of_many_rounds_ends_in_a_report_too(pattern: str) -> None:
    """LangGraph's own limit would end such a run with an error, and its state would be lost."""
    task = next(task for task in mathqa.tasks(DATA) if task.gold[0].tool == "add")
    numbers = [{"arg_0": 1000.0 + number, "arg_1": 1.0} for number in range(230)]
    gold = tuple(StepDraft(id=f"s{number}", tool="add", args=args) for number, args in enumerate(numbers))
    limits = {"steps": 500, "iterations": 220}
    [record] = run([replace(task, gold=gold)], pattern, limits=limits, p=0.0)
    assert (record["stop"], record["tool_calls"]) == ("iterations", 220)
