"""Evidence in conflict: the same quantity with different numbers, decided by a third source or left to a person."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as runs
from hypothesis import strategies as st

from graphs import load
from nodes.conflicts import Conflict, conflicts
from state.result import Result
from tests.support.model_server import ModelServer
from tests.support.plans import turns
from tests.support.runs import look, plan, says, step
from tools.tool import read


def records(**values: Any) -> tuple[list[Any], dict[str, Result]]:
    """A plan whose steps each measure the funding, and what they gave."""
    steps = [{"id": name, "measures": {"funding": "output"}} for name in values]
    results: Any = {
        name: {"step": name, "status": "done", "artefact": None, "output": value} for name, value in values.items()
    }
    return [{"steps": steps}], results


@pytest.mark.parametrize(
    ("values", "stands"),
    [
        ({"a": 100, "b": 130}, None),
        ({"a": 100, "b": 130, "c": 130}, 130),
        ({"a": 100, "b": "130", "c": "1,300"}, None),
        ({"a": 100, "b": 100, "c": 130, "d": 130}, None),
    ],
)
def test_what_most_sources_give_stands(values: dict[str, Any], stands: float | None) -> None:
    [found] = conflicts(*records(**values))
    assert found.stands == stands


@pytest.mark.parametrize(
    "values", [{"a": 100, "b": 100.2}, {"a": 100, "b": "unknown"}, {"a": 100}, {"a": None, "b": 1}]
)
def test_numbers_that_agree_or_are_none_are_no_conflict(values: dict[str, Any]) -> None:
    assert conflicts(*records(**values)) == []


@runs(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 3) | st.sampled_from(["1", "x", "2,000"])))
def test_whatever_sources_say_a_conflict_names_each_of_them_once(values: dict[str, Any]) -> None:
    for found in conflicts(*records(**values)):
        named = [step for _, steps in found.values for step in steps]
        assert len(named) == len(set(named)) and set(named) <= set(values) and len(found.values) > 1


def test_a_conflict_is_told_in_one_line() -> None:
    assert str(Conflict("funding", ((100, ("a",)), (130, ("b", "c"))))) == "funding: 100 (a), 130 (b, c); 130 stands"


def said(amount: float, by: str) -> dict[str, Any]:
    """What a source says."""
    return {"amount": amount, "by": by}


def source(name: str, amount: float) -> dict[str, Any]:
    return step(name, "said", amount=amount, by=name, more={"measures": {"funding": "amount"}})


CONTEXT: dict[str, Any] = {"tools": [read(said)]}
TWO = [source("a", 100), source("b", 130)]


@pytest.mark.parametrize("pattern", ["one_shot", "rewoo"])
def test_a_pattern_that_does_not_replan_leaves_it_to_a_person(pattern: str, model_server: ModelServer) -> None:
    model_server.reply(plan(*TWO))
    report = load(pattern, context=CONTEXT).invoke({"task": "funding?"})["report"]
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("pause", "conflicting_evidence")
    assert "funding: 100 (a), 130 (b)" in report["stop"]["message"]


def test_turns_are_told_of_it_and_a_third_source_decides(model_server: ModelServer) -> None:
    calls = [{**one, "measures": {"funding": "amount"}} for one in turns(*TWO, source("c", 130))]
    model_server.reply(*calls, {"thought": "two say so", "answer": "130"})
    report = load("react", context=CONTEXT).invoke({"task": "funding?"})["report"]
    assert report["stop"]["reason"] == "done"
    assert "funding: 100 (t1), 130 (t2)" in str(model_server.requests[2]["messages"])
    assert report["risks"] == ["evidence in conflict: funding: 100 (t1), 130 (t2, t3); 130 stands"]


def test_an_answer_on_evidence_in_conflict_is_no_success(model_server: ModelServer) -> None:
    calls = [{**one, "measures": {"funding": "amount"}} for one in turns(*TWO)]
    model_server.reply(*calls, {"thought": "I take the first", "answer": "100"})
    report = load("react", context=CONTEXT).invoke({"task": "funding?"})["report"]
    assert report["stop"]["reason"] == "conflicting_evidence"


def test_it_triggers_a_reflection_and_the_answer_knows_which_number_stands(model_server: ModelServer) -> None:
    model_server.reply(
        plan(*TWO),
        look("revise", "ask a third", "step"),
        plan(source("c", 130)),
        look(),
        says("130"),
    )
    report = load("plan_act_reflect", context=CONTEXT).invoke({"task": "funding?"})["report"]
    assert report["stop"]["reason"] == "done"
    assert report["reflections"][0]["cause"] == "evidence against an assumption"
    assert report["plans"][1]["reason"] == "evidence in conflict: funding: 100 (a), 130 (b)"
    assert "corrected: funding" in model_server.requests[-1]["messages"][1]["content"]


def test_where_nobody_decides_it_the_run_waits_for_a_person(model_server: ModelServer) -> None:
    model_server.reply(plan(*TWO))
    report = load("plan_and_execute", context=CONTEXT | {"limits": {"replans": 0}}).invoke({"task": "?"})["report"]
    assert report["stop"]["reason"] == "conflicting_evidence"


def test_a_quantity_that_can_not_be_read_is_a_finding(model_server: ModelServer) -> None:
    wrong = {**TWO[0], "measures": {"funding": "amount["}}
    model_server.reply(plan(wrong), plan(TWO[0]))
    assert load("one_shot", context=CONTEXT).invoke({"task": "?"})["report"]["stop"]["reason"] == "done"
    assert "can't be read as a condition" in model_server.requests[1]["messages"][1]["content"]
