"""A write happens once, and every intended one happens: who begins, edits, plans anew or answers at the same time."""

from copy import deepcopy
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

import graphs
from tests.support.plans import plan, step
from tests.support.scripted_model import ScriptedModel
from tools.tool import Tool, write

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
