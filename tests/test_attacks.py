"""Attacks on writes and on the run by tools, plans, people and a broken disk; each was a fault once."""

import asyncio
import itertools
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import graphs
from nodes.executor import OPEN
from state.errors import InputError, ToolFailed
from tests.support.plans import by_step, plan, step
from tests.support.scripted_model import ScriptedModel
from tools.tool import Tool, read, write

pytestmark = pytest.mark.slow

THREAD: Any = {"configurable": {"thread_id": "t"}}
EACH = "${steps.inputs.amounts}"


class Bank:
    """Pays, and remembers every payment."""

    def __init__(self) -> None:
        self.paid: list[int] = []

    def pay(self, amount: int) -> dict[str, int]:
        """Pays."""
        self.paid.append(amount)
        return {"paid": amount}

    def look(self, name: str = "") -> str:
        """Looks."""
        return f"seen {name}"


async def run(model: ScriptedModel, tools: list[Any], *, pattern: str = "one_shot", **context: Any) -> dict[str, Any]:
    """The report of a run whose writes are allowed, unless it is said."""
    given = {"task": "do it", "inputs": context.pop("inputs", {})}
    settings = {"model": model, "tools": tools, "writes": "allow", **context}
    return dict((await graphs.load(pattern).ainvoke(given, context=settings))["report"])


async def answered(model: ScriptedModel, tools: list[Any], reject: set[int], **context: Any) -> tuple[Any, int]:
    """The report of a run whose requests are answered until none is left, and in how many rounds that was."""
    given = {"task": "do it", "inputs": context.pop("inputs", {})}
    graph = graphs.load(context.pop("pattern", "one_shot"), checkpointer=InMemorySaver())
    settings = {"model": model, "tools": tools, **context}
    out, rounds = await graph.ainvoke(given, THREAD, context=settings), 0
    while asks := out.get("__interrupt__"):
        rounds += 1
        said = {a.id: a.value["action_requests"][0]["args"]["amount"] in reject for a in asks}
        answers = {name: {"decisions": [{"type": "reject" if no else "approve"}]} for name, no in said.items()}
        out = await graph.ainvoke(Command(resume=answers), THREAD, context=settings)
    return out["report"], rounds


@pytest.mark.parametrize("after", [[], ["a"]])
@pytest.mark.parametrize("more", [{}, {"writes": "allow"}, {"writes": "allow", "check_after": "step"}], ids=str)
async def test_two_equal_writes_of_a_plan_both_happen_however_many_rounds_they_take(
    scripted_model: ScriptedModel, home: Path, after: list[str], more: dict[str, Any]
) -> None:
    bank = Bank()
    scripted_model.reply(plan(step("a", "pay", {"amount": 7}), step("b", "pay", {"amount": 7}, after=after)))
    report, _ = await answered(scripted_model, [write(bank.pay)], set(), **more)
    assert report["stop"]["reason"] == "done"
    assert bank.paid == [7, 7]
    assert "already done" not in str(report["writes"])


async def test_equal_writes_by_fallbacks_both_happen_and_stand_in_the_report(
    scripted_model: ScriptedModel, home: Path
) -> None:
    bank = Bank()

    def down() -> str:
        """Is down."""
        raise LookupError("gone")

    instead = {"on_failure": "fallback", "fallback": {"tool": "pay", "args": {"amount": 7}}}
    scripted_model.reply(plan(*(step(name, "down", **instead) for name in "ab"), step("c", "pay", {"amount": 7})))
    report = await run(scripted_model, [read(down), write(bank.pay)])
    assert bank.paid == [7, 7, 7]
    assert [line.split(":")[0] for line in report["writes"]] == ["a", "b", "c"]


async def test_a_dry_run_says_what_fallbacks_would_write(scripted_model: ScriptedModel, home: Path) -> None:
    bank = Bank()
    instead = {"on_failure": "fallback", "fallback": {"tool": "pay", "args": {"amount": 7}}}
    scripted_model.reply(plan(step("a", "look", **instead)))
    report = await run(scripted_model, [read(bank.look), write(bank.pay)], dry_run=True)
    assert report["estimate"]["writes"] == ['a: pay {"amount":7} (only if the step fails)']


async def test_a_tool_that_changes_its_arguments_changes_no_result_and_no_record(
    scripted_model: ScriptedModel, home: Path
) -> None:
    async def take(args: dict[str, Any], env: Any) -> int:
        args["items"].append(9)
        return len(args["items"])

    def numbers() -> list[int]:
        """Numbers."""
        return [1, 2]

    schema = {"type": "object", "properties": {"items": {"type": "array"}}}
    greedy = Tool(name="take", description="Takes.", args_schema=schema, run=take, effect="write")
    takes = [step(name, "take", {"items": "${steps.n}"}) for name in "ab"]
    scripted_model.reply(plan(step("n", "numbers"), *takes))
    report = await run(scripted_model, [read(numbers), greedy])
    assert {name: result["output"] for name, result in by_step(report).items()} == {"n": [1, 2], "a": 3, "b": 3}
    assert by_step(report)["a"]["args"] == {"items": [1, 2]}


@pytest.mark.parametrize("effect", [read, write])
async def test_a_tool_that_cancels_itself_fails_and_the_others_go_on(
    scripted_model: ScriptedModel, home: Path, effect: Any
) -> None:
    async def cancel() -> str:
        """Cancels."""
        raise asyncio.CancelledError

    scripted_model.reply(plan(step("a", "cancel"), step("b", "look")))
    report = await run(scripted_model, [effect(cancel), read(Bank().look)])
    assert by_step(report)["b"]["status"] == "done"
    assert by_step(report)["a"]["status"] == ("failed" if effect is read else "unknown")
    assert "cancelled itself" in by_step(report)["a"]["failure"]["message"]


@pytest.mark.parametrize("more", [{}, {"on_failure": "fallback", "fallback": {"tool": "look"}}], ids=str)
async def test_a_rejected_part_is_not_hidden_by_one_that_failed(
    scripted_model: ScriptedModel, home: Path, more: dict[str, Any]
) -> None:
    bank = Bank()

    def pay(amount: int) -> dict[str, int]:
        """Pays."""
        if amount == 1:
            raise ToolFailed("no such account")
        return bank.pay(amount)

    scripted_model.reply(plan(step("a", "pay", {"amount": "${steps.item}"}, each=EACH, **more)), "paid one")
    report, rounds = await answered(
        scripted_model, [write(pay), read(bank.look)], {2}, pattern="plan_and_execute", inputs={"amounts": [1, 2, 3]}
    )
    assert (report["stop"]["reason"], rounds, bank.paid) == ("rejected", 1, [3])


def broken_look_up(kind: str) -> Any:
    async def look_up(args: dict[str, Any], key: str) -> Any:
        if kind == "hangs":
            await asyncio.sleep(30)
        raise {"raises": RuntimeError("down"), "exits": SystemExit(3), "cancels": asyncio.CancelledError()}[kind]

    return look_up


@pytest.mark.parametrize("kind", ["raises", "exits", "cancels", "hangs"])
async def test_a_broken_look_up_leaves_the_outcome_unknown(
    scripted_model: ScriptedModel, home: Path, kind: str
) -> None:
    def pay(amount: int) -> int:
        """Pays."""
        raise RuntimeError("the line went dead")

    instead = {"on_failure": "fallback", "fallback": {"tool": "look"}}
    scripted_model.reply(plan(step("a", "pay", {"amount": 1}, **instead)))
    tools = [write(pay, lookup=broken_look_up(kind), timeout=0.3), read(Bank().look)]
    report = await asyncio.wait_for(run(scripted_model, tools), 10)
    assert report["stop"]["reason"] == "pending_reconcile"
    assert by_step(report)["a"]["status"] == "unknown"


async def test_a_write_that_may_still_happen_elsewhere_is_not_made_again(
    scripted_model: ScriptedModel, home: Path
) -> None:
    bank, late = Bank(), asyncio.Event()

    async def hang(amount: int) -> None:
        """Pays late, whatever happens."""
        await asyncio.shield(asyncio.ensure_future(later(amount)))

    async def later(amount: int) -> None:
        await late.wait()
        bank.pay(amount)

    async def find(args: dict[str, Any], key: str) -> Any:
        return bank.paid or None

    pay = write(hang, name="pay", timeout=0.2, lookup=find, business_key=lambda args: "invoice 5")
    for _ in range(2):
        scripted_model.reply(plan(step("a", "pay", {"amount": 5})))
        report = await run(scripted_model, [pay])
        assert report["stop"]["reason"] == "pending_reconcile"
    late.set()
    await asyncio.sleep(0.05)
    assert bank.paid == [5]


@pytest.mark.parametrize("said", ["internal server error", "502 Bad Gateway", "insufficient funds"])
async def test_an_error_that_a_write_answers_does_not_mean_that_nothing_happened(
    scripted_model: ScriptedModel, home: Path, said: str
) -> None:
    bank = Bank()

    def pay(amount: int) -> dict[str, str]:
        """Pays."""
        bank.pay(amount)
        return {"error": said}

    scripted_model.reply(plan(step("a", "pay", {"amount": 1})))
    report = await run(scripted_model, [write(pay)], pattern="plan_and_execute")
    assert (report["stop"]["reason"], bank.paid) == ("pending_reconcile", [1])


async def test_a_lost_outcome_without_a_journal_is_unknown_and_nothing_stands_in(
    scripted_model: ScriptedModel, tmp_path: Path
) -> None:
    def pay(amount: int) -> int:
        """Pays."""
        raise ConnectionError("the line went dead")

    (tmp_path / "home").touch()
    instead = {"on_failure": "fallback", "fallback": {"tool": "look"}}
    scripted_model.reply(plan(step("a", "pay", {"amount": 1}, **instead)))
    tools = [write(pay), read(Bank().look)]
    report = await run(scripted_model, tools, home=str(tmp_path / "home"), volatile_writes=True)
    assert by_step(report)["a"]["status"] in OPEN
    assert report["stop"]["reason"] == "pending_reconcile"


@pytest.mark.parametrize("effect", [read, write])
async def test_an_output_that_no_disk_takes_fails_a_read_and_leaves_a_write_done(
    scripted_model: ScriptedModel, tmp_path: Path, effect: Any
) -> None:
    def make() -> str:
        """Makes much."""
        return "x" * 20_000

    (tmp_path / "home").touch()
    scripted_model.reply(plan(step("a", "make")))
    report = await run(scripted_model, [effect(make)], home=str(tmp_path / "home"), volatile_writes=True)
    made = by_step(report)["a"]
    if effect is write:
        assert (made["status"], len(made["output"])) == ("done", 20_000)
        assert "can't be kept" in report["writes"][0]
    else:
        assert made["status"] == "failed" and "can't be kept" in made["failure"]["message"]


async def test_a_write_whose_output_can_not_be_shown_is_done(scripted_model: ScriptedModel, home: Path) -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    def make() -> Any:
        """Makes."""
        return Odd()

    scripted_model.reply(plan(step("a", "make")))
    report = await run(scripted_model, [write(make)])
    assert by_step(report)["a"]["status"] == "done"


async def test_a_write_that_may_have_happened_is_not_called_stale(scripted_model: ScriptedModel, home: Path) -> None:
    bank, looks = Bank(), itertools.count()

    def balance() -> int:
        """What is there; every look gives another."""
        return next(looks)

    def pay(amount: int) -> dict[str, int]:
        """Pays."""
        bank.pay(amount)
        raise ConnectionError("the line went dead")

    async def find(args: dict[str, Any], key: str) -> Any:
        return None if not bank.paid else {"paid": bank.paid[0]}

    key: Any = {"business_key": lambda args: "invoice 5"}
    scripted_model.reply(plan(step("b", "balance"), step("p", "pay", {"amount": 5}, rests_on=["b"])))
    again = plan(step("b", "balance"), step("p", "pay", {"amount": 5}, rests_on=["b"]))
    scripted_model.reply(again)
    looks_same = read(lambda: 1, name="balance", description="What is there.")
    first = await run(scripted_model, [looks_same, write(pay, lookup=find, **key)])
    assert by_step(first)["p"]["status"] == "done"
    second = await run(scripted_model, [read(balance), write(pay, lookup=find, **key)])
    assert by_step(second)["p"]["status"] == "done" and "not repeated" in by_step(second)["p"]["note"]
    assert bank.paid == [5]


SPOILT: list[Any] = [
    {"type": "edit", "edited_action": "x"}, {"type": "edit", "edited_action": {"args": [1]}},
    {"type": "reject", "message": {"a": 1}}, {"type": "approve", "args": {"amount": 9}}, {"decisions": None}, "APPROVE",
    {"type": "approve", "edited_action": {"name": "pay", "args": {"amount": 9}}},
]  # fmt: skip


@pytest.mark.parametrize("spoilt", SPOILT, ids=str)
async def test_an_answer_that_can_not_be_read_is_asked_for_again_and_spoils_nothing(
    scripted_model: ScriptedModel, home: Path, spoilt: Any
) -> None:
    bank = Bank()
    scripted_model.reply(plan(step("a", "pay", {"amount": 7})))
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    context = {"model": scripted_model, "tools": [write(bank.pay)]}
    out = await graph.ainvoke({"task": "pay"}, THREAD, context=context)
    out = await graph.ainvoke(Command(resume={out["__interrupt__"][0].id: spoilt}), THREAD, context=context)
    assert bank.paid == [] and out["__interrupt__"][0].value["problem"]
    out = await graph.ainvoke(Command(resume={out["__interrupt__"][0].id: "approve"}), THREAD, context=context)
    assert out["report"]["stop"]["reason"] == "done" and bank.paid == [7]


async def test_an_edit_with_a_number_that_no_checkpoint_holds_runs_nothing(
    scripted_model: ScriptedModel, home: Path
) -> None:
    bank = Bank()
    scripted_model.reply(plan(step("a", "pay", {"amount": 7})))
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    context = {"model": scripted_model, "tools": [write(bank.pay)]}
    out = await graph.ainvoke({"task": "pay"}, THREAD, context=context)
    edit = {"type": "edit", "args": {"amount": {1, 2}}}
    out = await graph.ainvoke(Command(resume={out["__interrupt__"][0].id: edit}), THREAD, context=context)
    assert out["__interrupt__"][0].value["problem"] and bank.paid == []


async def test_an_approved_write_goes_to_the_folder_it_was_approved_for_also_when_resumed_from_another(
    scripted_model: ScriptedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    scripted_model.reply(plan(step("a", "write_file", {"path": "a.txt", "text": "x"})))
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    monkeypatch.chdir(tmp_path / "here")
    out = await graph.ainvoke({"task": "write"}, THREAD, context={"model": scripted_model})
    monkeypatch.chdir(tmp_path / "there")
    answers = {ask.id: "approve" for ask in out["__interrupt__"]}
    await graph.ainvoke(Command(resume=answers), THREAD, context={"model": scripted_model})
    assert (tmp_path / "here" / "a.txt").exists() and (tmp_path / "here" / ".forethought" / "journal.db").exists()
    assert list((tmp_path / "there").iterdir()) == []


@pytest.mark.parametrize("effect", [read, write])
async def test_a_tool_that_does_not_let_itself_be_cancelled_is_left_behind(
    scripted_model: ScriptedModel, home: Path, effect: Any
) -> None:
    let_go = asyncio.Event()

    async def cling() -> str:
        """Clings."""
        while not let_go.is_set():
            with suppress(asyncio.CancelledError):
                await let_go.wait()
        return "late"

    scripted_model.reply(plan(step("a", "cling", timeout=0.1, retries=0), step("b", "look")))
    report = await asyncio.wait_for(run(scripted_model, [effect(cling), read(Bank().look)]), 10)
    let_go.set()
    assert by_step(report)["a"]["status"] == ("failed" if effect is read else "unknown")
    assert by_step(report)["b"]["status"] == "done"


@pytest.mark.parametrize(
    ("first", "then", "paid"),
    [
        ({}, {"writes": "deny"}, []), ({}, {"deny": ["pay"]}, []), ({}, {"allow": ["look"]}, []),
        ({"allow": ["pay"]}, {"allow": ["look"]}, []), ({}, {"writes": "allow"}, [7]), ({}, {"allow": ["pay"]}, [7]),
        ({"limits": {"tool_calls": 0}}, {"limits": {"tool_calls": 9}}, []),
        ({}, {"limits": {"tool_calls": 0}}, []), ({"limits": {"tool_calls": 9}}, {"limits": {"steps": 1}}, [7]),
        ({}, {"shadow": True}, []), ({"shadow": True}, {"shadow": False}, []),
    ], ids=str,
)  # fmt: skip
async def test_a_resume_may_forbid_more_but_never_allow_more(
    scripted_model: ScriptedModel, home: Path, first: dict[str, Any], then: dict[str, Any], paid: list[int]
) -> None:
    bank = Bank()
    scripted_model.reply(plan(step("a", "pay", {"amount": 7})))
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    context = {"model": scripted_model, "tools": [write(bank.pay), read(bank.look)]}
    out = await graph.ainvoke({"task": "pay"}, THREAD, context={**context, **first})
    answers = {ask.id: "approve" for ask in out.get("__interrupt__", [])} or None
    if answers:
        await graph.ainvoke(Command(resume=answers), THREAD, context={**context, **then})
    assert bank.paid == paid


async def test_a_dry_run_comes_too_late_for_a_resume_and_is_refused(scripted_model: ScriptedModel, home: Path) -> None:
    bank = Bank()
    scripted_model.reply(plan(step("a", "pay", {"amount": 7})))
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    context = {"model": scripted_model, "tools": [write(bank.pay)]}
    out = await graph.ainvoke({"task": "pay"}, THREAD, context=context)
    answers = {ask.id: "approve" for ask in out["__interrupt__"]}
    with pytest.raises(InputError, match="dry_run is set for a request that has begun without it"):
        await graph.ainvoke(Command(resume=answers), THREAD, context={**context, "dry_run": True})
    assert bank.paid == []
