"""D5, P2, P13: what is judged in words, how far a round runs before the checker looks, approval inside a parent."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from typing_extensions import TypedDict

from graphs import load
from tests.support.model_server import ModelServer
from tests.support.runs import GRADED, PATTERNS, THREAD, after_planning, plan, results, says, statuses, step
from tests.support.script import Reply, failure
from tools.tool import read, write

POLITE = "the text is polite"
sent: list[str] = []


def note(text: str) -> str:
    """Gives the text back."""
    return text


def send(text: str) -> str:
    """Sends the text."""
    sent.append(text)
    return f"sent {text}"


CONTEXT: dict[str, Any] = {
    "tools": [read(note), write(send)], "limits": {"retries": 0, "replans": 0, "attempts": 1}, "writes": "allow",
}  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_sent() -> None:
    sent.clear()


def run(pattern: str, **more: Any) -> dict[str, Any]:
    return load(pattern, context=CONTEXT | more).invoke({"task": "Write politely."})["report"]


def judged(outcome: str, criterion: str = POLITE) -> Reply:
    check = {"criterion": criterion, "outcome": outcome, "evidence": "it says please"}
    return Reply({"checks": [check]}, schema="judge", when="Role: checker")


def judged_plan() -> Reply:
    return plan(
        step("E1", "note", text="please", more={"criteria": [POLITE], "accept": ["len(output) > 3"]}),
        step("E2", "note", text="${steps.E1}!"),
        step("E3", "note", text="apart"),
    )


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_criterion_in_words_is_judged_by_a_model_with_the_result_beside_it(
    pattern: str, model_server: ModelServer
) -> None:
    model_server.reply(judged_plan(), judged("passed"), *after_planning(pattern, "please!"))
    report = run(pattern)
    assert report["stop"]["reason"] == "done"
    checks = results(report)["E1"]["checks"]
    assert [(check["condition"], check["outcome"], check["by"]) for check in checks] == [
        ("len(output) > 3", "passed", "code"), (POLITE, "passed", "model"),
    ]  # fmt: skip
    asked = model_server.requests[1]["messages"][1]["content"]
    assert POLITE in asked and '"evidence": "please"' in asked and "len(output)" not in asked


@pytest.mark.parametrize(
    ("checks", "told"),
    [([("passed", "")], "its evidence is empty"), ([("failed", "a"), ("passed", "b")], "is failed and passed")],
)
def test_a_judgement_that_rests_on_nothing_or_contradicts_itself_goes_back(
    checks: list[tuple[str, str]], told: str, model_server: ModelServer
) -> None:
    said = [{"criterion": POLITE, "outcome": outcome, "evidence": evidence} for outcome, evidence in checks]
    model_server.reply(judged_plan(), Reply({"checks": said}, schema="judge"), judged("passed"))
    assert run("one_shot")["stop"]["reason"] == "done"
    assert told in model_server.requests[-1]["messages"][-1]["content"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_result_that_is_not_accepted_takes_back_what_was_built_on_it_and_nothing_else(
    pattern: str, model_server: ModelServer
) -> None:
    model_server.reply(judged_plan(), judged("failed"))
    if pattern != "one_shot":
        model_server.reply(says("apart only"))
    report = run(pattern)
    assert report["stop"]["kind"] != "success"
    assert statuses(report) == {"E1": "failed", "E2": "blocked", "E3": "done"}
    assert results(report)["E1"]["failure"]["cls"] == "acceptance"
    if pattern == "one_shot":
        assert report["stop"]["reason"] == "not_accepted"
        assert report["answer"].startswith("apart\n") and "please!" not in report["answer"]


@pytest.mark.parametrize(
    "reply", [judged("unverified"), judged("passed", "something else"), failure(500, when="checker")]
)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_criterion_that_was_not_decided_is_unverified_and_named_as_a_risk(
    pattern: str, reply: Reply, model_server: ModelServer
) -> None:
    model_server.reply(judged_plan(), reply, *after_planning(pattern, "please!"))
    report = run(pattern)
    assert report["checks"] == {"passed": 1 + (pattern in GRADED), "failed": 0, "unverified": 1, "unchecked": 2}
    assert any("E1" in risk and "unverified" in risk and POLITE in risk for risk in report["risks"])
    assert report["stop"]["reason"] == "unverified" and "not verified: " in report["stop"]["message"]
    assert statuses(report) == {"E1": "done", "E2": "done", "E3": "done"}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_looking_after_each_step_keeps_a_result_that_is_not_accepted_from_being_built_on(
    pattern: str, model_server: ModelServer
) -> None:
    steps = [step("E1", "note", text="please", more={"criteria": [POLITE]}), step("E2", "send", text="${steps.E1}!")]
    model_server.reply(plan(*steps), judged("failed"))
    if pattern != "one_shot":
        model_server.reply(says("nothing was sent"))
    report = run(pattern, check_after="step")
    assert sent == [] and statuses(report) == {"E1": "failed", "E2": "blocked"}


@pytest.mark.parametrize(("check_after", "rounds"), [("plan", 1), ("critical", 2), ("step", 3)])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_how_far_the_executor_runs_before_a_look_is_one_setting(
    pattern: str, check_after: str, rounds: int, model_server: ModelServer
) -> None:
    steps = [
        step("E1", "note", text="a"),
        step("E2", "note", text="${steps.E1}b", more={"critical": True}),
        step("E3", "note", text="${steps.E2}c"),
    ]
    model_server.reply(plan(*steps), *after_planning(pattern, "abc"))
    report = run(pattern, check_after=check_after)
    assert report["counts"]["iterations"] == rounds and results(report)["E3"]["output"] == "abc"


@pytest.mark.parametrize("check_after", ["critical", "step"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_critical_step_that_is_not_accepted_is_seen_before_the_write_after_it(
    pattern: str, check_after: str, model_server: ModelServer
) -> None:
    steps = [
        step("E1", "note", text="a", more={"critical": True, "criteria": [POLITE]}),
        step("E2", "send", text="b", more={"after": ["E1"]}),
    ]
    model_server.reply(plan(*steps), judged("failed"))
    if pattern != "one_shot":
        model_server.reply(says("nothing was sent"))
    assert run(pattern, check_after=check_after)["stop"]["kind"] != "success" and sent == []


class Parent(TypedDict, total=False):
    task: str
    report: dict[str, Any]
    said: str


@pytest.fixture(params=["memory", "sqlite"])
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "memory":
        yield InMemorySaver()
    else:
        connection = sqlite3.connect(tmp_path / "threads.db", check_same_thread=False)
        yield SqliteSaver(connection)
        connection.close()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_write_inside_somebodys_sync_graph_waits_for_the_person_there_and_runs_once(
    pattern: str, saver: BaseCheckpointSaver[Any], model_server: ModelServer
) -> None:
    steps = [step("E1", "send", text="one"), step("E2", "send", text="two", more={"after": ["E1"]})]
    model_server.reply(plan(*steps), *after_planning(pattern, "both sent"))
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Parent)
    builder.add_node("ours", load(pattern, context=CONTEXT | {"writes": "ask"}))
    builder.add_node("after", lambda state: {"said": state["report"]["stop"]["reason"]})
    builder.add_edge(START, "ours")
    builder.add_edge("ours", "after")
    builder.add_edge("after", END)
    parent = builder.compile(checkpointer=saver)
    state = parent.invoke({"task": "Send both."}, THREAD)
    for text in ("one", "two"):
        (asked,) = state["__interrupt__"]
        assert asked.value["action_requests"][0]["args"] == {"text": text}
        state = parent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD)
    assert state["said"] == "done" and sent == ["one", "two"]
    assert statuses(state["report"]) == {"E1": "done", "E2": "done"}
