"""A write happens once, and every intended one happens: who begins, edits, plans anew or answers at the same time."""

import asyncio
import sqlite3
import threading
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import graphs
from nodes.answers import kept, rejection
from nodes.call import Tries
from state.errors import ToolFailed
from tests.support.plans import plan, step
from tests.support.scripted_model import ScriptedModel
from tools import at_work
from tools.journal import Journal
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


@pytest.mark.parametrize(
    ("key", "paid", "said"),
    [
        (lambda args: None, [1, 2], ""),
        (lambda args: "", [1, 2], ""),
        (lambda args: "one", [1], ""),
        (lambda args: float("nan"), [], "gave nan; right would be a text"),
        (lambda args: ["a"], [], "right would be a text"),
        (lambda args: 1 / 0, [], "failed, so nothing was done: ZeroDivisionError"),
    ],
)
async def test_a_business_key_is_a_text_or_none(
    scripted_model: ScriptedModel, home: Path, key: Any, paid: list[int], said: str
) -> None:
    till = Till()
    scripted_model.reply(plan(step("s1", "pay", {"amount": 1}), step("s2", "pay", {"amount": 2})))
    context = {"model": scripted_model, "tools": till.tools(business_key=key), "writes": "allow"}
    report = (await graphs.load("one_shot", context=context).ainvoke({"task": "pay"}))["report"]
    assert (till.paid, said in report["stop"]["message"]) == (paid, True)
    assert "internal fault" not in str(report["results"])


class Late:
    """A payment that goes on after its time-out, until it may end."""

    def __init__(self, end: Any) -> None:
        self.end, self.paid = end, list[int]()
        self.began, self.go = threading.Event(), threading.Event()

    def pay(self, amount: int) -> Any:
        """Pays, when it may."""
        self.began.set()
        self.go.wait(30)
        self.paid.append(amount)
        if isinstance(self.end, BaseException):
            raise self.end
        return self.end

    async def ended(self, home: Path) -> None:
        """Lets it end, and waits until it has."""
        self.go.set()
        while at_work.is_at_work(entry_of(home)["key"]):
            await asyncio.sleep(0.01)


def late_run(model: ScriptedModel, till: Late, timeout: float = 0.1) -> Any:
    model.reply(plan(step("s1", "pay", {"amount": 5})))
    context = {"model": model, "tools": [write(till.pay, timeout=timeout)], "writes": "allow"}
    return graphs.load("one_shot", checkpointer=InMemorySaver(), context=context)


@pytest.mark.parametrize("answer", ["approve", "reject"])
async def test_a_write_that_ends_after_its_time_out_is_done_with_its_result_whatever_was_answered(
    scripted_model: ScriptedModel, home: Path, answer: str
) -> None:
    till = Late("paid late")
    graph = late_run(scripted_model, till)
    out = await graph.ainvoke({"task": "pay"}, THREAD)
    await till.ended(home)
    assert entry_of(home)["state"] == "done"
    out = await graph.ainvoke(answered(out, {"type": answer}), THREAD)
    [result] = out["report"]["results"]
    assert (result["status"], result["output"], till.paid) == ("done", "paid late", [5])
    assert "the answer that was given changes nothing" in result["note"] and out["report"]["stop"]["reason"] == "done"


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (ConnectionError("lost"), "ConnectionError: lost"),
        (ToolFailed("no money"), "no money; the tool promises that nothing happened"),
        ({"error": "no such account"}, "no such account"),
    ],
    ids=["raised", "promised", "answered"],
)
async def test_a_no_to_a_write_that_is_still_being_made_makes_nothing_and_the_question_says_how_it_ended(
    scripted_model: ScriptedModel, home: Path, end: Any, said: str
) -> None:
    till = Late(end)
    graph = late_run(scripted_model, till)
    out = await graph.ainvoke({"task": "pay"}, THREAD)
    no = {"type": "reject"}
    out = await graph.ainvoke(answered(out, no), THREAD)
    assert "still being made" in out["__interrupt__"][0].value["problem"]
    await till.ended(home)
    out = await graph.ainvoke(answered(out, no), THREAD)
    [asked] = [one.value for one in out["__interrupt__"]]
    assert (till.paid, "problem" in asked) == ([5], False)
    assert f"it has ended since: {said}" in asked["action_requests"][0]["description"]
    out = await graph.ainvoke(answered(out, {"type": "approve"}), THREAD)
    assert (till.paid, out["report"]["stop"]["reason"]) == ([5], "done")


async def test_a_run_that_was_cancelled_finds_what_its_write_came_to(scripted_model: ScriptedModel, home: Path) -> None:
    till = Late("paid late")
    graph = late_run(scripted_model, till, 30)
    work = asyncio.create_task(graph.ainvoke({"task": "pay"}, THREAD))
    await asyncio.to_thread(till.began.wait, 30)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    await till.ended(home)
    [result] = (await graph.ainvoke(None, THREAD))["report"]["results"]
    assert (result["status"], result["output"], till.paid) == ("done", "paid late", [5])


async def test_a_cancelled_write_of_this_process_is_asked_about_at_once(
    scripted_model: ScriptedModel, home: Path
) -> None:
    began, paid = asyncio.Event(), list[int]()

    async def pay(amount: int) -> None:
        """Pays, and takes its time to say so."""
        paid.append(amount)
        began.set()
        await asyncio.Event().wait()

    scripted_model.reply(plan(step("s1", "pay", {"amount": 5})))
    context = {"model": scripted_model, "tools": [write(pay, timeout=60)], "writes": "allow"}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context=context)
    await cut_off(graph, began)
    report = (await asyncio.wait_for(graph.ainvoke(None, THREAD), 20))["report"]
    assert (report["stop"]["reason"], paid) == ("pending_reconcile", [5])
    assert "still runs" not in report["results"][0]["failure"]["message"]


async def cut_off(graph: Any, began: asyncio.Event) -> None:
    """Cancels a run in the moment that is named."""
    work = asyncio.create_task(graph.ainvoke({"task": "pay"}, THREAD))
    await began.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work


@pytest.mark.parametrize("at", ["the claim", "the time before the call"])
async def test_a_run_that_is_cancelled_before_its_write_leaves_no_claim(
    scripted_model: ScriptedModel, home: Path, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    till, began, go = Till(), asyncio.Event(), threading.Event()
    loop, claim = asyncio.get_running_loop(), Journal.claim

    def slow(journal: Journal, *given: Any) -> Any:
        loop.call_soon_threadsafe(began.set)
        go.wait(30)
        return claim(journal, *given)

    async def never(*given: Any) -> None:
        began.set()
        await asyncio.Event().wait()

    scripted_model.reply(plan(step("s1", "pay", {"amount": 5})))
    context = {"model": scripted_model, "tools": till.tools(timeout=60), "writes": "allow"}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context=context)
    with monkeypatch.context() as patch:
        if at == "the claim":
            patch.setattr(Journal, "claim", slow)
        else:
            patch.setattr(Tries, "_try", never)
        await cut_off(graph, began)
    go.set()
    report = (await asyncio.wait_for(graph.ainvoke(None, THREAD), 20))["report"]
    assert (report["stop"]["reason"], till.paid) == ("done", [5])


def claims(home: Path) -> list[Any]:
    """The writes in the journal."""
    with closing(sqlite3.connect(home / "journal.db")) as connection:
        return connection.execute("SELECT key, state FROM writes").fetchall()


def entry_of(home: Path) -> Any:
    """The one write in the journal."""
    [(key, state)] = claims(home)
    return {"key": key, "state": state}


@pytest.mark.parametrize("kind", ["file", pytest.param("postgres", marks=pytest.mark.slow)])
async def test_two_answers_to_one_asking_make_one_write_the_first(
    scripted_model: ScriptedModel, home: Path, kind: str, request: pytest.FixtureRequest, monkeypatch: Any
) -> None:
    if kind == "postgres":
        monkeypatch.setenv("FORETHOUGHT_DATABASE", request.getfixturevalue("postgres").new_database())
    till, saver = Till(), InMemorySaver()
    scripted_model.reply(plan(step("s1", "pay", {"amount": 1})))
    context = {"model": scripted_model, "tools": till.tools()}
    graph = graphs.load("one_shot", checkpointer=saver, context=context)
    out = await graph.ainvoke({"task": "pay"}, THREAD)
    other = graphs.load("one_shot", checkpointer=deepcopy(saver), context=context)
    await graph.ainvoke(answered(out, {"type": "edit", "args": {"amount": 2}}), THREAD)
    late = await other.ainvoke(answered(out, APPROVE), THREAD)
    assert (till.paid, late["report"]["results"][0]["args"]) == ([2], {"amount": 2})
    assert "approve came after edit, which stands" in [event["reason"] for event in late["events"]]


async def test_a_fork_may_answer_otherwise(scripted_model: ScriptedModel, home: Path) -> None:
    till, saver = Till(), InMemorySaver()
    scripted_model.reply(plan(step("s1", "pay", {"amount": 1})))
    graph = graphs.load("one_shot", checkpointer=saver, context={"model": scripted_model, "tools": till.tools()})
    await graph.ainvoke({"task": "pay"}, THREAD)
    [asked] = (await graph.aget_state(THREAD)).interrupts
    other: Any = {"configurable": {"thread_id": "other"}}
    await graphs.afork(graph, THREAD, at="1", into=other)
    await graph.ainvoke(answered({"__interrupt__": [asked]}, {"type": "reject"}), THREAD)
    out = await graph.ainvoke(None, other)
    await graph.ainvoke(answered(out, APPROVE), other)
    assert till.paid == [1]


async def test_a_request_whose_journal_is_gone_writes_no_more_and_neither_does_its_fork(
    scripted_model: ScriptedModel, home: Path
) -> None:
    class Lost(Till):
        def pay(self, amount: float) -> float:
            """Pays, and its journal is lost the second time."""
            if amount == 2:
                for file in home.glob("journal.db*"):
                    file.unlink()
            return super().pay(amount)

    till = Lost()
    scripted_model.reply(plan(*[step(f"s{n}", "pay", {"amount": n}) for n in (1, 2, 3)]))
    context = {"model": scripted_model, "tools": till.tools(), "writes": "allow"}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context=context)
    report = (await graph.ainvoke({"task": "pay"}, THREAD))["report"]
    assert till.paid == [1, 2]
    assert "has lost the claim" in report["results"][1]["note"]
    assert "knows nothing of this request" in report["stop"]["message"]
    other: Any = {"configurable": {"thread_id": "other"}}
    await graphs.afork(graph, THREAD, at="1", into=other)
    await graph.ainvoke(None, other)
    assert till.paid == [1, 2]


async def test_the_limit_of_seconds_that_ends_a_write_is_named(scripted_model: ScriptedModel, home: Path) -> None:
    async def pay() -> None:
        """Hangs."""
        await asyncio.Event().wait()

    scripted_model.reply(plan(step("s1", "pay")))
    context = {"model": scripted_model, "tools": [write(pay)], "writes": "allow", "limits": {"seconds": 0.5}}
    report = (await graphs.load("one_shot", context=context).ainvoke({"task": "pay"}))["report"]
    assert report["stop"]["message"].startswith("limit seconds reached during a write")
    assert "all that the limit seconds=0.5 left it" in report["results"][0]["failure"]["message"]
