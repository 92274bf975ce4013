"""What a plan is worth, and what a review does: it is a trigger of replanning where a pattern can, else a risk."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphs
from nodes.drafting import new_steps, next_plan
from nodes.meter import Meter
from nodes.run import Run
from nodes.value import value_of
from state.context import make_context
from state.plan import PlanDraft
from state.usage import no_usage
from tests.support.plans import GOOD_GRADE, PLANNING, plan, step
from tests.support.scripted_model import ScriptedModel
from tools.catalogue import catalogue
from tools.settings import ToolSettings
from tools.tool import read, write

REPLANS = ("plan_and_execute", "self_reflection")


def work(name: str) -> str:
    """Works."""
    return name


def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


def page(address: str) -> str:
    """Reads a page."""
    return address


def fail() -> str:
    """Fails."""
    raise LookupError("gone")


TOOLS = [read(work), write(pay), read(fail), read(page, untrusted=True)]


async def out_of(model: ScriptedModel, pattern: str = "one_shot", **context: Any) -> Any:
    settings = {"model": model, "answerer": "offline", "tools": TOOLS, "writes": "allow", **context}
    return await graphs.load(pattern).ainvoke({"task": "do it"}, context=settings)


CHAIN = plan(
    step("a", "work", {"name": "a"}), step("b", "work", {"name": "${steps.a}"}, critical=True),
    step("c", "work", {"name": "${steps.b}"}, accept=["output == 'a'"]),
)  # fmt: skip


async def test_the_value_of_the_worked_example_in_the_documentation(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(plan(
        step("price", "page", {"address": "x"}, accept=["len(output) > 0"]),
        step("total", "work", {"name": "${steps.price}"}),
        step("order", "pay", {"amount": 3}, after=["total"], critical=True),
    ))  # fmt: skip
    value = (await out_of(scripted_model))["report"]["plans"][0]["value"]
    assert value == {
        "value": 0.588, "utility": 0.888, "risk": 0.1, "cost": 0.2,
        "because": ["step order changes something", "steps: 20% of the limit"],
    }  # fmt: skip


async def test_weights_and_the_worth_of_steps_may_be_set(scripted_model: ScriptedModel, home: Path) -> None:
    weights = {"discount": 0.5, "risk": 0, "cost": 0, "utility": {"a": 4, "work": 2}}
    scripted_model.reply(CHAIN)
    value = (await out_of(scripted_model, value=weights))["report"]["plans"][0]["value"]
    assert value["value"] == value["utility"] == round((4 + 2 * 0.5 + 2 * 0.25) / 8, 3)


async def test_untrusted_data_in_a_write_and_failures_so_far_are_risks(
    scripted_model: ScriptedModel, home: Path
) -> None:
    def mail(text: str) -> str:
        """Mails."""
        return "sent"

    flow = [step("p", "page", {"address": "x"}), step("m", "mail", {"text": "${steps.p}"})]
    scripted_model.reply(plan(step("bad", "fail")), plan(*flow))
    out = await out_of(scripted_model, "plan_and_execute", tools=[*TOOLS, write(mail)])
    first, second = (one["value"] for one in out["report"]["plans"])
    assert first["because"] == ["steps: 7% of the limit"]
    assert second["because"][:3] == ["step m changes something", "step m takes untrusted data", "step bad failed"]
    assert second["risk"] == round(1 - 0.9 * 0.8 * 0.9, 3)


@pytest.mark.parametrize("pattern", PLANNING)
async def test_a_plan_of_low_value_is_planned_anew_or_named_as_a_risk(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    scripted_model.reply(CHAIN)
    if pattern in REPLANS:
        scripted_model.reply(plan(step("only", "work", {"name": "x"})))
    if pattern == "self_reflection":
        scripted_model.reply(GOOD_GRADE)
    out = await out_of(scripted_model, pattern, review_below=0.8)
    report, finding = out["report"], "the plan is worth less than review_below=0.8"
    events = [event for event in out["events"] if event["event"] == "review"]
    assert report["stop"]["reason"] == "done"
    assert [event["reason"] for event in events] == [finding]
    if pattern in REPLANS:
        assert [one["reason"] for one in report["plans"]] == ["first plan", f"review: {finding}"]
        assert [len(one["steps"]) for one in report["plans"]] == [3, 1]
        assert finding in str(scripted_model.requests[1])
        assert report["risks"] == []
    else:
        assert f"plan: {finding}" in report["risks"]
        assert events[0]["evidence"][0].startswith("value 0.")


async def test_old_evidence_under_open_steps_is_told_to_the_planner(scripted_model: ScriptedModel, home: Path) -> None:
    first = plan(step("a", "work", {"name": "a"}), step("b", "work", {"name": "${steps.a}"}))
    again = plan(step("a2", "work", {"name": "now"}), step("b2", "work", {"name": "${steps.a2}"}))
    scripted_model.reply(first, again)
    out = await out_of(scripted_model, "plan_and_execute", check_after="step", evidence_age=0, limits={"replans": 1})
    report = out["report"]
    assert report["plans"][1]["reason"] == "review: older than evidence_age=0 s: the result of a"
    assert report["risks"] == ["plan: older than evidence_age=0 s: the result of a2"]
    assert report["stop"]["reason"] == "done"


async def test_a_review_after_which_the_planner_changes_nothing_ends_the_run(
    scripted_model: ScriptedModel, home: Path
) -> None:
    scripted_model.reply(CHAIN, CHAIN)
    report = (await out_of(scripted_model, "plan_and_execute", review_below=0.9))["report"]
    assert report["stop"]["reason"] == "no_progress"
    assert "review: the plan is worth less than review_below=0.9" in report["stop"]["evidence"]
    assert report["results"] == []


async def test_without_a_setting_nothing_is_reviewed(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(CHAIN)
    out = await out_of(scripted_model, "plan_and_execute", check_after="step")
    assert [event for event in out["events"] if event["event"] == "review"] == []


@given(
    st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 5)), min_size=1, max_size=6),
    st.floats(0.01, 1), st.floats(0, 10),
)  # fmt: skip
def test_utility_risk_and_cost_are_shares(steps: list[tuple[bool, bool, int]], discount: float, worth: float) -> None:
    tools = catalogue(TOOLS, ToolSettings())
    drafts = [
        step(
            f"s{n}", "pay" if writes else "work", {"amount": n} if writes else {"name": "x"}, critical=critical,
            after=[f"s{on}"] if on < n else [],
        )
        for n, (writes, critical, on) in enumerate(steps)
    ]  # fmt: skip
    context = make_context(value={"discount": discount, "utility": {"work": worth}})
    request: Any = {"pattern": "one_shot", "id": "x"}
    run = Run(request, context, Meter(no_usage(), context.limits), tools, lambda _: None)
    made = new_steps(PlanDraft.model_validate(plan(*drafts)), 1, {}, tools)
    value = value_of(next_plan(None, made, {}, goal="", constraints=[], reason="", by=""), {}, run)
    assert all(0 <= value[name] <= 1 for name in ("utility", "risk", "cost"))  # type: ignore[literal-required]
