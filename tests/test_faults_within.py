"""Faults in a process that lives on: hanging, raising, flooding tools, cancels, a journal that fails, clocks."""

import asyncio
import errno
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import graphs
from nodes import writes
from state.context import Context
from state.errors import SetupError, ToolFailed
from tests.support.plans import by_step, plan, replies_after_plan, step
from tests.support.scripted_model import ScriptedModel
from tools import health, processes
from tools.journal import Journal
from tools.journal_file import FileStorage
from tools.journals import journal_of
from tools.tool import read, write

pytestmark = pytest.mark.slow

THREAD: Any = {"configurable": {"thread_id": "t"}}
DAY = 24 * 3600.0


class Bank:
    """Pays, and remembers every payment."""

    def __init__(self) -> None:
        self.paid: list[int] = []

    def pay(self, amount: int) -> int:
        """Pays."""
        self.paid.append(amount)
        return amount

    async def find(self, args: dict[str, Any], key: str) -> int | None:
        """What was paid."""
        return args["amount"] if args["amount"] in self.paid else None


PAYMENT = plan(step("p", "pay", {"amount": 7}))


async def run(model: ScriptedModel, *tools: Any, pattern: str = "one_shot", **context: Any) -> dict[str, Any]:
    """The report of a run whose writes are allowed."""
    settings = {"model": model, "tools": [*tools], "writes": "allow", **context}
    return dict((await graphs.load(pattern).ainvoke({"task": "do it"}, context=settings))["report"])


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("it can't even say what it is")

    __repr__ = __str__


class Odd(BaseException):
    pass


ANYTHING: list[Callable[[], BaseException]] = [
    KeyboardInterrupt, lambda: SystemExit(3), lambda: GeneratorExit("x"), lambda: Odd("x"), Mute,
    lambda: StopIteration(1), StopAsyncIteration, lambda: asyncio.CancelledError("by the tool"),
    MemoryError, RecursionError, TimeoutError, lambda: OSError(errno.ETIMEDOUT, "Connection timed out"),
    lambda: BaseExceptionGroup("many", [KeyboardInterrupt(), ValueError("x")]),
    lambda: ExceptionGroup("many", [ValueError("x"), OSError("y")]),
    lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
]  # fmt: skip


@pytest.mark.parametrize("inside", ["async", "thread"])
@pytest.mark.parametrize("effect", [read, write])
@pytest.mark.parametrize("error", ANYTHING, ids=lambda make: type(make()).__name__)
async def test_whatever_a_tool_raises_is_a_failure_of_its_step_alone(
    scripted_model: ScriptedModel, home: Path, error: Callable[[], BaseException], effect: Any, inside: str
) -> None:
    def bad() -> None:
        """Raises."""
        raise error()

    async def bad_async() -> None:
        raise error()

    def good() -> str:
        """Works."""
        return "fine"

    scripted_model.reply(plan(step("a", "bad"), step("b", "good")))
    tool = effect(bad if inside == "thread" else bad_async, name="bad")
    report = await run(scripted_model, tool, read(good), limits={"retries": 0, "seconds": 20})
    found = by_step(report)
    assert found["a"]["status"] == ("failed" if effect is read else "unknown")
    said = found["a"]["failure"]["message"]
    assert said and not re.search("within .* s|limit|AssertionError", said)  # which would be about us
    assert found["b"]["output"] == "fine"


@pytest.mark.parametrize("effect", [read, write])
async def test_a_thread_that_hangs_is_left_behind_when_its_time_is_over(
    scripted_model: ScriptedModel, home: Path, effect: Any
) -> None:
    let_go = threading.Event()

    def hang() -> None:
        """Hangs."""
        let_go.wait(30)

    scripted_model.reply(plan(step("a", "hang", timeout=0.1, retries=0)))
    report = await asyncio.wait_for(run(scripted_model, effect(hang)), 10)
    let_go.set()
    assert by_step(report)["a"]["status"] == ("failed" if effect is read else "unknown")
    assert "within 0.1 s" in by_step(report)["a"]["failure"]["message"]


@pytest.mark.slow
@pytest.mark.parametrize("effect", [read, write])
async def test_fifty_megabytes_are_kept_aside_and_state_stays_small(
    scripted_model: ScriptedModel, home: Path, effect: Any
) -> None:
    def flood() -> str:
        """Gives much."""
        return "0123456789" * 5_000_000

    def size(text: str) -> int:
        """Counts."""
        return len(text)

    scripted_model.reply(plan(step("a", "flood"), step("b", "size", {"text": "${steps.a}"})))
    saver = InMemorySaver()
    settings = {"model": scripted_model, "tools": [effect(flood), read(size)], "writes": "allow"}
    out = await graphs.load("one_shot", checkpointer=saver).ainvoke({"task": "do it"}, THREAD, context=settings)
    found = by_step(out["report"])
    assert (found["a"]["status"], found["b"]["output"]) == ("done", 50_000_000)
    assert sum(len(value[1]) for value in saver.blobs.values()) < 1_000_000


@pytest.mark.parametrize("looked_up", [True, False])
async def test_a_run_that_is_cancelled_during_a_write_does_not_make_it_again(
    scripted_model: ScriptedModel, home: Path, monkeypatch: pytest.MonkeyPatch, looked_up: bool
) -> None:
    monkeypatch.setattr(writes, "_GRACE", 0.1)
    bank, began = Bank(), asyncio.Event()

    async def pay(amount: int) -> int:
        """Pays, and takes its time to say so."""
        bank.pay(amount)
        began.set()
        await asyncio.sleep(30)
        return amount

    tool = write(pay, timeout=0.2, lookup=bank.find if looked_up else None)
    settings = {"model": scripted_model, "tools": [tool], "writes": "allow"}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    scripted_model.reply(PAYMENT)
    work = asyncio.create_task(graph.ainvoke({"task": "pay"}, THREAD, context=settings))
    await began.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    report = (await graph.ainvoke(None, THREAD, context=settings))["report"]
    assert report["stop"]["reason"] == ("done" if looked_up else "pending_reconcile")
    assert bank.paid == [7]


async def test_a_write_that_swallows_its_cancel_is_unknown_and_not_called_done_or_failed(
    scripted_model: ScriptedModel, home: Path
) -> None:
    bank = Bank()

    async def pay(amount: int) -> int:
        """Pays late, whatever is said meanwhile."""
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            bank.pay(amount)
        return amount

    scripted_model.reply(PAYMENT)
    report = await run(scripted_model, write(pay, timeout=0.1))
    assert (report["stop"]["reason"], bank.paid) == ("pending_reconcile", [7])
    assert by_step(report)["p"]["failure"]["cls"] == "unknown_outcome"


async def test_a_run_whose_tool_swallows_the_cancel_is_cancelled_all_the_same(
    scripted_model: ScriptedModel, home: Path
) -> None:
    began, let_go = asyncio.Event(), asyncio.Event()

    async def cling() -> str:
        """Clings."""
        began.set()
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        return "late"

    scripted_model.reply(plan(step("a", "cling")))
    work = asyncio.create_task(run(scripted_model, read(cling)))
    await began.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(work, 10)
    let_go.set()


@contextmanager
def broken_at(number: int, monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[list[int]]:
    """The journal's file can't be opened from its n-th use on; the list has an entry for each use."""
    uses: list[int] = []
    opened = FileStorage.open

    def open_or_not(storage: FileStorage) -> Any:
        uses.append(len(uses) + 1)
        if uses[-1] == number:
            (home / "journal.db").rename(home / "aside.db") if (home / "journal.db").exists() else None
            (home / "journal.db").mkdir()
        return opened(storage)

    with monkeypatch.context() as patch:
        patch.setattr(FileStorage, "open", open_or_not)
        yield uses
    if (home / "journal.db").is_dir():
        (home / "journal.db").rmdir()
    if (home / "aside.db").exists():
        (home / "aside.db").rename(home / "journal.db")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("fails", ["not", "with a promise", "without"])
async def test_a_journal_that_fails_at_any_of_its_uses_leads_to_no_second_and_no_lost_write(
    scripted_model: ScriptedModel, home: Path, monkeypatch: pytest.MonkeyPatch, number: int, fails: str
) -> None:
    bank = Bank()

    def pay(amount: int) -> int:
        """Pays, and may fail before or after."""
        if fails == "with a promise":
            raise ToolFailed("closed")
        bank.pay(amount)
        if fails == "without":
            raise ConnectionError("the line went dead")
        return amount

    settings = {"model": scripted_model, "tools": [write(pay, timeout=0.1)], "writes": "allow"}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    scripted_model.reply(PAYMENT)
    with broken_at(number, monkeypatch, home):
        report = (await graph.ainvoke({"task": "pay"}, THREAD, context=settings))["report"]
    status = by_step(report)["p"]["status"]
    assert len(bank.paid) <= 1
    assert status in (("done", "unknown") if bank.paid else ("failed", "unknown")), report
    if status == "unknown":
        assert report["stop"]["reason"] == "pending_reconcile"


class SaverThatFails(InMemorySaver):
    """Fails once, at its n-th call."""

    left = 0

    def _count(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise sqlite3.OperationalError("disk I/O error")

    def put(self, *given: Any, **more: Any) -> Any:
        self._count()
        return super().put(*given, **more)

    def put_writes(self, *given: Any, **more: Any) -> None:
        self._count()
        super().put_writes(*given, **more)


@pytest.mark.slow
async def test_a_saver_that_fails_at_any_of_its_calls_leads_to_no_second_and_no_lost_write(home: Path) -> None:
    for number in range(1, 60):
        model, bank, saver = ScriptedModel(), Bank(), SaverThatFails()
        model.reply(PAYMENT, PAYMENT)  # the second where the saver fails before it has the plan
        saver.left = number
        graph = graphs.load("one_shot", checkpointer=saver)
        settings = {"model": model, "tools": [write(bank.pay)], "writes": "allow"}
        given: Any = {"task": "pay"}
        try:
            await graph.ainvoke(given, THREAD, context=settings)
        except sqlite3.OperationalError:
            kept = (await graph.aget_state(THREAD)).values
            report = (await graph.ainvoke(None if kept else given, THREAD, context=settings))["report"]
            assert (report["stop"]["reason"], bank.paid) == ("done", [7]), f"at call {number}"
        else:
            break
    assert number > 10 and bank.paid == [7]


async def test_a_write_that_is_done_though_the_journal_lost_its_result_says_so(
    scripted_model: ScriptedModel, home: Path
) -> None:
    bank = Bank()

    def pay(amount: int) -> int:
        """Pays while the disk goes."""
        (home / "journal.db").rename(home / "aside.db")
        (home / "journal.db").mkdir()
        return bank.pay(amount)

    scripted_model.reply(PAYMENT)
    report = await run(scripted_model, write(pay))
    assert report["stop"]["reason"] == "done"
    assert "the journal could not keep its result" in by_step(report)["p"]["note"]


@pytest.mark.slow
async def test_a_database_that_goes_down_during_a_write_leaves_it_done_and_is_never_written_twice(
    scripted_model: ScriptedModel, home: Path, postgres: Any
) -> None:
    bank = Bank()

    def pay(amount: int) -> int:
        """Pays while the server goes."""
        bank.pay(amount)
        postgres.stop()
        return amount

    context = {"database": postgres.new_database(), "limits": {"retries": 0}}
    scripted_model.reply(plan(step("p", "pay", {"amount": 7}), step("q", "pay", {"amount": 8})))
    try:
        report = await run(scripted_model, write(pay), **context)
    finally:
        postgres.start()
    found = by_step(report)
    assert "the journal could not keep its result" in found["p"]["note"]
    assert (found["q"]["status"], found["q"]["failure"]["cls"]) == ("failed", "transient")
    assert bank.paid == [7]


async def test_a_journal_that_another_holds_is_a_failure_that_passes(
    scripted_model: ScriptedModel, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.journal_file._PATIENCE", 0.01)
    journal_of(Context()).entry("")
    bank = Bank()
    scripted_model.reply(PAYMENT)
    with closing(sqlite3.connect(home / "journal.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        report = await run(scripted_model, write(bank.pay))
    assert (by_step(report)["p"]["failure"]["cls"], bank.paid) == ("transient", [])


async def test_a_tool_whose_file_is_locked_is_tried_again(scripted_model: ScriptedModel, home: Path) -> None:
    tried: list[int] = []

    def look() -> str:
        """Looks into a file that another holds at first."""
        tried.append(1)
        if len(tried) == 1:
            raise sqlite3.OperationalError("database is locked")
        return "seen"

    scripted_model.reply(plan(step("a", "look")))
    assert by_step(await run(scripted_model, read(look)))["a"]["output"] == "seen"


async def test_a_fallback_that_writes_does_not_run_on_what_is_undecided(
    scripted_model: ScriptedModel, home: Path
) -> None:
    bank = Bank()

    def check() -> dict[str, str]:
        """Checks, and does not say whether it is valid."""
        return {"seen": "yes"}

    def look(seen: str) -> str:
        """Looks."""
        raise ToolFailed("nothing there")

    fallback = {"on_failure": "fallback", "fallback": {"tool": "pay", "args": {"amount": 7}}}
    scripted_model.reply(
        plan(step("a", "check", accept=["valid == True"]), step("b", "look", {"seen": "${steps.a.seen}"}, **fallback))
    )
    found = by_step(await run(scripted_model, read(check), read(look), write(bank.pay)))["b"]
    assert (found["status"], found["failure"]["cls"], bank.paid) == ("failed", "acceptance", [])
    assert "rests on step 'a', whose condition could not be decided" in found["failure"]["message"]


@pytest.mark.parametrize("pattern", ["one_shot", "plan_and_execute"])
async def test_a_tool_that_is_gone_on_resume_is_a_failure_in_plain_words(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    def other() -> str:
        """Another way."""
        return "found"

    graph = graphs.load(pattern, checkpointer=InMemorySaver())
    scripted_model.reply(PAYMENT)
    out = await graph.ainvoke({"task": "x"}, THREAD, context={"model": scripted_model, "tools": [write(Bank().pay)]})
    if pattern == "plan_and_execute":
        scripted_model.reply(plan(step("o", "other")), "the answer")
    answer = Command(resume={ask.id: "approve" for ask in out["__interrupt__"]})
    out = await graph.ainvoke(answer, THREAD, context={"model": scripted_model, "tools": [read(other)]})
    found = by_step(out["report"])["p"]["failure"]
    assert found["cls"] == "not_found"
    assert found["message"] == "the plan needs what this run does not have: there is no tool 'pay'; there is: other"
    assert out["report"]["stop"]["reason"] == ("done" if pattern == "plan_and_execute" else "steps_failed")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets the machine's clock forward or back by seconds; the clock that is never set goes on."""
    real = time.time

    def jump(seconds: float) -> None:
        monkeypatch.setattr(time, "time", lambda: real() + seconds)

    return jump


@pytest.mark.parametrize("seconds", [DAY, -DAY])
async def test_after_a_jump_of_the_clock_evidence_is_read_again_before_a_write(
    scripted_model: ScriptedModel, home: Path, clock: Callable[[float], None], seconds: float
) -> None:
    prices, bank = [7, 8], Bank()

    def price() -> int:
        """Looks up the price."""
        return prices.pop(0)

    def jump() -> str:
        """Sets the clock."""
        clock(seconds)
        return "set"

    scripted_model.reply(
        plan(
            step("a", "price"), step("j", "jump", after=["a"]),
            step("p", "pay", {"amount": "${steps.a}"}, after=["j"]),
        )
    )  # fmt: skip
    report = await run(scripted_model, read(price), read(jump), write(bank.pay))
    assert (by_step(report)["p"]["failure"]["cls"], bank.paid) == ("stale", [])


@pytest.mark.parametrize("seconds", [DAY, -DAY])
async def test_a_jump_of_the_clock_neither_ends_a_run_nor_lets_it_run_longer(
    scripted_model: ScriptedModel, home: Path, clock: Callable[[float], None], seconds: float
) -> None:
    def jump() -> str:
        """Sets the clock."""
        clock(seconds)
        return "set"

    scripted_model.reply(plan(step("a", "jump")), *replies_after_plan("plan_and_execute"))
    report = await run(scripted_model, read(jump), pattern="plan_and_execute", limits={"seconds": 60})
    assert report["stop"]["reason"] == "done"
    assert 0 <= report["usage"]["seconds"] < 60


@pytest.mark.parametrize("seconds", [DAY, -DAY])
def test_a_jump_of_the_clock_does_not_bring_a_tool_back_that_is_out(
    clock: Callable[[float], None], seconds: float
) -> None:
    tool = read(Bank().pay)
    health.saw_failure(tool, "timeout", "gone", 1, 30)
    clock(seconds)
    assert health.health(tool) == "out"


@pytest.mark.parametrize("seconds", [DAY, -DAY])
async def test_after_a_jump_of_the_clock_a_write_of_a_process_that_runs_elsewhere_is_not_made_again(
    scripted_model: ScriptedModel, home: Path, clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch,
    seconds: float,
) -> None:  # fmt: skip
    monkeypatch.setattr(writes, "_GRACE", 0.1)
    bank = Bank()
    pay = write(bank.pay, timeout=0.1, business_key=lambda args: "invoice 7", lookup=bank.find)
    monkeypatch.setattr(processes, "_HERE", "elsewhere:1")
    scripted_model.reply(PAYMENT)

    def stays() -> Any:
        raise SetupError("it is still at it")

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "finish", lambda *given: stays())
        await run(scripted_model, pay)
    bank.paid.clear()  # so that the look-up finds nothing yet
    monkeypatch.setattr(processes, "_HERE", "here:1")
    clock(seconds)
    scripted_model.reply(PAYMENT)
    report = await run(scripted_model, pay)
    assert (report["stop"]["reason"], bank.paid) == ("pending_reconcile", [])
