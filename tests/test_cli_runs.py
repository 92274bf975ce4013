"""The commands about kept runs: runs, show, fork, replay, export; and --debug."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from state.events import Event
from state.stop import StopReason
from tests.support.model_server import ModelServer
from tests.support.postgres import Postgres
from tests.support.runs import critique, drafted, plan, refined, says, step, turn
from tests.support.script import Reply
from tests.support.terminal import Terminal

ROOT = Path(__file__).parent.parent
Command = Callable[..., Any]


@pytest.fixture(autouse=True)
def in_a_folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "TTY_COMPATIBLE", "FORETHOUGHT_DATABASE"):
        monkeypatch.delenv(name, raising=False)
    return folder


def write_plan(text: str = "hello", path: str = "out.txt") -> Reply:
    return plan(step("w", "write_file", path=path, text=text))


def failing(model: ModelServer) -> None:
    """A run with a failure, a replan and two versions of the plan."""
    model.reply(
        plan(step("a", "read_file", path="none.txt")), plan(step("b", "calculator", expression="6 * 7")), says("42")
    )


# ---- runs and show


def test_kept_runs_are_listed_newest_first(command: Command, model: ModelServer) -> None:
    assert "no run has been kept yet" in command("runs").out
    command("run", "2 + 3", "--model", "offline", "--thread", "first")
    model.reply(write_plan())
    command("run", "write it", "--thread", "second", "--no-input")
    head, *lines = command("runs").out.splitlines()
    assert head.split() == ["thread", "when", "pattern", "stop", "versions", "cost", "task"]
    assert [line.split()[0] for line in lines] == ["second", "first"]
    assert "needs_approval" in lines[0] and "unknown" in lines[0] and lines[0].endswith("write it")
    assert re.search(r"done +1 +0 +2 \+ 3$", lines[1])
    [row] = json.loads(command("runs", "--limit", "1", "--json").out)
    assert (row["thread"], row["stop"], row["plan_versions"]) == ("second", "needs_approval", 1)


def test_a_run_is_shown_with_its_plans_steps_times_cost_and_points(command: Command, model: ModelServer) -> None:
    failing(model)
    command("run", "read and count", "--thread", "t")
    out = command("show", "t").out
    assert out.startswith("run t: read and count\n\n42\n\nstop: done")
    assert "plan 1 by planner" in out and "plan 2 by planner" in out
    assert "added: b" in out
    assert re.search(r"^  b calculator: done \(42\)$", out, re.M)
    assert re.search(r"^  \[ +\d+\.\d+s\] b done after \d+\.\d s$", out, re.M)
    assert re.search(r"^  planner: 2 calls, tokens in [\d,]+, out [\d,]+, cost unknown$", out, re.M)
    points = out.partition("can be forked --at:")[2].split("\n")
    assert {line.split()[0] for line in points if line} == {"1", "a", "2", "b"}
    assert command("show", "t", "--plan", "2").out.startswith("plan 2 by planner")
    assert json.loads(command("show", "t", "--plan", "1", "--json").out)["version"] == 1
    assert command("show", "t", "--plan", "3").code == 2
    whole = json.loads(command("show", "t", "--json").out)
    assert (whole["report"]["answer"], whole["thread"]) == ("42", "t")


def test_an_unknown_run_is_one_line(command: Command) -> None:
    for name in ("show", "replay"):
        ran = command(name, "nobody")
        assert (ran.code, ran.err.startswith("error: there is no r")) == (2, True)


def test_prompts_replies_requests_and_results_are_shown_later(command: Command, model: ModelServer) -> None:
    failing(model)
    command("run", "read and count", "--thread", "t")
    out = command("show", "t", "--prompts").out
    assert "--- planner asks scripted, asked as json_schema" in out
    assert "Role: planner" in out and "read and count" in out
    assert '--- step a calls read_file {"path": "none.txt"}' in out and "not_found" in out
    assert re.search(
        r'--- step b calls calculator \{"expression": "6 \* 7"\} \(\d+\.\d s\), tries: 1\n\[done\]\n42', out
    )
    entries = [json.loads(line) for line in command("show", "t", "--prompts", "--json").out.splitlines()]
    assert sum("request" in entry for entry in entries) == len(model.requests)


def test_debug_shows_every_exchange_while_it_happens(command: Command, model: ModelServer) -> None:
    failing(model)
    ran = command("run", "read and count", "--debug", "--json")
    assert json.loads(ran.out)["answer"] == "42"
    assert "Role: planner" in ran.err and "--- step b calls calculator" in ran.err
    model.reply(plan(step("b", "calculator", expression="6 * 7")))
    ran = command("plan", "count", "--debug")  # nothing of it is kept or recorded
    assert "Role: planner" in ran.err


def test_recording_can_be_turned_off(command: Command, home: Path) -> None:
    command("run", "2 + 3", "--thread", "t", "--set", "record=")
    assert not (home / "recordings").exists()
    ran = command("show", "t", "--prompts")
    assert (ran.code, "was not recorded" in ran.err) == (2, True)


def test_a_recording_that_can_not_be_written_ends_the_run_before_it_begins(command: Command, home: Path) -> None:
    (home / "recordings").write_text("in the way")
    ran = command("run", "2 + 3", "--thread", "t")
    assert (ran.code, "can't be written" in ran.err) == (2, True)


def test_keys_are_in_no_file_of_the_home_folder(
    command: Command, model: ModelServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "hush-hush-123")
    model.reply(plan(step("b", "calculator", expression="6 * 7")), says("42"))
    command("run", "count", "--thread", "t", "--set", "smtp=smtp://me:s3cret@127.0.0.1:25")
    text = (home / "recordings" / "t.jsonl").read_text()
    assert not any(secret in text for secret in ("test-key", "hush-hush-123", "s3cret"))


@pytest.mark.slow
def test_the_list_fits_a_narrow_terminal_and_cuts_no_name(command: Command) -> None:
    name = "a-name-that-is-long-and-has-to-be-typed"
    command("run", "add 17 and 25, then multiply it by 3", "--thread", name)
    line, there = [sys.executable, "-m", "graphs", "runs"], {**os.environ, "PYTHONPATH": str(ROOT)}
    with Terminal(line, width=40, env=there) as terminal:
        assert terminal.leave() == 0
        assert "done" in terminal.text
        lines = [line.rstrip() for line in terminal.text.splitlines()]
        assert max(map(len, lines)) <= 40
        assert name in lines and "  add 17 and 25, then multiply it by 3" in lines


# ---- the event log


EVENT = Draft202012Validator({**TypeAdapter(Event).json_schema(), "additionalProperties": False})


def test_every_event_of_real_runs_fits_the_schema(command: Command, model: ModelServer) -> None:
    failing(model)
    command("run", "a replan", "--thread", "replan")
    model.reply(write_plan(), says("written"))
    command("run", "an approval", "--thread", "approval", "--yes")
    model.reply(write_plan())
    command("run", "a rejection", "--thread", "rejection", "--no-input", "--pattern", "one_shot")
    [question] = json.loads(command("show", "rejection", "--json").out)["report"]["open_requests"]
    command("resume", "rejection", "--answer", f"{question['id']}=reject:no")
    seen: set[str] = set()
    for thread in ("replan", "approval", "rejection"):
        lines = command("show", thread, "--events", "--json").out.splitlines()
        for event in map(json.loads, lines):
            EVENT.validate(event)
            seen.add(event["event"])
        assert len(command("show", thread, "--events").out.splitlines()) == len(lines)
    assert {"request", "plan", "step_done", "step_failed", "failure", "pause", "answer", "verdict", "stop"} <= seen


def test_the_schema_in_the_docs_is_that_of_the_code() -> None:
    text = (ROOT / "docs" / "watching.md").read_text(encoding="utf-8")
    section = text.partition("## The event log")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    named = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert set(Event.__annotations__) <= named
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "nodes").rglob("*.py"))
    written = set(re.findall(r"""(?:\.event|\.show|event_record)\(\s*(?:[\w.\[\]"]+,\s*)?"(\w+)\"""", source))
    assert len(written) > 15 and written - named == set()


# ---- fork


def test_a_fork_rejects_what_the_run_had_approved_and_leaves_it_as_it_is(
    command: Command, model: ModelServer, in_a_folder: Path
) -> None:
    model.reply(write_plan(), says("written"))
    command("run", "write it", "--thread", "t", "--yes")
    before = command("show", "t").out
    question = next(line.split()[0] for line in before.splitlines() if "the question about step w" in line)
    model.reply(says("left out"))
    arguments = ("fork", "t", "--at", question, "--thread", "u", "--answer", f"{question}=reject:no", "--no-input")
    ran = command(*arguments, "--json")
    assert json.loads(ran.out)["stop"]["reason"] == "rejected"
    assert ran.code == StopReason.REJECTED.exit_code
    assert "forked from t at the question about step w" in ran.err
    assert command("show", "t").out == before
    assert [row["thread"] for row in json.loads(command("runs", "--json").out)] == ["u", "t"]
    assert command("replay", "u").out.startswith("identical")
    taken = command(*arguments)
    assert (taken.code, "is there already" in taken.err) == (2, True)


def test_a_fork_with_an_answer_to_no_question_of_the_run_makes_nothing(command: Command, model: ModelServer) -> None:
    model.reply(write_plan(), says("written"))
    command("run", "write it", "--thread", "t", "--yes")
    ran = command("fork", "t", "--at", "1", "--thread", "u", "--answer", "e356=approve", "--no-input")
    assert (ran.code, "nobody asks 'e356'; asked were: " in ran.err) == (2, True)
    assert [row["thread"] for row in json.loads(command("runs", "--json").out)] == ["t"]


def test_a_request_that_is_refused_leaves_no_run_and_spoils_none(command: Command) -> None:
    wrong = ("--thread", "t", "--constraints", '{"forbid": ["writefile"]}')
    assert command("run", "2 + 3", *wrong).code == 2
    assert json.loads(command("runs", "--json").out) == []
    command("run", "2 + 3", "--thread", "t")
    assert command("run", "2 + 4", *wrong).code == 2
    ran = command("resume", "t", "--json")
    assert (ran.code, json.loads(ran.out)["answer"]) == (0, "5")


def test_a_deleted_run_is_gone_with_its_recording(command: Command, home: Path) -> None:
    command("run", "2 + 3", "--thread", "t")
    assert list(home.rglob("t.jsonl"))
    assert command("delete", "t").out == "deleted t\n"
    assert (list(home.rglob("t.jsonl")), json.loads(command("runs", "--json").out)) == ([], [])
    assert "no run 't'" in command("delete", "t").err


def test_a_resume_says_which_of_its_settings_do_not_hold(command: Command, model: ModelServer) -> None:
    model.reply(write_plan())
    command("run", "write it", "--thread", "t", "--no-input")
    ran = command("resume", "t", "--set", "writes=allow", "--no-input")
    assert "setting writes: 'allow' does not hold, the run began with 'ask'" in ran.err
    assert "does not hold" not in command("resume", "t", "--set", "writes=deny", "--no-input").err


def test_a_run_that_was_cut_off_before_its_request_was_taken_in_is_listed_with_task_and_date(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("nodes.intake.valid_inputs", cut)
        command("run", "2 + 3", "--thread", "t")
    [row] = json.loads(command("runs", "--json").out)
    assert (row["task"], row["stop"]) == ("2 + 3", "interrupted") and row["started"]


def test_a_fork_from_a_version_of_the_plan_does_not_write_again(
    command: Command, model: ModelServer, in_a_folder: Path
) -> None:
    model.reply(write_plan(), says("written"))
    command("run", "write it", "--thread", "t", "--yes")
    (in_a_folder / "out.txt").write_text("changed since")
    model.reply(says("written before"))
    ran = command("fork", "t", "--at", "1", "--yes", "--json")
    report = json.loads(ran.out)
    assert (ran.code, report["answer"]) == (0, "written before")
    assert "not repeated" in report["results"][0]["note"]
    assert (in_a_folder / "out.txt").read_text() == "changed since"


def test_a_fork_before_a_step_runs_it_and_what_follows_again(
    command: Command, model: ModelServer, in_a_folder: Path
) -> None:
    (in_a_folder / "n.txt").write_text("one two")
    steps = [
        step("n", "count_words", path="n.txt"), step("m", "calculator", expression="2 + 2"),
        step("s", "calculator", expression="${steps.n} * 10"),
    ]  # fmt: skip
    model.reply(plan(*steps), says("20"))
    command("run", "count", "--thread", "t")
    (in_a_folder / "n.txt").write_text("one two three")
    model.reply(says("30"))
    ran = command("fork", "t", "--at", "n", "--thread", "u", "--json")
    outputs = {result["step"]: result["output"] for result in json.loads(ran.out)["results"]}
    assert outputs == {"n": 3, "m": 4, "s": 30}
    assert "m calculator: started" not in ran.err
    assert command("replay", "u").out.startswith("identical: 1 model call, 2 tool calls")


def test_a_point_that_is_not_there_is_one_line_that_names_those_that_are(command: Command) -> None:
    command("run", "2 + 3", "--thread", "t")
    ran = command("fork", "t", "--at", "nowhere")
    assert (ran.code, "there are: 1, s1" in ran.err) == (2, True)


# ---- replay and export


def test_a_kept_run_is_replayed_by_its_name(command: Command, model: ModelServer, home: Path) -> None:
    failing(model)
    command("run", "read and count", "--thread", "t")
    asked = len(model.requests)
    ran = command("replay", "t")
    assert (ran.code, ran.out) == (0, "identical: 3 model calls, 2 tool calls, 0 answers, stop done\n")
    assert len(model.requests) == asked
    file = home / "recordings" / "t.jsonl"
    file.write_text(file.read_text().replace('"expression": "6 * 7"}, "outcome"', '"expression": "6 * 8"}, "outcome"'))
    ran = command("replay", "t")
    assert (ran.code, ran.out) == (
        1,
        "differs: step b, call of calculator: args.expression, character 4: recorded '6 * 8', now '6 * 7'\n",
    )
    assert json.loads(command("replay", "t", "--json").out)["same"] is False


@pytest.mark.slow
def test_an_exported_case_passes_as_long_as_the_same_thing_happens(
    command: Command, model: ModelServer, tmp_path: Path
) -> None:
    model.reply(plan(step("a", "read_file", path="none.txt")))
    command("run", "read it", "--thread", "t", "--pattern", "one_shot")
    case = tmp_path / "cases" / "Missing file"
    assert command("export", "t", "-o", str(case)).code == 0
    assert sorted(path.name for path in case.iterdir()) == ["expected.json", "recording.jsonl", "test_missing_file.py"]
    passed = pytest_on(case)
    assert passed.returncode == 0, passed.stdout
    expected = json.loads((case / "expected.json").read_text())
    assert expected["stop"] == "steps_failed"
    (case / "expected.json").write_text(json.dumps({**expected, "stop": "done"}))
    failed = pytest_on(case)
    assert failed.returncode == 1 and "stop, character" in failed.stdout
    (case / "expected.json").write_text(json.dumps({**expected, "same": False}))
    assert "comes out as recorded" in pytest_on(case).stdout
    taken = command("export", "t", "-o", str(case))
    assert (taken.code, "is there already" in taken.err) == (2, True)


def pytest_on(case: Path) -> "subprocess.CompletedProcess[str]":
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(case)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(line, capture_output=True, text=True, env=environment, cwd=case, timeout=55, check=False)


# ---- PostgreSQL


@pytest.mark.slow
def test_runs_are_kept_in_postgresql_and_their_lock_too(
    command: Command, model: ModelServer, home: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.new_database()
    monkeypatch.setenv("FORETHOUGHT_DATABASE", url)
    model.reply(write_plan(), says("written"))
    assert command("run", "write it", "--thread", "t", "--no-input").code == StopReason.NEEDS_APPROVAL.exit_code
    code = (
        "import sys; from graphs._saved import Home, alone\n"
        "with alone(Home(sys.argv[1], sys.argv[2]), 't'): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(home / "elsewhere"), url], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as other:  # fmt: skip
        assert other.stdout and other.stdout.readline() == b"held\n"
        held = command("resume", "t", "--yes")
        assert (held.code, "another process" in held.err) == (2, True)
        other.kill()
    ran = command("resume", "t", "--yes", "--json")
    assert (ran.code, json.loads(ran.out)["answer"]) == (0, "written")
    assert [row["thread"] for row in json.loads(command("runs", "--json").out)] == ["t"]
    model.reply(says("again"))
    forked = command("fork", "t", "--at", "1", "--thread", "u", "--yes", "--json")
    assert "not repeated" in json.loads(forked.out)["results"][0]["note"]
    assert command("replay", "t").out.startswith("identical")
    assert not (home / "runs.db").exists()


@pytest.mark.slow
def test_a_database_that_is_not_there_is_one_line_without_the_password(
    command: Command, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORETHOUGHT_DATABASE", postgres.url("nowhere"))
    for arguments in (("run", "2 + 3"), ("runs",)):
        ran = command(*arguments)
        assert (ran.code, postgres.password in ran.err) == (2, False)
        assert "runs can't be kept in postgresql://127.0.0.1" in ran.err


# ---- draw, diff and report


@pytest.fixture
def failed_once(command: Command, model: ModelServer) -> str:
    """A kept run with two versions of the plan."""
    failing(model)
    command("run", "read and count", "--thread", "t")
    return "t"


def test_a_run_is_drawn_in_every_format(command: Command, failed_once: str) -> None:
    mermaid = command("draw", "t").out
    assert "flowchart TD" in mermaid and '"b (done)' in mermaid
    assert command("draw", "t", "--format", "dot").out.startswith("digraph plan {")
    assert command("draw", "t", "--format", "svg").out.startswith("<svg ")
    assert '"a (failed)' in command("draw", "t", "--plan", "1").out
    for name, begins in (("p.dot", b"digraph"), ("p.svg", b"<svg "), ("p.png", b"\x89PNG"), ("p.mmd", b"%% ")):
        ran = command("draw", "t", "-o", name)
        assert (ran.code, ran.out, ran.err) == (0, "", f"written: {name}\n")
        assert Path(name).read_bytes().startswith(begins)


def test_the_time_line_of_a_run_is_drawn(command: Command, failed_once: str) -> None:
    assert re.search(r"^b calculator +█+ +\d+ ms done$", command("draw", "t", "--timeline").out, re.M)
    assert command("draw", "t", "--timeline", "--format", "svg").out.startswith("<svg ")


@pytest.mark.parametrize(
    "arguments, word",
    [
        (["nobody"], "there is no run 'nobody'"),
        (["t", "--format", "png"], "add -o FILE.png"),
        (["t", "--format", "text"], "format text does not fit"),
        (["t", "--timeline", "--format", "dot"], "right would be: text, svg, png"),
        (["t", "--plan", "7"], "there is no plan 7 in this run; there are: 1, 2"),
        (["rewoo", "--timeline"], "rewoo is a pattern"),
        (["t", "-o", "p.pdf"], "what .pdf holds is not drawn here; right would be: .mmd"),
        (["t", "-o", "p.svg", "--format", "png"], "say two things; .svg is svg"),
        (["t", "-o", "nowhere/p.svg"], "nowhere/p.svg can't be written: No such file or directory"),
    ],
)
def test_what_can_not_be_drawn_is_one_line(command: Command, failed_once: str, arguments: list[str], word: str) -> None:
    ran = command("draw", *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1) and word in ran.err


def test_versions_are_shown_side_by_side_with_their_values(command: Command, failed_once: str) -> None:
    told = " ".join(command("diff", "t").out.split())
    assert "plan 1 by planner (value " in told and "plan 2 by planner (value " in told
    assert "added" in told and "dropped" in told and "[done]" in told
    assert command("diff", "t", "1", "2").out == command("diff", "t").out
    [pair] = json.loads(command("diff", "t", "--json").out)
    assert (pair["from"], pair["to"]) == (1, 2) and all(pair["values"])
    rows = [(row["change"], row["before"][:2], row["after"][:2]) for row in pair["steps"]]
    assert rows == [("added", "", "b:"), ("dropped", "a:", "")]


def test_only_versions_that_are_there_are_compared(command: Command, failed_once: str) -> None:
    for versions in (("1",), ("1", "3")):
        ran = command("diff", "t", *versions)
        assert ran.code == 2 and "A and B are two of: 1, 2" in ran.err
    command("run", "2 + 3", "--model", "offline", "--thread", "one")
    assert "there is no other version" in command("diff", "one").out


def test_a_run_is_written_as_one_page(command: Command, failed_once: str) -> None:
    ran = command("report", "t", "-o", "run.html")
    assert (ran.code, ran.err) == (0, "written: run.html\n")
    page = Path("run.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "Content-Security-Policy" in page
    for words in ("run t", "read and count", "Versions of the plan", "dropped", "step_failed", "plan 1, drawn"):
        assert words in page


def test_a_run_that_waits_is_drawn_and_written(command: Command, model: ModelServer) -> None:
    model.reply(write_plan())
    command("run", "write it", "--thread", "w", "--no-input")
    assert "(asks you, write)" in command("draw", "w").out
    command("report", "w")
    assert "Open questions" in Path("report.html").read_text(encoding="utf-8")


# ---- what a newcomer could not see or do


def test_drafts_and_turns_are_shown_with_all_that_was_found_and_thought(command: Command, model: ModelServer) -> None:
    model.reply(drafted("one"), critique("quality: no reason given"), refined("two", f1="fixed: gave one"), critique())
    ran = command("run", "say why", "--pattern", "reflection", "--thread", "d", "--set", "self_critique=true")
    assert "critique: failed; f1 (quality): no reason given" in ran.out and "plan 1:" not in ran.out
    told = command("show", "d").out
    for words in (
        "1: one",
        "f1 quality: no reason given",
        "2: two",
        "to f1: fixed: gave one",
        "failed (completeness 5",
    ):
        assert words in told
    assert not {"steps:", "times:"} & set(told.splitlines())
    model.reply(turn("first the product", "calculator", expression="6*7"), turn("that is all", answer="42"))
    command("run", "six by seven", "--pattern", "react", "--thread", "r")
    told = command("show", "r").out
    assert "1: first the product -> t1" in told and "2: that is all -> finish" in told


def test_a_run_in_drafts_is_neither_drawn_nor_saved_and_says_so(command: Command, model: ModelServer) -> None:
    model.reply(drafted("one"), critique())
    command("run", "say why", "--pattern", "reflection", "--thread", "d", "--set", "self_critique=true")
    assert "there are no steps to be drawn in this run: it worked in drafts" in command("draw", "d").err
    ran = command("save", "d", "-o", "d.yaml")
    assert (ran.code, ran.err) == (
        2, "error: there are no steps in this run of reflection; only a plan with steps can be saved\n",
    )  # fmt: skip


def test_what_a_limit_ended_goes_on_with_a_wider_one_and_keeps_what_is_done(command: Command) -> None:
    task = "add 17 and 25, then multiply it by 3, then add 1"
    ran = command(
        "run", task, "--model", "offline", "--thread", "t", "--limit", "tool_calls=1", "--limit", "seconds=99"
    )
    assert ran.out.endswith("forethought fork t --at s2 --limit tool_calls=N\n")
    ran = command("fork", "t", "--at", "s2", "--limit", "tool_calls=9", "--thread", "more")
    assert ran.code == 0 and "127" in ran.out and "s1 calculator: started" not in ran.out
    assert "fork t --at s2" in command("resume", "t").out


def test_a_turn_whose_model_failed_is_thought_again_with_what_was_found_before(
    command: Command, model: ModelServer
) -> None:
    model.reply(turn("", "calculator", expression="6*7"), Reply(status=401), says("42 so far"))
    ran = command("run", "six by seven", "--pattern", "react", "--thread", "t")
    assert "keep what is done" in ran.out and "forethought fork t --at turn2\n" in ran.out
    model.reply(turn(answer="42"))
    ran = command("fork", "t", "--at", "turn2")
    assert ran.code == 0 and "t1 calculator: started" not in ran.out


def test_another_server_in_the_environment_is_not_taken_silently(
    command: Command, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.reply(write_plan())
    command("run", "write it", "--thread", "t", "--no-input")
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    assert "not with that of the environment; --base-url takes another" in command("resume", "t", "--no-input").err


def test_a_run_that_was_cut_off_is_not_dropped_without_a_word(command: Command) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nodes.planner.ask", lambda *a, **k: 1 / 0)
        assert "ZeroDivisionError" in command("run", "one", "--thread", "t").err
    assert "was cut off and is dropped" in command("run", "1 + 1", "--thread", "t", "--model", "offline").out


def test_a_call_that_is_refused_names_no_thread(command: Command) -> None:
    ran = command("run", "--plan", "none.yaml")
    assert (ran.code, ran.out) == (2, "")


def test_a_run_of_which_nothing_could_be_kept_is_not_said_to_go_on(home: Path, command: Command) -> None:
    assert command("run", "add 1 and 2", "--thread", "first").code == 0
    with closing(sqlite3.connect(home / "runs.db")) as runs:
        runs.execute("CREATE TRIGGER stuck BEFORE INSERT ON checkpoints BEGIN DELETE FROM missing; END")
        runs.commit()
    ran = command("run", "add 1 and 2", "--thread", "second")
    assert "OperationalError" in ran.err and "nothing of it is kept; start it again" in ran.err
    assert "resume" not in ran.err
    assert "what is finished is kept: " in command("run", "add 1 and 2", "--thread", "first").err


@pytest.mark.parametrize(
    "words",
    [
        ["runs"], ["show", "t"], ["draw", "t"], ["diff", "t"], ["report", "t", "-o", "t.html"], ["replay", "t"],
        ["save", "t", "-o", "t.yaml"], ["export", "t", "-o", "case"], ["resume", "t"], ["fork", "t", "--at", "1"],
        ["delete", "t"], ["lessons", "list"], ["lessons", "draft"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_where_no_run_was_ever_kept_looking_for_one_makes_nothing(
    words: list[str], command: Command, in_a_folder: Path
) -> None:
    ran = command(*words, "--set", "home=kept")
    assert ran.code == 0 or re.search(r"there is no (run|recording of a run) 't'", ran.err)
    assert list(in_a_folder.iterdir()) == []


@pytest.mark.slow
def test_looking_for_a_run_in_a_new_database_makes_no_table(command: Command, postgres: Postgres) -> None:
    url = postgres.new_database()
    assert "there is no run 't'" in command("show", "t", "--set", f"database={url}").err
    with psycopg.connect(url) as database:
        assert database.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)
