"""The last call of a model inside a budget is kept for the answer, as far as its size can be known before."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import graphs
from nodes.meter import Meter
from state.errors import BudgetSpent
from state.limits import Limits
from state.usage import RoleUsage, no_calls, no_usage
from tests.support.plans import by_step, plan, step
from tests.support.script import Reply
from tests.support.scripted_model import ScriptedModel
from tools.tool import read

PRICES = {"scripted": {"tokens_in": 1_000_000.0, "tokens_out": 1_000_000.0}}


def work(name: str) -> str:
    """Works."""
    return name


def tight(tokens: int) -> list[dict[str, Any]]:
    return [{"tokens": tokens}, {"money": float(tokens)}, {"model_calls": 2}]


@pytest.mark.parametrize("limits", tight(250), ids=lambda one: next(iter(one)))
async def test_what_is_left_for_one_call_goes_to_the_answer_and_not_to_the_checker(
    scripted_model: ScriptedModel, home: Path, limits: dict[str, Any]
) -> None:
    usage = {"prompt_tokens": 90, "completion_tokens": 40}
    made = plan(step("a", "work", {"name": "found"}, criteria=["it is true"]))
    scripted_model.reply(Reply(made, usage=usage), Reply("the answer", usage=usage))
    settings = {"model": scripted_model, "tools": [read(work)], "limits": limits, "prices": PRICES}
    out = await graphs.load("plan_and_execute").ainvoke({"task": "do it"}, context=settings)
    report = out["report"]
    assert (report["answer"], report["answered_by"]) == ("the answer", "model")
    assert "kept for the answer" in by_step(report)["a"]["checks"][0]["evidence"]
    assert report["stop"]["reason"] == "unverified"


async def test_one_shot_keeps_a_call_where_the_answer_is_asked_for_in_a_schema(
    scripted_model: ScriptedModel, home: Path
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    judged = plan(step("a", "work", {"name": "found"}, criteria=["it is true"]))
    scripted_model.reply(judged, {"answer": {"n": 1}, "sources": {"n": ["a"]}})
    settings = {"model": scripted_model, "tools": [read(work)], "limits": {"model_calls": 2}, "answer_schema": schema}
    out = await graphs.load("one_shot").ainvoke({"task": "do it"}, context=settings)
    assert (out["report"]["answer"], out["report"]["answered_by"]) == ({"n": 1}, "model")


async def test_time_is_left_for_the_answer_when_a_tool_takes_too_long(
    scripted_model: ScriptedModel, home: Path
) -> None:
    async def slow() -> str:
        """Takes long."""
        await asyncio.sleep(30)
        return "late"

    scripted_model.reply(Reply(plan(step("a", "work", {"name": "found"}), step("b", "slow")), delay=0.2))
    scripted_model.reply(Reply("the answer", delay=0.1))
    settings = {"model": scripted_model, "tools": [read(work), read(slow)], "limits": {"seconds": 2}}
    out = await graphs.load("plan_and_execute").ainvoke({"task": "do it"}, context=settings)
    report = out["report"]
    assert (report["stop"]["reason"], report["answer"], report["answered_by"]) == ("seconds", "the answer", "model")
    assert "kept for the answer" in report["stop"]["message"]


def spent(tokens: int) -> RoleUsage:
    return no_calls() | {"calls": 1, "tokens_in": tokens, "tokens_out": 0, "money": float(tokens)}  # type: ignore[return-value]


@pytest.mark.parametrize("limit", ["tokens", "money"])
def test_the_largest_call_so_far_is_the_measure_of_what_is_kept(limit: str) -> None:
    meter = Meter(no_usage(), Limits(**{limit: 100}), reserve=True)  # type: ignore[arg-type]
    for tokens in (40, 10):
        meter.before_model()
        meter.add_model("planner", spent(tokens))
    meter.before_model()  # 50 used and 40 kept: there is room for another
    meter.add_model("planner", spent(10))
    with pytest.raises(BudgetSpent, match=rf"limit {limit} reached: 60 of 100 used, the last 40 are kept"):
        meter.before_model()
    meter.before_model(answer=True)
    meter.before_tool()


def test_what_is_kept_survives_into_the_next_node() -> None:
    first = Meter(no_usage(), Limits(tokens=100), reserve=True)
    first.add_model("planner", spent(60))
    with pytest.raises(BudgetSpent, match="kept for the answer"):
        Meter(first.usage(), Limits(tokens=100), reserve=True).before_model()


def test_of_the_time_never_more_than_a_quarter_is_kept() -> None:
    meter = Meter(no_usage(), Limits(seconds=100), reserve=True)
    meter.took(80)
    assert meter.remaining() == pytest.approx(75, abs=1)
    assert meter.remaining(answer=True) == pytest.approx(100, abs=1)


def test_nothing_is_kept_where_the_answer_needs_no_model() -> None:
    meter = Meter(no_usage(), Limits(tokens=100, model_calls=2, seconds=100))
    meter.add_model("planner", spent(60))
    meter.took(80)
    meter.before_model()
    meter.before_model()
    assert meter.remaining() == pytest.approx(100, abs=1)
