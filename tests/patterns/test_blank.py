"""An answer that says nothing is asked for again, and never a success."""

from typing import Any

import pytest

from graphs import load
from state.blank import is_blank
from tests.support.model_server import ModelServer
from tests.support.runs import TURNING, critique, drafted, grade, plan, refined, says, step, turn
from tests.support.script import Reply
from tools.tool import read

BLANK: list[Any] = ["   \n", {}, [], {"answer": ""}, ["", None], "\u200b", "\u2060 \ufeff", "\u3164"]


def look() -> str:
    """Looks."""
    return "Paris has 2102650 people"


def run(pattern: str, **context: Any) -> dict[str, Any]:
    graph = load(pattern, context={"tools": [read(look)], **context})
    return graph.invoke({"task": "How many people live in Paris?"})["report"]


@pytest.mark.parametrize("blank", BLANK, ids=map(ascii, BLANK))
@pytest.mark.parametrize("pattern", TURNING)
def test_a_turn_whose_answer_says_nothing_goes_back(pattern: str, blank: Any, model_server: ModelServer) -> None:
    model_server.reply(turn("", "look"), turn(answer=blank), turn(answer="2102650"))
    model_server.reply(*[grade()] * (pattern == "combined"))
    report = run(pattern)
    assert (report["stop"]["reason"], report["answer"]) == ("done", "2102650")
    assert "the answer is empty" in model_server.requests[2]["messages"][-1]["content"]


def test_turns_that_only_give_empty_answers_end_by_name(model_server: ModelServer) -> None:
    model_server.reply(turn("", "look"), *[turn(answer={})] * 3, says("2102650"))
    report = run("react")
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("failure", "unusable_reply")
    assert report["stop"]["message"].startswith("the answer is empty")


def test_an_empty_list_is_an_answer_where_the_schema_asks_for_a_list(model_server: ModelServer) -> None:
    model_server.reply(turn("", "look"), turn(answer=[]))
    report = run("react", answer_schema={"type": "array"})
    assert (report["stop"]["reason"], report["answer"]) == ("done", [])


@pytest.mark.parametrize("blank", ["", "   ", "\u200b", None], ids=ascii)
def test_a_refined_answer_that_says_nothing_is_asked_for_again(blank: Any, model_server: ModelServer) -> None:
    model_server.reply(drafted("Many."), critique("quality: no number"), refined(blank, f1="fixed: it"))
    model_server.reply(refined("2102650", f1="fixed: a number"), critique())
    report = run("reflection", checker="critic-model")
    assert (report["stop"]["reason"], report["answer"]) == ("done", "2102650")


def test_a_text_of_signs_that_nobody_sees_is_no_text(model_server: ModelServer) -> None:
    model_server.reply(plan(step("s", "look")), says("\u200b\n"), says("2102650"))
    assert run("plan_and_execute")["answer"] == "2102650"


def test_the_end_of_a_refinement_that_stays_empty_is_named(model_server: ModelServer) -> None:
    model_server.reply(drafted("Many."), critique("quality: no number"))
    model_server.reply(*[Reply({"answer": " ", "replies": []}, schema="refine", when="Role: refiner")] * 3)
    report = run("reflection", checker="critic-model")
    assert (report["stop"]["reason"], report["answer"]) == ("unusable_reply", "Many.")


@pytest.mark.parametrize("answer", [0, False, 0.0, "0", "-", "no", {"n": 0}, [[], "x"]], ids=ascii)
def test_a_zero_and_a_no_are_answers(answer: Any) -> None:
    assert not is_blank(answer)
