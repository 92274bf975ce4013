"""P4, P13, D9, D11, F1: map steps, conditions, many references, slow steps, dry runs, and the kinds of failure."""

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from graphs import load
from state.errors import ToolFailed
from tests.support.model_server import ModelServer
from tests.support.runs import PATTERNS, THREAD, after_planning, plan, results, says, statuses, step
from tools.tool import read, write

NAP = 0.1
running: set[int] = set()
busy: list[int] = []
"""How many parts were running whenever one began."""


async def square(number: int) -> int:
    """Squares a number; 13 brings bad luck."""
    running.add(number)
    busy.append(len(running))
    await asyncio.sleep(NAP)
    running.discard(number)
    if number == 13:
        raise ToolFailed("13 brings bad luck")
    return number * number


def up_to(number: int) -> list[int]:
    """Counts: 1, 2, 3 up to the number."""
    return list(range(1, number + 1))


def note(text: str) -> str:
    """Gives the text back."""
    return text


def rows(count: int) -> dict[str, int]:
    """A table with so many rows."""
    return {"rows": count}


CONTEXT: dict[str, Any] = {
    "tools": [read(square), read(up_to), read(note), read(rows), "calculator", "files"],
    "limits": {"retries": 0, "replans": 0, "attempts": 1},
}  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_runs() -> None:
    running.clear()
    busy.clear()


def run(pattern: str, **more: Any) -> dict[str, Any]:
    return load(pattern, context=CONTEXT | more).invoke({"task": "Do it."})["report"]


def each(source: str, **more: Any) -> dict[str, Any]:
    return {"each": source, **more}


# --- a map step: once for each of a list that is known only at run time


@pytest.mark.parametrize("pattern", PATTERNS)
def test_for_every_file_there_is_one_part_with_its_own_result(
    pattern: str, root: Path, model_server: ModelServer
) -> None:
    for name, text in {"a.txt": "one", "b.txt": "one two", "c.txt": "one two three", "d.md": "no"}.items():
        (root / name).write_text(text)
    model_server.reply(
        plan(
            step("E1", "list_files", pattern="*.txt"),
            step("E2", "count_words", path="${steps.item}", more=each("${steps.E1}")),
            step("E3", "calculator", expression="sum(${steps.E2})"),
        ),
        *after_planning(pattern, "6 words"),
    )
    report = run(pattern, root=str(root))
    assert report["stop"]["reason"] == "done"
    counted = results(report)["E2"]
    assert counted["output"] == [1, 2, 3] and results(report)["E3"]["output"] == 6
    assert [(part["index"], part["status"], part["output"]) for part in counted["parts"]] == [
        (0, "done", 1), (1, "done", 2), (2, "done", 3),
    ]  # fmt: skip
    assert len(set(counted["calls"])) == 3 and counted["attempts"] == 3


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_parts_run_side_by_side(pattern: str, model_server: ModelServer) -> None:
    steps = [step("E1", "up_to", number=6), step("E2", "square", number="${steps.item}", more=each("${steps.E1}"))]
    model_server.reply(plan(*steps), *after_planning(pattern, "done"))
    squared = results(run(pattern))["E2"]
    assert squared["output"] == [1, 4, 9, 16, 25, 36]
    assert max(busy) == 6


@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_more_parts_run_at_once_than_there_are_slots(pattern: str, model_server: ModelServer) -> None:
    steps = [step("E1", "up_to", number=4), step("E2", "square", number="${steps.item}", more=each("${steps.E1}"))]
    model_server.reply(plan(*steps), *after_planning(pattern, "done"))
    squared = results(run(pattern, concurrency=2))["E2"]
    assert squared["output"] == [1, 4, 9, 16]
    assert max(busy) == 2


@pytest.mark.parametrize("pattern", PATTERNS)
def test_an_empty_list_gives_an_empty_result_and_the_run_goes_on(pattern: str, model_server: ModelServer) -> None:
    model_server.reply(
        plan(
            step("E1", "up_to", number=0),
            step("E2", "square", number="${steps.item}", more=each("${steps.E1}")),
            step("E3", "note", text="squares: ${steps.E2}"),
        ),
        *after_planning(pattern, "none"),
    )
    report = run(pattern)
    assert report["stop"]["reason"] == "done"
    assert results(report)["E2"]["output"] == [] and results(report)["E2"]["parts"] == []
    assert results(report)["E3"]["output"] == "squares: []"


@pytest.mark.parametrize("pattern", PATTERNS)
def test_one_failing_part_fails_the_step_and_the_others_keep_their_results(
    pattern: str, model_server: ModelServer
) -> None:
    model_server.reply(
        plan(
            step("E1", "square", number="${steps.item}", more=each("${steps.inputs.numbers}")),
            step("E2", "note", text="squares: ${steps.E1}"),
        )
    )
    if pattern != "one_shot":
        model_server.reply(says("one is missing"))
    given = {"task": "Square them.", "inputs": {"numbers": [2, 13, 3]}}
    report = load(pattern, context=CONTEXT).invoke(given)["report"]
    squared = results(report)["E1"]
    assert [(part["status"], part["output"]) for part in squared["parts"]] == [
        ("done", 4), ("failed", None), ("done", 9),
    ]  # fmt: skip
    assert squared["parts"][1]["failure"]["message"] == "13 brings bad luck"
    assert squared["status"] == "failed" and squared["note"] == "2 of 3 parts done"
    assert statuses(report)["E2"] == "blocked" and report["stop"]["kind"] != "success"


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_map_over_what_is_no_list_fails_by_name(pattern: str, model_server: ModelServer) -> None:
    model_server.reply(plan(step("E1", "square", number="${steps.item}", more=each("${steps.inputs.numbers}"))))
    if pattern != "one_shot":
        model_server.reply(says("no list"))
    report = load(pattern, context=CONTEXT).invoke({"task": "Square.", "inputs": {"numbers": 5}})["report"]
    assert results(report)["E1"]["failure"]["cls"] == "bad_reference"
    assert "needs a list" in results(report)["E1"]["failure"]["message"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_each_write_of_a_map_step_is_asked_for_and_a_rejected_one_does_not_hold_back_its_sibling(
    pattern: str, root: Path, model_server: ModelServer
) -> None:
    model_server.reply(
        plan(step("E1", "write_file", path="${steps.item}", text="x", more=each("${steps.inputs.names}")))
    )
    if pattern != "one_shot":
        model_server.reply(says("one was refused"))
    graph = load(pattern, context=CONTEXT | {"root": str(root)}, checkpointer=InMemorySaver())
    state = graph.invoke({"task": "Write them.", "inputs": {"names": ["a.txt", "b.txt"]}}, THREAD)
    asked = {one.value["action_requests"][0]["args"]["path"]: one.id for one in state["__interrupt__"]}
    assert set(asked) == {"a.txt", "b.txt"}
    given = {asked["a.txt"]: "reject", asked["b.txt"]: "approve"}
    report = graph.invoke(Command(resume=given), THREAD)["report"]
    assert report["stop"]["reason"] == "rejected"
    assert [part["status"] for part in results(report)["E1"]["parts"]] == ["failed", "done"]
    assert [path.name for path in root.iterdir()] == ["b.txt"]


# --- a condition on earlier results


@pytest.mark.parametrize(("count", "status"), [(3, "done"), (0, "skipped")])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_step_runs_only_if_its_condition_on_an_earlier_result_holds(
    pattern: str, count: int, status: str, model_server: ModelServer
) -> None:
    model_server.reply(
        plan(
            step("E1", "rows", count=count),
            step("E2", "note", text="there is ${steps.E1.rows}", more={"when": "steps.E1.rows > 0"}),
            step("E3", "note", text="got ${steps.E2}"),
            step("E4", "note", text="in any case", more={"after": ["E2"]}),
        ),
        *after_planning(pattern, "done"),
    )
    report = run(pattern)
    assert report["stop"]["reason"] == "done" and report["missing"] == []
    assert statuses(report) == {"E1": "done", "E2": status, "E3": status, "E4": "done"}
    assert results(report)["E2"]["attempts"] == (status == "done")
    assert results(report)["E4"]["output"] == "in any case"


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_condition_that_can_not_be_decided_fails_the_step_and_does_not_run_it(
    pattern: str, model_server: ModelServer
) -> None:
    model_server.reply(
        plan(step("E1", "rows", count=1), step("E2", "note", text="x", more={"when": "steps.E1.columns > 0"}))
    )
    if pattern != "one_shot":
        model_server.reply(says("undecided"))
    report = run(pattern)
    assert results(report)["E2"]["status"] == "failed" and results(report)["E2"]["attempts"] == 0
    assert "columns" in results(report)["E2"]["failure"]["message"]


# --- references


def test_twelve_steps_of_rewoo_tell_e1_from_e10_and_keep_the_type_of_a_whole_reference(
    model_server: ModelServer,
) -> None:
    steps = [step(f"E{n}", "rows", count=n) for n in range(1, 10)]
    steps += [
        step("E10", "note", text="ten"),
        step("E11", "calculator", expression="${steps.E1.rows} + ${steps.E9.rows}"),
        step("E12", "note", text="#E1, #E10 and #E11; [#E10] \"#E11\" 'E10' #E"),
    ]
    model_server.reply(plan(*steps), says("all twelve"))
    report = run("rewoo")
    assert report["stop"]["reason"] == "done" and len(report["results"]) == 12
    assert results(report)["E12"]["output"] == """{"rows": 1}, ten and 10; [ten] "10" 'E10' #E"""
    assert report["usage"]["model_calls"] == 2
    solver = model_server.requests[-1]["messages"][-1]["content"]
    assert all(f'"E{n}"' in solver for n in range(1, 13))


def test_a_number_that_is_a_whole_reference_arrives_as_a_number(model_server: ModelServer) -> None:
    steps = [step("E1", "calculator", expression="3 + 4"), step("E2", "square", number="#E1")]
    model_server.reply(plan(*steps), says("49"))
    assert results(run("rewoo"))["E2"]["output"] == 49


# --- slow steps and dry runs


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_slow_step_is_flagged_and_named_among_the_risks(pattern: str, model_server: ModelServer) -> None:
    async def dawdle() -> str:
        """Takes its time."""
        await asyncio.sleep(3 * NAP)
        return "there"

    steps = [step("E1", "dawdle"), step("E2", "note", text="quick")]
    model_server.reply(plan(*steps), *after_planning(pattern, "4"))
    report = run(pattern, slow_step=2.5 * NAP, tools=[read(dawdle), read(note)])
    assert {name: result["slow"] for name, result in results(report).items()} == {"E1": True, "E2": False}
    assert len(report["risks"]) == 1 and re.fullmatch(r"step E1 took \d\.\d s", report["risks"][0])


def test_a_step_is_told_as_done_when_it_ends_and_not_in_the_order_of_the_plan(model_server: ModelServer) -> None:
    steps = [step("E1", "square", number=3), step("E2", "note", text="quick"), step("E3", "note", text="${steps.E2}")]
    model_server.reply(plan(*steps))
    parts = load("one_shot", context=CONTEXT).stream({"task": "Do it."}, stream_mode="custom")
    told = [(part["event"], part["step"]) for part in parts if part["step"]]
    assert [name for event, name in told if event == "step_done"] == ["E2", "E3", "E1"]
    assert told.index(("step_done", "E2")) < told.index(("step_started", "E3"))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_waiting_for_inputs_or_for_a_slot_does_not_make_a_step_slow(pattern: str, model_server: ModelServer) -> None:
    steps = [step(f"E{n}", "square", number=n) for n in (1, 2, 3)]
    model_server.reply(plan(*steps, step("E4", "note", text="${steps.E3}!")), *after_planning(pattern, "9"))
    report = run(pattern, slow_step=2.5 * NAP, concurrency=1)
    assert [result["slow"] for result in report["results"]] == [False] * 4


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_dry_run_ends_with_the_checked_plan_its_estimate_and_its_writes_and_runs_nothing(
    pattern: str, root: Path, model_server: ModelServer
) -> None:
    (root / "a.txt").write_text("one two")
    steps = [
        step("E1", "count_words", path="a.txt"),
        step("E2", "write_file", path="b.txt", text="words: ${steps.E1}", more={"timeout": 5}),
    ]
    model_server.reply(plan(*steps))
    report = run(pattern, root=str(root), dry_run=True, writes="allow")
    assert report["stop"]["reason"] == "planned" and report["stop"]["kind"] == "success"
    assert [one["id"] for one in report["plans"][0]["steps"]] == ["E1", "E2"]
    assert report["results"] == [] and report["writes"] == [] and report["missing"] == []
    assert not (root / "b.txt").exists()
    estimate = report["estimate"]
    assert estimate["tool_calls"] == 2
    assert estimate["model_calls"] == {"one_shot": 0, "rewoo": 1, "plan_and_execute": 1, "self_reflection": 2}[pattern]
    assert estimate["seconds"] == 35
    assert estimate["writes"] == ['E2: write_file {"path":"b.txt","text":"words: ${steps.E1}"}']
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_dry_run_feeds_findings_back_all_the_same(pattern: str, model_server: ModelServer) -> None:
    model_server.reply(plan(step("E1", "nope")), plan(step("E1", "note", text="x")))
    report = run(pattern, dry_run=True)
    assert report["stop"]["reason"] == "planned" and report["usage"]["model_calls"] == 2


# --- the kinds of failure


def http(status: int) -> httpx.HTTPStatusError:
    request = httpx.Request("GET", "http://x.invalid")
    return httpx.HTTPStatusError(f"status {status}", request=request, response=httpx.Response(status, request=request))


FAILURES: dict[str, tuple[BaseException, str, str]] = {
    "time-out": (TimeoutError(), "tool", "timeout"),
    "connection": (ConnectionResetError("reset"), "tool", "transient"),
    "429": (http(429), "tool", "rate_limit"),
    "503": (http(503), "tool", "transient"),
    "401": (http(401), "tool", "auth"),
    "404": (http(404), "tool", "not_found"),
    "400": (http(400), "tool", "permanent"),
    "no file": (FileNotFoundError("report.txt"), "tool", "not_found"),
    "no permission": (PermissionError("report.txt"), "tool", "auth"),
    "value": (ValueError("wrong"), "tool", "permanent"),
    "arguments": (ToolFailed("wrong", "invalid_arguments"), "plan", "invalid_arguments"),
    "result": (ToolFailed("wrong", "acceptance"), "result", "acceptance"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_has_its_kind_and_its_class(name: str, model_server: ModelServer) -> None:
    error, kind, cls = FAILURES[name]

    def fails() -> str:
        """Fails."""
        raise error

    model_server.reply(plan(step("E1", "fails")))
    report = load("one_shot", context={"tools": [read(fails)], "limits": {"retries": 0}}).invoke({"task": "Do it."})
    failed = results(report["report"])["E1"]["failure"]
    assert (failed["kind"], failed["cls"]) == (kind, cls) and failed["message"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_only_a_person_knows_pauses_the_run_and_is_not_planned_around(
    pattern: str, model_server: ModelServer
) -> None:
    def balance(account: str = "") -> float:
        """Gives the balance of an account."""
        raise ToolFailed("which account?", "missing_input")

    model_server.reply(plan(step("E1", "balance")))
    report = load(pattern, context={"tools": [read(balance)]}).invoke({"task": "What is left?"})["report"]
    assert report["stop"]["kind"] == "pause" and report["stop"]["reason"] == "needs_input"
    assert "which account?" in report["stop"]["message"]
    assert results(report)["E1"]["failure"]["kind"] == "input" and results(report)["E1"]["attempts"] == 1


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_step_that_says_ask_hands_its_failure_to_a_person(pattern: str, model_server: ModelServer) -> None:
    model_server.reply(plan(step("E1", "square", number=13, more={"on_failure": "ask"})))
    report = run(pattern)
    assert report["stop"]["reason"] == "needs_input" and "bad luck" in report["stop"]["message"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_failure_that_may_pass_is_tried_again_and_counted(pattern: str, model_server: ModelServer) -> None:
    tries: list[int] = []

    def shaky() -> str:
        """Works the second time."""
        tries.append(1)
        if len(tries) == 1:
            raise ToolFailed("busy", "transient", retry_after=0.01)
        return "there"

    model_server.reply(plan(step("E1", "shaky")), *after_planning(pattern, "there"))
    report = load(pattern, context={"tools": [read(shaky)]}).invoke({"task": "Do it."})["report"]
    assert report["stop"]["reason"] == "done" and results(report)["E1"]["attempts"] == len(tries) == 2
    assert report["usage"]["tool_calls"] == 2


@pytest.mark.parametrize("cls", ["auth", "permanent", "not_found"])
def test_a_failure_that_will_not_pass_is_not_tried_again(cls: Any, model_server: ModelServer) -> None:
    def fails() -> str:
        """Fails."""
        raise ToolFailed("no", cls)

    model_server.reply(plan(step("E1", "fails")))
    report = load("one_shot", context={"tools": [read(fails)]}).invoke({"task": "Do it."})["report"]
    assert results(report)["E1"]["attempts"] == 1


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_tool_that_would_write_is_refused_in_a_read_only_run_before_anything_runs(
    pattern: str, model_server: ModelServer
) -> None:
    def pay(amount: int) -> str:
        """Pays."""
        raise AssertionError("must not run")

    wrong = plan(step("E1", "pay", amount=5))
    model_server.reply(wrong, wrong, wrong)
    graph = load(pattern, context={"tools": [write(pay)], "writes": "deny"})
    report = graph.invoke({"task": "Pay 5."})["report"]
    assert report["stop"]["reason"] == "blocked" and re.search("pay.*read-only", report["stop"]["message"])
    assert report["results"] == []
