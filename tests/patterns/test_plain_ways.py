"""The plain ways that patterns are held against: a direct answer, a chain of thought, trying again from nothing."""

from typing import Any

import pytest

from graphs import load, names, plain_ways
from tests.support.model_server import ModelServer
from tests.support.runs import grade, plan, roles, says, step
from tests.support.script import Reply
from tools.tool import read

TASK = "How many legs have 3 cats?"
TESTS = {"tests": ["assert double(2) == 4"]}
GOOD, BAD = "```python\ndef double(x): return 2 * x\n```", "def double(x): return x"


def look(name: str) -> str:
    """Looks something up."""
    if name == "bad":
        raise ValueError("nothing there")
    return f"result of {name}"


def run(pattern: str, **context: Any) -> dict[str, Any]:
    return load(pattern, context=context).invoke({"task": TASK})["report"]


def reasoned(reasoning: str, answer: Any) -> Reply:
    return Reply({"reasoning": reasoning, "answer": answer}, schema="draft", when="Role: thinker")


def test_they_can_be_loaded_and_are_no_patterns_to_choose() -> None:
    assert plain_ways() == ("direct", "chain_of_thought", "retry")
    assert not set(plain_ways()) & set(names())


def test_a_direct_answer_is_one_call_that_names_no_tool(model_server: ModelServer) -> None:
    model_server.reply(says("12", "direct"))
    report = run("direct")
    assert (report["answer"], report["answered_by"], report["stop"]["reason"]) == ("12", "model", "done")
    assert (report["usage"]["model_calls"], report["usage"]["tool_calls"]) == (1, 0)
    assert "nothing but the model vouches" in report["stop"]["message"]
    assert "calculator" not in str(model_server.requests)


def test_the_reasoning_of_a_chain_of_thought_is_told_and_is_no_part_of_the_answer(model_server: ModelServer) -> None:
    model_server.reply(reasoned("a cat has 4, so 3 * 4", "12"))
    state = load("chain_of_thought").invoke({"task": TASK})
    assert (state["report"]["answer"], state["report"]["usage"]["model_calls"]) == ("12", 1)
    assert [one["reason"] for one in state["events"] if one["event"] == "thought"] == ["a cat has 4, so 3 * 4"]
    [body] = model_server.requests
    assert list(body["response_format"]["json_schema"]["schema"]["properties"]) == ["reasoning", "answer"]


@pytest.mark.parametrize("pattern", ["direct", "chain_of_thought"])
def test_an_answer_that_a_condition_speaks_against_is_not_tried_again(pattern: str, model_server: ModelServer) -> None:
    model_server.reply(says("13", "direct") if pattern == "direct" else reasoned("", "13"))
    report = run(pattern, accept=["answer == '12'"])
    assert (report["stop"]["reason"], report["answer"], report["usage"]["model_calls"]) == ("not_accepted", "13", 1)


@pytest.mark.parametrize(("program", "reason"), [(GOOD, "done"), (BAD, "not_accepted")])
def test_a_program_is_judged_by_its_tests(program: str, reason: str, model_server: ModelServer) -> None:
    model_server.reply(says(program, "direct"))
    report = run("direct", **TESTS)
    assert (report["stop"]["reason"], report["usage"]["tool_calls"]) == (reason, 1)


def test_a_draft_is_tried_again_until_it_passes_told_of_nothing_but_the_attempt(model_server: ModelServer) -> None:
    model_server.reply(says(BAD, "direct"), says("no program", "direct"), says(GOOD, "direct"))
    report = run("retry", **TESTS)
    assert (report["stop"]["reason"], report["answer"], len(report["drafts"])) == ("done", GOOD.strip(), 3)
    first, *more = [body["messages"][1]["content"] for body in model_server.requests]
    assert more == [f"{first}\n<attempt>\n{number}\n</attempt>" for number in (2, 3)]


def test_drafts_end_at_the_limit_of_attempts_with_the_best_of_them(model_server: ModelServer) -> None:
    model_server.reply(*[says(BAD, "direct")] * 2)
    report = run("retry", **TESTS, limits={"attempts": 2, "reflections": 0})
    assert (report["stop"]["reason"], report["usage"]["model_calls"]) == ("attempts", 2)


def test_a_plan_that_was_not_accepted_is_followed_by_one_that_knows_nothing_of_it(model_server: ModelServer) -> None:
    one, other = plan(step("a", "look", name="x")), plan(step("a", "look", name="y"))
    model_server.reply(one, says("x"), grade(3, 3, 3), other, says("y"), grade())
    report = run("retry", tools=[read(look)])
    assert (report["stop"]["reason"], report["answer"]) == ("done", "y")
    assert roles(model_server.requests) == ["planner", "answerer", "checker"] * 2
    first, again = [body["messages"][1]["content"] for body in model_server.requests[::3]]
    assert again == first + "\n<attempt>\n2\n</attempt>"
    assert report["counts"]["attempts"] == 1


def test_plans_end_at_the_limit_of_attempts(model_server: ModelServer) -> None:
    model_server.reply(
        plan(step("a", "look", name="bad")), plan(step("a", "look", name="x")), says("x"), grade(3, 3, 3)
    )
    report = run("retry", tools=[read(look)], limits={"attempts": 2, "reflections": 0})
    assert (report["stop"]["reason"], report["usage"]["model_calls"]) == ("attempts", 4)


def test_without_tools_the_answer_itself_is_tried(model_server: ModelServer) -> None:
    model_server.reply(says("12", "direct"))
    assert run("retry", tools=[])["answer"] == "12"


@pytest.mark.parametrize("pattern", ["direct", "chain_of_thought"])
def test_the_offline_planner_answers_nothing_at_once_and_says_so(pattern: str) -> None:
    report = run(pattern, model="offline")
    assert (report["stop"]["reason"], report["usage"]["model_calls"]) == ("model_failed", 1)
    assert "can't write a draft in words" in report["stop"]["message"]
