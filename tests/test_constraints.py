"""Constraints are frozen at the start, held against every plan and every call, and no replan can lose them (F6)."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import graphs
from state.errors import InputError
from tests.support.plans import by_step, plan, replies_after_plan, step
from tests.support.scripted_model import ScriptedModel
from tools.tool import read, write


class Bank:
    """Accounts and payments."""

    def __init__(self) -> None:
        self.paid: list[tuple[str, float]] = []

    def owed(self, tenant: str) -> float:
        """What a tenant owes."""
        return 900.0

    def pay(self, tenant: str, amount: float) -> float:
        """Pays."""
        self.paid.append((tenant, amount))
        return amount

    def tools(self) -> list[Any]:
        """As tools."""
        return [read(self.owed), write(self.pay)]


async def run(pattern: str, model: ScriptedModel, bank: Bank, constraints: Any, **context: Any) -> Any:
    settings = {"model": model, "tools": bank.tools(), "writes": "allow", **context}
    return (await graphs.load(pattern).ainvoke({"task": "pay", "constraints": constraints}, context=settings))["report"]


BROKEN: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"tenant": "acme"}, {"tenant": "other", "amount": 5}, "constraint is tenant = acme"),
    ({"max_amount": 100}, {"tenant": "acme", "amount": 101}, "max_amount = 100"),
    ({"min_amount": 10}, {"tenant": "acme", "amount": 5}, "min_amount = 10"),
    ({"deadline": "2020-01-01"}, {"tenant": "acme", "amount": 5}, "deadline 2020-01-01 has passed"),
    ({"forbid": ["pay"]}, {"tenant": "acme", "amount": 5}, "forbidden"),
    ({"read_only": True}, {"tenant": "acme", "amount": 5}, "read-only"),
]


@pytest.mark.parametrize(("constraints", "args", "said"), BROKEN, ids=[next(iter(case[0])) for case in BROKEN])
async def test_a_plan_that_breaks_a_constraint_goes_back_and_then_is_blocked(
    scripted_model: ScriptedModel, home: Path, constraints: dict[str, Any], args: dict[str, Any], said: str
) -> None:
    bank = Bank()
    scripted_model.reply(*[plan(step("p", "pay", args))] * 3)
    report = await run("one_shot", scripted_model, bank, constraints)
    assert report["stop"]["reason"] == "blocked"
    assert said in report["stop"]["message"]
    assert bank.paid == [] and report["results"] == []


@pytest.mark.parametrize("pattern", ["one_shot", "rewoo"])
async def test_a_value_that_comes_only_at_run_time_is_held_against_it_at_the_call(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    bank = Bank()
    pay = plan(step("o", "owed", {"tenant": "acme"}), step("p", "pay", {"tenant": "acme", "amount": "${steps.o}"}))
    scripted_model.reply(pay, *replies_after_plan(pattern))
    report = await run(pattern, scripted_model, bank, {"max_amount": 500})
    assert bank.paid == []
    assert by_step(report)["p"]["failure"]["cls"] == "policy"
    assert "max_amount = 500" in by_step(report)["p"]["failure"]["message"]


async def test_a_replan_meets_the_same_constraints(scripted_model: ScriptedModel, home: Path) -> None:
    bank = Bank()
    first = plan(step("o", "owed", {"tenant": "acme"}), step("p", "pay", {"tenant": "acme", "amount": "${steps.o}"}))
    scripted_model.reply(first, *[plan(step("q", "pay", {"tenant": "other", "amount": 1}))] * 3, "not paid")
    report = await run("plan_and_execute", scripted_model, bank, {"max_amount": 500, "tenant": "acme"})
    assert bank.paid == []
    assert report["stop"]["reason"] == "blocked"
    assert [one["constraints"] for one in report["plans"]] == [["max_amount = 500", "tenant = acme"]]


async def test_a_tool_that_a_constraint_puts_under_approval_asks_even_where_writes_are_allowed(
    scripted_model: ScriptedModel, home: Path
) -> None:
    bank = Bank()
    scripted_model.reply(plan(step("p", "pay", {"tenant": "acme", "amount": 1})))
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    context = {"model": scripted_model, "tools": bank.tools(), "writes": "allow"}
    given = {"task": "pay", "constraints": {"approve": ["pay"]}}
    out = await graph.ainvoke(given, {"configurable": {"thread_id": "t"}}, context=context)
    assert out["report"]["stop"]["reason"] == "needs_approval"
    assert bank.paid == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"deadline": "tomorrow"}, {"forbid": 3}, {"approve": 3}, {"approve": ["pays"]}, {"max_amount": "much"},
        {"read_only": "yes"}, {"dead_line": "2030-01-01"}, 7, [1],
    ],
)  # fmt: skip
async def test_a_constraint_that_could_never_be_enforced_is_one_line(wrong: Any, home: Path) -> None:
    with pytest.raises(InputError) as caught:
        context = {"tools": Bank().tools()}
        await graphs.load("one_shot").ainvoke({"task": "2 + 2", "constraints": wrong}, context=context)
    assert "right would be" in str(caught.value) or "did you mean" in str(caught.value)
    assert "\n" not in str(caught.value)
