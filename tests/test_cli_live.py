import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from graphs._live import LineView, Screen, lines, picture
from graphs._watch import Watch
from state.plan import Step
from state.result import Result
from state.stop import StopReason
from tests.support.model_server import ModelServer
from tests.support.runs import plan, says, step
from tests.support.script import Reply
from tests.support.terminal import Terminal

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
COMMAND = [sys.executable, "-m", "graphs"]
NOW = 1_000_000.0
NEEDS_APPROVAL = StopReason.NEEDS_APPROVAL.exit_code


@pytest.fixture(autouse=True)
def in_a_folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return folder


@pytest.fixture
def model(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    for name, value in model_server.environment.items():
        monkeypatch.setenv(name, value)
    return model_server


# ---- the picture


def planned(name: str, tool: str, **args: Any) -> Step:
    return {
        "id": name, "tool": tool, "args": args, "after": [], "rests_on": [], "why": "", "produces": "", "accept": [],
        "criteria": [],
        "timeout": None, "retries": None, "on_failure": "block", "fallback": None, "each": None, "when": None,
        "critical": False, "effect": "read", "version": 1,
    }  # fmt: skip


def result(name: str, tool: str, status: Any, output: Any = None, note: str = "") -> Result:
    return {
        "step": name, "hash": "h", "plan_version": 1, "tool": tool, "args": {}, "call": "", "calls": [],
        "effect": "read", "status": status, "output": output, "artefact": None, "failure": None, "checks": [],
        "parts": [], "attempts": 1, "started": NOW, "ended": NOW + 1.5, "slow": False, "note": note, "requests": [],
    }  # fmt: skip


def event(kind: str, name: str = "", tool: str = "", reason: str = "", **more: Any) -> dict[str, Any]:
    return {"event": kind, "step": name, "evidence": [tool], "reason": reason, "next": "", "time": NOW + 2, **more}


@pytest.fixture
def watch() -> Watch:
    """A run in its middle: one step done, one running, two that wait for it."""
    seen = Watch(began=NOW)
    request = {"task": "find the best film of 2024 and write a poem about it", "pattern": "rewoo"}
    seen.see("updates", {"intake": {"request": request, "plans": "an Overwrite"}})
    steps = [
        planned("find", "search", query="best film 2024"), planned("片名", "translate", text="${steps.find}"),
        planned("poem", "summarise", text="${steps.find} ${steps.片名}") | {"after": ["片名"]},
        planned("save", "write_file", text="${steps.poem}"),
    ]  # fmt: skip
    seen.see("updates", {"plan": {"plans": [{"version": 1, "steps": steps}]}})
    seen.see("custom", event("step_started", "find", "search"))
    seen.see("updates", {"find:h": result("find", "search", "done", "Anora \x1b[31m" + "and so on " * 30)})
    seen.see("custom", event("step_started", "片名", "translate"))
    return seen


def drawn(watch: Watch, width: int, **options: Any) -> str:
    console = Screen(file=io.StringIO(), width=width, force_terminal=True, **options)
    console.print(picture(watch, width, NOW + 4.2))
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return text


def test_a_wide_picture_has_step_tool_state_time_and_what_it_waits_for(watch: Watch) -> None:
    rows = [line.split() for line in drawn(watch, 100, no_color=True, color_system=None).splitlines()]
    assert rows[0][:3] == ["find", "the", "best"]
    assert "rewoo · plan 1 · running · 4 s" in " ".join(rows[1])
    assert rows[3][:5] == ["find", "search", "done", "1.5", "s"]
    assert rows[4][:5] == ["片名", "translate", "running", "2.2", "s"]
    assert rows[5] == ["poem", "summarise", "waits", "after", "片名"]
    assert rows[6] == ["save", "write_file", "waits", "after", "poem"]


@pytest.mark.parametrize("width", [30, 40, 69, 70, 100, 200])
def test_no_line_is_wider_than_the_terminal(watch: Watch, width: int) -> None:
    text = drawn(watch, width, color_system=None)
    assert max(map(cell_len, text.splitlines())) <= width
    assert all(word in text for word in ("done", "running", "waits"))


def test_a_narrow_picture_puts_what_a_step_waits_for_below_it(watch: Watch) -> None:
    text = drawn(watch, 40, color_system=None)
    lines_of_text = text.splitlines()
    at = next(place for place, line in enumerate(lines_of_text) if line.startswith("save"))
    assert "after" in lines_of_text[at + 1]


def test_without_colour_only_words_are_left(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[3" in drawn(watch, 100)
    monkeypatch.setenv("NO_COLOR", "1")
    text = drawn(watch, 100)
    assert "\x1b[3" not in text and "running" in text


def test_what_a_tool_gives_can_not_move_the_cursor(watch: Watch) -> None:
    assert "\\u001b[31m" in drawn(watch, 120, color_system=None)
    assert "\x1b[31m" not in drawn(watch, 120, color_system=None)


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ("failed", "failed"),
        ("blocked", "blocked"),
        ("degraded", "fallback"),
        ("waiting", "asks you"),
        ("unknown", "un"),
    ],
)
def test_every_state_has_a_word(watch: Watch, status: str, word: str) -> None:
    watch.see("updates", {"execute": {"results": {"片名": result("片名", "translate", status, note="the reason")}}})
    text = drawn(watch, 100, color_system=None)
    assert word in text and "the reason" in text


def test_parts_of_a_map_step_are_counted(watch: Watch) -> None:
    for statuses in (["done"], ["failed", "done"], ["done"]):
        watch.see("updates", {"片名[0]:f": [{"status": status, "output": 1} for status in statuses]})
    assert "3 parts done" in drawn(watch, 100, color_system=None)


def test_a_new_plan_keeps_finished_steps_in_sight(watch: Watch) -> None:
    watch.see("updates", {"replan": {"plans": [{"version": 2, "steps": [planned("other", "search")]}]}})
    assert [row.step for row in watch.rows()] == ["find", "other"]


def test_a_new_request_on_a_thread_begins_with_an_empty_picture(watch: Watch) -> None:
    watch.see("updates", {"intake": {"request": {"task": "another", "pattern": "rewoo"}}})
    assert watch.rows() == []


def test_an_event_with_hostile_text_is_one_line(watch: Watch) -> None:
    (line,) = lines(watch, "custom", event("step_failed", "find", "search", "a\nb\r\x1b[2J"))
    assert line == "find search: failed (a b\\u000d\\u001b[2J)"


def test_a_long_line_is_not_broken_in_a_pipe(watch: Watch) -> None:
    out = io.StringIO()
    LineView(Screen(file=out, width=40)).show(watch, "custom", event("verdict", reason="word " * 50))
    assert len(out.getvalue().splitlines()) == 1


def test_a_screen_takes_text_as_it_is() -> None:
    out = io.StringIO()
    Screen(file=out).print(":smile: [bold]x[/bold] 42", soft_wrap=True)
    assert out.getvalue() == ":smile: [bold]x[/bold] 42\n"
    assert issubclass(Screen, Console)


# ---- at a terminal


def test_a_terminal_shows_the_plan_and_then_the_answer(model: ModelServer) -> None:
    model.reply(plan(step("s1", "calculator", expression="6 * 7")), says("It is 42."))
    with Terminal([*COMMAND, "run", "what is 6 times 7?"]) as terminal:
        assert terminal.leave() == 0
    assert "s1    calculator  done" in terminal.text
    assert "It is 42." in terminal.text and "started" not in terminal.text
    assert terminal.shown.rindex("\x1b[?25h") > terminal.shown.rindex("\x1b[?25l")


def test_a_person_answers_a_question_and_sends_a_plan_back_at_the_terminal(
    model: ModelServer, in_a_folder: Path
) -> None:
    lacks = {"name": "file", "question": "Into which file?", "type": "string"}
    model.reply(Reply({"steps": [], "questions": [lacks]}, schema="plan", when="Role: planner"))
    first = [step("s1", "write_file", path="${steps.inputs.file}", text="no")]
    second = [step("s1", "write_file", path="${steps.inputs.file}", text="yes")]
    model.reply(plan(*first), plan(*second))
    line = [*COMMAND, "run", "write it", "--pattern", "one_shot", "--set", "approve_plan=writes"]
    with Terminal(line, width=100) as terminal:
        terminal.expect("Into which file?")
        terminal.expect("res[p]ond, [r]eject, [l]eave open: ")
        terminal.send("p\n")
        terminal.expect("answer (text or JSON): ")
        terminal.send("out.txt\n")
        terminal.expect("Plan 1 has 1 step to run. May it run?")
        terminal.expect('s1: write_file {"path": "${steps.inputs.file}", "text": "no"}')
        terminal.expect("[a]pprove, [e]dit, [r]eject, res[p]ond, [l]eave open: ")
        terminal.send("p\n")
        terminal.send("write yes\n")
        terminal.expect("changed: s1")
        terminal.prompted()
        terminal.send("a\n")
        terminal.expect("write_file changes something")
        terminal.prompted()
        terminal.send("a\n")
        assert terminal.leave() == 0
    assert (in_a_folder / "out.txt").read_text(encoding="utf-8") == "yes"


def test_keys_that_were_typed_before_a_question_are_no_answer_to_it(model: ModelServer, in_a_folder: Path) -> None:
    model.reply(plan(step("s1", "write_file", path="1.txt", text="x")))
    with Terminal([*COMMAND, "run", "write", "--pattern", "one_shot"], width=80) as terminal:
        terminal.expect("thread ")
        terminal.send("a\n")
        terminal.prompted()
        terminal.send("r\n")
        terminal.expect("why")
        terminal.send("no\n")
        assert terminal.leave() == StopReason.REJECTED.exit_code
    assert not (in_a_folder / "1.txt").exists()


def test_a_person_approves_edits_and_rejects_at_the_terminal(model: ModelServer, in_a_folder: Path) -> None:
    writes = [step(f"s{n}", "write_file", path=f"{n}.txt", text="old \x1b[2J") for n in (1, 2, 3)]
    model.reply(plan(*writes))
    with Terminal([*COMMAND, "run", "write three", "--pattern", "one_shot"], width=60) as terminal:
        terminal.expect("s1: write_file changes something. May it run?")
        assert 'text = "old \\u001b[2J"' in terminal.text
        terminal.expect("[a]pprove, [e]dit, [r]eject, res[p]ond, [l]eave open: ")
        terminal.send("what\n")
        terminal.expect("'what' is not one of")
        terminal.prompted()
        terminal.send("a\n")
        terminal.expect("s2: write_file")
        terminal.prompted()
        terminal.send("e\n")
        terminal.expect("one line of JSON")
        terminal.send("{broken\n")
        terminal.expect("no JSON")
        terminal.prompted()
        terminal.send("e\n")
        terminal.send('{"path": "2.txt", "text": "new"}\n')
        terminal.expect("s3: write_file")
        terminal.prompted()
        terminal.send("r\n")
        terminal.expect("why")
        terminal.send("not this one\n")
        assert terminal.leave() == StopReason.REJECTED.exit_code
    assert "not this one" in terminal.text.rsplit("stop:", 1)[1]
    assert {file.name: file.read_text(encoding="utf-8") for file in in_a_folder.iterdir()} == {
        "1.txt": "old \x1b[2J", "2.txt": "new"
    }  # fmt: skip


def test_a_question_that_was_left_open_is_not_asked_again(model: ModelServer, in_a_folder: Path) -> None:
    model.reply(plan(*[step(f"s{n}", "write_file", path=f"{n}.txt", text="x") for n in (1, 2)]))
    with Terminal([*COMMAND, "run", "write two"]) as terminal:
        terminal.expect("s1: write_file changes something")
        terminal.prompted()
        terminal.send("l\n")
        terminal.expect("s2: write_file changes something")
        terminal.prompted()
        terminal.send("a\n")
        assert terminal.leave() == NEEDS_APPROVAL
    assert terminal.text.count("s1: write_file changes something") == 1


@pytest.mark.parametrize("keys", ["l\n", pytest.param("\x04", marks=pytest.mark.slow), "\x03"])
def test_a_question_that_is_left_open_can_be_answered_later(model: ModelServer, in_a_folder: Path, keys: str) -> None:
    model.reply(plan(step("s1", "write_file", path="1.txt", text="x")), says("written"))
    with Terminal([*COMMAND, "run", "write it", "--thread", "t"], preexec_fn=controls_its_terminal) as terminal:
        terminal.expect("eave open: ")
        terminal.send(keys)
        assert terminal.leave() == (130 if keys == "\x03" else NEEDS_APPROVAL)
    assert "forethought resume t --yes" in terminal.text
    with Terminal([*COMMAND, "resume", "t"]) as terminal:
        terminal.expect("eave open: ")
        terminal.send("a\n")
        assert terminal.leave() == 0
    assert (in_a_folder / "1.txt").exists()


def controls_its_terminal() -> None:
    """Makes the terminal send signals for keys such as Ctrl-C; runs in the child."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_no_input_asks_nobody(model: ModelServer) -> None:
    model.reply(plan(step("s1", "write_file", path="1.txt", text="x")))
    with Terminal([*COMMAND, "run", "write it", "--no-input"]) as terminal:
        assert terminal.leave() == NEEDS_APPROVAL
    assert "eave open: " not in terminal.text


# ---- Ctrl-C


def slow_plan(model: ModelServer, seconds: float) -> None:
    slow = Reply("a translation", when="Role: executor", delay=seconds)
    steps = [
        step("quick", "calculator", expression="6 * 7"), step("slow", "translate", text="hello", language="French"),
        step("last", "write_file", path="out.txt", text="${steps.slow}"),
    ]  # fmt: skip
    model.reply(plan(*steps), slow)


def started(model: ModelServer, *arguments: str) -> "subprocess.Popen[str]":
    """The command in a process of its own, once its quick step is done and its slow one has asked the model."""
    line = [*COMMAND, "run", "do it", "--thread", "t", "--pattern", "one_shot", *arguments]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    stream = process.stderr if "--json" in arguments else process.stdout
    assert stream
    assert any("quick calculator: done" in text for text in stream)
    wait_for_slow_step(model)
    return process


def wait_for_slow_step(model: ModelServer) -> None:
    while not any("Role: executor" in str(body) for body in model.requests):
        time.sleep(0.05)
    time.sleep(0.5)  # a result is stored just after it is told of


@pytest.mark.slow
def test_ctrl_c_ends_with_a_report_and_the_run_can_go_on(model: ModelServer, in_a_folder: Path) -> None:
    slow_plan(model, 30)
    process = started(model)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, "")
    assert time.monotonic() - began < 10
    assert "stop: interrupted: interrupted by Ctrl-C" in out
    assert "slow (translate): not_run: interrupted while it was running" in out
    assert "last (write_file): was not run" in out
    assert re.search(r"usage: \d+ model calls?, \d+ tool calls?", out)
    assert re.search(r"go on: (\S*/)?forethought resume t\b", out)
    model.reply(Reply("Bonjour", when="Role: executor"))
    line = [*COMMAND, "resume", "t", "--yes", "--json"]
    ran = subprocess.run(line, capture_output=True, text=True, timeout=50, check=False)
    report = json.loads(ran.stdout)
    assert (ran.returncode, report["stop"]["reason"]) == (0, "done")
    assert "quick calculator: started" not in ran.stderr
    assert (in_a_folder / "out.txt").read_text(encoding="utf-8") == "Bonjour"


@pytest.mark.slow
def test_sigterm_ends_as_ctrl_c_does(model: ModelServer, in_a_folder: Path) -> None:
    slow_plan(model, 30)
    process = started(model)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (143, "")
    assert "stop: interrupted: interrupted by SIGTERM" in out
    shown = subprocess.run([*COMMAND, "show", "t"], capture_output=True, text=True, timeout=50, check=False).stdout
    assert "stop: interrupted: it was cut off; `resume` goes on with it" in shown
    model.reply(Reply("Bonjour", when="Role: executor"))
    ran = subprocess.run([*COMMAND, "resume", "t", "--yes", "--json"], capture_output=True, text=True, timeout=50)
    assert (ran.returncode, json.loads(ran.stdout)["stop"]["reason"]) == (0, "done")
    again = subprocess.run([*COMMAND, "replay", "t"], capture_output=True, text=True, timeout=50, check=False)
    assert (again.returncode, again.stdout.startswith("identical")) == (0, True), again.stdout


@pytest.mark.slow
def test_ctrl_c_at_a_terminal_leaves_it_usable(model: ModelServer) -> None:
    slow_plan(model, 30)
    line = [*COMMAND, "run", "do it", "--pattern", "one_shot"]
    with Terminal(line, preexec_fn=controls_its_terminal) as terminal:
        terminal.expect("translate   running")
        wait_for_slow_step(model)
        terminal.send("\x03")
        assert terminal.leave() == 130
    assert "stop: interrupted" in terminal.text
    assert terminal.shown.rindex("\x1b[?25h") > terminal.shown.rindex("\x1b[?25l")


@pytest.mark.slow
def test_ctrl_c_gives_the_report_as_json_too(model: ModelServer) -> None:
    slow_plan(model, 30)
    process = started(model, "--json")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    report = json.loads(out)
    assert (process.returncode, report["stop"]["reason"], report["stop"]["kind"]) == (130, "interrupted", "pause")
    assert {result["step"]: result["status"] for result in report["results"]} == {"quick": "done", "slow": "not_run"}


@pytest.mark.slow
def test_ctrl_c_while_the_plan_is_made_is_a_report(model: ModelServer) -> None:
    unknown = plan(step("a", "no_such_tool"))
    model.reply(unknown, Reply("late", when="Role: planner", delay=30))
    line = [*COMMAND, "run", "do it", "--thread", "t"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while len(model.requests) < 2:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, "")
    assert "stop: interrupted" in out and "there is no plan" in out
    assert "usage: 1 model call, 0 tool calls, " in out and " 0 tokens" not in out  # the first reply was paid


@pytest.mark.slow
def test_a_second_ctrl_c_ends_at_once(in_a_folder: Path) -> None:
    code = (
        "import sys, time\n"
        "from graphs import _leg\n"
        "async def stuck(*args):\n"
        "    print('stuck', flush=True)\n"
        "    while True: time.sleep(0.1)\n"
        "_leg._follow = stuck\n"
        "from graphs.cli import main\n"
        "sys.argv = ['forethought', 'run', '2 + 3']\n"
        "main()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    assert any(line == "stuck\n" for line in process.stdout)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=5)
    assert process.returncode == 130


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(model: ModelServer, in_a_folder: Path) -> None:
    slow_plan(model, 30)
    process = started(model)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=20)
    model.reply(Reply("Bonjour", when="Role: executor"))
    line = [*COMMAND, "resume", "t", "--yes"]
    ran = subprocess.run(line, capture_output=True, text=True, timeout=50, check=False)
    assert ran.returncode == 0
    assert "quick calculator: started" not in ran.stdout
    assert (in_a_folder / "out.txt").read_text(encoding="utf-8") == "Bonjour"
    again = subprocess.run([*COMMAND, "replay", "t"], capture_output=True, text=True, timeout=50, check=False)
    assert (again.returncode, again.stdout.startswith("identical")) == (0, True), again.stdout
