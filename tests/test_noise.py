"""The noisy oracle: which faults it makes follows from task, pattern, step, attempt and seed, and from nothing else."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from evals import mathqa, nestful
from evals.answers import same_text
from evals.faults import MALFORMED, WEIGHTS, chance, faulty
from evals.nestful_defects import STRICT, STRUCTURE
from evals.noise import malformed, noisy
from evals.oracle import OracleModel
from evals.rates import Noise
from evals.runner import Record, run_tasks
from evals.tasks import Task
from evals.truth import mended
from state.errors import InputError
from tests.support.gold import DATA, PLANNING, needs_data, wrong
from tests.support.model_server import ModelServer
from tests.support.protocol import Body, text_of
from tests.support.script import Reply

pytestmark = [needs_data, pytest.mark.slow]
SEED = 20240807


@cache
def nested() -> list[Task]:
    return mended([task for task in nestful.tasks(DATA) if task.id not in {*STRUCTURE, *STRICT}])


@cache
def sums() -> list[Task]:
    return mended(list(mathqa.tasks(DATA)))


def few(tasks: Sequence[Task], count: int) -> list[Task]:
    return random.Random(SEED).sample(list(tasks), count)


def run(tasks: Sequence[Task], pattern: str, *, at_once: int = 8, concurrency: int = 200, **how: Any) -> list[Record]:
    settings = {"model": noisy(tasks, pattern=pattern, **how), "concurrency": concurrency}
    return asyncio.run(run_tasks(tasks, pattern, at_once=at_once, settings=settings))


def told(record: Record) -> Any:
    """Everything that a run came to but times."""
    plans = [[(step["id"], step["tool"], step["args"]) for step in plan["steps"]] for plan in record["report"]["plans"]]
    results = sorted((one["step"], one["status"], one["output"]) for one in record["report"]["results"])
    return json.dumps([record["stop"], record["model_calls"], record["tool_calls"], plans, results], default=str)


@pytest.mark.parametrize("pattern", PLANNING)
def test_the_same_faults_come_whatever_the_schedule(pattern: str) -> None:
    tasks = few(sums(), 40) + few(nested(), 20)
    first = {record["task"]: told(record) for record in run(tasks, pattern, at_once=1, concurrency=1, p=0.2)}
    again = run(random.Random(SEED).sample(tasks, len(tasks)), pattern, at_once=200, p=0.2)
    assert {record["task"]: told(record) for record in again} == first
    other = {record["task"]: told(record) for record in run(tasks, pattern, at_once=200, p=0.2, seed=1)}
    assert sum(other[name] != first[name] for name in first) > len(tasks) / 4


@pytest.mark.parametrize("pattern", PLANNING)
def test_without_noise_it_is_the_oracle(pattern: str) -> None:
    tasks = few(sums(), 20) + few(nested(), 20)
    assert wrong(tasks, run(tasks, pattern, p=0.0, recall=0.0, false_alarm=0.0)) == []


def test_faults_come_as_often_as_they_should() -> None:
    pairs = [(task, step, seed) for seed in range(40) for task in nested() for step in task.gold if len(step.args) > 0]
    kinds = Counter(faulty(step, task, 0.09, [task.id, seed]).kind for task, step, seed in pairs)
    made = len(pairs) - kinds[""]
    assert made / len(pairs) == pytest.approx(0.09, abs=0.005)
    assert {kind: kinds[kind] / made for kind in WEIGHTS} == pytest.approx(dict(WEIGHTS), abs=0.03)


def test_a_fault_is_never_the_gold_call_but_where_the_reply_is_malformed() -> None:
    pairs = [(task, step) for task in nested() + sums() for step in task.gold]
    faults = [(step, faulty(step, task, 1.0, [task.id])) for task, step in pairs]
    assert [step.id for step, fault in faults if fault.kind != MALFORMED and fault.steps == (step,)] == []


def test_chance_is_even() -> None:
    assert sum(chance("even", place) < 0.25 for place in range(4000)) == pytest.approx(1000, abs=90)


def test_malformed_replies_are_recorded_ones_where_they_are_there(tmp_path: Path) -> None:
    (tmp_path / "malformed").mkdir()
    (tmp_path / "malformed" / "one.json").write_text(json.dumps({"input": "Act: None"}))
    [task] = few(sums(), 1)
    assert Noise(texts=malformed(tmp_path)).broken(task, [], {"steps": []}) == "Act: None"
    assert Noise(texts=malformed(tmp_path / "none")).broken(task, [], {"steps": []}) == '{"step'


@pytest.mark.parametrize("how", [{"p": 1.5}, {"recall": -0.1}, {"false_alarm": 2}, {"gain": -1}])
def test_noise_that_can_not_be_is_refused_by_name(how: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(how))} is"):
        noisy([], **how)


@pytest.mark.parametrize("pattern", ["plan_and_execute", "self_reflection", "react"])
def test_behind_a_server_the_same_faults_come(
    pattern: str, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = few(sums(), 6)
    near = run(tasks, pattern, at_once=1, p=0.3, cases=Path("none"))
    served = noisy(tasks, pattern=pattern, p=0.3, cases=Path("none"))
    for name, value in model_server.environment.items():
        monkeypatch.setenv(name, value)

    def say(body: Body) -> Any:
        return served.reply("\n".join(map(text_of, body["messages"])))

    model_server.reply(*[Reply(say) for _ in range(sum(record["model_calls"] for record in near))])
    far = asyncio.run(run_tasks(tasks, pattern, at_once=1))
    assert [told(record) for record in far] == [told(record) for record in near]


def test_the_model_is_marked_as_one_that_makes_faults() -> None:
    assert isinstance(noisy([]), OracleModel)
    assert noisy([]).model_name == "noisy"


def test_who_tries_again_and_tells_nothing_gets_another_reply() -> None:
    tasks = few(sums(), 60)
    once, again = run(tasks, "one_shot", p=0.3, recall=1.0), run(tasks, "retry", p=0.3, recall=1.0, false_alarm=0.0)
    assert sum(record["success"] for record in again) > sum(record["success"] for record in once) + 10


@pytest.mark.parametrize("pattern", ["direct", "chain_of_thought"])
def test_an_answer_in_one_go_is_right_when_no_call_on_the_way_would_have_been_wrong(pattern: str) -> None:
    tasks = [replace(task, judge=same_text) for task in few(sums(), 150) if len(task.gold) > 2]
    share = sum(record["success"] for record in run(tasks, pattern, p=0.2)) / len(tasks)
    right = sum((1 - 0.2 * (1 - WEIGHTS[MALFORMED])) ** len(task.gold) for task in tasks) / len(tasks)
    assert share == pytest.approx(right, abs=0.12)
