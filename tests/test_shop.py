import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from graphs import load
from state.errors import ToolFailed
from tests.support.runs import results, step
from tests.support.scripted_model import ScriptedModel
from tools.catalogue import catalogue
from tools.settings import ToolSettings
from tools.shop_data import opened
from tools.tool import ToolEnv


async def run(home: Path, name: str, key: str = "", **args: Any) -> Any:
    return await catalogue(["shop"], ToolSettings(home=str(home)))[name].run(args, ToolEnv(key=key))


async def refused(home: Path, name: str, **args: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        await run(home, name, **args)
    return caught.value


def rows(home: Path, statement: str) -> list[Any]:
    with closing(sqlite3.connect(home / "shop.db")) as db:
        return db.execute(statement).fetchall()


async def test_an_order_is_found_however_its_number_is_written(home: Path) -> None:
    for number in ("AB123", " ab123 ", "#AB123"):
        found = await run(home, "order_status", order=number)
        assert (found["order"], found["amount"], found["state"]) == ("AB123", 1499.0, "delivered")


async def test_an_unknown_order_is_said_to_be_unknown_and_no_other_is_offered(home: Path) -> None:
    failed = await refused(home, "order_status", order="AB12")
    assert failed.failure == "not_found" and "AB123" not in str(failed)


async def test_logistics_tell_what_happened_last_at_the_end(home: Path) -> None:
    found = await run(home, "order_logistics", order="AB124")
    assert (found["carrier"], found["events"][-1]["event"]) == ("UPS", "in the sorting centre")
    assert (await run(home, "order_logistics", order="AB128"))["events"] == []


async def test_the_refunds_of_last_month_are_in_order(home: Path) -> None:
    for month in ("last month", "Last  month", "上个月"):
        found = await run(home, "order_refunds", order="AB123", month=month)
        assert [refund["amount"] for refund in found] == [45.0, 12.75, 39.9]
    assert len(await run(home, "order_refunds", order="AB123")) == 4
    assert await run(home, "order_refunds", order="AB124") == []
    by_date = await run(home, "order_refunds", order="AB123", month=found[0]["day"][:7])
    assert by_date == found


@pytest.mark.parametrize("today", [date(2024, 3, 31), date(2025, 1, 1), date(2024, 2, 29), date(2026, 12, 15)])
def test_last_month_holds_three_refunds_on_whichever_day_the_shop_is_filled(home: Path, today: date) -> None:
    with opened(home / "shop.db", today) as db:
        found = db.execute("SELECT substr(day, 1, 7) AS month FROM refunds WHERE order_id = 'AB123'").fetchall()
    year, month = (today.year, today.month - 1) if today.month > 1 else (today.year - 1, 12)
    assert sum(row["month"] == f"{year}-{month:02}" for row in found) == 3


@pytest.mark.parametrize("month", ["May", "2030-13", "2030", "%"])
async def test_a_month_that_can_not_be_read_is_refused(home: Path, month: str) -> None:
    assert "right would be 2030-05" in str(await refused(home, "order_refunds", order="AB123", month=month))


async def test_the_policy_is_told_by_category(home: Path) -> None:
    assert (await run(home, "refund_policy", category="food"))["share"] == 0.5
    assert "there are electronics, clothing" in str(await refused(home, "refund_policy", category="cars"))


@pytest.mark.parametrize(
    ("order", "amount", "reason", "why"),
    [
        ("AB124", 10, "damaged", "is shipped; only what was delivered"),
        ("AB125", 10, "unwanted", "no longer taken back"),
        ("AB127", 10, "unwanted", "A download is not taken back"),
        ("AB126", 20, "unwanted", "at most 16.00 EUR"),
        ("AB123", 1400, "damaged", "at most 1376.35 EUR"),
    ],
)
async def test_what_the_policy_does_not_pay_is_refused(
    home: Path, order: str, amount: float, reason: str, why: str
) -> None:
    failed = await refused(home, "submit_refund", order=order, amount=amount, reason=reason)
    assert why in str(failed) and failed.failure == "policy" and failed.nothing_happened
    assert rows(home, "SELECT count(*) FROM refunds") == [(5,)]


@pytest.mark.parametrize("args", [{"amount": 0, "reason": "late"}, {"amount": 5, "reason": "mood"}])
async def test_a_refund_of_nothing_or_without_a_known_reason_is_refused(home: Path, args: dict[str, Any]) -> None:
    assert (await refused(home, "submit_refund", order="AB123", **args)).failure == "invalid_arguments"


async def test_a_refund_that_was_made_is_found_by_its_key_and_by_no_other(home: Path) -> None:
    made = await run(home, "submit_refund", key="k1", order="AB126", amount=3.2, reason="late")
    tool = catalogue(["shop"], ToolSettings(home=str(home)))["submit_refund"]
    assert tool.lookup is not None
    assert await tool.lookup({}, "k1") == made
    assert await tool.lookup({}, "k2") is None


async def test_two_requests_for_the_same_refund_pay_once(home: Path, scripted_model: ScriptedModel) -> None:
    refund = step("pay", "submit_refund", order="AB126", amount=3.2, reason="late")
    again = step("pay", "submit_refund", order="#ab126", amount=3.20, reason="late")
    outputs = []
    for pay in (refund, again):
        scripted_model.reply({"goal": "refund", "steps": [pay]})
        context = {"model": scripted_model, "tools": ["shop"], "writes": "allow"}
        report = (await load("one_shot").ainvoke({"task": "refund AB126"}, context=context))["report"]
        outputs.append(results(report)["pay"]["output"])
    assert outputs[0] == outputs[1]
    assert rows(home, "SELECT amount FROM refunds WHERE order_id = 'AB126'") == [(320,)]


async def test_a_withdrawn_refund_counts_no_more(home: Path) -> None:
    made = await run(home, "submit_refund", order="AB126", amount=32, reason="damaged")
    tool = catalogue(["shop"], ToolSettings(home=str(home)))["submit_refund"]
    assert tool.compensate is not None
    name, args = tool.compensate({}, made)
    assert (await run(home, name, **args))["state"] == "withdrawn"
    assert await run(home, "order_refunds", order="AB126") == []
    assert (await run(home, "submit_refund", order="AB126", amount=32, reason="damaged"))["state"] == "paid"
    assert (await refused(home, "withdraw_refund", refund=999)).failure == "not_found"
