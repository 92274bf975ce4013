"""P8, F5: planner, actor, reflector; who looks when, what a look may say, and what code holds against it."""

from typing import Any

import pytest

from graphs import load
from tests.support.model_server import ModelServer
from tests.support.runs import look, plan, results, roles, says, statuses, step
from tools.tool import read, write

TASK = "Note three things."


def note(text: str) -> str:
    """Gives the text back."""
    return f"noted {text}"


def broken(text: str) -> str:
    """Never works."""
    raise ValueError(f"{text} is broken for good")


def other(text: str) -> str:
    """Gives the text back in another way."""
    return f"also {text}"


def send(text: str) -> str:
    """Sends a text."""
    return "sent"


def run(**context: Any) -> dict[str, Any]:
    given = {"tools": [read(note), read(broken), read(other), write(send)], "limits": {"retries": 0}, **context}
    return load("plan_act_reflect", context=given).invoke({"task": TASK})["report"]


def three(**more: Any) -> list[dict[str, Any]]:
    return [step(f"s{n}", "note", text=str(n), more=more if n == 2 else None) for n in (1, 2, 3)]


@pytest.mark.parametrize(("reflect", "looks"), [("step", 3), ("batch", 1), ("critical", 1), (None, 1)])
def test_the_setting_says_how_often_the_reflector_looks(
    reflect: str | None, looks: int, model_server: ModelServer
) -> None:
    model_server.reply(plan(*three(critical=True)), *[look()] * looks, says("noted"))
    report = run(reflect=reflect)
    assert report["stop"]["reason"] == "done"
    assert roles(model_server.requests) == ["planner", *["reflector"] * looks, "answerer"]
    assert [said["verdict"] for said in report["reflections"]] == ["continue"] * looks
    assert report["counts"].get("reflections", 0) == 0


def test_at_critical_steps_only_no_look_without_one(model_server: ModelServer) -> None:
    model_server.reply(plan(*three()), says("noted"))
    assert run(reflect="critical")["stop"]["reason"] == "done"


def test_a_look_at_a_critical_step_comes_before_the_steps_after_it(model_server: ModelServer) -> None:
    model_server.reply(
        plan(*three(critical=True)), look("revise", "two was wrong", "step", steps=["s3"]),
        plan(step("s4", "other", text="4")), says("noted"),
    )  # fmt: skip
    report = run(reflect="critical")
    assert statuses(report) == {"s1": "done", "s2": "done", "s4": "done"}


def test_a_failed_step_is_looked_at_and_the_next_version_does_what_the_look_says(model_server: ModelServer) -> None:
    model_server.reply(
        plan(step("s1", "broken", text="a"), step("s2", "note", text="${steps.s1}")),
        look("revise", "use other", "tool", steps=["s1"], hypotheses=["it never worked", "wrong text"]),
        plan(step("s1", "other", text="a")), look(), says("noted"),
    )  # fmt: skip
    report = run()
    assert report["stop"]["reason"] == "done"
    first, second = report["reflections"]
    assert (first["cause"], first["version"], second["cause"]) == ("acceptance failed", 1, "look")
    assert "broken for good" in first["trigger"] and first["hypotheses"] == ["it never worked", "wrong text"]
    assert statuses(report) == {"s1": "failed", "s2": "blocked", "s1_v2": "done"}
    told = model_server.requests[1]["messages"][1]["content"]
    assert "<trigger>" in told and "<allowed_changes>" in told and '"reflections": 2' in told


@pytest.mark.parametrize("verdict", ["continue", "finish"])
def test_what_code_found_can_not_be_overruled(verdict: str, model_server: ModelServer) -> None:
    model_server.reply(
        plan(step("s1", "broken", text="a")), look(verdict), look("revise", "use other", "tool"),
        plan(step("s2", "other", text="a")), look(), says("noted"),
    )  # fmt: skip
    report = run()
    assert report["stop"]["reason"] == "done"
    assert "it stands, right would be revise" in model_server.requests[2]["messages"][-1]["content"]


@pytest.mark.parametrize("verdict", ["continue", "finish"])
def test_a_look_that_goes_on_and_names_a_finding_goes_back(verdict: str, model_server: ModelServer) -> None:
    wrong = look(verdict, findings=["s1: the note is of another day"])
    model_server.reply(plan(*three()), wrong, look(findings=[" "]), says("noted"))
    assert run()["stop"]["reason"] == "done"
    told = model_server.requests[2]["messages"][-1]["content"]
    assert f"verdict is {verdict}, but a finding is named (s1: the note is of another day)" in told


def test_the_reflector_may_finish_before_the_last_step(model_server: ModelServer) -> None:
    model_server.reply(plan(*three()), look("finish", diagnosis="one is enough"), says("noted"))
    report = run(reflect="step")
    assert (report["stop"]["reason"], statuses(report)) == ("done", {"s1": "done"})
    assert report["stop"]["evidence"] == ["s2", "s3"] and "one is enough" in report["stop"]["message"]
    assert len(report["missing"]) == 2


def test_it_can_not_finish_where_a_write_is_left(model_server: ModelServer) -> None:
    steps = [step("s1", "note", text="1"), step("s2", "send", text="2", more={"after": ["s1"]})]
    model_server.reply(plan(*steps), look("finish"), look(), look(), says("sent"))
    report = run(reflect="step", writes="allow")
    assert statuses(report) == {"s1": "done", "s2": "done"}
    assert "steps that change something are left: ['s2']" in model_server.requests[2]["messages"][-1]["content"]


def test_a_look_that_finds_a_result_wrong_leads_to_another_version(model_server: ModelServer) -> None:
    model_server.reply(
        plan(*three()[:1]), look("revise", "that is not what was asked", "argument", steps=["s1"]),
        plan(step("s2", "note", text="better")), look(), says("noted"),
    )  # fmt: skip
    report = run()
    assert [one["reason"] for one in report["plans"]] == ["first plan", "lesson: that is not what was asked"]
    assert report["counts"]["reflections"] == 1


@pytest.mark.parametrize(
    ("wrong", "finding"),
    [
        (step("s2", "broken", text="a"), "does what 's1' did, which must change"),
        (step("s2", "broken", text="b"), "the tool must change"),
    ],
    ids=["the same step", "the same tool"],
)
def test_a_plan_that_does_not_change_what_the_look_said_goes_back(
    wrong: dict[str, Any], finding: str, model_server: ModelServer
) -> None:
    model_server.reply(
        plan(step("s1", "broken", text="a")), look("revise", "use other", "tool", steps=["s1"]), plan(wrong),
        plan(step("s3", "other", text="a")), look(), says("noted"),
    )  # fmt: skip
    assert run()["stop"]["reason"] == "done"
    assert finding in model_server.requests[3]["messages"][1]["content"]


def test_a_planner_that_goes_on_ignoring_it_ends_with_no_new_evidence(model_server: ModelServer) -> None:
    model_server.reply(
        plan(step("s1", "broken", text="a")), look("revise", "use other", "tool", steps=["s1"]),
        *[plan(step("s2", "broken", text="b"))] * 3, says("nothing"),
    )  # fmt: skip
    report = run()
    assert report["stop"]["reason"] == "no_progress" and report["stop"]["message"].startswith("no new evidence: ")


def test_a_look_that_finds_nothing_to_change_ends_it(model_server: ModelServer) -> None:
    model_server.reply(plan(step("s1", "broken", text="a")), look("revise", diagnosis="no way"), says("nothing"))
    report = run()
    assert (report["stop"]["reason"], report["counts"]["reflections"]) == ("no_progress", 1)
    assert "no way" in report["stop"]["message"]


def test_the_same_tool_failing_again_may_not_be_answered_by_another_constraint(model_server: ModelServer) -> None:
    model_server.reply(
        plan(step("s1", "broken", text="a")), look("revise", "another text", "argument"),
        plan(step("s2", "broken", text="b")), look("revise", "hold this", "constraint"),
        look("revise", "use other", "tool"), plan(step("s3", "other", text="b")), says("noted"),
    )  # fmt: skip
    report = run()
    assert [said["cause"] for said in report["reflections"]] == ["acceptance failed", "same step failing again"]
    assert (
        "right would be one of ['assumption', 'step', 'tool', 'argument', 'scope']"
        in model_server.requests[4]["messages"][-1]["content"]
    )


def test_a_budget_that_is_nearly_gone_is_a_reason_to_look(model_server: ModelServer) -> None:
    model_server.reply(plan(*three(critical=False)), look(), look(), says("noted"))
    limits = {"retries": 0, "tool_calls": 3}
    report = run(limits=limits, check_after="step", reflector="scripted")
    assert {said["cause"] for said in report["reflections"]} == {"budget nearly gone", "look"}


def test_the_limit_of_reflections_ends_it_by_that_name(model_server: ModelServer) -> None:
    model_server.reply(plan(step("s1", "broken", text="a")), says("nothing"))
    report = run(limits={"retries": 0, "reflections": 0})
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("budget", "reflections")


def test_two_revisions_run_before_the_limit_ends_it(model_server: ModelServer) -> None:
    model_server.reply(plan(step("s1", "broken", text="a")), says("nothing"))
    for n, tool in ((2, "note"), (3, "other")):
        model_server.reply(look("revise", f"try {n}", "step"), plan(
            step(f"s{n}", "broken", text=str(n)), step(f"r{n}", tool, text=str(n))
        ))  # fmt: skip
    report = run(limits={"retries": 0, "failures": 9})
    assert report["stop"]["reason"] == "reflections" and len(report["plans"]) == 3


def test_without_a_model_code_alone_decides() -> None:
    report = load("plan_act_reflect").invoke({"task": "add 17 and 25"}, context={"model": "offline"})["report"]
    assert (report["stop"]["reason"], report["answer"], report["reflections"]) == ("done", "42", [])


def test_a_reflector_that_can_not_be_asked_ends_it_with_what_is_there(model_server: ModelServer) -> None:
    model_server.reply(plan(step("s1", "broken", text="a")), says("nothing"))
    report = run(reflector="offline")
    assert report["stop"]["reason"] == "no_progress" and results(report)["s1"]["status"] == "failed"


@pytest.mark.parametrize(
    ("said", "risks"),
    [
        ("three things are noted in another way", []),
        ("", []),
        ("a poem of cats", ["plan 2 was written for another goal, 'a poem of cats'; the goal is 'things are noted'"]),
    ],
)
def test_a_plan_made_anew_keeps_the_goal_and_says_where_it_was_written_for_another(
    said: str, risks: list[str], model_server: ModelServer
) -> None:
    failed = look("revise", "write a poem instead", "scope")
    first = plan(step("s1", "broken", text="1"), goal="things are noted")
    model_server.reply(first, failed, plan(step("s2", "note", text="2"), goal=said), look(), says("noted"))
    report = run()
    assert [version["goal"] for version in report["plans"]] == ["things are noted", "things are noted"]
    assert report["risks"] == risks
