"""S11: "my order AB123, third refund last month": the right tool and field, and no number that nobody looked up."""

from pathlib import Path
from typing import Any

import pytest

from graphs import load
from tests.support.model_server import ModelServer
from tests.support.runs import (
    ACTING,
    TURNING,
    after_planning,
    all_well,
    called,
    gives_up,
    impossible,
    look,
    reflection,
    results,
    roles,
    says,
    statuses,
    step,
)

TASK = "My order is AB123. How much was the third refund last month?"
ANSWER = "The third refund of last month was 39.9 EUR."
FIELD = "${steps.t1[2].amount}"


@pytest.fixture
def context(root: Path) -> dict[str, Any]:
    return {"tools": ["shop", "calculator"], "root": str(root), "home": str(root / "home"), "limits": {"replans": 1}}


def look_up(order: str = "AB123") -> list[dict[str, Any]]:
    """The refunds of the month, of which the third is taken by place and field."""
    return [
        step("t1", "order_refunds", order=order, month="last month", more={"accept": ["len(output) >= 3"]}),
        step("t2", "calculator", expression=f"{FIELD} + 0", more={"produces": "the third refund"}),
    ]


@pytest.mark.parametrize("check_after", ["plan", "step"])
@pytest.mark.parametrize("pattern", ACTING)
def test_the_third_refund_comes_from_its_field(
    pattern: str, check_after: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    sooner = [look()] if (pattern, check_after) == ("plan_act_reflect", "step") else []
    model_server.reply(*all_well(pattern, ANSWER, *look_up()), *sooner)
    report = load(pattern, context=context | {"check_after": check_after}).invoke({"task": TASK})["report"]
    assert report["stop"]["reason"] == "done"
    assert results(report)["t1"]["output"][2]["amount"] == 39.9
    assert float(results(report)["t2"]["output"]) == 39.9
    assert "39.9" in report["answer"]


@pytest.mark.parametrize("pattern", ACTING)
def test_who_plans_or_reasons_is_told_the_fields_and_need_not_guess(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    model_server.reply(*all_well(pattern, ANSWER, *look_up()))
    load(pattern, context=context).invoke({"task": TASK})
    told = model_server.requests[0]["messages"][0]["content"]
    assert '"name": "order_refunds"' in told.replace('":"', '": "')
    assert '"refund"' in told and '"amount"' in told


@pytest.mark.parametrize("pattern", ACTING)
def test_a_field_that_there_is_not_goes_back_before_anything_runs_on_it(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    wrong = look_up()
    wrong[1]["args"]["expression"] = "${steps.t1[2].sum} + 0"
    model_server.reply(*called(pattern, *wrong), *called(pattern, *look_up())[-1:], *after_planning(pattern, ANSWER))
    report = load(pattern, context=context).invoke({"task": TASK})["report"]
    assert report["stop"]["reason"] == "done"
    asked = 2 if pattern in TURNING else 1
    assert "sum" in model_server.requests[asked]["messages"][-1]["content"]
    assert roles(model_server.requests)[: asked + 1] == roles(model_server.requests)[:1] * (asked + 1)
    assert len(report["plans"]) == 1 and report["usage"]["tool_calls"] == 2


@pytest.mark.parametrize("pattern", ACTING)
def test_an_order_without_a_third_refund_gives_no_number(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    sorry = "Order AB126 had no third refund last month."
    later = {
        "plan_and_execute": [impossible(sorry), says(sorry)],
        "self_reflection": [reflection(sorry), impossible(sorry), says(sorry)],
        "plan_act_reflect": [look("revise", sorry, "step"), impossible(sorry), says(sorry)],
        "rewoo": [says(sorry)],
    } | {name: gives_up(name, sorry) for name in TURNING}
    model_server.reply(*called(pattern, *look_up("AB126"), turns=1), *later.get(pattern, []))
    report = load(pattern, context=context).invoke({"task": TASK})["report"]
    assert report["stop"]["kind"] == "failure"
    assert statuses(report).get("t2", "blocked") in ("blocked", "failed")
    assert "39" not in report["answer"]
