"""P3, F5: plan, run, answer, grade, reflect, try again with the lesson; at most three attempts at an unchanged task."""

from typing import Any

import pytest

from graphs import load
from tests.support.model_server import ModelServer
from tests.support.plans import MET
from tests.support.runs import GRADED, all_well, grade, plan, reflection, roles, says, statuses, step
from tests.support.script import Reply, failure
from tools.tool import read

TASK = 'Say hello in {two} languages, with "quotes" and 100 %.'


def note(text: str) -> str:
    """Gives the text back."""
    return text


CONTEXT: dict[str, Any] = {"tools": [read(note)], "limits": {"retries": 0}}


def run(**more: Any) -> dict[str, Any]:
    return load("self_reflection", context=CONTEXT | more).invoke({"task": TASK})["report"]


def attempt(number: int, *scores: int, text: str = "hello") -> list[Reply]:
    """One attempt: a plan, an answer, a grading."""
    problems = [] if min(scores) >= 7 else [f"attempt {number} has one language only"]
    steps = step(f"a{number}", "note", text=f"{text} {number}")
    return [plan(steps), says(f"answer {number}"), grade(*scores, problems=problems)]


def test_an_answer_with_seven_in_each_dimension_passes(model_server: ModelServer) -> None:
    model_server.reply(*attempt(1, 7, 7, 7))
    report = run()
    assert report["stop"]["reason"] == "done" and report["answer"] == "answer 1"
    assert report["verdict"]["scores"] == {"completeness": 7, "accuracy": 7, "quality": 7}
    assert roles(model_server.requests) == ["planner", "answerer", "checker"]
    assert report["reflections"] == []


@pytest.mark.parametrize("scores", [(6, 9, 9), (9, 6, 9), (9, 9, 6)])
def test_one_dimension_under_seven_leads_to_a_reflection_and_a_second_attempt_that_passes(
    scores: tuple[int, ...], model_server: ModelServer
) -> None:
    model_server.reply(*attempt(1, *scores), reflection("name two languages", "step"), *attempt(2, 8, 8, 8))
    report = run()
    assert report["stop"]["reason"] == "done" and report["answer"] == "answer 2"
    (lesson,) = report["reflections"]
    assert (lesson["attempt"], lesson["lesson"], lesson["change"]) == (1, "name two languages", "step")
    assert lesson["trigger"] == "attempt 1 has one language only"
    assert [one["version"] for one in report["plans"]] == [1, 2]
    assert report["plans"][1]["reason"] == "lesson: name two languages"
    assert statuses(report) == {"a1": "done", "a2": "done"}
    assert report["counts"] == {"iterations": 2, "reflections": 1, "attempts": 1, "replans": 1}


def test_the_lesson_reaches_the_second_plan_and_the_diagnosis_sees_answer_and_verdict(
    model_server: ModelServer,
) -> None:
    model_server.reply(*attempt(1, 9, 5, 9), reflection("name two languages"), *attempt(2, 9, 9, 9))
    run()
    asked = dict(zip(("plan", "answer", "grade", "reflect", "replan"), model_server.requests, strict=False))
    seen = asked["reflect"]["messages"][1]["content"]
    assert "answer 1" in seen and '"accuracy": 5' in seen and "one language only" in seen
    assert "name two languages" in asked["replan"]["messages"][1]["content"]


def test_the_task_is_the_same_in_every_prompt_however_often_it_is_tried(model_server: ModelServer) -> None:
    model_server.reply(
        *attempt(1, 3, 3, 3), reflection("other words"), *attempt(2, 4, 4, 4), reflection("more"), *attempt(3, 9, 9, 9)
    )
    run()
    told = [body["messages"][1]["content"] for body in model_server.requests]
    assert len(told) == 11
    assert len({text.split("<task>\n")[1].split("\n</task>")[0] for text in told}) == 1
    assert all('Say hello in {two} languages, with \\"quotes\\" and 100 %.' in text for text in told)


def test_there_are_never_more_than_three_attempts(model_server: ModelServer) -> None:
    model_server.reply(
        *attempt(1, 3, 3, 3), reflection("one"), *attempt(2, 4, 4, 4), reflection("two"), *attempt(3, 5, 5, 5)
    )
    report = run()
    assert report["stop"]["kind"] == "budget" and report["stop"]["reason"] == "attempts"
    assert "3 of 3" in report["stop"]["message"]
    assert len(report["plans"]) == 3 and len(report["reflections"]) == 2
    assert report["answer"] and report["verdict"]["outcome"] == "failed"


@pytest.mark.parametrize(
    ("limits", "reason"), [({"attempts": 1}, "attempts"), ({"reflections": 0}, "reflections"), ({"attempts": 2}, "")]
)
def test_fewer_attempts_and_reflections_may_be_allowed(
    limits: dict[str, int], reason: str, model_server: ModelServer
) -> None:
    model_server.reply(*attempt(1, 3, 3, 3))
    if not reason:
        model_server.reply(reflection("one"), *attempt(2, 4, 4, 4))
    assert run(limits=limits)["stop"]["reason"] == (reason or "attempts")


def test_the_best_answer_is_returned_not_the_last(model_server: ModelServer) -> None:
    model_server.reply(
        *attempt(1, 6, 6, 6), reflection("one"), *attempt(2, 6, 7, 7), reflection("two"), *attempt(3, 2, 2, 2)
    )
    report = run()
    assert report["stop"]["reason"] == "attempts"
    assert report["answer"] == "answer 2" and report["verdict"]["scores"]["accuracy"] == 7


def test_a_verdict_that_contradicts_itself_goes_back_to_the_checker(model_server: ModelServer) -> None:
    steps, answer, _ = attempt(1, 9, 9, 9)
    model_server.reply(steps, answer, grade(9, 3, 9, accepted=True), grade(9, 9, 9))
    report = run()
    assert report["stop"]["reason"] == "done"
    assert roles(model_server.requests).count("checker") == 2
    assert "contradicts itself" in model_server.requests[-1]["messages"][-1]["content"]


def test_a_verdict_that_keeps_contradicting_itself_is_no_verdict_and_no_success(model_server: ModelServer) -> None:
    steps, answer, _ = attempt(1, 9, 9, 9)
    model_server.reply(steps, answer, *[grade(9, 3, 9, accepted=True)] * 2, grade(9, 9, 9, accepted=False))
    report = run()
    assert report["stop"]["reason"] == "unverified" and report["verdict"]["outcome"] == "unverified"
    assert report["answer"] == "answer 1" and report["reflections"] == []


def test_a_failed_point_is_a_contradiction_to_accepted(model_server: ModelServer) -> None:
    steps, answer, good = attempt(1, 9, 9, 9)
    point = {"criterion": "two languages", "outcome": "failed", "evidence": "there is one"}
    model_server.reply(steps, answer, Reply({**good.content, "checks": [point]}, schema="grade"), good)
    assert run()["stop"]["reason"] == "done"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"problems": ["the answer is wrong"]}, "a problem is named (the answer is wrong): the verdict contradicts"),
        ({"checks": []}, "checks is empty"),
        ({"checks": [MET | {"evidence": " "}]}, "its evidence is empty"),
        ({"checks": [MET | {"criterion": "\u200b"}]}, "point 1 has an empty criterion"),
    ],
    ids=["problem", "no point", "no evidence", "no criterion"],
)
@pytest.mark.parametrize("pattern", GRADED)
def test_an_acceptance_that_rests_on_nothing_or_names_a_problem_goes_back_to_the_checker(
    pattern: str, wrong: dict[str, Any], told: str, model_server: ModelServer
) -> None:
    good = grade()
    model_server.reply(*all_well(pattern, "hello", step("t1", "note", text="hello"))[:-1])
    model_server.reply(Reply({**good.content, **wrong}, schema="grade"), good)
    assert load(pattern, context=CONTEXT).invoke({"task": TASK})["report"]["stop"]["reason"] == "done"
    assert told in model_server.requests[-1]["messages"][-1]["content"]


@pytest.mark.parametrize("accepted", [True, False])
@pytest.mark.parametrize("pattern", GRADED)
def test_an_answer_with_a_point_that_nobody_could_decide_is_unverified_and_counted_so(
    pattern: str, accepted: bool, model_server: ModelServer
) -> None:
    point = {"criterion": "it is kind", "outcome": "unverified", "evidence": "no result says so"}
    replies = all_well(pattern, "hello", step("t1", "note", text="hello"))
    model_server.reply(*replies[:-1], grade(accepted=accepted, checks=[MET, point]))
    report = load(pattern, context=CONTEXT).invoke({"task": TASK})["report"]
    assert (report["stop"]["reason"], report["stop"]["kind"]) == ("unverified", "failure")
    assert "not verified: it is kind: no result says so" in report["stop"]["message"]
    assert report["checks"] == {"passed": 1, "failed": 0, "unverified": 1, "unchecked": 1}
    assert "the answer: unverified: it is kind" in report["risks"] and report["answer"] == "hello"


def test_a_checker_that_can_not_be_asked_leaves_the_answer_unverified_and_is_no_success(
    model_server: ModelServer,
) -> None:
    steps, answer, _ = attempt(1, 9, 9, 9)
    model_server.reply(steps, answer, failure(500, when="Role: checker"))
    report = run()
    assert report["stop"]["reason"] == "unverified" and report["verdict"]["outcome"] == "unverified"
    assert report["answer"] == "answer 1"


def test_a_reflection_that_would_change_nothing_ends_the_run_as_no_progress(model_server: ModelServer) -> None:
    model_server.reply(*attempt(1, 3, 3, 3), reflection("", "nothing", diagnosis="it can't be said better"))
    report = run()
    assert report["stop"]["kind"] == "failure" and report["stop"]["reason"] == "no_progress"
    assert "it can't be said better" in report["stop"]["message"]
    assert report["answer"] == "answer 1" and len(report["plans"]) == 1


def test_a_reflector_that_can_not_be_asked_ends_the_run_with_the_answer_there_is(model_server: ModelServer) -> None:
    model_server.reply(*attempt(1, 3, 3, 3), failure(500, when="Role: reflector"))
    report = run()
    assert report["stop"]["reason"] == "model_failed" and report["answer"] == "answer 1"


def test_a_reflection_that_can_not_be_read_ends_the_run_by_that_name(model_server: ModelServer) -> None:
    thinking = says("<think>why?</think>", "reflector")
    model_server.reply(*attempt(1, 3, 3, 3), thinking, thinking, thinking)
    report = run()
    assert report["stop"]["reason"] == "unusable_reply" and report["answer"] == "answer 1"


def test_a_replan_that_finds_no_way_ends_the_run_with_the_answer_there_is(model_server: ModelServer) -> None:
    way = Reply({"steps": [], "impossible": "no second language"}, schema="plan", when="no way so far")
    model_server.reply(*attempt(1, 3, 3, 3), reflection("no way so far"), way)
    report = run()
    assert report["stop"]["reason"] == "cannot_be_done"
    assert report["answer"] == "answer 1" and report["verdict"]["outcome"] == "failed"


def test_a_step_that_failed_is_graded_by_code_without_a_model(model_server: ModelServer) -> None:
    def broken(text: str) -> str:
        """Never works."""
        raise ValueError("broken for good")

    _, answer, good = attempt(2, 9, 9, 9)
    model_server.reply(
        plan(step("a", "broken", text="x")), reflection("use note"), attempt(2, 9, 9, 9)[0], answer, good
    )
    report = run(tools=[read(note), read(broken)])
    assert report["stop"]["reason"] == "done"
    assert roles(model_server.requests) == ["planner", "reflector", "planner", "answerer", "checker"]
    assert "broken for good" in report["reflections"][0]["trigger"]


def test_each_role_may_have_a_model_of_its_own_and_is_booked_for_itself(model_server: ModelServer) -> None:
    model_server.reply(*attempt(1, 9, 9, 9))
    report = run(checker="strict", planner="deep", prices={"strict": {"tokens_in": 1.0, "tokens_out": 2.0}})
    assert [body["model"] for body in model_server.requests] == ["deep", "scripted", "strict"]
    assert report["models"]["checker"] == "strict" and report["models"]["reflector"] == "scripted"
    used = report["usage"]["roles"]
    assert set(used) == {"planner", "answerer", "checker"} and used["checker"]["money"] > 0
    assert used["planner"]["money"] is None  # no price is set: unknown, not nothing
