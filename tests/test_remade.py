"""A write that a replan makes once more with other arguments: the report says so, and does not cry wolf."""

from typing import Any

import pytest

import graphs
from state.errors import ToolFailed
from tests.support.plans import plan, step
from tests.support.scripted_model import ScriptedModel
from tools.tool import read, write


class Till:
    """Payments as they were made; those to `closed` fail without an effect."""

    def __init__(self) -> None:
        self.paid: list[tuple[str, float]] = []

    def pay(self, to: str, amount: float = 1) -> str:
        """Pays."""
        if to == "closed":
            raise ToolFailed("it is closed", "permanent")
        self.paid.append((to, amount))
        return "paid"

    def send(self, text: str) -> str:
        """Sends."""
        self.paid.append((text, 0))
        return "sent"

    def fail(self, x: int = 1) -> str:
        """Fails."""
        raise ToolFailed(f"no {x}", "permanent")

    def names(self) -> list[str]:
        """Gives names."""
        return ["ann", "closed"]


def pay(name: str, to: str, amount: float | None = None, **more: Any) -> dict[str, Any]:
    """A step that pays."""
    return step(name, "pay", {"to": to} | ({} if amount is None else {"amount": amount}), **more)


def fails(name: str, x: int, *after: str) -> dict[str, Any]:
    """A step that fails."""
    return step(name, "fail", {"x": x}, after=list(after))


async def told(model: ScriptedModel, *versions: list[dict[str, Any]]) -> tuple[list[str], Till]:
    """The risks of a run whose plan had these versions, and what was done."""
    till = Till()
    tools = [write(till.pay), write(till.send), read(till.fail), read(till.names)]
    model.reply(*[plan(*steps) for steps in versions])
    limits = {"retries": 0, "replans": len(versions) - 1}
    context = {"model": model, "answerer": "offline", "tools": tools, "writes": "allow", "limits": limits}
    out = await graphs.load("plan_and_execute", context=context).ainvoke({"task": "pay"})
    return [line for line in out["report"]["risks"] if "a replan made" in line], till


async def test_each_further_payment_is_a_risk_that_says_what_differs_from_the_one_before(
    scripted_model: ScriptedModel,
) -> None:
    risks, till = await told(
        scripted_model,
        [pay("s1", "ann"), fails("s2", 1, "s1")],
        [pay("s1", "ann", 2), fails("s2", 2, "s1")],
        [pay("p3", "ann", 3)],
    )
    assert till.paid == [("ann", 1), ("ann", 2), ("ann", 3)]
    assert risks == [
        "step s1_v2: a replan made pay once more, after step s1: amount is 2 and was left out",
        "step p3: a replan made pay once more, after step s1_v2: amount is 3 and was 2",
    ]


async def test_where_the_only_argument_differs_it_is_a_risk(scripted_model: ScriptedModel) -> None:
    first = [step("s1", "send", {"text": "hello"}), fails("s2", 1, "s1")]
    risks, _ = await told(scripted_model, first, [step("s3", "send", {"text": "good day"})])
    assert risks == ["step s3: a replan made send once more, after step s1: text is good day and was hello"]


@pytest.mark.parametrize(
    ("versions", "paid"),
    [
        ([[pay("a", "ann", 1), pay("b", "ann", 2), pay("c", "ann", 3)]], 3),
        ([[pay("a", "ann", 1), pay("b", "closed", 2), fails("c", 1)], [pay("b", "ann", 2)]], 2),
        ([[pay("a", "ann", 1), fails("x", 1), pay("b", "ann", 2, after=["x"])], [pay("b", "ann", 4)]], 2),
        ([[pay("a", "ann", 1), fails("x", 1, "a")], [pay("b", "bob", 2)]], 2),
        ([[pay("a", "ann", 1), fails("x", 1, "a")], [pay("b", "ann", 1), fails("x", 2)]], 1),
        ([[step("n", "names"), pay("a", "${steps.item}", 3, each="${steps.n}")], [pay("b", "bob", 3)]], 2),
        ([[pay("a", "closed", 1)], [pay("b", "ann", 1)]], 1),
    ],
    ids=["one plan", "in place of one that failed", "of one that was blocked", "to somebody else", "the same again",
         "of a part of a map", "the first failed"],
)  # fmt: skip
async def test_what_a_plan_meant_and_what_stands_in_for_it_is_none(
    versions: list[list[dict[str, Any]]], paid: int, scripted_model: ScriptedModel
) -> None:
    risks, till = await told(scripted_model, *versions)
    assert (risks, len(till.paid)) == ([], paid)
