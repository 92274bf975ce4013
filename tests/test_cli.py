import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from graphs import _doctor, names
from graphs._prompting import Answers, read_answers
from state.errors import InputError
from state.stop import StopReason
from tests.support.mail_server import MailServer
from tests.support.model_server import ModelServer
from tests.support.runs import impossible, plan, says, step
from tests.support.script import Reply, failure

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def in_a_folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with one file in it; no size or colour of the machine's terminal."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "note.txt").write_text("one two three\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    for name in ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    return folder


def process(*arguments: str, stdin: bytes = b"", **more: str) -> "subprocess.CompletedProcess[bytes]":
    """The command in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more}
    line: list[Any] = [sys.executable, "-m", "graphs", *arguments]
    return subprocess.run(line, input=stdin, capture_output=True, env=environment, timeout=50, check=False)


def is_one_error(text: str) -> bool:
    lines = text.splitlines()
    return sum(line.startswith("error: ") for line in lines) == 1 and lines[-1].startswith("error: ")


def thread_of(text: str) -> str:
    return next(line.split()[1] for line in text.splitlines() if line.startswith("thread "))


def write_plan(path: str = "out.txt", text: str = "hello") -> Reply:
    return plan(step("s1", "write_file", path=path, text=text))


# ---- run


def test_a_task_gives_its_answer_and_why_it_ended(command: Any, model: ModelServer) -> None:
    model.reply(plan(step("s1", "calculator", expression="6 * 7")), says("It is 42."))
    ran = command("run", "what is 6 times 7?")
    assert ran.code == 0
    assert "\nIt is 42.\n" in ran.out
    assert "stop: done: every step is finished" in ran.out
    assert "model: scripted" in ran.out


def test_lines_tell_of_every_step_where_there_is_no_terminal(command: Any, model: ModelServer) -> None:
    model.reply(plan(step("a", "calculator", expression="6 * 7")), says("42"))
    out = command("run", "what is 6 times 7?").out
    assert "plan 1: a calculator" in out
    assert "a calculator: started" in out
    assert "a calculator: done in" in out
    assert "\x1b" not in out


def test_json_is_all_that_stands_on_standard_output(command: Any, model: ModelServer) -> None:
    model.reply(plan(step("s1", "calculator", expression="1+1")), says("两个"))
    ran = command("run", "one and one", "--json")
    report = json.loads(ran.out)
    assert (report["answer"], report["stop"]["reason"]) == ("两个", "done")
    assert "两个" in ran.out
    assert "thread " in ran.err and "calculator: started" in ran.err


def test_without_a_model_the_offline_planner_is_called_what_it_is(command: Any) -> None:
    ran = command("run", "2 + 3")
    assert ran.code == 0
    assert "model: offline planner, no language model" in ran.out
    assert "cost 0" in ran.out


def test_unknown_tokens_are_said_as_unknown(command: Any, model: ModelServer) -> None:
    model.reply(plan(step("s1", "calculator", expression="1+1")), Reply("2", when="Role: answerer", usage=None))
    out = command("run", "one and one", "--set", 'prices={"scripted": {"tokens_in": 1, "tokens_out": 1}}').out
    assert "tokens and unknown for 1 call" in out
    assert "cost" in out and "unknown" in out


def test_the_task_is_read_from_standard_input() -> None:
    ran = process("run", "-", stdin="2 + 3\n".encode("utf-8-sig"))
    assert ran.returncode == 0
    assert "stop: done" in ran.stdout.decode()


def test_every_option_reaches_the_run(command: Any, model: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "inputs.json").write_text('{"n": 6}', encoding="utf-8")
    (tmp_path / "schema.json").write_text('{"type": "integer"}', encoding="utf-8")
    model.reply(plan(step("s1", "calculator", expression="7 * ${steps.inputs.n}")))
    ran = command(
        "run", "seven times n", "--pattern", "one_shot", "--json", "--inputs", f"@{tmp_path}/inputs.json",
        "--answer-schema", f"@{tmp_path}/schema.json", "--constraints", "be quick", "--constraints",
        '{"read_only": true}', "--limit", "steps=3", "--check-after", "step", "--set", "tools=calculator",
        "--set", "language=zh", "--thread", "mine", "--model", "other",
    )  # fmt: skip
    report = json.loads(ran.out)
    assert (report["answer"], report["pattern"], ran.code) == (42, "one_shot", 0)
    assert report["models"]["planner"] == "other"
    assert thread_of(ran.err) == "mine"
    assert "be quick" in json.dumps(model.requests[0]["messages"])
    assert "write_file" not in json.dumps(model.requests[0])


def test_what_is_missing_is_said(command: Any, model: ModelServer) -> None:
    model.reply(plan(step("s1", "read_file", path="nowhere.txt"), step("s2", "summarise", text="${steps.s1}")))
    ran = command("run", "summarise nowhere.txt", "--pattern", "one_shot")
    assert ran.code == StopReason.STEPS_FAILED.exit_code
    assert "step s1 failed: there is no file" in ran.out.partition("\nstop: ")[2]
    assert "missing:\n  - s1 (read_file): failed\n" in ran.out  # why it did has been said
    assert "  - s2 (summarise): blocked" in ran.out


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ([impossible("no tool can fly")], StopReason.CANNOT_BE_DONE),
        ([Reply("<think>hm</think>")] * 3, StopReason.UNUSABLE_REPLY),
        ([failure(401, "bad key")], StopReason.MODEL_FAILED),
        ([plan(step("s1", "calculator", expression="1/0"))], StopReason.STEPS_FAILED),
    ],
)
def test_the_exit_code_says_why_it_ended(
    command: Any, model: ModelServer, replies: list[Reply], reason: StopReason
) -> None:
    model.reply(*replies)
    assert command("run", "do it", "--pattern", "one_shot").code == reason.exit_code


def test_a_spent_limit_is_named_by_the_exit_code(command: Any) -> None:
    ran = command("run", "2 + 3", "--limit", "model_calls=0")
    assert ran.code == StopReason.MODEL_CALLS.exit_code
    assert "limit model_calls reached" in ran.out


@pytest.mark.parametrize(("kind", "code"), [("", 42), ("pause: ", 54), ("failure: ", 21), ("success: ", 0)])
def test_a_stop_condition_of_the_user_has_the_exit_code_of_its_kind(command: Any, kind: str, code: int) -> None:
    ran = command("run", "2 + 3", "--set", f"stop_when={kind}model_calls > 0 and left > 0")
    assert ran.code == code
    assert "stop: stop_condition: the condition model_calls > 0 and left > 0 holds" in ran.out


def test_an_endpoint_that_is_down_is_a_report(command: Any) -> None:
    ran = command("run", "hi", "--model", "x", "--base-url", "http://127.0.0.1:9/v1", "--limit", "retries=0")
    assert ran.code == StopReason.MODEL_FAILED.exit_code
    assert "stop: model_failed: model 'x' (planner)" in ran.out
    assert "forethought doctor --model x --base-url http://127.0.0.1:9/v1" in ran.out


def test_what_a_failed_step_was_to_work_on_is_not_given_as_its_answer(command: Any, in_a_folder: Path) -> None:
    (in_a_folder / "a.txt").write_text("the sun is a star", encoding="utf-8")
    ran = command("run", "read a.txt and translate it into French", "--model", "offline")
    assert "\nNo result.\nOn the way to it:\nthe sun is a star\n" in ran.out
    assert ran.out.count("can't translate") == 3  # when it happened, when no other way was found, and why it ended
    assert ran.code == StopReason.CANNOT_BE_DONE.exit_code


def test_the_offline_planner_says_that_words_about_its_plan_are_of_no_use_to_it(command: Any) -> None:
    told = command("run", "write hello to h.txt", "--set", "approve_plan=always", "--thread", "t", "--no-input").out
    name = re.findall(r"--answer (\w+)=", told)[0]
    assert "what you said about the plan can't be used" in command("resume", "t", "--answer", f"{name}=respond:no").out


def test_a_refusal_is_said_once_in_the_summary(command: Any) -> None:
    ran = command("run", "tell me a joke", "--model", "offline")
    assert ran.code == StopReason.CANNOT_BE_DONE.exit_code
    _, _, told = ran.out.partition("stop: cannot_be_done\n")
    assert told.count("is not understood") == 1 and told.count("there is no plan that could run") == 1
    assert "1 offline planner call, 0 tool calls" in told


def test_a_command_to_type_can_be_found_where_no_environment_is_active(
    command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "work" / "venv" / "bin").mkdir(parents=True)
    (folder / "forethought").touch()
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path / "work")
    assert "go on: venv/bin/forethought resume" in command("run", "write 'x' to x.txt", "--model", "offline").out
    monkeypatch.chdir(tmp_path)
    assert "go on: work/venv/bin/forethought resume" in command("run", "write 'x' to x.txt", "--model", "offline").out


@pytest.mark.parametrize("arguments", [["--help"], *([name, "--help"] for name in ("run", "plan", "resume"))])
def test_help_offers_no_value_for_a_flag(command: Any, arguments: list[str]) -> None:
    assert "bool" not in command(*arguments).out


def test_nothing_handed_in_moves_the_cursor(command: Any, model: ModelServer) -> None:
    model.reply(plan(step("s1", "calculator", expression="1+1")), says("red \x1b[31m\u202e :smile: [bold]x[/bold]"))
    out = command("run", "one and one").out
    assert "\x1b" not in out and "\u202e" not in out
    assert "red \\u001b[31m\\u202e :smile: [bold]x[/bold]" in out


def test_a_reader_who_leaves_does_not_stop_the_run(in_a_folder: Path) -> None:
    line = f"{sys.executable} -m graphs run 'write hello to out.txt' --yes | true"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(["/bin/sh", "-c", line], capture_output=True, env=environment, timeout=50, check=False)
    assert ran.stderr == b""
    assert (in_a_folder / "out.txt").exists()


# ---- approvals and resume


def test_a_write_stays_open_without_a_person(command: Any, model: ModelServer, in_a_folder: Path) -> None:
    model.reply(write_plan())
    ran = command("run", "write hello to out.txt")
    assert ran.code == StopReason.NEEDS_APPROVAL.exit_code
    assert "stop: needs_approval" in ran.out
    assert f"forethought resume {thread_of(ran.out)} --yes" in ran.out
    assert not (in_a_folder / "out.txt").exists()


def test_yes_approves_writes(command: Any, model: ModelServer, in_a_folder: Path) -> None:
    model.reply(write_plan(), says("written"))
    ran = command("run", "write hello to out.txt", "--yes")
    assert ran.code == 0
    assert "writes:\n  - s1: write_file done" in ran.out
    assert "approved by --yes" in ran.out
    assert (in_a_folder / "out.txt").read_text(encoding="utf-8") == "hello"


def test_a_paused_run_goes_on_with_its_own_folder_and_model(
    command: Any, model: ModelServer, in_a_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.reply(write_plan(), says("written"))
    thread = thread_of(command("run", "write hello to out.txt").out)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LLM_MODEL_ID")
    ran = command("resume", thread, "--yes", "--json")
    report = json.loads(ran.out)
    assert (ran.code, report["answer"]) == (0, "written")
    assert set(report["models"].values()) == {"scripted"}
    assert (in_a_folder / "out.txt").exists()


def test_answers_may_be_given_by_id_one_after_the_other(command: Any, model: ModelServer, in_a_folder: Path) -> None:
    writes = [step(f"s{n}", "write_file", path=f"{n}.txt", text="old") for n in (1, 2, 3)]
    model.reply(plan(*writes))
    first = json.loads(command("run", "write three", "--pattern", "one_shot", "--thread", "t", "--json").out)
    one, two, three = [question["id"] for question in first["open_requests"]]
    second = command("resume", "t", "--answer", f"{one}=approve", "--json")
    assert [question["id"] for question in json.loads(second.out)["open_requests"]] == [two, three]
    assert second.code == StopReason.NEEDS_APPROVAL.exit_code
    edited = f'{two}=edit:{{"path": "2.txt", "text": "new"}}'
    last = command("resume", "t", "--answer", edited, "--answer", f"{three}=reject:not now", "--json")
    report = json.loads(last.out)
    assert (last.code, report["stop"]["message"]) == (StopReason.REJECTED.exit_code, "not now")
    assert (in_a_folder / "1.txt").read_text(encoding="utf-8") == "old"
    assert (in_a_folder / "2.txt").read_text(encoding="utf-8") == "new"
    assert not (in_a_folder / "3.txt").exists()


def test_an_answer_that_does_not_do_is_asked_for_again_with_the_reason(
    command: Any, model: ModelServer, in_a_folder: Path
) -> None:
    model.reply(write_plan())
    first = command("run", "write", "--pattern", "one_shot", "--thread", "t", "--json")
    [asked] = json.loads(first.out)["open_requests"]
    for args, why in (('{"path": 5, "text": "x"}', "5 is not of type 'string'"), ('{"path": "x"}', "missing argument"),
                      ('{"path": "/etc/x", "text": "x"}', f"which is the folder {in_a_folder}")):  # fmt: skip
        ran = command("resume", "t", "--answer", f"{asked['id']}=edit:{args}", "--no-input")
        assert ran.code == StopReason.NEEDS_APPROVAL.exit_code
        assert "the last answer did not do" in ran.out and why in ran.out
    ran = command("resume", "t", "--answer", f'{asked["id"]}=edit:{{"path": "a.txt", "text": "x"}}')
    assert (ran.code, (in_a_folder / "a.txt").read_text(encoding="utf-8")) == (0, "x")


def test_a_path_that_leads_out_is_said_with_the_plan_and_put_before_nobody(
    command: Any, model: ModelServer, in_a_folder: Path
) -> None:
    for _ in range(3):
        model.reply(write_plan("/etc/x"))
    ran = command("run", "write", "--yes", "--json")
    report = json.loads(ran.out)
    assert (ran.code, report["people"], report["writes"]) == (StopReason.BLOCKED.exit_code, [], [])
    assert f"'/etc/x' leads out of what tools may touch, which is the folder {in_a_folder}" in report["stop"]["message"]


def test_a_constraint_that_the_plan_breaks_blocks_the_run(command: Any) -> None:
    for broken in ({"deadline": "2020-01-01"}, {"path": "b.txt"}):
        ran = command("run", "write 'x' to a.txt", "--yes", "--constraints", json.dumps(broken))
        assert ran.code == StopReason.BLOCKED.exit_code and "model" not in ran.out.split("usage:")[0]


def test_an_answer_that_does_not_fit_its_schema_ends_the_event_log_as_the_report(command: Any) -> None:
    ran = command("run", "2 + 3", "--thread", "t", "--answer-schema", '{"type": "object"}')
    assert ran.code == StopReason.NOT_ACCEPTED.exit_code
    events = [json.loads(line) for line in command("show", "t", "--events", "--json").out.splitlines()]
    assert [one["reason"].split(":")[0] for one in events if one["event"] == "stop"] == ["done", "not_accepted"]


def test_a_resume_without_an_answer_tells_what_is_open(command: Any, model: ModelServer) -> None:
    model.reply(write_plan())
    thread = thread_of(command("run", "write hello to out.txt").out)
    ran = command("resume", thread)
    assert ran.code == StopReason.NEEDS_APPROVAL.exit_code
    assert "open questions:" in ran.out and '"text": "hello"' in ran.out


def test_a_run_that_has_ended_shows_its_report_again(command: Any) -> None:
    thread = thread_of(command("run", "2 + 3").out)
    ran = command("resume", thread, "--json")
    assert (ran.code, json.loads(ran.out)["stop"]["reason"]) == (0, "done")
    assert "has ended" in ran.err


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        ("nonsense", "can't be read"),
        ("ffff=approve", "nobody asks"),
        ("x=edit:[1]", "right would be"),
        ("=", "read"),
        ("x=respond:", "can't be read"),
        ("x=approve:yes", "can't be read"),
    ],
)
def test_a_wrong_answer_is_one_line(command: Any, model: ModelServer, answer: str, word: str) -> None:
    model.reply(write_plan())
    thread = thread_of(command("run", "write hello to out.txt").out)
    ran = command("resume", thread, "--answer", answer)
    assert (ran.code, is_one_error(ran.err)) == (2, True)
    assert word in ran.err


def test_yes_does_not_say_what_became_of_a_lost_write() -> None:
    question = {
        "id": "q", "kind": "reconcile", "step": "s1", "action_requests": [{"name": "send_mail", "args": {}}],
        "review_configs": [{"action_name": "send_mail", "allowed_decisions": ["approve", "reject"]}],
    }  # fmt: skip
    asked = [SimpleNamespace(id="i", value=question)]
    assert Answers(yes=True).to(asked) == {}
    assert Answers(read_answers(["q=approve"])).to(asked) == {"i": {"decisions": [{"type": "approve"}]}}
    with pytest.raises(InputError, match="edit is no answer to q; it takes: approve, reject"):
        Answers(read_answers(["q=edit:{}"])).check(asked)


def test_yes_approves_the_plan_and_its_writes_and_leaves_a_question_open(
    command: Any, model: ModelServer, in_a_folder: Path
) -> None:
    model.reply(write_plan(), says("written"))
    ran = command("run", "write hello", "--yes", "--set", "approve_plan=always", "--json")
    report = json.loads(ran.out)
    assert (ran.code, report["stop"]["reason"]) == (0, "done")
    assert report["people"] == [
        "plan 1: approved by --yes (plan)",
        "step s1 (write_file): approved by --yes (approval)",
    ]
    model.reply(asks("Into which file?"))
    ran = command("run", "write hello", "--yes")
    assert (ran.code, "run: Into which file? (question)" in ran.out) == (StopReason.NEEDS_INPUT.exit_code, True)
    assert "=respond:TEXT" in ran.out


def asks(question: str) -> Reply:
    lacks = {"name": "file", "question": question, "type": "string"}
    return Reply({"steps": [], "questions": [lacks]}, schema="plan", when="Role: planner")


def test_plans_and_questions_are_answered_by_id(command: Any, model: ModelServer, in_a_folder: Path) -> None:
    model.reply(asks("Into which file?"))
    options = ("--thread", "t", "--no-input", "--json", "--set", "approve_plan=always")
    [asked] = json.loads(command("run", "write hello", *options).out)["open_requests"]
    model.reply(write_plan("${steps.inputs.file}"))
    ran = command("resume", "t", "--answer", f"{asked['id']}=respond:a:b=c.txt")
    assert "Plan 1 has 1 step to run" in ran.out and "approve the plan, and its writes" in ran.out
    [asked] = json.loads(command("resume", "t", "--json").out)["open_requests"]
    edited = {"steps": [step("s1", "write_file", path="${steps.inputs.file}", text="edited")]}
    ran = command("resume", "t", "--answer", f"{asked['id']}=edit:{json.dumps(edited)}", "--json")
    [asked] = json.loads(ran.out)["open_requests"]
    assert asked["kind"] == "approval" and asked["action_requests"][0]["args"]["path"] == "a:b=c.txt"
    model.reply(says("noted"))
    ran = command("resume", "t", "--answer", f"{asked['id']}=respond:I wrote it", "--json")
    report = json.loads(ran.out)
    assert (ran.code, report["results"][0]["output"], report["writes"]) == (0, "I wrote it", [])
    assert [one["by"] for one in report["plans"]] == ["planner", "person"]


def test_an_unknown_run_is_one_line_that_names_the_latest(command: Any) -> None:
    command("run", "2 + 3", "--thread", "mine")
    ran = command("resume", "yours")
    assert (ran.code, is_one_error(ran.err)) == (2, True)
    assert "the latest are: mine" in ran.err


def test_a_password_is_not_kept_with_the_run(command: Any, home: Path) -> None:
    command("run", "2 + 3", "--set", "smtp=smtp://me:s3cret@127.0.0.1:25")
    assert all(b"s3cret" not in file.read_bytes() for file in home.rglob("*") if file.is_file())


@pytest.mark.parametrize(
    "given",
    [
        ("--model", "m", "--base-url", "http://me:s3cret@127.0.0.1:9/v1"),
        ("--model", "m", "--base-url", "http://127.0.0.1:9/v1?api_key=s3cret"),
        ("--set", 'tools=["calculate", "openapi:http://me:s3cret@127.0.0.1:9/api.json"]'),
    ],
)
def test_a_password_in_an_address_is_neither_kept_nor_shown(
    command: Any, home: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...]
) -> None:
    monkeypatch.delenv("LLM_BASE_URL", raising=False)
    ran = command("run", "2 + 3", "--set", 'limits={"retries": 0, "all_retries": 0}', "--thread", "mine", *given)
    assert "s3cret" not in ran.out + ran.err
    assert all(b"s3cret" not in file.read_bytes() for file in home.rglob("*") if file.is_file())


def test_a_run_whose_endpoint_had_a_password_asks_for_it_again(
    command: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LLM_BASE_URL", raising=False)
    address = ("--base-url", "http://me:s3cret@127.0.0.1:9/v1")
    command("run", "write hello to out.txt", "--thread", "mine", "--model", "offline", *address, "--no-input")
    ran = command("resume", "mine", "--yes")
    assert (ran.code, is_one_error(ran.err)) == (2, True)
    assert "base_url was given with a password, which is not kept" in ran.err
    assert command("resume", "mine", "--yes", *address).code == 0


def test_a_run_that_is_going_on_elsewhere_is_left_alone(command: Any, home: Path) -> None:
    code = (
        "import sys; from graphs._saved import Home, alone\n"
        "with alone(Home(sys.argv[1]), 'mine'): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as other:  # fmt: skip
        assert other.stdout and other.stdout.readline() == b"held\n"
        ran = command("run", "2 + 3", "--thread", "mine")
        assert (ran.code, is_one_error(ran.err)) == (2, True)
        assert "another process" in ran.err
        assert command("run", "2 + 3", "--thread", "other").code == 0


# ---- bad input


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["run", ""], "the task is empty"),
        (["run", "a" * 120_000], "at most 100,000"),
        (["run", "x\0y"], "NUL"),
        (["run"], "Missing argument"),
        (["run", "x", "--bogus"], "No such option"),
        (["bogus"], "No such command"),
        (["run", "x", "--pattern", "bogus"], "there is no pattern 'bogus'; there are: one_shot"),
        (["run", "x", "--model", "bogus"], "needs an endpoint"),
        (["run", "x", "--model", ""], "model"),
        (["run", "x", "--set", "tools=bogus"], "there is no tool 'bogus'"),
        (["run", "x", "--set", "bogus=1"], "context has no setting 'bogus'"),
        (["run", "x", "--set", "concurrency=many"], "concurrency"),
        (["run", "x", "--set", "concurrency"], "name=value"),
        (["run", "x", "--root", ".", "--set", "root=."], "twice"),
        (["run", "x", "--limit", "bogus=1"], "there is no limit 'bogus'"),
        (["run", "x", "--set", 'limits={"second": 3}'], "there is no limit 'second'; did you mean 'seconds'"),
        (["run", "x", "--limit", "steps=many"], "limits.steps"),
        (["run", "x", "--limit", "steps=0"], "limits.steps"),
        (["run", "x", "--check-after", "bogus"], "check_after"),
        (["run", "x", "--inputs", "{"], "--inputs: '{' is no JSON"),
        (["run", "x", "--inputs", "[1]"], "is a list"),
        (["run", "x", "--inputs", "@nowhere.json"], "'nowhere.json' can't be read"),
        (["run", "x", "--inputs", "@."], "can't be read"),
        (["run", "x", "--inputs", "[" * 100_000], "no JSON"),
        (["run", "x", "--answer-schema", '{"type": 7}'], "no JSON Schema"),
        (["run", "x", "--constraints", "{broken"], "--constraints: '{broken' is no JSON"),
        (["run", "x", "--root", "nowhere"], "there is no folder 'nowhere'"),
        (["run", "x", "--documents", "note.txt"], "there is no folder"),
        (["run", "x", "--thread", ""], "no name for a thread"),
        (["run", "x", "--thread", "a\nb"], "no name for a thread"),
        (["run", "caf\udce9"], "no UTF-8"),
        (["draw", "bogus"], "there is no pattern"),
        (["plan", "x", "--limit", "bogus=1"], "there is no limit"),
    ],
)
def test_wrong_input_is_one_line(command: Any, arguments: list[str], word: str) -> None:
    ran = command(*arguments)
    assert ran.code == 2
    assert is_one_error(ran.err) and word in ran.err
    assert "stop:" not in ran.out


@pytest.mark.parametrize("stdin", [b"caf\xe9", b"a\0b", b"", b"a" * 1_000_000, b"a" * 5_000_000])
def test_wrong_standard_input_is_one_line(stdin: bytes) -> None:
    ran = process("run", "-", stdin=stdin)
    assert ran.returncode == 2
    assert is_one_error(ran.stderr.decode()) and len(ran.stderr.splitlines()) == 1


def test_bytes_that_are_no_text_are_one_line_as_an_argument() -> None:
    ran = process("run", b"caf\xe9")  # type: ignore[arg-type]
    assert (ran.returncode, len(ran.stderr.splitlines())) == (2, 1)
    assert b"no UTF-8" in ran.stderr


def test_a_file_that_is_no_text_is_one_line(command: Any, in_a_folder: Path) -> None:
    (in_a_folder / "bad.json").write_bytes(b'{"a": "caf\xe9"}')
    ran = command("run", "x", "--inputs", "@bad.json")
    assert ran.code == 2 and is_one_error(ran.err)


@pytest.mark.parametrize("name", ["runs.db", "home"])
def test_a_home_that_can_not_be_used_is_one_line(
    command: Any, home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (home / name).write_bytes(b"this is no database, but long enough to look like one" * 100)
    if name == "home":
        monkeypatch.setenv("FORETHOUGHT_HOME", str(home / name))
    ran = command("run", "2 + 3")
    assert ran.code == 2
    assert is_one_error(ran.err) and "can't be kept" in ran.err


def test_an_error_that_nobody_expected_is_one_line(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any) -> None:
        raise RuntimeError("oh no")

    monkeypatch.setattr("graphs._leg._follow", broken)
    ran = command("run", "2 + 3")
    assert ran.code == 2 and is_one_error(ran.err) and "Traceback" not in ran.err
    assert "RuntimeError: oh no" in ran.err and "nothing of it is kept; start it again" in ran.err
    assert "Traceback" in command("run", "2 + 3", "--debug").err


# ---- the commands that only show


def test_help_is_quick_and_imports_no_graphs() -> None:
    code = (
        "import sys; from graphs.cli import execute; execute(['run', '--help']);"
        "print([m for m in sys.modules if m.split('.')[0] in ('langgraph', 'langchain_core', 'openai')])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, timeout=50, check=True)
    assert ran.stdout.decode().splitlines()[-1] == "[]"
    assert b"--answer-schema" in ran.stdout


def test_without_a_command_there_is_help(command: Any) -> None:
    ran = command()
    assert (ran.code, "Usage: forethought" in ran.out) == (0, True)


def test_plan_shows_what_would_run_and_runs_nothing(
    command: Any, model: ModelServer, in_a_folder: Path, home: Path
) -> None:
    steps = step("s1", "count_words", path="note.txt"), step("s2", "write_file", path="o", text="${steps.s1} words")
    model.reply(plan(*steps))
    ran = command("plan", "count the words of note.txt into o")
    assert ran.code == 0
    assert 's1: count_words {"path": "note.txt"}' in ran.out
    assert "(after s1) [write]" in ran.out
    assert "would write:\n  - s2: write_file" in ran.out
    assert "would take: 2 tool calls" in ran.out and "tokens unknown" in ran.out
    assert not (in_a_folder / "o").exists() and not (home / "runs.db").exists()


def test_plan_says_which_plan_can_not_run(command: Any, model: ModelServer) -> None:
    model.reply(*[plan(step("s1", "no_such_tool"))] * 3)
    ran = command("plan", "do it")
    assert ran.code == StopReason.PLAN_INVALID.exit_code
    assert "there is no tool 'no_such_tool'" in ran.out


def test_patterns_are_listed_with_what_they_do(command: Any) -> None:
    lines = command("patterns").out.splitlines()
    assert [line.split()[0] for line in lines] == list(names())
    assert all(len(line.split()) > 5 for line in lines)


@pytest.mark.parametrize("pattern", names())
def test_a_pattern_is_drawn_as_mermaid(command: Any, pattern: str) -> None:
    out = command("draw", pattern).out
    assert "flowchart TD" in out and "execute" in out


def test_tools_are_listed_with_their_effect(command: Any) -> None:
    lines = {line.split()[0]: line.split()[1:] for line in command("tools").out.splitlines()}
    assert lines["write_file"][0] == "write" and lines["calculator"][0] == "read"
    assert all(len(words) > 3 for words in lines.values())
    assert "  expression: {" in command("tools", "calculator").out
    assert json.loads(command("tools", "sql_query", "--json").out)["args"]["required"] == ["sql"]
    assert "did you mean calculator" in command("tools", "calculater").err


# ---- doctor


@pytest.fixture
def local(loopback: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No model server of this machine and no service outside of it is seen, only those a test names."""
    monkeypatch.setattr(_doctor, "LOCAL", ())
    for name in ("FORETHOUGHT_WEATHER_URL", "FORETHOUGHT_GEOCODING_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    yield
    loopback.clear()


@pytest.mark.usefixtures("local")
def test_doctor_finds_a_fresh_machine_usable(command: Any) -> None:
    ran = command("doctor")
    assert ran.code == 0
    assert "offline planner, no language model" in ran.out
    assert "SMTP_URL" in ran.out and "FTS5" in ran.out and "journal.db" in ran.out


@pytest.mark.usefixtures("local")
def test_doctor_asks_the_probes_of_the_tools(
    command: Any, mail_server: MailServer, loopback: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    loopback.expect_request("/well").respond_with_data("")
    loopback.expect_request("/ill").respond_with_data("", status=503)
    monkeypatch.setenv("SMTP_URL", mail_server.url)
    monkeypatch.setenv("FORETHOUGHT_GEOCODING_URL", loopback.url_for("/well"))
    monkeypatch.setenv("FORETHOUGHT_WEATHER_URL", loopback.url_for("/ill"))
    ran = command("doctor")
    assert ran.code == 0
    assert re.search(r"ok\s+send_mail\s+answers its probe", ran.out)
    assert re.search(r"note\s+weather\s+is not well: Open-Meteo answered 503", ran.out)
    assert not mail_server.messages


@pytest.mark.usefixtures("local")
def test_doctor_says_where_telemetry_goes(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "telemetry" not in command("doctor").out
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:s3cret@127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    ran = command("doctor")
    assert "goes to http://127.0.0.1:9" in ran.out and "only http/protobuf" in ran.out and "s3cret" not in ran.out


@pytest.mark.usefixtures("local")
def test_doctor_asks_the_endpoint_of_the_model(command: Any, model: ModelServer) -> None:
    assert f"scripted at {model.url}" in command("doctor").out
    model.models = ["another"]
    ran = command("doctor")
    assert (ran.code, "lists other models: another" in ran.out) == (0, True)


@pytest.mark.usefixtures("local")
def test_doctor_says_when_the_endpoint_is_down_and_hides_its_password(command: Any) -> None:
    ran = command("doctor", "--model", "x", "--base-url", "http://me:s3cret@127.0.0.1:9/v1")
    assert ran.code == 1
    assert "can't be reached" in ran.out and "s3cret" not in ran.out


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize(("status", "code"), [(401, 1), (500, 1), (404, 0)])
def test_doctor_reads_what_the_endpoint_answers(command: Any, loopback: HTTPServer, status: int, code: int) -> None:
    loopback.expect_request("/doctor/v1/models").respond_with_data("no", status=status)
    ran = command("doctor", "--model", "x", "--base-url", loopback.url_for("/doctor/v1"))
    assert ran.code == code
    assert str(status) in ran.out


@pytest.mark.usefixtures("local")
def test_doctor_does_not_wait_for_an_endpoint_that_says_nothing(
    command: Any, loopback: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    monkeypatch.setattr(_doctor, "TIMEOUT", 0.3)
    loopback.expect_request("/silent/models").respond_with_handler(lambda request: Response(str(over.wait(10))))
    ran = command("doctor", "--model", "x", "--base-url", loopback.url_for("/silent"))
    over.set()
    assert (ran.code, "can't be reached" in ran.out) == (1, True)


@pytest.mark.usefixtures("local")
def test_doctor_says_that_a_named_model_has_no_key(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_MODEL_ID", "gpt-x")
    ran = command("doctor")
    assert (ran.code, "set LLM_API_KEY for OpenAI, or LLM_BASE_URL" in ran.out) == (1, True)


def test_doctor_only_suggests_a_server_of_this_machine(
    command: Any, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, loopback: HTTPServer
) -> None:
    loopback.expect_request("/v1/models").respond_with_json({"data": [{"id": "small"}]})
    monkeypatch.setattr(_doctor, "LOCAL", (("Ollama", loopback.port), ("vLLM", 9)))
    out = command("doctor").out
    assert f"LLM_BASE_URL=http://127.0.0.1:{loopback.port}/v1 LLM_MODEL_ID=small" in out
    assert "vLLM" not in out
    assert "offline planner" in command("run", "2 + 3").out
    assert not model_server.requests
