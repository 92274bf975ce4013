"""A13, F4: there is always an answer, in a schema if asked for, with its sources, and with what is missing."""

from typing import Any

import pytest

from graphs import load
from tests.support.model_server import ModelServer
from tests.support.runs import PATTERNS, after_planning, grade, plan, results, roles, says, statuses, step
from tests.support.script import Reply, failure
from tools.tool import read

SCHEMA = {
    "type": "object",
    "properties": {"year": {"type": "integer"}, "name": {"type": "string"}},
    "required": ["year", "name"],
    "additionalProperties": False,
}
ASKING = ("plan_and_execute", "self_reflection", "rewoo")
ANSWER = {"year": 1982, "name": "Chloé Zhao"}


def person(film: str) -> Any:
    """Who directed a film."""
    return "Chloé Zhao"


def born(name: str) -> Any:
    """When a person was born."""
    return "1982"


def record(film: str) -> Any:
    """Director and year."""
    return ANSWER


def down(film: str) -> Any:
    """Who directed a film."""
    raise ConnectionError("the line is dead")


CONTEXT: dict[str, Any] = {
    "tools": [read(person), read(born), read(record), read(down)],
    "limits": {"retries": 0, "replans": 0, "attempts": 1},
}  # fmt: skip
STEPS = [step("E1", "person", film="Nomadland"), step("E2", "born", name="${steps.E1}")]


def run(pattern: str, **more: Any) -> dict[str, Any]:
    return load(pattern, context=CONTEXT | more).invoke({"task": "Who directed Nomadland, born when?"})["report"]


def typed(answer: Any, **sources: list[str]) -> Reply:
    """A model's answer in the caller's schema."""
    return Reply({"answer": answer, "sources": sources}, schema="answer", when="Role: answerer")


def graded(pattern: str) -> list[Reply]:
    return [grade()] if pattern == "self_reflection" else []


# --- an answer in a schema


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_model_gives_the_answer_in_the_schema_with_the_steps_that_each_part_comes_from(
    pattern: str, model_server: ModelServer
) -> None:
    model_server.reply(plan(*STEPS), typed(ANSWER, year=["E2"], name=["E1"]), *graded(pattern))
    report = run(pattern, answer_schema=SCHEMA)
    assert report["stop"]["reason"] == "done" and report["answer"] == ANSWER
    assert report["answered_by"] == "model" and report["sources"] == {"year": ["E2"], "name": ["E1"]}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_an_answer_that_does_not_fit_goes_back_once_with_what_is_wrong(pattern: str, model_server: ModelServer) -> None:
    wrong = typed({"year": "1982", "name": "Chloé Zhao"})
    model_server.reply(plan(*STEPS), wrong, typed(ANSWER, year=["E2"]), *graded(pattern))
    report = run(pattern, answer_schema=SCHEMA)
    assert report["stop"]["reason"] == "done" and report["answer"] == ANSWER
    second = [body for body in model_server.requests if body["messages"][0]["content"].startswith("Role: answerer")][1]
    assert "year" in second["messages"][-1]["content"] and "integer" in second["messages"][-1]["content"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_an_answer_that_never_fits_is_no_success_and_the_best_there_is_is_still_given(
    pattern: str, model_server: ModelServer
) -> None:
    model_server.reply(plan(*STEPS), *[typed({"year": "1982"})] * 3, *graded(pattern))
    report = run(pattern, answer_schema=SCHEMA)
    assert report["stop"]["reason"] == "not_accepted" and "schema" in report["stop"]["message"]
    assert report["answer"] == "1982" and report["answered_by"] == "code"


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_result_that_fits_the_schema_is_the_answer_without_asking_a_model(
    pattern: str, model_server: ModelServer
) -> None:
    model_server.reply(plan(step("E1", "record", film="Nomadland")), *graded(pattern))
    report = run(pattern, answer_schema=SCHEMA)
    assert report["stop"]["reason"] == "done" and report["answer"] == ANSWER and report["answered_by"] == "code"
    assert report["sources"] == {"year": ["E1"], "name": ["E1"]}
    assert "answerer" not in roles(model_server.requests)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_sources_that_are_no_steps_of_the_run_are_dropped(pattern: str, model_server: ModelServer) -> None:
    model_server.reply(plan(*STEPS), typed(ANSWER, year=["E2", "E9"], name=["memory"]), *graded(pattern))
    assert run(pattern, answer_schema=SCHEMA)["sources"] == {"year": ["E2"], "name": []}


# --- an answer whatever happens


@pytest.mark.parametrize("pattern", PATTERNS)
def test_with_every_tool_down_there_is_an_answer_and_what_is_missing(pattern: str, model_server: ModelServer) -> None:
    model_server.reply(plan(step("E1", "down", film="Nomadland"), step("E2", "born", name="${steps.E1}")))
    if pattern in ASKING:
        model_server.reply(says("I could not find out: no tool answered."))
    report = run(pattern)
    assert report["stop"]["kind"] != "success" and report["answer"]
    assert statuses(report) == {"E1": "failed", "E2": "blocked"}
    assert len(report["missing"]) == 2 and "the line is dead" in report["missing"][0]
    if pattern == "one_shot":
        assert "the line is dead" in report["answer"]
    else:
        assert "the line is dead" in model_server.requests[-1]["messages"][1]["content"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_part_that_is_there_is_answered_and_the_rest_is_said_to_be_missing(
    pattern: str, model_server: ModelServer
) -> None:
    model_server.reply(plan(step("E1", "person", film="Nomadland"), step("E2", "down", film="Nomadland")))
    if pattern in ASKING:
        model_server.reply(failure(500, when="Role: answerer"))
    report = run(pattern)
    assert "Chloé Zhao" in report["answer"] and "the line is dead" in report["answer"]
    assert report["answered_by"] == "code"


@pytest.mark.parametrize("pattern", ASKING)
def test_with_the_model_down_after_planning_the_results_are_the_answer(pattern: str, model_server: ModelServer) -> None:
    model_server.reply(plan(*STEPS), failure(503, when="Role: answerer"))
    if pattern == "self_reflection":
        model_server.reply(failure(503, when="Role: checker"))
    report = run(pattern)
    assert report["answer"] == "1982" and report["answered_by"] == "code"
    assert report["stop"]["reason"] == ("unverified" if pattern == "self_reflection" else "done")
    assert results(report)["E2"]["output"] == "1982"


@pytest.mark.parametrize("status", [401, 404, 429, 500])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_with_the_model_down_from_the_start_the_report_says_so(
    pattern: str, status: int, model_server: ModelServer
) -> None:
    model_server.reply(failure(status, "the model is down"))
    report = run(pattern)
    assert report["stop"]["reason"] == "model_failed" and "the model is down" in report["stop"]["message"]
    assert "scripted" in report["stop"]["message"] and report["answer"]
    assert report["plans"] == [] and report["missing"] == ["there is no plan that could run"]
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_budget_of_model_calls_ends_in_an_answer_by_code(pattern: str, model_server: ModelServer) -> None:
    model_server.reply(plan(*STEPS))
    report = run(pattern, limits={"model_calls": 1})
    assert report["answer"] == "1982" and report["answered_by"] == "code"
    told = any("the answer is made by code" in line and "model_calls" in line for line in report["notes"])
    assert told == (pattern != "one_shot")  # where no model is asked for it
    assert report["usage"]["model_calls"] == 1


@pytest.mark.parametrize("pattern", PATTERNS)
def test_usage_that_a_server_does_not_say_is_unknown_and_not_nothing(pattern: str, model_server: ModelServer) -> None:
    replies = [plan(*STEPS), *after_planning(pattern, "1982")]
    model_server.reply(*[Reply(one.content, when=one.when, schema=one.schema, usage=None) for one in replies])
    report = run(pattern)
    assert report["usage"]["unknown_tokens"] == len(replies)
    assert report["usage"]["roles"]["planner"]["tokens_in"] is None
    assert any("did not say how many tokens" in line for line in report["notes"])
