"""D3, D4: a plan is checked before it runs; findings go back at most twice, then the run ends by name."""

import re
from typing import Any

import pytest

from graphs import load
from tests.support.model_server import ModelServer
from tests.support.runs import (
    PATTERNS,
    REPLANNING,
    after_planning,
    grade,
    impossible,
    plan,
    reflection,
    results,
    roles,
    says,
    statuses,
    step,
)  # fmt: skip
from tests.support.script import Reply
from tools.tool import read

ran: list[str] = []


def note(text: str, times: int = 1) -> str:
    """Gives the text back, so many times."""
    ran.append(text)
    return text * times


def broken(text: str) -> str:
    """Never works."""
    raise ValueError("broken for good")


CONTEXT: dict[str, Any] = {"tools": [read(note), read(broken), "calculator"], "limits": {"retries": 0}}
GOOD = plan(step("E1", "note", text="fine"))


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    ran.clear()


def run(pattern: str, **more: Any) -> dict[str, Any]:
    return load(pattern, context=CONTEXT | more).invoke({"task": "Do it."})["report"]


FAULTY = {
    "an unknown tool": ([step("E1", "notes", text="x")], "there is no tool 'notes'.*'note'"),
    "a missing argument": ([step("E1", "note")], "missing argument.*'text'"),
    "an unknown argument": ([step("E1", "note", text="x", loud=True)], "unknown argument.*loud"),
    "an argument of a wrong type": ([step("E1", "note", text="x", times="three")], "times"),
    "a reference of a wrong type": (
        [step("E1", "note", text="x"), step("E2", "note", text="y", times="${steps.E1}")], "times.*string",
    ),
    "a cycle": (
        [step("E1", "note", text="${steps.E2}"), step("E2", "note", text="${steps.E1}")], "in a circle.*E1.*E2|E2.*E1",
    ),
    "a self reference": ([step("E1", "note", text="${steps.E1}")], "waits for its own result"),
    "a duplicate id": ([step("E1", "note", text="a"), step("E1", "note", text="b")], "two steps have this id"),
    "an unknown step": ([step("E1", "note", text="${steps.E7}")], "'E7', which is not there"),
    "an unreadable condition": ([step("E1", "note", text="a", more={"accept": ["output >"]})], "can't be read"),
    "an unknown input": ([step("E1", "note", text="${steps.inputs.x}")], "there is no input 'x'"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTY)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_faulty_plan_goes_back_twice_with_its_finding_and_then_ends_the_run_before_anything_ran(
    pattern: str, fault: str, model_server: ModelServer
) -> None:
    steps, finding = FAULTY[fault]
    model_server.reply(plan(*steps), plan(*steps), plan(*steps))
    report = run(pattern)
    assert report["stop"]["kind"] == "failure" and report["stop"]["reason"] == "plan_invalid"
    assert re.search(finding, str(report["stop"]["evidence"]), re.DOTALL)
    assert report["plans"] == [] and report["results"] == [] and ran == []
    assert report["answer"] and report["answered_by"] == "code"
    asked = [body["messages"][-1]["content"] for body in model_server.requests]
    assert len(asked) == 3 and roles(model_server.requests) == ["planner"] * 3
    assert "<findings>" not in asked[0] and all(re.search(finding, text, re.DOTALL) for text in asked[1:])


@pytest.mark.parametrize("fault", FAULTY)
def test_a_faulty_plan_that_is_corrected_runs(fault: str, model_server: ModelServer) -> None:
    model_server.reply(plan(*FAULTY[fault][0]), GOOD)
    report = run("one_shot")
    assert report["stop"]["reason"] == "done" and report["answer"] == "fine"
    assert len(report["plans"]) == 1 and report["plans"][0]["version"] == 1


@pytest.mark.parametrize("pattern", PATTERNS)
def test_all_findings_of_a_plan_go_back_at_once(pattern: str, model_server: ModelServer) -> None:
    wrong = plan(step("E1", "notes", text="x"), step("E2", "note"), step("E3", "note", text="${steps.E9}"))
    model_server.reply(wrong, GOOD, *after_planning(pattern, "fine"))
    assert run(pattern)["stop"]["reason"] == "done"
    asked = model_server.requests[1]["messages"][-1]["content"]
    assert all(text in asked for text in ("'notes'", "missing argument", "'E9'"))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_rules_and_the_tools_stay_the_same_to_the_byte_when_findings_go_back(
    pattern: str, model_server: ModelServer
) -> None:
    wrong = plan(step("E1", "notes", text="x"))
    model_server.reply(wrong, wrong, wrong)
    run(pattern)
    assert len({body["messages"][0]["content"] for body in model_server.requests}) == 1


@pytest.mark.parametrize("pattern", PATTERNS)
def test_an_empty_plan_is_asked_for_twice_more_and_then_an_end_of_its_own(
    pattern: str, model_server: ModelServer
) -> None:
    model_server.reply(plan(), plan(), plan())
    report = run(pattern)
    assert report["stop"]["reason"] == "plan_empty" and report["answer"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_plan_that_is_only_thinking_is_asked_for_again_and_then_unusable(
    pattern: str, model_server: ModelServer
) -> None:
    thinking = Reply("<think>First I would search, then I would calculate.</think>", when="Role: planner")
    model_server.reply(thinking, thinking, thinking)
    report = run(pattern)
    assert report["stop"]["reason"] == "unusable_reply"
    assert "only reasoning" in report["stop"]["message"]
    assert report["plans"] == [] and report["answer"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_plan_after_thinking_is_taken_without_the_thinking(pattern: str, model_server: ModelServer) -> None:
    text = '<think>{"steps": []}</think>{"steps": [{"id": "E1", "tool": "note", "args": {"text": "fine"}}]}'
    model_server.reply(Reply(text, when="Role: planner"), *after_planning(pattern, "fine"))
    assert run(pattern)["stop"]["reason"] == "done"
    assert ran == ["fine"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_planner_may_say_that_the_tools_can_not_do_it(pattern: str, model_server: ModelServer) -> None:
    model_server.reply(impossible("none of the tools can book a flight"))
    report = run(pattern)
    assert report["stop"]["reason"] == "cannot_be_done"
    assert report["stop"]["message"] == "none of the tools can book a flight"
    assert "book a flight" in report["answer"]
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_plan_with_more_steps_than_may_run_ends_with_that_limit(pattern: str, model_server: ModelServer) -> None:
    long = plan(*[step(f"E{n}", "note", text=str(n)) for n in range(1, 5)])
    model_server.reply(long, long, long)
    report = run(pattern, limits={"steps": 3})
    assert report["stop"]["kind"] == "budget" and report["stop"]["reason"] == "steps" and ran == []


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_planner_sees_the_real_tools_with_their_schemas_and_no_other(
    pattern: str, model_server: ModelServer
) -> None:
    model_server.reply(GOOD, *after_planning(pattern, "fine"))
    run(pattern)
    shown = model_server.requests[0]["messages"][0]["content"]
    assert '"name": "note"' in shown and '"times"' in shown and '"name": "calculator"' in shown
    assert "send_mail" not in shown


def failing_once(pattern: str) -> list[Reply]:
    """A first plan whose step fails, and what is asked before the second one."""
    more = [reflection("use note", "tool")] if pattern == "self_reflection" else []
    return [plan(step("a", "note", text="kept"), step("b", "broken", text="${steps.a}")), *more]


@pytest.mark.parametrize("pattern", REPLANNING)
def test_a_replan_that_is_only_thinking_keeps_the_old_plan_and_counts(pattern: str, model_server: ModelServer) -> None:
    thinking = Reply("<think>what now?</think>", when="Role: planner")
    model_server.reply(*failing_once(pattern), thinking, thinking, thinking, says("only a part"))
    report = run(pattern)
    assert report["stop"]["reason"] == "unusable_reply"
    assert [one["version"] for one in report["plans"]] == [1] and report["counts"]["replans"] == 1
    assert statuses(report) == {"a": "done", "b": "failed"} and ran == ["kept"]
    assert report["answer"] == "only a part"


@pytest.mark.parametrize("pattern", REPLANNING)
def test_a_replan_may_build_on_what_is_finished_which_does_not_run_again(
    pattern: str, model_server: ModelServer
) -> None:
    new = plan(step("a", "note", text="kept"), step("b", "note", text="${steps.a}!"))
    model_server.reply(*failing_once(pattern), new, says("kept!"))
    if pattern == "self_reflection":
        model_server.reply(grade())
    report = run(pattern)
    assert report["stop"]["reason"] == "done" and ran == ["kept", "kept!"]
    assert report["plans"][1]["change"] == {"kept": ["a"], "changed": ["b_v2"], "added": [], "dropped": []}
    assert results(report)["b_v2"]["output"] == "kept!"


@pytest.mark.parametrize("pattern", REPLANNING)
def test_a_step_that_takes_the_id_of_a_finished_one_gets_a_fresh_id_and_the_finished_result_stays(
    pattern: str, model_server: ModelServer
) -> None:
    reused = plan(step("a", "note", text="other"), step("c", "note", text="${steps.a}"))
    model_server.reply(*failing_once(pattern), reused, says("other"))
    if pattern == "self_reflection":
        model_server.reply(grade())
    report = run(pattern)
    assert report["stop"]["reason"] == "done" and ran == ["kept", "other", "other"]
    outputs = {result["step"]: result["output"] for result in report["results"] if result["status"] == "done"}
    assert outputs == {"a": "kept", "a_v2": "other", "c": "other"}


@pytest.mark.parametrize("pattern", REPLANNING)
def test_a_replan_that_changes_nothing_ends_the_run_as_no_progress(pattern: str, model_server: ModelServer) -> None:
    same = plan(step("again", "broken", text="${steps.a}"))
    model_server.reply(*failing_once(pattern), same, says("only a part"))
    report = run(pattern)
    assert report["stop"]["reason"] == "no_progress" and len(report["plans"]) == 1


@pytest.mark.parametrize("pattern", REPLANNING)
def test_replans_end_at_their_limit_with_what_is_finished(pattern: str, model_server: ModelServer) -> None:
    model_server.reply(plan(step("a", "note", text="kept"), step("b", "broken", text="1")))
    for n in (2, 3):
        if pattern == "self_reflection":
            model_server.reply(reflection(f"try {n}", "argument"))
        model_server.reply(plan(step("b", "broken", text=str(n))))
    model_server.reply(says("kept is all there is"))
    report = run(pattern, limits={"retries": 0, "failures": 10})
    assert report["stop"]["kind"] == "budget"
    assert report["stop"]["reason"] == {"plan_and_execute": "replans", "self_reflection": "attempts"}[pattern]
    assert [one["version"] for one in report["plans"]] == [1, 2, 3]
    assert [result["step"] for result in report["results"]] == ["a", "b", "b_v2", "b_v3"] and ran == ["kept"]
    assert report["answer"] == "kept is all there is"
