"""A new task on a thread whose run had not come to its end: that run is dropped, and the report says what it wrote.

What keeps nothing before its end can say nothing then, and may not begin to write.
"""

import asyncio
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import graphs
from state.errors import InputError
from tests.support.plans import plan, step
from tools.tool import read, write

THREAD: Any = {"configurable": {"thread_id": "t"}}


class Till:
    """Pays; it, or what comes after it, hangs for as long as `hangs` names it."""

    def __init__(self, hangs: str = "") -> None:
        self.hangs, self.began, self.paid = hangs, asyncio.Event(), list[int]()

    async def _hang(self, name: str) -> None:
        if self.hangs == name:
            self.began.set()
            await asyncio.Event().wait()

    async def pay(self, amount: int) -> str:
        """Pays."""
        self.paid.append(amount)
        await self._hang("pay")
        return "paid"

    async def look(self) -> str:
        """Looks."""
        await self._hang("look")
        return "seen"

    def graph(self, saver: Any, **more: Any) -> Any:
        """A pattern that pays and then looks."""
        steps = plan(step("s1", "pay", {"amount": 5}), step("s2", "look", after=["s1"]))
        context = {"plan": steps, "tools": [write(self.pay), read(self.look)], "writes": "allow", **more}
        return graphs.load("workflow", checkpointer=saver, context=context)

    async def cut_off(self, graph: Any) -> None:
        """A run of it that is cut off where it hangs."""
        self.began.clear()
        work = asyncio.create_task(graph.ainvoke({"task": "pay"}, THREAD))
        await self.began.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work


def told(report: Any, words: str) -> list[str]:
    return [line for line in report["risks"] if words in line]


@pytest.mark.parametrize(
    ("hangs", "words"),
    [
        ("pay", 'nobody knows whether pay with {"amount":5} happened; look there'),
        ("look", 'pay with {"amount":5} was done, and is done once more if this request does it too'),
    ],
)
async def test_a_run_that_was_cut_off_and_is_dropped_is_told_with_what_it_wrote(
    hangs: str, words: str, home: Path
) -> None:
    till = Till(hangs)
    graph = till.graph(InMemorySaver())
    await till.cut_off(graph)
    till.hangs = ""
    out = await graph.ainvoke({"task": "pay"}, THREAD)
    assert (out["report"]["stop"]["reason"], till.paid) == ("done", [5, 5])
    assert len(told(out["report"], words)) == 1 and "step s1 of the dropped request" in out["report"]["risks"][0]
    assert "was cut off and is dropped" in out["report"]["notes"][0]
    [begun] = [event for event in out["events"] if event["event"] == "request"]
    assert words in begun["reason"]
    again = (await graph.ainvoke({"task": "pay"}, THREAD))["report"]  # which follows one that had come to its end
    assert (again["risks"], again["notes"]) == ([], [])


async def test_what_nobody_was_told_yet_is_told_by_the_next_run_that_comes_to_its_end(home: Path) -> None:
    till = Till("pay")
    graph = till.graph(InMemorySaver())
    for _ in range(2):
        await till.cut_off(graph)
    till.hangs = ""
    report = (await graph.ainvoke({"task": "pay"}, THREAD))["report"]
    assert len(told(report, "nobody knows whether pay")) == len(set(report["risks"])) == 2
    assert sum("was cut off and is dropped" in note for note in report["notes"]) == 2


async def test_a_run_that_waits_and_is_dropped_is_told_and_wrote_nothing(home: Path) -> None:
    till = Till()
    graph = till.graph(InMemorySaver(), writes="ask")
    await graph.ainvoke({"task": "pay"}, THREAD)
    report = (await graph.ainvoke({"task": "pay"}, THREAD))["report"]
    assert "waited for a person and is dropped" in report["notes"][0]
    assert (told(report, "dropped request"), till.paid) == ([], [])


async def test_a_journal_that_can_not_be_read_is_said(home: Path) -> None:
    till = Till("pay")
    graph = till.graph(InMemorySaver())
    await till.cut_off(graph)
    till.hangs = ""
    for file in home.glob("journal.db*"):
        file.unlink()
    (home / "journal.db").mkdir()
    report = (await graph.ainvoke({"task": "pay"}, THREAD))["report"]
    assert told(report, "wrote is not known: the journal of writes at")


@pytest.mark.parametrize("old_name", [True, False])
async def test_a_run_that_is_kept_only_at_its_end_and_may_write_unasked_is_refused_before_it_begins(
    home: Path, old_name: bool
) -> None:
    till, option = Till(), {"checkpoint_during": False} if old_name else {"durability": "exit"}
    warned = pytest.warns(DeprecationWarning) if old_name else nullcontext()
    right = "durability is 'exit'.* pay may write without asking.*right would be durability='sync', or writes='ask'"
    with pytest.raises(InputError, match=right), warned:
        await till.graph(InMemorySaver()).ainvoke({"task": "pay"}, THREAD, **option)
    assert till.paid == []


@pytest.mark.parametrize(
    ("settings", "constraints", "durability", "saver"),
    [
        pytest.param({"writes": "ask"}, {}, "exit", True, id="a person is asked first, and the pause is kept"),
        pytest.param({}, {"approve": ["pay"]}, "exit", True, id="the same by a constraint"),
        pytest.param({"shadow": True}, {}, "exit", True, id="shadow"),
        pytest.param({"dry_run": True}, {}, "exit", True, id="dry run"),
        pytest.param({}, {}, "async", True, id="the default of LangGraph's server"),
        pytest.param({}, {}, None, False, id="not kept at all"),
    ],
)
async def test_one_that_would_not_write_again_may_be_kept_as_the_caller_says(
    settings: Any, constraints: Any, durability: Any, saver: bool, home: Path
) -> None:
    graph = Till().graph(InMemorySaver() if saver else None, **settings)
    out = await graph.ainvoke({"task": "pay", "constraints": constraints}, THREAD, durability=durability)
    assert out["report"]["stop"]["kind"] in ("success", "pause")


async def test_a_read_only_run_may_be_kept_only_at_its_end(home: Path) -> None:
    steps = plan(step("s2", "look"))
    out = (
        await Till()
        .graph(InMemorySaver(), plan=steps, writes="deny")
        .ainvoke({"task": "look"}, THREAD, durability="exit")
    )
    assert out["report"]["stop"]["reason"] == "done"
