"""P11: ReAct with a final reflection, and rules that change the mode in mid-run."""

from typing import Any

from graphs import load
from state.errors import ToolFailed
from tests.support.model_server import ModelServer
from tests.support.runs import grade, plan, reflection, roles, says, statuses, step, turn
from tools.tool import read

KNOWN = {"Nomadland": "Chloé Zhao", "Chloé Zhao": "born in 1982"}


def find(name: str) -> str:
    """What is known of something."""
    if name not in KNOWN:
        raise ToolFailed(f"{name} was not found", "not_found")
    return KNOWN[name]


def run(**context: Any) -> dict[str, Any]:
    given = {"tools": [read(find), "calculator"], **context}
    return load("combined", context=given).invoke({"task": "How old was the director in 2024?"})["report"]


def test_an_answer_that_is_graded_well_ends_it(model_server: ModelServer) -> None:
    model_server.reply(turn("who?", "find", name="Nomadland"), turn(answer="Chloé Zhao"), grade())
    report = run()
    assert (report["stop"]["reason"], report["answer"]) == ("done", "Chloé Zhao")
    assert report["verdict"]["outcome"] == "passed"


def test_an_answer_that_is_not_good_enough_is_reflected_on_and_the_turns_go_on_with_the_lesson(
    model_server: ModelServer,
) -> None:
    model_server.reply(
        turn("who?", "find", name="Nomadland"), turn(answer="Chloé Zhao"), grade(4, 9, 9, problems=["no age"]),
        reflection("work out the age"), turn("born?", "find", name="Chloé Zhao"), turn(answer="42 in 2024"), grade(),
    )  # fmt: skip
    report = run()
    assert (report["stop"]["reason"], report["answer"]) == ("done", "42 in 2024")
    assert report["reflections"][0]["cause"] == "acceptance failed"
    assert "work out the age" in str(model_server.requests[4]["messages"][-1]["content"])
    assert statuses(report) == {"t1": "done", "t3": "done"}


def test_who_grades_an_answer_is_told_which_assumptions_do_not_hold(model_server: ModelServer) -> None:
    guess = {"kind": "assumption", "text": "she was born in May"}
    against = {"kind": "fact", "text": "in March", "evidence": ["t1"], "contradicts": "a1.1"}
    model_server.reply(
        turn("who?", "find", [guess], name="Chloé Zhao"), turn("", None, [against], answer="41"),
        grade(4, 4, 9, problems=["it builds on May"]), reflection("take March", "assumption"),
        turn(answer="42"), grade(),
    )  # fmt: skip
    report = run()
    assert [said["cause"] for said in report["reflections"]] == ["evidence against an assumption"]
    told = [request["messages"][-1]["content"] for request in (model_server.requests[2], model_server.requests[5])]
    assert all("do not hold" in words and "she was born in May" in words for words in told)
    assert (report["answer"], report["risks"][0]) == ("42", "assumption does not hold: she was born in May (t1)")


def test_a_condition_in_the_thought_and_no_call_leads_to_a_plan_and_then_back_to_thinking(
    model_server: ModelServer,
) -> None:
    model_server.reply(
        turn("who?", "find", name="Nomadland"),
        turn("If she has a year of birth, the age follows from it."),
        plan(step("s1", "find", name="Chloé Zhao"), step("s2", "calculator", expression="2024 - 1982",
                                                         more={"when": "'1982' in steps.s1"})),
        turn("it is there", answer="42"), grade(),
    )  # fmt: skip
    report = run()
    assert (report["stop"]["reason"], statuses(report)) == ("done", {"t1": "done", "s1": "done", "s2": "done"})
    assert [thought["next"] for thought in report["thoughts"]] == ["act", "plan", "finish"]
    assert report["plans"][1]["reason"].startswith("a turn asked for it: If she has")
    told = model_server.requests[3]["messages"]
    assert "plan2" in told[-1]["content"] and "born in 1982" in told[-1]["content"]
    assert roles(model_server.requests) == ["reasoner", "reasoner", "planner", "reasoner", "checker"]


def test_a_plan_may_come_first_and_turns_after_it_add_their_own_steps(model_server: ModelServer) -> None:
    model_server.reply(
        turn("It depends on who directed it."), plan(step("s1", "find", name="Nomadland")),
        turn("born?", "find", name="${steps.s1}"), turn(answer="1982"), grade(),
    )  # fmt: skip
    report = run()
    assert (report["stop"]["reason"], statuses(report)) == ("done", {"s1": "done", "t2": "done"})
    assert len(report["plans"]) == 1


def test_nothing_found_and_no_other_way_in_mind_leads_to_a_reflection(model_server: ModelServer) -> None:
    model_server.reply(
        turn("who?", "find", name="Nomad Land"), turn("I am stuck."), reflection("it is one word", "argument"),
        turn("one word", "find", name="Nomadland"), turn(answer="Chloé Zhao"), grade(),
    )  # fmt: skip
    report = run()
    assert (report["stop"]["reason"], statuses(report)) == ("done", {"t1": "failed", "t3": "done"})
    assert report["reflections"][0]["cause"] == "asked for"
    assert "Nomad Land was not found" in model_server.requests[2]["messages"][1]["content"]
    assert "it is one word" in model_server.requests[3]["messages"][-1]["content"]


def test_giving_up_after_nothing_was_found_is_reflected_on_once_and_then_stands(model_server: ModelServer) -> None:
    model_server.reply(
        turn("who?", "find", name="Nomad Land"), turn("", impossible="it is not known"),
        reflection("try again", "argument"), turn("", impossible="still not known"), says("nobody knows"),
    )  # fmt: skip
    report = run()
    assert report["stop"]["reason"] == "cannot_be_done"


def test_a_thought_without_a_call_or_a_condition_goes_back(model_server: ModelServer) -> None:
    model_server.reply(turn("hm"), turn("who?", "find", name="Nomadland"), turn(answer="Chloé Zhao"), grade())
    assert run()["stop"]["reason"] == "done"
    assert "the turn makes no move" in str(model_server.requests[1]["messages"][-1]["content"])


def test_turns_that_only_want_plans_end_at_the_limit(model_server: ModelServer) -> None:
    model_server.reply(
        turn("If so?"), plan(step("s1", "find", name="Nomadland")), turn("If so then?"), says("Chloé Zhao")
    )
    assert run(limits={"replans": 0})["stop"]["reason"] == "replans"


def test_the_best_graded_answer_is_given_at_the_limit_of_attempts(model_server: ModelServer) -> None:
    model_server.reply(
        turn("who?", "find", name="Nomadland"), turn(answer="one"), grade(6, 6, 6, problems=["x"]), reflection("a"),
        turn(answer="two"), grade(3, 3, 3, problems=["y"]),
    )  # fmt: skip
    report = run(limits={"attempts": 2})
    assert (report["stop"]["reason"], report["answer"]) == ("attempts", "one")


def test_an_answer_that_rests_on_no_result_is_unverified_however_it_is_graded(model_server: ModelServer) -> None:
    model_server.reply(turn(answer="42"), grade())
    assert run()["stop"]["reason"] == "unverified"


def test_without_a_model_the_answer_is_there_and_nobody_has_graded_it() -> None:
    report = load("combined").invoke({"task": "add 17 and 25"}, context={"model": "offline"})["report"]
    assert (report["answer"], report["stop"]["reason"]) == ("42", "unverified")
