"""S11: "my order AB123, third refund last month": the right tool and field, and no number that nobody looked up."""

from pathlib import Path
from typing import Any

import pytest

from graphs import load
from tests.support.model_server import ModelServer
from tests.support.runs import (
    PATTERNS,
    after_planning,
    impossible,
    plan,
    reflection,
    results,
    roles,
    says,
    statuses,
    step,
)

TASK = "My order is AB123. How much was the third refund last month?"
ANSWER = "The third refund of last month was 39.9 EUR."
FIELD = "${steps.r1[2].amount}"


@pytest.fixture
def context(root: Path) -> dict[str, Any]:
    return {"tools": ["shop", "calculator"], "root": str(root), "home": str(root / "home"), "limits": {"replans": 1}}


def look_up(order: str = "AB123") -> list[dict[str, Any]]:
    """The refunds of the month, of which the third is taken by place and field."""
    return [
        step("r1", "order_refunds", order=order, month="last month", more={"accept": ["len(output) >= 3"]}),
        step("c1", "calculator", expression=f"{FIELD} + 0", more={"produces": "the third refund"}),
    ]


@pytest.mark.parametrize("check_after", ["plan", "step"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_third_refund_comes_from_its_field(
    pattern: str, check_after: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    model_server.reply(plan(*look_up()), *after_planning(pattern, ANSWER))
    report = load(pattern, context=context | {"check_after": check_after}).invoke({"task": TASK})["report"]
    assert report["stop"]["reason"] == "done"
    assert results(report)["r1"]["output"][2]["amount"] == 39.9
    assert float(results(report)["c1"]["output"]) == 39.9
    assert "39.9" in report["answer"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_planner_is_told_the_fields_so_that_it_need_not_guess(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    model_server.reply(plan(*look_up()), *after_planning(pattern, ANSWER))
    load(pattern, context=context).invoke({"task": TASK})
    told = model_server.requests[0]["messages"][0]["content"]
    assert '"name": "order_refunds"' in told.replace('":"', '": "')
    assert '"refund"' in told and '"amount"' in told


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_field_that_there_is_not_goes_back_to_the_planner_before_anything_runs(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    wrong = look_up()
    wrong[1]["args"]["expression"] = "${steps.r1[2].sum} + 0"
    model_server.reply(plan(*wrong), plan(*look_up()), *after_planning(pattern, ANSWER))
    report = load(pattern, context=context).invoke({"task": TASK})["report"]
    assert report["stop"]["reason"] == "done"
    assert "sum" in model_server.requests[1]["messages"][-1]["content"]
    assert roles(model_server.requests).count("planner") == 2 and len(report["plans"]) == 1


@pytest.mark.parametrize("pattern", PATTERNS)
def test_an_order_without_a_third_refund_gives_no_number(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    sorry = "Order AB126 had no third refund last month."
    later = {
        "plan_and_execute": [impossible(sorry), says(sorry)],
        "self_reflection": [reflection(sorry), impossible(sorry), says(sorry)],
        "rewoo": [says(sorry)],
    }
    model_server.reply(plan(*look_up("AB126")), *later.get(pattern, []))
    report = load(pattern, context=context).invoke({"task": TASK})["report"]
    assert report["stop"]["kind"] == "failure"
    assert statuses(report)["c1"] in ("blocked", "failed")
    assert "39" not in report["answer"]
