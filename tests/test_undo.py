"""Undo: a failed run offers to undo its writes, the last first, on approval, each once."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import graphs
from state.errors import ToolFailed
from tests.support.plans import by_step, plan, replies_after_plan, step
from tests.support.scripted_model import ScriptedModel
from tools.tool import read, write

THREAD: Any = {"configurable": {"thread_id": "t"}}


class Bank:
    """Payments that can be taken back."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def pay(self, amount: int) -> dict[str, int]:
        """Pays."""
        self.log.append(f"pay {amount}")
        return {"id": amount * 10}

    def refund(self, payment: int) -> str:
        """Takes a payment back."""
        self.log.append(f"refund {payment}")
        return "refunded"

    def fail(self) -> str:
        """Fails."""
        raise LookupError("gone")

    def tools(self) -> list[Any]:
        """As tools."""
        back = write(self.pay, compensate=lambda args, output: ("refund", {"payment": output["id"]}))
        return [back, write(self.refund), read(self.fail)]


PAYMENTS = plan(
    step("a", "pay", {"amount": 1}), step("b", "pay", {"amount": 2}, after=["a"]), step("c", "fail", after=["b"])
)


async def start(model: ScriptedModel, bank: Bank, pattern: str = "one_shot", **context: Any) -> Any:
    graph = graphs.load(pattern, checkpointer=InMemorySaver())
    settings = {"model": model, "tools": bank.tools(), "writes": "allow", "limits": {"replans": 0}, **context}
    return graph, settings, await graph.ainvoke({"task": "pay"}, THREAD, context=settings)


@pytest.mark.parametrize("pattern", ["one_shot", "rewoo", "plan_and_execute"])
async def test_a_failed_run_offers_to_undo_its_writes_the_last_first_and_does_so_once_approved(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    bank = Bank()
    scripted_model.reply(PAYMENTS, *replies_after_plan(pattern))
    graph, settings, out = await start(scripted_model, bank, pattern)
    assert [ask["action_requests"][0]["args"] for ask in out["report"]["undo"]] == [{"payment": 20}, {"payment": 10}]
    assert bank.log == ["pay 1", "pay 2"]
    answers = {ask.id: {"decisions": [{"type": "approve"}]} for ask in out["__interrupt__"]}
    out = await graph.ainvoke(Command(resume=answers), THREAD, context=settings)
    assert bank.log == ["pay 1", "pay 2", "refund 20", "refund 10"]
    assert out["report"]["stop"]["kind"] in ("failure", "budget")
    assert out["report"]["undo"] == [] and "__interrupt__" not in out
    assert "a: pay done, undone by step undo_a" in out["report"]["writes"]


async def test_only_what_a_person_approves_is_undone_and_it_is_not_offered_again(
    scripted_model: ScriptedModel, home: Path
) -> None:
    bank = Bank()
    scripted_model.reply(PAYMENTS)
    graph, settings, out = await start(scripted_model, bank)
    words = {"undo_b": "reject", "undo_a": "approve"}
    answers = {ask.id: {"decisions": [{"type": words[ask.value["step"]]}]} for ask in out["__interrupt__"]}
    out = await graph.ainvoke(Command(resume=answers), THREAD, context=settings)
    assert bank.log == ["pay 1", "pay 2", "refund 10"]
    assert out["report"]["undo"] == []
    assert "undo_b" not in by_step(out["report"])


async def test_the_limit_that_ended_the_run_does_not_keep_it_from_being_undone(
    scripted_model: ScriptedModel, home: Path
) -> None:
    bank = Bank()
    scripted_model.reply(PAYMENTS)
    limits = {"failures": 1, "tool_calls": 3, "steps": 3}
    graph, settings, out = await start(scripted_model, bank, limits=limits)
    assert out["report"]["stop"]["kind"] == "budget"
    answers = {ask.id: {"decisions": [{"type": "approve"}]} for ask in out["__interrupt__"]}
    await graph.ainvoke(Command(resume=answers), THREAD, context=settings)
    assert bank.log[2:] == ["refund 20", "refund 10"]


async def test_a_report_lists_an_open_undo_and_says_afterwards_that_the_answer_is_past(
    scripted_model: ScriptedModel, home: Path
) -> None:
    scripted_model.reply(PAYMENTS)
    graph, settings, out = await start(scripted_model, Bank())
    asked = [ask.value["id"] for ask in out["__interrupt__"]]
    assert [one["id"] for one in out["report"]["open_requests"]] == asked
    answers = {ask.id: {"decisions": [{"type": "approve"}]} for ask in out["__interrupt__"]}
    out = await graph.ainvoke(Command(resume=answers), THREAD, context=settings)
    assert out["report"]["open_requests"] == []
    assert any(note.startswith("undone after the answer was given:") for note in out["report"]["notes"])


async def test_a_run_that_succeeded_or_wrote_nothing_offers_nothing(scripted_model: ScriptedModel, home: Path) -> None:
    for steps in ([step("a", "pay", {"amount": 1})], [step("c", "fail")]):
        scripted_model.reply(plan(*steps))
        _, _, out = await start(scripted_model, Bank())
        assert out["report"]["undo"] == [] and "__interrupt__" not in out


async def test_a_tool_that_can_not_say_how_to_undo_is_left_out_and_the_write_stays_listed(
    scripted_model: ScriptedModel, home: Path
) -> None:
    bank = Bank()
    broken = write(bank.pay, compensate=lambda args, output: ("refund", {"payment": output["missing"]}))
    scripted_model.reply(PAYMENTS)
    _, _, out = await start(scripted_model, bank, tools=[broken, write(bank.refund), read(bank.fail)])
    assert out["report"]["undo"] == []
    assert "a: pay done" in out["report"]["writes"]


async def test_two_equal_writes_are_both_undone(scripted_model: ScriptedModel, home: Path) -> None:
    bank = Bank()
    scripted_model.reply(plan(
        step("a", "pay", {"amount": 1}), step("b", "pay", {"amount": 1}), step("r", "refund", {"payment": 10}),
        step("c", "fail", after=["r"]),
    ))  # fmt: skip
    graph, settings, out = await start(scripted_model, bank)
    answers = {ask.id: {"decisions": [{"type": "approve"}]} for ask in out["__interrupt__"]}
    await graph.ainvoke(Command(resume=answers), THREAD, context=settings)
    assert bank.log == ["pay 1", "pay 1", *["refund 10"] * 3]


class Shop(Bank):
    """Refuses one amount."""

    def pay(self, amount: int) -> dict[str, int]:
        """Pays."""
        if amount == 99:
            raise ToolFailed("no funds")
        return super().pay(amount)


EACH = step("a", "pay", {"amount": "${steps.item}"}, each="${steps.inputs.amounts}")
CASES = [
    pytest.param([EACH], [5, 6, 99], [60, 50], id="a map with a part that failed"),
    pytest.param([EACH, step("c", "fail", after=["a"])], [5, 5], [50, 50], id="equal parts"),
    pytest.param([step("a", "pay", {"amount": 5}, accept=["output.id > 100"])], [], [50], id="not accepted"),
    pytest.param(
        [step("a", "fail", fallback={"tool": "pay", "args": {"amount": 5}}), step("c", "fail", after=["a"])],
        [], [50], id="a fallback of a read",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("steps", "amounts", "refunds"), CASES)
async def test_whatever_was_written_is_offered_each_once(
    scripted_model: ScriptedModel, home: Path, steps: Any, amounts: list[int], refunds: list[int]
) -> None:
    bank = Shop()
    scripted_model.reply(plan(*steps))
    settings = {"model": scripted_model, "tools": bank.tools(), "writes": "allow"}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context=settings)
    out = await graph.ainvoke({"task": "pay", "inputs": {"amounts": amounts}}, THREAD)
    answers = {ask.id: {"decisions": [{"type": "approve"}]} for ask in out["__interrupt__"]}
    out = await graph.ainvoke(Command(resume=answers), THREAD)
    assert [line for line in bank.log if line.startswith("refund")] == [f"refund {one}" for one in refunds]
    assert out["report"]["undo"] == []
    assert "undone by step undo_a" in out["report"]["writes"][0]


@pytest.mark.parametrize("at", ["1", "c"])
async def test_what_was_undone_is_made_anew_in_a_fork_and_can_be_undone_again(
    scripted_model: ScriptedModel, home: Path, at: str
) -> None:
    bank = Bank()
    scripted_model.reply(plan(step("a", "pay", {"amount": 1}), step("c", "fail", after=["a"])))
    settings = {"model": scripted_model, "tools": bank.tools(), "writes": "allow"}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context=settings)
    await graph.ainvoke({"task": "pay"}, THREAD)
    other: Any = {"configurable": {"thread_id": "other"}}
    for thread in (THREAD, other):
        out = await graph.ainvoke(None, thread)
        answers = {ask.id: {"decisions": [{"type": "approve"}]} for ask in out["__interrupt__"]}
        await graph.ainvoke(Command(resume=answers), thread)
        if thread is THREAD:
            await graphs.afork(graph, THREAD, at=at, into=other)
    assert bank.log == ["pay 1", "refund 10"] * 2


async def test_a_business_key_of_what_was_undone_is_free(scripted_model: ScriptedModel, home: Path) -> None:
    bank = Bank()
    back = [
        replace(tool, business_key=lambda args: "invoice 7") if tool.name == "pay" else tool for tool in bank.tools()
    ]
    scripted_model.reply(*[plan(step("a", "pay", {"amount": 1}), step("c", "fail", after=["a"]))] * 2)
    settings = {"model": scripted_model, "tools": back, "writes": "allow"}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context=settings)
    out = await graph.ainvoke({"task": "pay"}, THREAD)
    answers = {ask.id: {"decisions": [{"type": "approve"}]} for ask in out["__interrupt__"]}
    await graph.ainvoke(Command(resume=answers), THREAD)
    await graph.ainvoke({"task": "pay"}, THREAD)
    assert bank.log == ["pay 1", "refund 10", "pay 1"]
