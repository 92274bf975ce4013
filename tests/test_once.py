"""A write happens once, and every intended one happens: who begins, edits, plans anew or answers at the same time."""

import asyncio
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import graphs
from nodes.answers import kept, rejection
from state.errors import ToolFailed
from tests.support.plans import plan, step
from tests.support.scripted_model import ScriptedModel
from tools.tool import Tool, read, write

THREAD: Any = {"configurable": {"thread_id": "t"}}


class Till:
    """Payments as they really happened."""

    def __init__(self) -> None:
        self.paid: list[float] = []

    def pay(self, amount: float) -> float:
        """Pays."""
        self.paid.append(amount)
        return amount

    def tools(self, **fields: Any) -> list[Tool]:
        """As tools."""
        return [write(self.pay, **fields)]


async def test_two_who_resume_a_thread_that_holds_only_its_input_make_its_write_once(
    scripted_model: ScriptedModel, home: Path
) -> None:
    till, saver = Till(), InMemorySaver()
    scripted_model.reply(*[plan(step("s1", "pay", {"amount": 5}))] * 2)
    settings = {"model": scripted_model, "tools": till.tools(), "writes": "allow"}
    begun = graphs.load("one_shot", checkpointer=saver, context=settings)
    await begun.ainvoke({"task": "pay 5"}, THREAD, interrupt_before=["intake"])
    other = graphs.load("one_shot", checkpointer=deepcopy(saver), context=settings)
    reports = [(await graph.ainvoke(None, THREAD))["report"] for graph in (begun, other)]
    assert till.paid == [5]
    assert reports[0]["request"] == reports[1]["request"]
    assert {report["stop"]["reason"] for report in reports} == {"done"}


async def test_a_second_task_on_a_thread_is_another_request(scripted_model: ScriptedModel, home: Path) -> None:
    till = Till()
    scripted_model.reply(*[plan(step("s1", "pay", {"amount": 5}))] * 2)
    settings = {"model": scripted_model, "tools": till.tools(), "writes": "allow"}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context=settings)
    for _ in range(2):
        await graph.ainvoke({"task": "pay 5"}, THREAD)
    assert till.paid == [5, 5]


def answered(out: Any, *decisions: Any) -> Any:
    """A resume that answers the open requests in their order."""
    asked = zip(out["__interrupt__"], decisions, strict=True)
    return Command(resume={one.id: {"decisions": [decision]} for one, decision in asked})


APPROVE = {"type": "approve"}


@pytest.mark.parametrize(
    ("decisions", "paid"),
    [
        ([{"type": "edit", "args": {"amount": 2}}, APPROVE], [2, 2]),
        ([APPROVE, {"type": "edit", "args": {"amount": 1}}], [1, 1]),
        ([{"type": "edit", "args": {"amount": 3}}] * 2, [3, 3]),
    ],
)
async def test_parts_that_a_persons_edit_makes_equal_are_all_made(
    scripted_model: ScriptedModel, home: Path, decisions: Any, paid: list[int]
) -> None:
    till = Till()
    scripted_model.reply(plan(step("s1", "pay", {"amount": "${steps.item}"}, each="${steps.inputs.l}")))
    context = {"model": scripted_model, "tools": till.tools()}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context=context)
    out = await graph.ainvoke({"task": "pay", "inputs": {"l": [1, 2]}}, THREAD)
    await graph.ainvoke(answered(out, *decisions), THREAD)
    assert till.paid == paid


@pytest.mark.parametrize("mapped", [True, False])
@pytest.mark.parametrize("accounts", [["", "X"], ["X", ""]])
async def test_a_write_that_an_answer_makes_equal_to_one_that_was_made_is_made_too(
    scripted_model: ScriptedModel, home: Path, accounts: list[str], mapped: bool
) -> None:
    paid: list[str] = []

    def pay(account: str) -> str:
        """Pays."""
        if not account:
            raise ToolFailed("which account?", "missing_input", argument="account")
        paid.append(account)
        return account

    each = [step("s1", "pay", {"account": "${steps.item}"}, each="${steps.inputs.l}")]
    steps = [step(f"s{n}", "pay", {"account": one}) for n, one in enumerate(accounts)]
    scripted_model.reply(plan(*(each if mapped else steps)))
    context = {"model": scripted_model, "tools": [write(pay)], "writes": "allow"}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context=context)
    out = await graph.ainvoke({"task": "pay", "inputs": {"l": accounts}}, THREAD)
    out = await graph.ainvoke(answered(out, {"type": "respond", "message": "X"}), THREAD)
    assert (paid, out["report"]["stop"]["reason"]) == (["X", "X"], "done")


class Broke(Till):
    """Refuses one of the payments without an effect."""

    def __init__(self, refused: int) -> None:
        super().__init__()
        self.asked, self.refused = 0, refused

    def pay(self, amount: float, currency: str = "USD") -> float:
        """Pays."""
        self.asked += 1
        if self.asked == self.refused:
            raise ToolFailed("unlock first", "auth")
        return super().pay(amount)

    def tools(self, **fields: Any) -> list[Tool]:
        """As tools."""
        return [write(self.pay, **fields), read(self.unlock), read(self.fail)]

    def unlock(self) -> str:
        """Unlocks."""
        return "unlocked"

    def fail(self) -> str:
        """Fails."""
        raise ToolFailed("gone", "not_found")


PAY = {"amount": 5}
MAP = step("m", "pay", {"amount": "${steps.item}"}, each="${steps.inputs.fives}")


@pytest.mark.parametrize(
    ("refused", "first", "second", "paid"),
    [
        pytest.param(2, [step("s1", "pay", PAY), step("s2", "pay", PAY)], [step("s3", "pay", PAY)], 2, id="failed"),
        pytest.param(
            0, [step("s1", "pay", PAY), step("x", "fail"), step("s2", "pay", PAY, after=["x"])],
            [step("s3", "pay", PAY)], 2, id="blocked",
        ),
        pytest.param(0, [step("s1", "pay", PAY), step("x", "fail")], [step("s3", "pay", PAY)], 1, id="repeated"),
        pytest.param(
            0, [step("s1", "pay", PAY), step("s2", "pay", PAY), step("x", "fail")],
            [step("s3", "pay", PAY), step("s4", "pay", PAY)], 2, id="both repeated",
        ),
        pytest.param(
            2, [step("s1", "pay", PAY), step("s2", "pay", PAY)],
            [step("s3", "pay", PAY), step("s4", "pay", PAY)], 2, id="one repeated and the other made",
        ),
        pytest.param(
            0, [step("s1", "pay", PAY), step("x", "fail")],
            [step("s3", "pay", PAY), step("s4", "pay", PAY)], 2, id="one more",
        ),
        pytest.param(2, [MAP], [step("s3", "pay", PAY)], 2, id="the part that failed"),
        pytest.param(2, [MAP], [MAP], 2, id="the whole map again"),
        pytest.param(
            0, [step("s1", "pay", PAY), step("x", "fail"), {**MAP, "after": ["x"]}],
            [step("u", "unlock"), {**MAP, "after": ["u"]}], 3, id="a map that was blocked",
        ),
        pytest.param(
            0, [step("s1", "pay", PAY), step("x", "fail")], [step("s3", "pay", {"currency": "USD", "amount": 5.0})],
            1, id="repeated in other words",
        ),
    ],
)  # fmt: skip
async def test_a_new_plan_makes_what_is_still_owed_and_repeats_nothing(
    scripted_model: ScriptedModel, home: Path, refused: int, first: Any, second: Any, paid: int
) -> None:
    till = Broke(refused)
    scripted_model.reply(plan(*first), plan(step("n", "unlock"), *second), "the answer")
    context = {"model": scripted_model, "tools": till.tools(), "writes": "allow", "limits": {"same_call": 9}}
    graph = graphs.load("plan_and_execute", context=context)
    report = (await graph.ainvoke({"task": "pay", "inputs": {"fives": [5, 5]}}))["report"]
    assert (till.paid, report["stop"]["reason"]) == ([5] * paid, "done")


async def test_parts_that_write_run_one_after_the_other(scripted_model: ScriptedModel, home: Path) -> None:
    now, most = set[int](), [0]

    async def put(number: int) -> int:
        """Puts."""
        now.add(number)
        most[0] = max(most[0], len(now))
        await asyncio.sleep(0)
        now.discard(number)
        return number

    scripted_model.reply(plan(step("s1", "put", {"number": "${steps.item}"}, each="${steps.inputs.l}")))
    context = {"model": scripted_model, "tools": [write(put)], "writes": "allow"}
    report = (await graphs.load("one_shot", context=context).ainvoke({"task": "x", "inputs": {"l": [1, 2, 3]}}))[
        "report"
    ]
    assert (most, report["results"][0]["output"]) == ([1], [1, 2, 3])


def test_a_persons_no_holds_for_the_same_call_in_other_words() -> None:
    pay = Broke(0).tools()[0]
    action = {"name": "pay", "args": {"amount": 5}}
    review = {"args_schema": pay.args_schema}
    request = {"kind": "approval", "step": "s1", "action_requests": [action], "review_configs": [review]}
    answers = {"q": kept({"type": "reject"}, request)}
    assert rejection(answers, pay, {"currency": "USD", "amount": 5.0})
    assert not rejection(answers, pay, {"currency": "EUR", "amount": 5})
