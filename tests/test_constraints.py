"""Constraints are frozen at the start, held against every plan and every call, and no replan can lose them (F6)."""

from pathlib import Path
from typing import Any, Literal

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel

import graphs
from state.errors import InputError, ToolFailed
from tests.support.plans import by_step, plan, replies_after_plan, step
from tests.support.scripted_model import ScriptedModel
from tools.constraints import violated
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
        {"read_only": "yes"}, {"dead_line": "2030-01-01"}, {"tenant": ["a", "b"]}, {"tenant": None}, 7, [1],
    ],
)  # fmt: skip
async def test_a_constraint_that_could_never_be_enforced_is_one_line(wrong: Any, home: Path) -> None:
    with pytest.raises(InputError) as caught:
        context = {"tools": Bank().tools()}
        await graphs.load("one_shot").ainvoke({"task": "2 + 2", "constraints": wrong}, context=context)
    assert "right would be" in str(caught.value) or "did you mean" in str(caught.value)
    assert "\n" not in str(caught.value)


def page() -> dict[str, Any]:
    """What somebody else wrote."""
    return {"tenant": "other ${steps.o}", "amount": "999999 ${steps.o}"}


@pytest.mark.parametrize(
    ("constraints", "args"),
    [
        ({"tenant": "acme"}, {"tenant": "${steps.o.tenant}", "amount": 5}),
        ({"max_amount": 10}, {"tenant": "acme", "amount": "${steps.o.amount}"}),
    ],
)
async def test_a_value_that_looks_like_a_reference_is_held_against_it_like_any(
    scripted_model: ScriptedModel, home: Path, constraints: dict[str, Any], args: dict[str, Any]
) -> None:
    paid: list[Any] = []

    def pay(tenant: str, amount: float | str) -> str:
        """Pays."""
        paid.append((tenant, amount))
        return "paid"

    scripted_model.reply(plan(step("o", "page"), step("p", "pay", args)))
    settings = {"model": scripted_model, "tools": [read(page), write(pay)], "writes": "allow"}
    given = {"task": "pay", "constraints": constraints}
    report = (await graphs.load("one_shot").ainvoke(given, context=settings))["report"]
    assert paid == []
    assert by_step(report)["p"]["failure"]["cls"] == "policy"


@pytest.mark.parametrize("args", [{"tenant": "other ${steps.o}", "amount": 1}, {"amount": 1}], ids=["text", "left out"])
async def test_what_a_person_edits_is_held_against_it(
    scripted_model: ScriptedModel, home: Path, args: dict[str, Any]
) -> None:
    paid: list[Any] = []

    def pay(amount: float, tenant: str = "other") -> str:
        """Pays."""
        paid.append((tenant, amount))
        return "paid"

    scripted_model.reply(plan(step("p", "pay", {"tenant": "acme", "amount": 1})))
    context = {"model": scripted_model, "tools": [write(pay)]}
    graph, thread = graphs.load("one_shot", checkpointer=InMemorySaver(), context=context), {"thread_id": "t"}
    given = {"task": "pay", "constraints": {"tenant": "acme"}}
    await graph.ainvoke(given, {"configurable": thread})
    edit = Command(resume={"decisions": [{"type": "edit", "args": args}]})
    out = await graph.ainvoke(edit, {"configurable": thread})
    assert paid == []
    assert "tenant" in out["__interrupt__"][0].value["problem"]


class Order(BaseModel):
    """An order."""

    tenant: str = "other"
    amount: float = 5000


class Gift(BaseModel):
    """A gift, which no tenant pays."""

    to: str


def defaults(amount: float = 5000, tenant: str = "other") -> str:
    """All by itself."""
    return ""


def optional(tenant: str | None = None) -> str:
    """For one, or for all."""
    return ""


def ordered(order: Order = Order()) -> str:  # noqa: B008
    """Orders."""
    return ""


def either(order: Gift | Order) -> str:
    """One of two."""
    return ""


def several(orders: list[Order]) -> str:
    """Orders."""
    return ""


def free(order: dict[str, Any]) -> str:
    """Anything."""
    return ""


def many(to: list[str]) -> str:
    """Sends."""
    return ""


def fixed(tenant: Literal["acme"] = "acme") -> str:
    """For one only."""
    return ""


@pytest.mark.parametrize(
    ("function", "args", "constraints", "holds"),
    [
        (defaults, {}, {"max_amount": 100}, False),
        (defaults, {}, {"tenant": "acme"}, False),
        (defaults, {"amount": 5}, {"max_amount": 100}, True),
        (optional, {}, {"tenant": "acme"}, False),
        (fixed, {}, {"tenant": "acme"}, True),
        (ordered, {}, {"tenant": "acme"}, False),
        (ordered, {"order": {"tenant": "acme"}}, {"tenant": "acme"}, True),
        (ordered, {"order": {"tenant": "acme"}}, {"max_amount": 100}, False),
        (either, {"order": {"to": "you"}}, {"tenant": "acme"}, True),
        (either, {"order": {}}, {"tenant": "acme"}, False),
        (several, {"orders": [{"tenant": "acme", "amount": 1}, {"amount": 1}]}, {"tenant": "acme"}, False),
        (free, {"order": {"lines": [{"amount": 101}]}}, {"max_amount": 100}, False),
        (free, {"order": {"lines": [{"amount": 100}]}}, {"max_amount": 100}, True),
        (many, {"to": ["me", "you"]}, {"to": "me"}, False),
        (many, {"to": ["me"]}, {"to": "me"}, True),
        (defaults, {"amount": True}, {"amount": 1}, False),
    ],
)
def test_it_is_held_against_what_is_left_out_and_at_any_depth(
    function: Any, args: dict[str, Any], constraints: dict[str, Any], holds: bool
) -> None:
    assert (violated(write(function), args, constraints) == "") == holds


async def test_a_deadline_that_passes_between_two_tries_ends_them(
    scripted_model: ScriptedModel, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    def pay() -> str:
        """Pays."""
        tries.append(1)
        monkeypatch.setattr("tools.constraints.now", lambda: 4_000_000_000.0)
        raise ToolFailed("try again", "transient", nothing_happened=True)

    scripted_model.reply(plan(step("p", "pay")))
    context = {"model": scripted_model, "tools": [write(pay)], "writes": "allow"}
    given = {"task": "pay", "constraints": {"deadline": "2090-01-01"}}
    report = (await graphs.load("one_shot").ainvoke(given, context=context))["report"]
    assert (len(tries), by_step(report)["p"]["failure"]["cls"]) == (1, "policy")
