"""`forethought eval`: tasks of one's own against a real server, rows that are kept, what the report says and marks."""

import csv
import io
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import comb
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import graphs
from evals.answers import last_number
from evals.intervals import Interval, paired_difference, wilson
from evals.own_tasks import KEYS, own
from evals.plots import cost_plot, size_plot
from evals.rows import Row, RowFile
from evals.runner import record
from evals.sets import TaskSet, alone
from evals.summary import ALL, AVERAGED, Line, lines
from evals.table import lines_csv
from graphs._markup import written as written_markup
from state.errors import InputError, SetupError
from state.stop import StopReason, stop
from tests.support.drawn import a_plan, a_report, a_result, a_step
from tests.support.gold import needs_data
from tests.support.model_server import ModelServer
from tests.support.runs import critique, drafted, plan, says, step, turn
from tests.support.script import Reply, failure

LEGS = {"task": "How many legs have 3 cats?", "expected": 12, "tools": ["calculator"], "class": "sums"}
Command = Callable[..., SimpleNamespace]


@pytest.fixture
def command(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: Path) -> Command:
    monkeypatch.chdir(tmp_path)
    return command


def written(folder: Path, *tasks: dict[str, Any], name: str = "mine.jsonl") -> str:
    (folder / name).write_text("".join(f"{json.dumps(task)}\n" for task in tasks), encoding="utf-8")
    return name


def kept(folder: Path) -> list[Row]:
    return list(RowFile(folder / "rows.jsonl").read().values())


def summed(expression: str = "3 * 4") -> Reply:
    return plan(step("s1", "calculator", expression=expression))


# --- a run of it


def test_a_model_behind_a_server_is_compared_on_own_tasks(command: Command, model: ModelServer, tmp_path: Path) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}}
    model.reply(Reply("11", when="Role: direct", usage=usage), replace(summed(), usage=usage))
    prices = 'prices={"scripted": {"tokens_in": 1, "tokens_out": 2}}'
    asked = ("eval", written(tmp_path, LEGS), "--patterns", "one_shot,direct", "--at-once", "1", "-o", "out")
    ran = command(*asked, "--set", prices)
    assert ran.code == 0, ran.err
    direct, one_shot = kept(tmp_path / "out")
    assert (direct["pattern"], direct["success"], one_shot["pattern"], one_shot["success"]) == (
        "direct", False, "one_shot", True,
    )  # fmt: skip
    assert direct["problems"] == ["the answer gives 11, right is 12: 11"]
    for row in (direct, one_shot):
        assert (row["tokens_in"], row["tokens_out"], row["cached"], row["model_calls"]) == (100, 10, 40, 1)
        assert row["money"] == pytest.approx(120e-6)
        assert (row["model"], row["simulated"], row["kind"]) == ("scripted", False, "sums")
    assert "one_shot - direct: +100.0 points" in ran.out
    files = {file.name for file in (tmp_path / "out").iterdir()}
    assert files >= {"report.html", "table.csv", "differences.csv", "mine.cost.svg", "mine.steps.svg"}
    for file in ("report.html", "table.csv", "differences.csv", "mine.cost.svg", "mine.steps.svg"):
        assert "simulated" not in (tmp_path / "out" / file).read_text(encoding="utf-8")
    assert "cost of a task" in (tmp_path / "out" / "mine.cost.svg").read_text(encoding="utf-8")

    again = command(*asked, "--set", prices)  # the server has nothing left to say
    assert (again.code, again.out) == (0, ran.out)
    assert "0 runs to do, 2 done before" in again.err


def test_every_run_is_kept_to_be_opened_and_replayed(command: Command, model: ModelServer, tmp_path: Path) -> None:
    model.reply(says("13", "direct"))
    ran = command("eval", written(tmp_path, LEGS), "--patterns", "direct", "-o", "out")
    opened = re.search(r"for example: forethought (show --set home=\S+ \S+)", ran.out)
    assert opened
    shown = command(*opened[1].split())
    assert shown.code == 0 and "How many legs have 3 cats?" in shown.out and "\n13\n" in shown.out
    assert "Role: direct" in command(*opened[1].split(), "--prompts").out
    assert command("replay", *opened[1].split()[1:]).out.startswith("identical")


def test_each_run_works_in_a_copy_of_its_files(command: Command, model: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "note.txt").write_text("one", encoding="utf-8")
    task = {"task": "write", "tools": ["files"], "files": "given", "check": "tools == ['write_file']"}
    over = plan(step("s1", "write_file", path="note.txt", text="two"))
    model.reply(over, over, says("done"))
    ran = command("eval", written(tmp_path, task), "--patterns", "one_shot,rewoo", "--at-once", "1", "-o", "out")
    assert [row["success"] for row in kept(tmp_path / "out")] == [True, True], ran.out
    texts = [file.read_text() for file in (tmp_path / "out" / "roots").rglob("note.txt")]
    assert (texts, (tmp_path / "given" / "note.txt").read_text()) == (["two", "two"], "one")


def test_where_no_model_could_be_asked_nothing_is_said_of_the_pattern(
    command: Command, model: ModelServer, tmp_path: Path
) -> None:
    asked = ("eval", written(tmp_path, LEGS), "--patterns", "direct", "-o", "out")
    model.reply(failure(401, "no such key"))
    ran = command(*asked)
    assert re.search(r"direct +scripted +0 \(\+1 not measured\) +unknown +unknown", ran.out), ran.out
    model.reply(says("12", "direct"))
    assert re.search(r"direct +scripted +1 +100.0 %", command(*asked).out)


def test_an_answer_that_no_run_verified_counts_when_it_is_right(
    command: Command, model: ModelServer, tmp_path: Path
) -> None:
    model.reply(turn("easy", answer="12"), turn("easy", answer="13"))
    name = written(tmp_path, LEGS, {**LEGS, "task": "again"})
    assert command("eval", name, "--patterns", "react", "--at-once", "1", "-o", "out").code == 0
    assert [(row["stop"], row["success"]) for row in kept(tmp_path / "out")] == [
        ("unverified", True), ("unverified", False),
    ]  # fmt: skip


def test_a_model_may_be_its_own_critic(command: Command, model: ModelServer, tmp_path: Path) -> None:
    model.reply(drafted("12"), critique())
    assert command("eval", written(tmp_path, LEGS), "--patterns", "reflection", "-o", "out").code == 0
    assert [row["success"] for row in kept(tmp_path / "out")] == [True]


def test_a_task_that_was_changed_is_run_again(command: Command, model: ModelServer, tmp_path: Path) -> None:
    model.reply(says("12", "direct"), says("12", "direct"))
    for expected, share in ((12, "100.0 %"), (13, "0.0 %")):
        ran = command("eval", written(tmp_path, {**LEGS, "expected": expected}), "--patterns", "direct", "-o", "out")
        assert share in ran.out


def test_rows_of_another_model_or_setting_do_not_mix(command: Command, model: ModelServer, tmp_path: Path) -> None:
    model.reply(says("12", "direct"))
    asked = ("eval", written(tmp_path, LEGS), "--patterns", "direct", "-o", "out")
    assert command(*asked).code == 0
    other = command(*asked, "--model", "other")
    assert (other.code, other.out) == (2, "")
    assert "holds an eval with model 'scripted', now it is 'other'; take another folder with -o" in other.err
    assert "with limits not set" in command(*asked, "--limit", "replans=1").err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name what to try: gsm8k, "),
        (("gsm9",), "there is no task set 'gsm9'; there are: gsm8k, "),
        (("mine.jsonl:0",), "takes '0' tasks; right would be a whole number from 1"),
        (("mine.jsonl", "--patterns", "direkt"), "there is no pattern 'direkt'; there are: direct, "),
        (("mine.jsonl", "--model", "oracle"), "oracle has no gold for mine"),
        (("mine.jsonl", "--model", "recorded"), "no model was recorded on mine, only on: mbpp, planbench"),
        (("mine.jsonl", "--patterns", "workflow", "--model", "x"), "nothing is left to try: workflow on mine: plans"),
    ],
)
def test_what_is_wrong_with_a_call_is_one_line(
    arguments: tuple[str, ...], said: str, command: Command, tmp_path: Path
) -> None:
    written(tmp_path, LEGS)
    ran = command("eval", *arguments)
    assert ran.code == 2 and said in ran.err and ran.err.count("\n") == 1


# --- what is simulated


@needs_data
def test_what_is_simulated_says_so_in_every_row_of_every_output(command: Command, tmp_path: Path) -> None:
    asked = ("eval", "gsm8k:2", "--patterns", "direct,one_shot", "--model", "noisy", "--noise", "0.5", "-o", "out")
    ran = command(*asked)
    assert ran.code == 0, ran.err
    rows = [line for line in ran.out.splitlines() if line.startswith(("direct ", "one_shot "))]
    assert rows and all(" simulated " in line or "simulated)" in line for line in rows)
    assert all("simulated" in line for line in ran.out.splitlines() if " points" in line)
    for name in ("table.csv", "differences.csv"):
        with (tmp_path / "out" / name).open(encoding="utf-8") as file:
            assert {row["figures"] for row in csv.DictReader(file)} == {"simulated"}
    for name in ("gsm8k.cost.svg", "gsm8k.steps.svg"):
        svg = (tmp_path / "out" / name).read_text(encoding="utf-8")
        points = re.findall(r"<title>(direct|one_shot), [^<]*, simulated</title>", svg)
        assert len(points) == svg.count("<circle") >= 2 and 'fill="none"' in svg
        assert re.search(r"<title>gsm8k: [^<]*\(simulated\)</title>", svg) and "no model was asked" in svg
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    told = [row for row in re.findall(r"<tr>.*?</tr>", page) if ">direct<" in row or ">one_shot<" in row]
    assert told and all("simulated" in row for row in told) and "<script" not in page
    assert all(row["simulated"] and "(simulated)" in row["model"] for row in kept(tmp_path / "out"))
    found = json.loads(command(*asked, "--json").out)
    assert found["simulated"] and all(line["figures"] == "simulated" for line in found["lines"])


# --- own tasks


def test_a_scorer_that_fails_is_named_and_its_runs_say_nothing_until_it_is_mended(
    command: Command, model: ModelServer, tmp_path: Path
) -> None:
    scorer = tmp_path / "my_failing.py"
    scorer.write_text("def judge(task, report):\n    print('noise')\n    return 1 / 0", encoding="utf-8")
    model.reply(says("12", "direct"), says("12", "direct"))
    name = written(tmp_path, LEGS, {"task": "u", "id": "two", "scorer": "my_failing:judge"})
    ran = command("eval", name, "--patterns", "direct", "--at-once", "1", "-o", "out", "--json")
    [line] = [line for line in json.loads(ran.out)["lines"] if line["kind"] == "all"]
    assert (line["number"], line["unmeasured"]) == (1, 1)
    why = "not judged: the scorer my_failing:judge failed: ZeroDivisionError: division by zero"
    assert f"direct on two: {why}" in ran.err and "noise" in ran.err
    [row] = [
        one
        for one in csv.DictReader(io.StringIO((tmp_path / "out" / "table.csv").read_text()))
        if one["class"] == "all"
    ]
    assert (row["tasks"], row["unmeasured"]) == ("1", "1")
    scorer.write_text("def judge(task, report): return True", encoding="utf-8")
    sys.modules.pop("my_failing")
    model.reply(says("12", "direct"))
    command("eval", name, "--patterns", "direct", "-o", "out")
    assert [row["success"] for row in kept(tmp_path / "out")][-1]


def test_a_task_that_can_not_be_run_leaves_the_others_theirs(
    command: Command, model: ModelServer, tmp_path: Path
) -> None:
    (tmp_path / "pipes").mkdir()
    os.mkfifo(tmp_path / "pipes" / "p")
    name = written(tmp_path, {**LEGS, "id": "bad", "files": "pipes"}, {**LEGS, "id": "good"})
    model.reply(says("12", "direct"))
    ran = command("eval", name, "--patterns", "direct", "--at-once", "1", "-o", "out", "--json")
    [line] = [line for line in json.loads(ran.out)["lines"] if line["kind"] == "all"]
    assert (ran.code, line["number"], line["right"], line["unmeasured"]) == (0, 1, 1, 1)
    assert "direct on bad: not begun: " in ran.err and "is a named pipe" in ran.err


@pytest.mark.parametrize(("wrong", "right"), [("orakle", "did you mean 'oracle'"), ("nobody-knows", "endpoint")])
def test_a_model_that_can_not_be_asked_is_refused_before_anything_is_kept(
    command: Command, tmp_path: Path, wrong: str, right: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LLM_BASE_URL", "LLM_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    ran = command("eval", written(tmp_path, LEGS), "--patterns", "direct", "--model", wrong, "-o", "out")
    assert ran.code == 2 and right in ran.err and not (tmp_path / "out").exists()


def test_the_same_tasks_are_read_from_yaml_and_from_lines_of_json(tmp_path: Path) -> None:
    as_yaml = """
defaults:
  tools: [calculator]
  class: sums
tasks:
  - task: How many legs have 3 cats?
    expected: 12
  - id: story
    task: Tell of a cat.
    check: len(answer) > 3
    class: words
    inputs: {name: Tom}
    constraints: {read_only: true}
    settings: {language: en}
"""
    (tmp_path / "a.yaml").write_text(as_yaml, encoding="utf-8")
    story = {"id": "story", "task": "Tell of a cat.", "check": "len(answer) > 3", "class": "words",
             "tools": ["calculator"], "inputs": {"name": "Tom"}, "constraints": {"read_only": True},
             "settings": {"language": "en"}}  # fmt: skip
    found = [own(str(tmp_path / "a.yaml")), own(str(tmp_path / written(tmp_path, LEGS, story)))]
    for one in found:
        legs, told = one.tasks()
        assert (legs.id, legs.text, legs.size, dict(legs.settings)) == (
            "1",
            LEGS["task"],
            "sums",
            {"tools": ["calculator"]},
        )
        assert (told.id, told.size, told.given) == (
            "story", "words", {"inputs": {"name": "Tom"}, "constraints": {"read_only": True}},
        )  # fmt: skip
        assert told.settings == {"tools": ["calculator"], "language": "en"}


def test_the_tasks_on_the_page_are_read(tmp_path: Path) -> None:
    page = (Path(__file__).parent.parent / "docs" / "evals.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "reports").mkdir()
    (tmp_path / "my_scorers_of_the_page.py").write_text("def names_the_late_one(task, report): return True")
    (tmp_path / "a.yaml").write_text(block.replace("my_scorers:", "my_scorers_of_the_page:"), encoding="utf-8")
    tasks = own(str(tmp_path / "a.yaml")).tasks()
    assert [(task.id, task.kind, bool(task.files)) for task in tasks] == [
        ("1", "sums", False), ("story", "files", False), ("3", "", True),
    ]  # fmt: skip
    keys = re.findall(
        r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", page.split("## Patterns and plain")[0], re.MULTILINE))
    )
    assert sorted(keys) == sorted(KEYS)


BROKEN = {
    "a slip in a key": ("- task: t\n  chekc: answer", ":2: chekc: there is no such field; did you mean 'check'"),
    "no task": ("- expected: 3", ":1: task: it is missing"),
    "nothing says what is right": ("- task: t", ":1: nothing says what is right; give one of: expected, check"),
    "a condition that can't be read": ("- task: t\n  check: answer ==", ":2: check: 'answer ==' can't be read"),
    "a condition about nothing": ("- task: t\n  check: anwser == 3", ":2: check: .*did you mean 'answer'"),
    "a scorer without a name": ("- task: t\n  scorer: judge", ":2: scorer: 'judge' .* module:function"),
    "a scorer that is not there": ("- task: t\n  scorer: nowhere:judge", ":2: scorer: .*No module named"),
    "a scorer that is no function": ("- task: t\n  scorer: math:pi", ":2: scorer: 'math:pi' is a float"),
    "a right number that is none": ("- task: t\n  expected: .nan", ":2: .nan is no number in JSON; .* in quotes"),
    "a right number that none equals": (f"- task: t\n  expected: 1{'0' * 400}", ":2: expected: 1000.*below 1e308"),
    "a right answer that says nothing": ("- task: t\n  expected: ' '", ":2: expected: ' ' can't be right"),
    "a folder that is not there": ("- task: t\n  expected: 1\n  files: gone", ":3: files: there is no folder"),
    "a wrong setting": ("- task: t\n  expected: 1\n  settings: {writes: never}", ":3: settings: .*writes"),
    "a tool that is not there": ("- task: t\n  expected: 1\n  tools: [calculater]", ":3: tools: .*calculator"),
    "the eval's own setting": ("- task: t\n  expected: 1\n  settings: {model: x}", ":3: settings: model is the eval's"),
    "a constraint of no value": (
        "- task: t\n  expected: 1\n  constraints: {deadline: x}",
        ":3: constraints: .*deadline",
    ),
    "a constraint that is no switch": (
        "- task: t\n  expected: 1\n  constraints: {read_only: maybe}",
        ":3: .*read_only",
    ),
    "an input that is not there": ("- task: t\n  expected: 1\n  inputs: {f: {file: no.txt}}", ":3: inputs: .*no.txt"),
    "a blank task": ("- task: '  '\n  expected: 1", ":1: task: the task is empty"),
    "a long id": (f"- task: t\n  expected: 1\n  id: {'x' * 5000}", ":3: id: .*at most 200"),
    "a task twice": ("- {id: a, task: t, expected: 1}\n- {id: a, task: u, expected: 1}", ":2: .*'a' already, at"),
    "no mapping": ("- just words", ":1: just words is no task; right would be"),
    "no YAML": ("- task: [", ":[12]: "),
    "nothing": ("", ": tasks is None; right would be a list"),
    "another top": ("taks: []", ":1: there is no key 'taks'; did you mean 'tasks'"),
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_says_where_what_and_what_is_right(text: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(text[0], encoding="utf-8")
    with pytest.raises(InputError, match=f"mine.yaml{text[1]}"):
        own(str(tmp_path / "mine.yaml"))


@pytest.mark.parametrize(
    ("number", "said"),
    [("NaN", "NaN is no"), ("-1e999", "-1e999 is too large"), ("9" * 5000, "a number has 5,000 digits, and 4,300 are")],
)
def test_a_line_with_a_number_that_json_does_not_know_is_named(number: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(f'{{"task": "t", "expected": 3}}\n{{"task": "t", "expected": {number}}}\n')
    with pytest.raises(InputError, match=f"mine.jsonl:2: .*{said}"):
        own(str(tmp_path / "mine.jsonl"))


def test_a_broken_line_of_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(f"{json.dumps(LEGS)}\n\n{{'task': 1}}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"mine.jsonl:3: .* right would be one JSON object a line"):
        own(str(tmp_path / "mine.jsonl"))
    with pytest.raises(InputError, match=r"mine.jsonl:1: expectd: .*did you mean 'expected'"):
        own(str(tmp_path / written(tmp_path, {"task": "t", "expectd": 3})))


SCORER = '''
def short(task, report):
    """Whether the answer is short."""
    return len(report["answer"]) < 4 or f"{task} was answered at length"


def broken(task, report):
    """Gives what nobody can read."""
    return 3
'''


def judged(tmp_path: Path, answer: Any, **task: Any) -> list[str]:
    [one] = own(str(tmp_path / written(tmp_path, {"task": "t", **task}))).tasks()
    report: Any = {
        "answer": answer, "answered_by": "code", "stop": {"reason": "done", "kind": "success"},
        "usage": {"model_calls": 2, "tool_calls": 1},
        "results": [{"tool": "calculator", "output": 12, "status": "done"}],
    }  # fmt: skip
    return one.wrong(report)


@pytest.mark.parametrize(
    ("answer", "task"),
    [
        ("It is 1,200.", {"expected": 1200}),
        ("12 eggs in 4 weeks", {"expected": 12, "task": "How many eggs are that in 4 weeks?"}),
        ("4", {"expected": 4, "task": "What is left of 4?"}),
        (" Paris. ", {"expected": "paris"}),
        ({"a": 1}, {"expected": {"a": 1}}),
        ('{"b": [2.0],\n "a": 1}', {"expected": {"a": 1, "b": [2]}}),
        ("True.", {"expected": True}),
        ("It is 12", {"check": "number == expected and outputs[0] == 12 and model_calls <= 2", "expected": 12}),
        ("12", {"scorer": "my_scorers:short", "check": "tools == ['calculator'] and stop == 'done'"}),
    ],
)
def test_what_is_right_is_seen(answer: Any, task: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "my_scorers.py").write_text(SCORER, encoding="utf-8")
    assert judged(tmp_path, answer, **task) == []


@pytest.mark.parametrize(
    ("answer", "task", "said"),
    [
        ("none", {"expected": 12}, "the answer gives no number, right is 12: none"),
        ("12 eggs in 5 weeks", {"expected": 12}, "the answer gives 5, right is 12"),
        ("9 eggs in 4 weeks", {"expected": 12, "task": "In 4 weeks?"}, "the answer gives 4 or 9, right is 12"),
        ("Rome", {"expected": "Paris"}, "the answer is Rome, right is Paris"),
        ("1", {"expected": True}, "the answer is 1, right is True"),
        ('{"a": 2}', {"expected": {"a": 1}}, "the answer is {\"a\": 2}, right is {'a': 1}"),
        ("none", {"check": "number > 3"}, "check: 'number > 3' could not be evaluated"),
        ("13", {"check": "number == 12"}, "check: number == 12 does not hold, with answer = 13"),
        ("12345", {"scorer": "my_scorers:short"}, "t was answered at length"),
    ],
)
def test_what_is_wrong_says_why(answer: Any, task: dict[str, Any], said: str, tmp_path: Path) -> None:
    (tmp_path / "my_scorers.py").write_text(SCORER, encoding="utf-8")
    [line] = judged(tmp_path, answer, **task)
    assert line.startswith(said)


@pytest.mark.parametrize("reason", [StopReason.STEPS_FAILED, StopReason.UNVERIFIED])
@pytest.mark.parametrize(
    ("task", "said"),
    [
        ({"expected": 391}, "the run gave no answer, right is 391"),
        ({"expected": "No result."}, "the run gave no answer, right is No result."),
        ({"check": "number == 391"}, "check: number == 391 does not hold, with answer = None"),
    ],
    ids=str,
)
def test_a_number_in_what_an_error_says_is_no_answer(
    task: dict[str, Any], said: str, reason: StopReason, tmp_path: Path
) -> None:
    [one] = own(str(tmp_path / written(tmp_path, {"task": "read 391", **task}))).tasks()
    report = graphs.load("one_shot", context={"root": str(tmp_path)}).invoke({"task": "read 391.txt"})["report"]
    assert "391" in report["answer"], report["answer"]
    ended: Any = {**report, "stop": stop(reason, report["stop"]["message"])}
    assert one.wrong(ended) == [said]
    assert not record(one, "one_shot", ended)["success"]


def test_an_answer_by_code_without_a_success_is_what_steps_gave_and_not_what_is_missing(tmp_path: Path) -> None:
    [one] = own(str(tmp_path / written(tmp_path, {"task": "add", "expected": 42}))).tasks()
    plan = a_plan(a_step("sum"), a_step("more"))
    results = [a_result(plan["steps"][0], output=42), a_result(plan["steps"][1], "failed")]
    unverified = stop(StopReason.UNVERIFIED, "nobody could check it")
    report = a_report([plan], results, answer="42\nMissing:\n- more: error 500", stop=unverified)
    assert one.wrong(report) == []


def test_a_scorer_that_never_ends_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evals.judging.SCORER_SECONDS", 0.2)
    (tmp_path / "my_endless.py").write_text("def judge(task, report):\n    while True: pass", encoding="utf-8")
    [why] = judged(tmp_path, "1", scorer="my_endless:judge")
    assert why == "not judged: the scorer my_endless:judge failed: TimeoutError: it was not done in 0.2 s"


def test_what_was_not_measured_stands_in_no_plot_and_has_no_share() -> None:
    line = Line("s", ALL, "direct", "m", False, 0, 0, 3, {name: None for name, _ in AVERAGED})
    assert "direct" not in written_markup(cost_plot([line])) + written_markup(size_plot([line]))
    [row] = csv.DictReader(io.StringIO(lines_csv([line])))
    assert (row["unmeasured"], row["share"], row["low"], row["high"]) == ("3", "", "", "")


def test_a_scorer_that_gives_no_verdict_is_told(tmp_path: Path) -> None:
    (tmp_path / "my_scorers.py").write_text(SCORER, encoding="utf-8")
    [why] = judged(tmp_path, "1", scorer="my_scorers:broken")
    assert why == "not judged: the scorer my_scorers:broken gave 3; right would be True, False, or what was wrong"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("It is $70,000.", 70_000), ("10-4 = 6", 6), ("between 3-5", 5), ("-5 degrees", -5), ("8 m2", 8),
        ("none", None), ("利润是70000元", 70_000), ("a .5 share", 0.5), ("3.0e2", 300), ("1,234.5!", 1_234.5), (7, 7),
    ],
)  # fmt: skip
def test_the_number_that_an_answer_ends_with_is_found(text: Any, number: float | None) -> None:
    assert last_number(text) == number


# --- choice, rows, intervals


def test_the_same_seed_takes_the_same_tasks_and_more_of_them_are_those_and_others() -> None:
    tasks: Any = [SimpleNamespace(id=str(number)) for number in range(50)]
    whole = TaskSet("some", tuple(map(alone, tasks)), "own")

    def names(number: int | None, seed: int) -> list[str]:
        return [one.id for one in whole.sample(number, seed).dialogues]

    assert names(10, 1) == names(10, 1) != names(10, 2)
    assert set(names(10, 1)) < set(names(20, 1)) and names(None, 1) == [one.id for one in tasks]


def row(pattern: str = "direct", task: str = "t", **more: Any) -> Row:
    made: Any = {
        "set": "some", "task": task, "mark": "m", "kind": "k", "pattern": pattern, "model": "x", "simulated": False,
        "success": True, "problems": [], "stop": "done", "steps": 1, "model_calls": 1, "tool_calls": 0,
        "tokens_in": 5, "tokens_out": 5, "cached": None, "seconds": 1.0, "money": None, "run": "r",
    }  # fmt: skip
    return {**made, **more}


def test_a_row_that_a_kill_cut_off_is_taken_away_and_the_last_of_a_task_counts(tmp_path: Path) -> None:
    file = RowFile(tmp_path / "rows.jsonl")
    file.add([row(success=False), row(task="u")])
    file.add([row()])
    whole = file.path.read_bytes()
    file.path.write_bytes(whole + b'{"set": "some", "ta')
    assert [(one["task"], one["success"]) for one in file.read().values()] == [("t", True), ("u", True)]
    assert file.path.read_bytes() == whole
    file.path.write_text('{"set": "some"}\n')
    with pytest.raises(SetupError, match="line 1 is no row of an eval: it lacks cached, "):
        file.read()


def test_what_one_task_did_not_say_is_unknown_of_all_and_no_zero() -> None:
    [line] = lines([row(), row(task="u", tokens_in=None)], ["direct"])
    assert (line.averages["tokens_in"], line.averages["tokens_out"], line.averages["money"]) == (None, 5, None)


@pytest.mark.parametrize(
    ("right", "number", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_intervals_of_shares_are_those_that_newcombe_printed(right: int, number: int, low: float, high: float) -> None:
    assert wilson(right, number) == pytest.approx((right / number, low, high), abs=5e-5)


def pairs(both: int, first: int, second: int, none: int) -> list[tuple[bool, bool]]:
    return [(True, True)] * both + [(True, False)] * first + [(False, True)] * second + [(False, False)] * none


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((36, 12, 2, 0), (0.2, 0.0569, 0.3404)),  # Newcombe 1998
        ((1, 1, 7, 12), (-0.2857, -0.5069, -0.0256)),  # Bentur et al. 2009, before and after
    ],
)
def test_intervals_of_paired_differences_are_the_published_ones(counts: Any, expected: tuple[float, ...]) -> None:
    assert paired_difference(pairs(*counts)) == pytest.approx(expected, abs=5e-5)


def test_an_interval_holds_the_true_difference_in_about_95_of_100_samples() -> None:
    number, cells = 12, (0.5, 0.25, 0.1, 0.15)
    held = 0.0
    for a, b, c in product(range(number + 1), repeat=3):
        if (d := number - a - b - c) >= 0:
            ways = comb(number, a) * comb(number - a, b) * comb(number - a - b, c)
            chance = ways * cells[0] ** a * cells[1] ** b * cells[2] ** c * cells[3] ** d
            found: Interval = paired_difference(pairs(a, b, c, d))
            held += chance * (found.low <= cells[1] - cells[2] <= found.high)
    assert 0.93 < held < 0.99
