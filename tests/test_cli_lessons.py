"""`forethought lessons`: learned in one process, used in the next, decided on by a person, drafted from failed runs."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import graphs
from graphs.cli import execute
from nodes.lesson_drafts import groups
from nodes.lesson_sources import failures_of, once_away
from state.errors import ToolFailed
from tests.support.model_server import ModelServer
from tests.support.postgres import Postgres
from tests.support.runs import grade, plan, reflection, says, step
from tests.support.script import Reply, failure
from tools.tool import read

ROOT = Path(__file__).parent.parent
WAY = "Read notes.txt, old.txt is gone."
TASK = "tell me what stands in the notes"


@pytest.fixture(autouse=True)
def in_a_folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "notes.txt").write_text("buy milk")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def model(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    for name, value in model_server.environment.items():
        monkeypatch.setenv(name, value)
    return model_server


class Said:
    """What a command said."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str) -> Said:
        code = execute(arguments)
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return call


def in_a_process(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more}
    return subprocess.run(
        [sys.executable, "-m", "graphs", *arguments], capture_output=True, text=True, env=environment, timeout=50
    )


def learning(model: ModelServer) -> None:
    """A run whose second attempt passes; `notes.txt` is trusted here, since the lesson is about no text of it."""
    model.reply(plan(step("r1", "list_files", folder="old")), reflection(WAY, diagnosis="the folder is gone"))
    model.reply(plan(step("r2", "list_files")), says("notes.txt"), grade())


def failed(model: ModelServer, thread: str, path: str, command: Any) -> None:
    model.reply(plan(step("r", "read_file", path=path)))
    command("run", f"read the file {path}", "--pattern", "one_shot", "--thread", thread, "--no-input")


@pytest.mark.slow
@pytest.mark.parametrize("where", ["file", "database"])
def test_what_one_process_learned_the_next_one_does_and_tells_so(
    where: str, model: ModelServer, home: Path, request: pytest.FixtureRequest
) -> None:
    kept: dict[str, str] = {}
    if where == "database":
        postgres: Postgres = request.getfixturevalue("postgres")
        kept = {"FORETHOUGHT_DATABASE": postgres.new_database()}
    common = ("run", TASK, "--pattern", "self_reflection", "--no-input", "--json", "--limit", "retries=0")
    learning(model)
    first = in_a_process(*common, "--set", "lessons=learn", **kept)
    assert first.returncode == 0, first.stderr
    assert (home / "lessons.db").exists() == (where == "file")
    [learned] = json.loads(first.stdout)["lessons"]
    assert learned["outcome"] == "learned"
    model.reply(Reply({"steps": [step("a", "list_files")]}, schema="plan", when=WAY), says("notes.txt"), grade())
    second = in_a_process(*common, **kept)
    assert second.returncode == 0, second.stderr
    assert [one["outcome"] for one in json.loads(second.stdout)["lessons"]] == ["helped"]
    listed = in_a_process("lessons", "list", "--json", **kept)
    [lesson] = json.loads(listed.stdout)
    assert (lesson["id"], lesson["helps"], lesson["status"]) == (learned["id"], 1, "approved")
    shown = in_a_process("lessons", "show", lesson["id"], **kept)
    assert f"strategy: {WAY}" in shown.stdout and "helped in 1 run" in shown.stdout
    for way, status in (("off", "off"), ("on", "approved")):
        done = in_a_process("lessons", way, lesson["id"], **kept)
        assert (done.returncode, done.stdout) == (0, f"{lesson['id']}: {status}\n")
    assert in_a_process("lessons", "forget", lesson["id"], **kept).stdout == f"{lesson['id']}: forgotten\n"
    assert "no lesson has been kept yet" in in_a_process("lessons", "list", **kept).stdout


def test_a_lesson_that_is_off_or_forgotten_is_not_told_and_off_stays_off(command: Any, model: ModelServer) -> None:
    run = ("run", TASK, "--pattern", "self_reflection", "--no-input", "--json", "--set", "lessons=learn")
    learning(model)
    [lesson] = json.loads(command(*run).out)["lessons"]
    assert command("lessons", "off", lesson["id"]).out == f"{lesson['id']}: off\n"
    learning(model)
    assert json.loads(command(*run).out)["lessons"] == []  # neither told nor learned again
    assert [one["status"] for one in json.loads(command("lessons", "list", "--json").out)] == ["off"]
    command("lessons", "forget", lesson["id"])
    learning(model)
    assert [one["outcome"] for one in json.loads(command(*run).out)["lessons"]] == ["learned"]


def test_the_summary_of_a_run_names_its_lessons(command: Any, model: ModelServer) -> None:
    learning(model)
    said = command("run", TASK, "--pattern", "self_reflection", "--no-input", "--set", "lessons=learn", "--thread", "t")
    assert "lessons:\n  - l" in said.out and f"learned: {WAY}" in said.out
    assert f"learned: {WAY}" in command("show", "t").out
    assert command("replay", "t").out.startswith("identical")


def test_a_run_that_only_reads_makes_no_file(command: Any, home: Path) -> None:
    command("run", "2 + 3", "--model", "offline")
    assert "no lesson has been kept yet" in command("lessons", "list").out
    assert not (home / "lessons.db").exists()


# ---- drafting


def test_failed_runs_become_drafts_that_are_used_only_after_a_person_approved(
    command: Any, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed(model, "one", "a.txt", command)
    failed(model, "two", "b.txt", command)
    command("run", "2 + 3", "--model", "offline", "--thread", "good")
    said = command("lessons", "draft", "--model", "offline")
    assert said.code == 0 and "2 failed runs read, 1 new draft" in said.out
    [draft] = json.loads(command("lessons", "list", "--json").out)
    assert draft["status"] == "draft" and len(draft["origin"]["runs"]) == 2
    assert draft["problem"].startswith("read_file failed in 2 runs: ") and draft["scope"]["tools"] == ["read_file"]

    model.reply(Reply(
        {"steps": [step("r", "read_file", path="c.txt")]}, schema="plan", when=lambda body: "<learned>" not in str(body)
    ))  # fmt: skip
    told = command("run", "read the file c.txt", "--pattern", "one_shot", "--no-input", "--json")
    assert json.loads(told.out)["lessons"] == []

    assert command("lessons", "off", draft["id"]).code == command("lessons", "on", draft["id"]).code == 0
    assert json.loads(command("lessons", "list", "--json").out)[0]["status"] == "draft"  # nobody had approved it
    assert command("lessons", "approve", draft["id"], "--strategy", "Look.").out == f"{draft['id']}: approved\n"
    approved = command("lessons", "approve", draft["id"], "--strategy", "List the folder first.")
    assert approved.out == f"{draft['id']}: approved\n"
    model.reply(Reply(
        {"steps": [step("r", "read_file", path="notes.txt")]}, schema="plan", when="List the folder first."
    ))  # fmt: skip
    told = command("run", "read the file d.txt", "--pattern", "one_shot", "--no-input", "--json")
    assert [one["outcome"] for one in json.loads(told.out)["lessons"]] == ["helped"]
    assert "0 new drafts" in command("lessons", "draft", "--model", "offline").out


def test_a_model_in_the_role_of_the_reflector_words_the_draft(command: Any, model: ModelServer) -> None:
    failed(model, "one", "a.txt", command)
    words = {"problem": "files are missing", "cause": "names are guessed", "strategy": "List first."}
    model.reply(Reply(words, schema="lesson", when="Role: reflector"))
    [draft] = json.loads(command("lessons", "draft", "--json").out)
    assert {name: draft[name] for name in words} == words
    seen = model.requests[-1]["messages"][1]["content"]
    assert "read the file a.txt" in seen and "not_found" in seen
    assert json.loads(command("lessons", "draft", "--json").out) == []  # and no model is asked again


def test_where_that_model_fails_the_draft_is_worded_by_rules(command: Any, model: ModelServer) -> None:
    failed(model, "one", "a.txt", command)
    model.reply(failure(401))
    said = command("lessons", "draft")
    assert "drafted by rules" in said.err and "1 new draft" in said.out


def by_hand(folder: Path, **more: Any) -> str:
    """A plan file whose one step adds, with a mistake of its author."""
    (folder / "own.json").write_text(
        json.dumps({"goal": "2", "steps": [{**step("s", "calculator", expression="1 + 1"), **more}]})
    )
    return str(folder / "own.json")


def test_what_no_plan_can_mend_is_passed_over_and_said(command: Any, model: ModelServer, tmp_path: Path) -> None:
    model.reply(failure(401), Reply({"steps": [], "impossible": "there is no tool for the tides"}, schema="plan"))
    for task in ("add", "tell the tides"):
        command("run", task, "--pattern", "one_shot", "--no-input")
    command("run", "--plan", by_hand(tmp_path, tool="calculater"))
    command("run", "--plan", by_hand(tmp_path, when="steps.inputs.a > 1"), "--inputs", '{"a": "x"}')
    command("run", "2 + 3", "--pattern", "self_reflection", "--model", "offline")
    said = command("lessons", "draft", "--model", "offline").out.splitlines()
    assert said[0] == "5 failed runs read, 0 new drafts"
    assert sorted(said[1:]) == [
        "passed over: 1 run: a model could not be asked, which no plan can mend",
        "passed over: 1 run: nobody could verify it, which is no failure",
        "passed over: 1 run: the planner saw no way with these tools",
        "passed over: 2 runs: its plan is a file: mend the file",
    ]
    assert "no lesson has been kept yet" in command("lessons", "list").out


@pytest.mark.parametrize(
    ("cls", "context", "why"),
    [
        ("transient", {}, ""),
        ("permanent", {}, ""),
        ("content_policy", {}, "what failed is nothing that a plan can mend (content_policy)"),
        ("permanent", {"limits": {"tool_calls": 0}}, "the limit tool_calls was reached"),
        ("permanent", {"deny": ["where"]}, "a rule or a setting forbade it"),
    ],
    ids=["away", "refused", "content", "limit", "forbidden"],
)
def test_only_failures_that_a_plan_can_mend_teach(
    cls: Any, context: dict[str, Any], why: str, model: ModelServer
) -> None:
    def where(street: str) -> str:
        """Where a street is."""
        raise ToolFailed("it is closed", cls)

    model.reply(*[plan(step("s", "where", street="x"))] * (3 if "deny" in context else 1))
    limits = {"retries": 0, **context.pop("limits", {})}
    out = graphs.load("one_shot", context={"tools": [read(where)], "limits": limits, **context}).invoke({"task": "x"})
    found, said = failures_of(out["request"], out["report"])
    assert [one.tool for one in found] == [] * bool(why) + ["where"] * (not why)
    assert found or why in said
    assert [once_away(group) for group in groups(found)] == [cls == "transient"] * len(found)


def test_an_answer_that_was_not_accepted_teaches_its_own_pattern(command: Any, model: ModelServer) -> None:
    model.reply(plan(step("r", "list_files")), says("none"), grade(2, 9, 9, problems=["the sizes are missing"]))
    command("run", TASK, "--pattern", "self_reflection", "--no-input", "--limit", "attempts=1")
    said = command("lessons", "draft", "--model", "offline").out
    assert "strategy: Plan for what the grading missed: the sizes are missing" in said
    assert "for: pattern self_reflection" in said and "every run" not in said


@pytest.mark.slow
def test_a_person_at_the_terminal_is_asked_about_each_draft(command: Any, model: ModelServer) -> None:
    failed(model, "one", "a.txt", command)
    near, far = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "graphs", "lessons", "draft", "--model", "offline"],
            stdin=far, stdout=far, stderr=far, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        os.close(far)
        os.write(near, b"y\n")
        assert process.wait(50) == 0
    finally:
        os.close(near)
    assert [one["status"] for one in json.loads(command("lessons", "list", "--json").out)] == ["approved"]


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (("show", "l0"), "there is no lesson 'l0'"),
        (("approve", "l0"), "there is none"),
        (("approve", "ID"), "is approved; approve is for one that is draft"),
        (("on", "ID"), "is approved; on is for one that is off or expired"),
        (("approve", "ID", "other", "--strategy", "x"), "--strategy is for one lesson, and 2 are named"),
        (("off",), "Missing argument 'ID...'"),
    ],
)
def test_what_can_not_be_done_is_one_line_that_says_what_would_be_right(
    arguments: tuple[str, ...], wrong: str, command: Any, model: ModelServer
) -> None:
    if "ID" in arguments:
        learning(model)
        command("run", TASK, "--pattern", "self_reflection", "--no-input", "--set", "lessons=learn")
        [lesson] = json.loads(command("lessons", "list", "--json").out)
        arguments = tuple(lesson["id"] if one == "ID" else one for one in arguments)
    said = command("lessons", *arguments)
    assert said.code == 2 and wrong in said.err and said.err.count("\n") == 1


def test_a_file_that_is_no_store_is_named(command: Any, home: Path) -> None:
    (home / "lessons.db").write_text("this is no database, but it is long enough to be taken for one" * 20)
    said = command("lessons", "list")
    assert said.code == 2 and "lessons can't be kept in" in said.err
