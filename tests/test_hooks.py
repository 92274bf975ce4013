"""What a tool is asked besides its work: plain or async, off the loop, in a bound of time, and said where it fails."""

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import graphs
from tests.support.plans import by_step, plan, step
from tools.health import probe
from tools.tool import read, write

THREAD: Any = {"configurable": {"thread_id": "t"}}
STEPS = plan(step("s1", "pay", {"to": "a"}), step("s2", "fail", after=["s1"]))
HOOKS = ["lookup", "business_key", "compensate", "refuse"]
SAID: dict[str, Any] = {
    "lookup": "found", "business_key": "invoice 7", "compensate": ("pay", {"to": "b"}), "refuse": None,
}  # fmt: skip


class Till:
    """Pays; where a look-up is due its answer is lost."""

    def __init__(self, **hooks: Any) -> None:
        self.hooks, self.paid = hooks, list[str]()

    def pay(self, to: str) -> str:
        """Pays."""
        self.paid.append(to)
        if "lookup" in self.hooks:
            raise ConnectionError("lost")
        return "paid"

    def fail(self) -> str:
        """Fails."""
        raise LookupError("gone")

    async def report(self, timeout: float = 30.0, **context: Any) -> Any:
        """The report of a run that pays and then fails."""
        tools = [write(self.pay, timeout=timeout, **self.hooks), read(self.fail)]
        given = {"plan": STEPS, "tools": tools, "writes": "allow", "breaker": 0, **context}
        graph = graphs.load("workflow", context=given, checkpointer=InMemorySaver())
        return (await graph.ainvoke({"task": "pay"}, THREAD))["report"]


def worked(hook: str, till: Till, report: Any) -> bool:
    """Whether what the hook said was taken."""
    first = by_step(report)["s1"]
    undone = [ask["action_requests"][0]["args"] for ask in report["undo"]]
    return {
        "lookup": (first["status"], first["output"]) == ("done", "found"),
        "business_key": first["status"] == "done" and till.paid == ["a"],
        "compensate": undone == [{"to": "b"}],
        "refuse": till.paid == ["a"],
    }[hook]


@pytest.fixture
def never() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize("hook", HOOKS)
async def test_a_plain_hook_that_waits_does_not_stop_the_loop(hook: str, home: Path) -> None:
    asked, freed = threading.Event(), threading.Event()

    def wait(*_: Any) -> Any:
        asked.set()
        assert freed.wait(20), "the loop stood still"
        return SAID[hook]

    async def free() -> None:
        while not asked.is_set():
            await asyncio.sleep(0.01)
        freed.set()

    till, freeing = Till(**{hook: wait}), asyncio.create_task(free())
    assert worked(hook, till, await till.report())
    await freeing


@pytest.mark.parametrize("hook", HOOKS)
async def test_a_hook_may_be_async(hook: str, home: Path) -> None:
    async def says(*_: Any) -> Any:
        await asyncio.sleep(0)
        return SAID[hook]

    till = Till(**{hook: says})
    assert worked(hook, till, await till.report())


def told(hook: str, report: Any) -> str:
    """Where the report says what a hook did wrong."""
    if hook == "compensate":
        assert report["undo"] == []
        return " ".join(report["notes"])
    return str(by_step(report)["s1"]["failure"]["message"]) if "s1" in by_step(report) else report["stop"]["message"]


@pytest.mark.parametrize("bound", [{"timeout": 0.2}, {"limits": {"seconds": 1}}], ids=["time-out", "limit"])
@pytest.mark.parametrize("hook", ["lookup", "business_key", "compensate"])
async def test_a_hook_that_never_ends_is_left_behind_and_said(
    hook: str, bound: dict[str, Any], home: Path, never: threading.Event
) -> None:
    till = Till(**{hook: lambda *_: never.wait(60)})
    report = await till.report(**bound)
    limit = hook == "business_key" and "limits" in bound
    assert ("limit seconds reached" if limit else "it gave nothing within") in told(hook, report)
    assert till.paid == ([] if hook == "business_key" else ["a"])


@pytest.mark.parametrize("error", [ValueError("boom"), SystemExit(3), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize("hook", HOOKS)
async def test_a_hook_that_raises_anything_is_said_and_ends_no_process(
    hook: str, error: BaseException, home: Path
) -> None:
    def bad(*_: Any) -> Any:
        raise error

    report = await Till(**{hook: bad}).report()
    assert type(error).__name__ in told(hook, report)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (None, "it gave None; right would be a tool and its arguments"),
        ("pay", "it gave pay; right would be"),
        (("nope", {}), "it names 'nope', which is not in use; there are: "),
        (("pay", {"zz": 1}), "pay can't be called so: "),
        (("pay", [1]), "right would be a tool and its arguments"),
    ],
)
async def test_a_compensation_that_is_no_call_is_said(said: Any, why: str, home: Path) -> None:
    report = await Till(compensate=lambda *_: said).report()
    assert report["undo"] == []
    [note] = [note for note in report["notes"] if note.startswith("step s1: no undo of pay is offered")]
    assert why in note


async def test_a_business_key_of_more_digits_than_a_number_has_is_refused(home: Path) -> None:
    report = await Till(business_key=lambda args: 10**5000).report()
    assert "right would be a text" in by_step(report)["s1"]["failure"]["message"]


@pytest.mark.parametrize(
    ("asks", "said"),
    [(lambda: "the index is being built", "the index is being built"), (lambda: sys.exit(3), "SystemExit: 3")],
)
async def test_a_probe_may_be_plain_and_raise_anything(asks: Callable[[], Any], said: str) -> None:
    assert await probe(read(Till().fail, probe=asks)) == said
