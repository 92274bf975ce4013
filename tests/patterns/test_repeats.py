"""A write that a turn asks for although it is done is not silently made again."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from graphs import load
from state.errors import ToolFailed
from tests.support.model_server import ModelServer
from tests.support.runs import THREAD, TURNING, grade, plan, reflection, results, says, step, turn
from tests.support.script import Reply
from tools.tool import read, write


class Till:
    """Payments as they were really made."""

    def __init__(self, *fail: int) -> None:
        self.paid: list[float] = []
        self._tries, self._fail = 0, fail

    def pay(self, amount: float) -> dict[str, float]:
        """Pays."""
        self._tries += 1
        if self._tries in self._fail:
            raise ToolFailed("the till is closed", "permanent")
        self.paid.append(amount)
        return {"amount": amount}


def pays(amount: Any = 5, **more: Any) -> Reply:
    """A turn that asks for the payment."""
    asked = {"thought": "pay", "marks": [], "tool": "pay", "args": {"amount": amount}, **more}
    return Reply(asked, schema="turn", when="Role: reasoner")


def end(pattern: str) -> list[Reply]:
    """The answer, and its grading where there is one."""
    return [turn(answer="paid"), *([grade()] if pattern == "combined" else [])]


def amounts() -> list[float]:
    """What is to be paid."""
    return [7, 5]


async def run(pattern: str, till: Till, **context: Any) -> Any:
    saver = context.pop("saver", None)
    graph = load(pattern, checkpointer=saver, context={"tools": [write(till.pay), read(amounts)], **context})
    return await graph.ainvoke({"task": "pay 5"}, THREAD if saver else None)


@pytest.mark.parametrize("pattern", TURNING)
@pytest.mark.parametrize(
    "again",
    [pays(), pays("${steps.t1.amount}"), pays("${steps.item}", each="${steps.inputs.all}"), pays(again="to be sure")],
    ids=["the same", "by reference", "an item of a list", "with a reason that nobody asked for"],
)
async def test_a_turn_that_asks_for_a_write_that_is_done_goes_back(
    pattern: str, again: Reply, model_server: ModelServer
) -> None:
    till = Till()
    model_server.reply(pays(), again, *end(pattern))
    graph = load(pattern, context={"tools": [write(till.pay)], "writes": "allow"})
    report = (await graph.ainvoke({"task": "pay 5", "inputs": {"all": [7, 5]}}))["report"]
    assert (till.paid, report["stop"]["reason"], list(results(report))) == ([5], "done", ["t1"])
    assert "was done already with these arguments, in step t1" in model_server.requests[2]["messages"][-1]["content"]


@pytest.mark.parametrize("pattern", TURNING)
async def test_a_reason_makes_it_once_more_and_approval_and_report_say_so(
    pattern: str, model_server: ModelServer
) -> None:
    till, saver = Till(), InMemorySaver()
    model_server.reply(pays(), pays(), pays(again="the task says twice"), *end(pattern))
    out = await run(pattern, till, saver=saver)
    graph = load(pattern, checkpointer=saver, context={"tools": [write(till.pay), read(amounts)]})
    out = await graph.ainvoke(Command(resume={"type": "approve"}), THREAD)
    [asked] = out["report"]["open_requests"]
    words = "Careful: the same was done already in step t1; the reason given: the task says twice."
    assert words in asked["action_requests"][0]["description"]
    out = await graph.ainvoke(Command(resume={"type": "approve"}), THREAD)
    assert (till.paid, out["report"]["stop"]["reason"]) == ([5, 5], "done")
    told = "step t2: pay was made once more, as in step t1; the reason given: the task says twice"
    assert out["report"]["risks"] == [told]


async def test_a_turn_that_insists_without_a_reason_ends_the_run_and_pays_once(model_server: ModelServer) -> None:
    till = Till()
    model_server.reply(*[pays()] * 4, says("paid once"))
    report = (await run("react", till, writes="allow"))["report"]
    assert (till.paid, report["stop"]["reason"]) == ([5], "no_progress")
    assert "pay was done already" in report["stop"]["message"]


async def test_a_write_that_failed_without_effect_is_asked_for_again_without_a_word(model_server: ModelServer) -> None:
    till = Till(1)
    model_server.reply(pays(), pays(), pays(), turn(answer="paid"))
    report = (await run("react", till, writes="allow"))["report"]
    assert (till.paid, list(results(report)), report["risks"]) == ([5], ["t1", "t2"], [])


async def test_a_plan_that_a_turn_asks_for_repeats_nothing_and_no_turn_repeats_the_plan(
    model_server: ModelServer,
) -> None:
    till = Till(1)
    model_server.reply(pays(), pays(), turn("it depends on the amount"), plan(step("s1", "pay", amount=5),
                       step("s2", "pay", amount=7)), pays(7), *end("combined"))  # fmt: skip
    report = (await run("combined", till, writes="allow"))["report"]
    assert till.paid == [5, 7]
    assert results(report)["s1"]["note"] == "already done in step 't2'; not repeated"
    assert "in step s2" in model_server.requests[-2]["messages"][-1]["content"]


@pytest.mark.parametrize("where", ["think", "execute"])
async def test_a_run_that_is_taken_up_anywhere_makes_the_second_write_once(
    where: str, model_server: ModelServer
) -> None:
    till, saver = Till(), InMemorySaver()
    context = {"tools": [write(till.pay)], "writes": "allow"}
    model_server.reply(pays(), pays(), pays(again="twice"), turn(answer="paid"))
    graph = load("react", checkpointer=saver, context=context)
    await graph.ainvoke({"task": "pay 5 twice"}, THREAD, interrupt_after=[where])
    for _ in range(4):
        out = await load("react", checkpointer=saver, context=context).ainvoke(None, THREAD, interrupt_after=[where])
    assert (till.paid, out["report"]["stop"]["reason"]) == ([5, 5], "done")


async def test_a_call_that_a_person_answered_is_not_put_before_one_again(model_server: ModelServer) -> None:
    till, saver = Till(), InMemorySaver()
    model_server.reply(pays(), pays(), turn(answer="paid"))
    await run("react", till, saver=saver)
    graph = load("react", checkpointer=saver, context={"tools": [write(till.pay), read(amounts)]})
    out = await graph.ainvoke(Command(resume={"type": "respond", "message": '{"amount": 5}'}), THREAD)
    assert (till.paid, out["report"]["stop"]["reason"]) == ([], "done")
    assert "was answered by a person with these" in model_server.requests[2]["messages"][-1]["content"]


@pytest.mark.parametrize(("reason", "paid"), [("", [5]), ("the grading wants it twice", [5, 5])])
async def test_an_attempt_after_a_bad_grading_repeats_no_write_without_a_reason(
    reason: str, paid: list[float], model_server: ModelServer
) -> None:
    till = Till()
    again = [pays(again=reason)] if reason else []
    model_server.reply(
        pays(), turn(answer="paid"), grade(4, 9, 9, problems=["in which currency?"]), reflection("name the currency"),
        pays(), *again, turn(answer="paid 5 EUR"), grade(),
    )  # fmt: skip
    report = (await run("combined", till, writes="allow"))["report"]
    assert (till.paid, report["stop"]["reason"], report["answer"]) == (paid, "done", "paid 5 EUR")
    assert [risk.partition(":")[0] for risk in report["risks"]] == ["step t3"] * bool(reason)


async def test_what_a_person_makes_equal_is_meant(model_server: ModelServer) -> None:
    till, saver = Till(), InMemorySaver()
    model_server.reply(pays(), pays(6), turn(answer="paid"))
    await run("react", till, saver=saver)
    graph = load("react", checkpointer=saver, context={"tools": [write(till.pay), read(amounts)]})
    await graph.ainvoke(Command(resume={"type": "approve"}), THREAD)
    out = await graph.ainvoke(Command(resume={"type": "edit", "args": {"amount": 5}}), THREAD)
    assert till.paid == [5, 5]
    assert out["report"]["risks"] == ["step t2: pay was made once more, as in step t1"]


@pytest.mark.parametrize("pattern", TURNING)
def test_the_offline_planner_makes_the_equal_writes_that_the_task_asks_for(pattern: str, root: Path) -> None:
    context = {"model": "offline", "writes": "allow", "root": str(root)}
    out = load(pattern, context=context).invoke({"task": "write hello to a.txt, then write hello to a.txt"})
    report = out["report"]
    assert (root / "a.txt").read_text() == "hello"
    assert {one["status"] for one in report["results"]} == {"done"} and len(report["results"]) == 2
    assert "the reason given: the task asks for it more than once" in report["risks"][0]
