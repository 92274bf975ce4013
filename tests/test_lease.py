"""The lease: before a write, what it rests on is read again; if it changed, the old write never runs."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import graphs
from tests.support.plans import PLANNING, by_step, plan, replies_after_plan, step
from tests.support.scripted_model import ScriptedModel
from tools.tool import read, write

THREAD: Any = {"configurable": {"thread_id": "t"}}


class Shop:
    """Orders whose state may change, and refunds."""

    def __init__(self) -> None:
        self.state, self.refunds, self.looks = "delivered", list[str](), 0
        self.changes: list[str] = []

    def order_state(self, order: str) -> str:
        """The state of an order."""
        self.looks += 1
        if self.changes and self.looks > 1:
            self.state = self.changes.pop(0)
        if self.state == "down":
            raise ValueError("the shop is closed")
        return self.state

    def describe(self, state: str) -> str:
        """Describes."""
        return f"the order is {state}"

    def refund(self, reason: str) -> str:
        """Refunds."""
        self.refunds.append(reason)
        return "refunded"

    def tools(self) -> list[Any]:
        """As tools."""
        return [read(self.order_state), read(self.describe), write(self.refund)]


REFUND = plan(
    step("o", "order_state", {"order": "1"}),
    step("d", "describe", {"state": "${steps.o}"}),
    step("r", "refund", {"reason": "${steps.d}"}, rests_on=["o"]),
)


async def run(pattern: str, model: ScriptedModel, shop: Shop, **context: Any) -> Any:
    settings = {"model": model, "tools": shop.tools(), "writes": "allow", **context}
    return (await graphs.load(pattern).ainvoke({"task": "refund order 1"}, context=settings))["report"]


@pytest.mark.parametrize("pattern", PLANNING)
async def test_evidence_that_still_holds_is_read_again_and_the_write_runs(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    shop = Shop()
    scripted_model.reply(REFUND, *replies_after_plan(pattern))
    report = await run(pattern, scripted_model, shop)
    assert report["stop"]["reason"] == "done"
    assert (shop.looks, shop.refunds) == (2, ["the order is delivered"])


@pytest.mark.parametrize("pattern", ["one_shot", "rewoo"])
async def test_a_stale_write_never_runs_where_nothing_is_planned_again(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    shop = Shop()
    shop.changes = ["returned"]
    scripted_model.reply(REFUND, *replies_after_plan(pattern))
    report = await run(pattern, scripted_model, shop)
    assert shop.refunds == []
    assert report["stop"]["reason"] == "steps_failed"
    assert by_step(report)["r"]["failure"]["cls"] == "stale"
    assert "it is now returned" in by_step(report)["r"]["failure"]["message"]
    assert by_step(report)["o"]["output"] == "returned"
    assert by_step(report)["d"]["status"] == "blocked"


async def test_a_stale_write_is_planned_again_from_the_evidence_as_it_is_now(
    scripted_model: ScriptedModel, home: Path
) -> None:
    shop = Shop()
    shop.changes = ["returned"]
    again = plan(step("r", "refund", {"reason": "it is ${steps.o}"}, rests_on=["o"]))
    scripted_model.reply(REFUND, again, "refunded")
    report = await run("plan_and_execute", scripted_model, shop)
    assert report["stop"]["reason"] == "done"
    assert shop.refunds == ["it is returned"]
    assert "stale" in report["plans"][1]["reason"]


async def test_evidence_that_can_not_be_read_again_keeps_the_write_from_running(
    scripted_model: ScriptedModel, home: Path
) -> None:
    shop = Shop()
    shop.changes = ["down"]
    scripted_model.reply(REFUND)
    report = await run("one_shot", scripted_model, shop)
    assert shop.refunds == []
    assert "can't be read again: " in by_step(report)["r"]["failure"]["message"]


@pytest.mark.parametrize(("lease", "refunds"), [(0.0, []), (60.0, ["refund it"]), (None, ["refund it"])])
async def test_what_a_write_refers_to_is_read_again_once_it_is_older_than_the_lease(
    scripted_model: ScriptedModel, home: Path, lease: float | None, refunds: list[str]
) -> None:
    shop = Shop()
    shop.changes = ["returned"]
    scripted_model.reply(plan(
        step("o", "order_state", {"order": "1"}), step("r", "refund", {"reason": "refund it"}, after=["o"]),
    ))  # fmt: skip
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    context = {"model": scripted_model, "tools": shop.tools(), "lease": lease}
    out = await graph.ainvoke({"task": "refund order 1"}, THREAD, context=context)
    answers = {ask.id: {"decisions": [{"type": "approve"}]} for ask in out["__interrupt__"]}
    await graph.ainvoke(Command(resume=answers), THREAD, context=context)
    assert shop.refunds == refunds


async def test_a_write_is_no_evidence(scripted_model: ScriptedModel, home: Path) -> None:
    bad = plan(step("a", "refund", {"reason": "x"}), step("b", "refund", {"reason": "y"}, rests_on=["a"]))
    scripted_model.reply(bad, bad, bad)
    report = await run("one_shot", scripted_model, Shop())
    assert report["stop"]["reason"] == "plan_invalid"
    assert "look-ups" in report["stop"]["message"]
