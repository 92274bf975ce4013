"""`forethought eval` on public sets: each with the oracle, killed in the middle, many at once, by noise."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evals.answering import Answering
from evals.noise import noisy
from evals.oracle import MODEL_CALLS, OracleModel
from evals.rows import Row, RowFile
from evals.sets import SETS, patterns_named, public
from graphs import names, plain_ways
from tests.support.gold import DATA, needs_data
from tests.support.model_server import ModelServer
from tests.support.protocol import Body, text_of
from tests.support.script import Reply
from tests.test_eval import Command, command, kept  # noqa: F401 - a fixture

pytestmark = [needs_data, pytest.mark.slow]
ROOT = Path(__file__).parent.parent
EVAL = ("eval", "gsm8k:12", "bfcl:3", "--patterns", "direct,one_shot,react,self_reflection", "--model", "oracle")
RECORDED, CONDITIONAL = ("planbench", "mbpp"), ("conditional_a", "conditional_b")
RUNS = 12 * 4 + 3 * 3
"""A direct answer calls no tool, and is not tried on bfcl."""


def begun(folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "FORETHOUGHT_HOME": str(folder / "home")}
    line = [sys.executable, "-m", "graphs", *arguments, "-o", str(folder / "out")]
    return subprocess.Popen(line, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def lines_of(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


@pytest.mark.timeout(120)
def test_an_eval_that_was_killed_twice_goes_on_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / "out" / "rows.jsonl"
    there: list[str] = []
    for more in (5, 20):
        process = begun(tmp_path, *EVAL, "--at-once", "3")
        until = time.monotonic() + 50
        while len(lines_of(file)) < more and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=20)
        assert process.returncode == -signal.SIGKILL
        found = lines_of(file)
        assert found[: len(there)] == there and len(found) >= more  # what had ended stays as it was
        there = found[:-1] if file.read_bytes()[-1:] != b"\n" else found
    so_far, err = begun(tmp_path, *EVAL, "--only-report").communicate(timeout=60)
    assert b"0 runs to do" in err and b"gsm8k (simulated)" in so_far and lines_of(file) == there
    out, err = begun(tmp_path, *EVAL).communicate(timeout=60)
    done = len({(row["set"], row["run"]) for row in map(json.loads, there)})
    assert f"{RUNS - done} runs to do, {done} done before" in err.decode()
    rows = list(RowFile(file).read().values())
    assert lines_of(file)[: len(there)] == there and len(lines_of(file)) == len(rows)
    assert len({row["run"] for row in rows}) == RUNS and all(row["success"] for row in rows)
    assert Counter(row["pattern"] for row in rows if row["set"] == "gsm8k") == dict.fromkeys(
        ("direct", "one_shot", "react", "self_reflection"), 12
    )
    assert b"gsm8k (simulated)" in out


def test_two_processes_do_not_work_on_one_eval(tmp_path: Path) -> None:
    first = begun(tmp_path, *EVAL)
    while not lines_of(tmp_path / "out" / "rows.jsonl"):
        time.sleep(0.02)
    second = begun(tmp_path, *EVAL)
    _, err = second.communicate(timeout=60)
    assert second.returncode == 2 and b"is going on in another process" in err
    assert first.communicate(timeout=60) and first.returncode == 0


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", [name for name in SETS if name not in (*RECORDED, *CONDITIONAL)])
def test_every_pattern_and_plain_way_is_right_on_each_set_with_the_oracle(
    name: str, command: Command, tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    ran = command("eval", f"{name}:4", "--model", "oracle", "-o", "out")
    assert ran.code == 0, ran.err
    rows = kept(tmp_path / "out")
    assert [(row["run"], row["problems"]) for row in rows if not row["success"]] == []
    oracle, one = Answering("oracle"), public(name)
    assert {row["pattern"] for row in rows} == {
        pattern for pattern in patterns_named(()) if not oracle.why_not(pattern, one)
    }
    assert set(patterns_named(())) == {*plain_ways(), *names()}


def test_of_two_worlds_that_differ_in_one_observation_who_plans_once_wins_one(
    command: Command, tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    asked = (
        "eval",
        *CONDITIONAL,
        "-n",
        "12",
        "--patterns",
        "one_shot,plan_and_execute",
        "--model",
        "oracle",
        "-o",
        "out",
    )
    assert command(*asked).code == 0
    right = {(row["pattern"], row["task"]): row["success"] for row in kept(tmp_path / "out")}
    pairs = {task[:-1] for _, task in right}
    assert len(pairs) == 12
    for pair in pairs:
        assert right["one_shot", f"{pair}a"] + right["one_shot", f"{pair}b"] == 1
        assert right["plan_and_execute", f"{pair}a"] and right["plan_and_execute", f"{pair}b"]


@pytest.mark.timeout(300)
def test_recorded_answers_come_out_as_they_were_recorded(command: Command, tmp_path: Path) -> None:  # noqa: F811
    ran = command("eval", "mbpp:20", "planbench:20", "--model", "recorded", "-o", "out")
    assert ran.code == 0, ran.err
    flags = {
        row["name"]: row["attempts"] for row in map(json.loads, lines_of(DATA / "reflexion" / "mbpp_replay.jsonl"))
    }
    right = {(row["pattern"], row["task"]): row["success"] for row in kept(tmp_path / "out") if row["set"] == "mbpp"}
    tasks = {task for pattern, task in right if pattern == "direct"}
    assert len(tasks) == 20
    assert {task: right["direct", task] for task in tasks} == {task: flags[task][0]["reran_passed"] for task in tasks}
    assert "not tried: chain_of_thought, retry, react" in ran.out and "mbpp (recorded)" in ran.out


def test_a_server_that_answers_many_at_once_is_measured(
    command: Command, tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:  # fmt: skip
    for name, value in model_server.environment.items():
        monkeypatch.setenv(name, value)
    tasks = public("gsm8k").sample(6, 0).tasks()
    oracle, chosen = OracleModel.of(tasks), ("direct", "chain_of_thought", "retry", "one_shot", "react")

    def say(body: Body) -> Any:
        return oracle.reply("\n".join(map(text_of, body["messages"])))

    calls = {pattern: sum(MODEL_CALLS[pattern](len(task.gold)) for task in tasks) for pattern in chosen}
    model_server.reply(*[Reply(say) for _ in range(sum(calls.values()))])
    ran = command("eval", "gsm8k:6", "--patterns", ",".join(chosen), "-o", "out")
    assert ran.code == 0, ran.err
    rows = kept(tmp_path / "out")
    assert len(rows) == 30 and all(row["success"] and row["tokens_in"] and row["tokens_out"] for row in rows)
    assert {one: sum(row["model_calls"] for row in rows if row["pattern"] == one) for one in chosen} == calls
    assert {(row["model"], row["simulated"]) for row in rows} == {("scripted", False)}
    assert "tokens of a task" in (tmp_path / "out" / "gsm8k.cost.svg").read_text(encoding="utf-8")


def test_the_same_seed_of_noise_gives_the_same_rows(command: Command, tmp_path: Path) -> None:  # noqa: F811
    def told(rows: Sequence[Row]) -> list[Any]:
        return sorted((row["run"], row["success"], row["model_calls"], row["stop"]) for row in rows)

    found = []
    for out, seed, at_once in (("a", "1", "8"), ("b", "1", "2"), ("c", "2", "8")):
        asked = ("eval", "nestools:10", "--patterns", "retry,plan_and_execute,react", "--model", "noisy")
        ran = command(*asked, "--noise", "0.2", "--noise-seed", seed, "--at-once", at_once, "-o", out)
        assert ran.code == 0, ran.err
        found.append(told(kept(tmp_path / out)))
    assert found[0] == found[1] != found[2]


def test_noise_makes_answers_at_once_as_wrong_as_their_steps(command: Command) -> None:  # noqa: F811
    tasks = public("mathqa").tasks()
    model, p = noisy(tasks, p=0.2, seed=3), 0.2
    right = sum(
        model.reply(f"Role: direct\n<task>\n{json.dumps(task.text)}\n</task>") == str(task.answer()) for task in tasks
    )
    expected = sum((1 - p) ** len(task.gold) for task in tasks)
    spread = sum((1 - p) ** len(task.gold) * (1 - (1 - p) ** len(task.gold)) for task in tasks) ** 0.5
    assert abs(right - expected) < 3 * spread


@pytest.mark.parametrize("name", ["nestools", "gsm8k"])
def test_trying_again_from_nothing_meets_other_faults(name: str, command: Command, tmp_path: Path) -> None:  # noqa: F811
    ran = command("eval", f"{name}:30", "--patterns", "retry", "--model", "noisy", "--noise", "0.3", "-o", "out")
    assert ran.code == 0, ran.err
    again = [row for row in kept(tmp_path / "out") if row["model_calls"] > 3]
    assert len(again) > 10 and any(row["success"] for row in again)
