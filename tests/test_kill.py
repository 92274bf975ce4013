"""`kill -9` at the worst moments, resumed by thread id from SQLite: finished work stays, writes happen once."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_server import ModelServer
from tests.support.plans import by_step, plan, replies_after_plan, step
from tests.support.script import Reply

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent
DIAMOND = plan(
    step("a", "look", {"name": "a"}),
    step("b", "look", {"name": "b"}),
    step("c", "look", {"name": "c", "after": "${steps.a}", "seconds": 0.3}),
    step("d", "look", {"name": "d", "after": "${steps.b}", "seconds": 0.3}),
    step("e", "look", {"name": "e", "after": ["${steps.c}", "${steps.d}"]}),
)
PAYMENT = plan(
    step("a", "look", {"name": "a"}),
    step("p", "pay", {"amount": 7}, after=["a"]),
    step("z", "look", {"name": "z"}, after=["p"]),
)


def run(folder: Path, mode: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.support.killed", str(folder), mode]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


def killed(folder: Path, mode: str) -> None:
    done = run(folder, mode)
    assert done.returncode == -signal.SIGKILL, done.stderr


def finished(folder: Path, mode: str) -> dict[str, Any]:
    done = run(folder, mode)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def trace(folder: Path) -> list[str]:
    return (folder / "trace").read_text().splitlines()


def setup(folder: Path, pattern: str, the_plan: Any, **more: Any) -> None:
    after = replies_after_plan(pattern)
    replies = {"start": [the_plan], "resume": after, "answer approve": after, "answer reject": after}
    (folder / "setup.json").write_text(json.dumps({"pattern": pattern, "replies": replies, **more}))


@pytest.mark.parametrize("pattern", ["one_shot", "plan_and_execute", "rewoo", "self_reflection"])
def test_what_had_finished_before_a_kill_does_not_run_again(tmp_path: Path, pattern: str) -> None:
    setup(tmp_path, pattern, DIAMOND, die_at="in c")
    killed(tmp_path, "start")
    report = finished(tmp_path, "resume")
    assert report["stop"]["reason"] == "done"
    lines = trace(tmp_path)
    assert [lines.count(f"end {name}") for name in "abcde"] == [1, 1, 1, 1, 1]
    assert [lines.count(f"start {name}") for name in "ab"] == [1, 1]
    assert {name: result["output"] for name, result in by_step(report).items()} == {
        name: f"result of {name}" for name in "abcde"
    }


def test_a_kill_after_the_effect_asks_a_person_and_never_pays_twice(tmp_path: Path) -> None:
    setup(tmp_path, "plan_and_execute", PAYMENT, die_at="after effect")
    killed(tmp_path, "start")
    report = finished(tmp_path, "resume")
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("pause", "pending_reconcile")
    assert report["open_requests"][0]["kind"] == "reconcile"
    report = finished(tmp_path, "answer approve")
    assert report["stop"]["reason"] == "done"
    assert trace(tmp_path).count("paid 7") == 1
    assert by_step(report)["z"]["status"] == "done"


def test_a_kill_before_the_effect_pays_once_after_a_person_says_it_did_not_happen(tmp_path: Path) -> None:
    setup(tmp_path, "one_shot", PAYMENT, die_at="before effect")
    killed(tmp_path, "start")
    assert finished(tmp_path, "resume")["stop"]["reason"] == "pending_reconcile"
    report = finished(tmp_path, "answer reject")
    assert report["stop"]["reason"] == "done"
    assert trace(tmp_path).count("paid 7") == 1


@pytest.mark.parametrize("point", ["before effect", "after effect"])
def test_the_tools_own_look_up_settles_a_lost_outcome_without_a_person(tmp_path: Path, point: str) -> None:
    setup(tmp_path, "one_shot", PAYMENT, die_at=point, lookup=True)
    killed(tmp_path, "start")
    report = finished(tmp_path, "resume")
    assert report["stop"]["reason"] == "done"
    assert trace(tmp_path).count("paid 7") == 1
    assert by_step(report)["p"]["output"] == {"paid": 7}


@pytest.mark.parametrize(
    ("chosen", "seen"),
    [
        ("one_shot", {"steps": 2}),
        ("rewoo", {"steps": 5, "dependent": True, "expandable": True}),
        ("self_reflection", {"steps": 5, "vague": True}),
    ],
)
def test_a_run_of_auto_goes_on_after_a_kill_as_the_pattern_that_it_chose(
    tmp_path: Path, chosen: str, seen: dict[str, Any]
) -> None:
    replies = {"start": [seen, DIAMOND], "resume": replies_after_plan(chosen)}
    (tmp_path / "setup.json").write_text(json.dumps({"pattern": "auto", "replies": replies, "die_at": "in c"}))
    killed(tmp_path, "start")
    report = finished(tmp_path, "resume")
    assert (report["stop"]["reason"], report["chosen"]["pattern"]) == ("done", chosen)
    assert [trace(tmp_path).count(f"end {name}") for name in "abcde"] == [1, 1, 1, 1, 1]


@pytest.mark.parametrize("point", ["in a", "in c", "after effect"])
def test_a_kill_while_the_plan_is_being_written_repeats_look_ups_at_most_and_pays_once(
    tmp_path: Path, point: str, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in model_server.environment.items():
        monkeypatch.setenv(name, value)
    long = plan(
        step("a", "look", {"name": "a"}),
        step("c", "look", {"name": "c", "after": "${steps.a}"}),
        step("p", "pay", {"amount": 7}, after=["c"]),
        step("z", "look", {"name": "z", "after": "z" * 2000}),
    )
    told = {"pattern": "one_shot", "replies": {"start": [], "resume": []}, "die_at": point, "lookup": True}
    (tmp_path / "setup.json").write_text(json.dumps({**told, "settings": {"model": None, "stream_plan": True}}))
    planned = Reply(long, pace=0.02)
    model_server.reply(*[planned] * (1 if point == "after effect" else 2))
    killed(tmp_path, "start")
    assert ("paid 7" in trace(tmp_path)) == (point == "after effect")
    report = finished(tmp_path, "resume")
    assert report["stop"]["reason"] == "done"
    assert {name: result["status"] for name, result in by_step(report).items()} == dict.fromkeys("acpz", "done")
    assert trace(tmp_path).count("paid 7") == 1


@pytest.mark.parametrize("point", ["before effect", "after effect"])
def test_a_turn_that_asks_again_for_what_was_made_before_a_kill_does_not_make_it_twice(
    tmp_path: Path, point: str
) -> None:
    pays = json.dumps({"thought": "pay", "tool": "pay", "args": {"amount": 7}})
    replies = {"start": [pays], "resume": [pays, json.dumps({"thought": "it is paid", "answer": "paid"})]}
    told = {"pattern": "react", "replies": replies, "die_at": point, "lookup": True}
    (tmp_path / "setup.json").write_text(json.dumps(told))
    (tmp_path / "trace").touch()
    killed(tmp_path, "start")
    report = finished(tmp_path, "resume")
    assert (report["stop"]["reason"], [line for line in trace(tmp_path) if "paid" in line]) == ("done", ["paid 7"])
    assert [result["step"] for result in report["results"]] == ["t1"]
