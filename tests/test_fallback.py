"""A tool that the catalogue names as fallback stands in for a read, and every failure says what was decided."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import graphs
from state.errors import InputError, ToolFailed
from state.result import FailureClass
from tests.support.plans import PLANNING, by_step, plan, replies_after_plan, step
from tests.support.scripted_model import ScriptedModel
from tools.catalogue import catalogue
from tools.settings import ToolSettings
from tools.tool import Tool, read, write


def price(item: str, days: int = 1) -> str:
    """The price of an item."""
    raise ToolFailed("the shop is closed", "transient")


def listed(item: str, days: float = 1.0) -> str:
    """The price of an item by the printed list."""
    if item == "rare":
        raise ToolFailed("the list lacks it", "not_found")
    return f"{item}: 3"


def one_price(**more: Any) -> Any:
    return plan(step("p", "price", {"item": "tea"}, **more))


async def run(model: ScriptedModel, tools: list[Any], pattern: str = "one_shot", **context: Any) -> dict[str, Any]:
    settings = {"model": model, "tools": tools, "limits": {"retries": 0}, **context}
    return dict(await graphs.load(pattern).ainvoke({"task": "find the price"}, context=settings))


def decisions(out: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Who failed, in which class, and what was decided, in order."""
    told = [event for event in out["events"] if event["event"] == "failure"]
    return [(event["evidence"][0], event["evidence"][2], event["next"]) for event in told]


@pytest.mark.parametrize("pattern", PLANNING)
async def test_the_fallback_of_the_catalogue_stands_in_for_a_read_that_failed(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    scripted_model.reply(one_price(), *replies_after_plan(pattern))
    out = await run(scripted_model, [read(price, fallback="listed"), read(listed)], pattern)
    result = by_step(out["report"])["p"]
    assert (result["status"], result["output"], result["attempts"]) == ("degraded", "tea: 3", 2)
    assert result["note"] == "listed stands in for price: the shop is closed"
    assert result["failure"]["cls"] == "transient"
    assert "a fallback stands in for p" in out["report"]["stop"]["message"] or pattern == "self_reflection"
    assert decisions(out) == [("price", "transient", "fallback")]


async def test_a_fallback_comes_only_after_the_last_retry(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(one_price())
    out = await run(scripted_model, [read(price, fallback="listed"), read(listed)], limits={"retries": 1})
    assert decisions(out) == [("price", "transient", "retry"), ("price", "transient", "fallback")]


async def test_each_part_of_a_map_step_has_a_stand_in_of_its_own(scripted_model: ScriptedModel, home: Path) -> None:
    def items() -> list[str]:
        """The items."""
        return ["tea", "rare"]

    mapped = step("p", "price", {"item": "${steps.i.name}"}) | {"each": "${steps.i}"}
    mapped["args"] = {"item": "${steps.item}"}
    scripted_model.reply(plan(step("i", "items"), mapped))
    out = await run(scripted_model, [read(items), read(price, fallback="listed"), read(listed)])
    result = by_step(out["report"])["p"]
    assert [part["status"] for part in result["parts"]] == ["degraded", "failed"]
    assert result["status"] == "failed"
    assert "1 of 2 parts done; listed stands in" in result["note"]


async def test_what_stands_in_must_meet_the_conditions_of_the_step(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(one_price(accept=["'coffee' in output"]))
    out = await run(scripted_model, [read(price, fallback="listed"), read(listed)])
    assert by_step(out["report"])["p"]["failure"]["cls"] == "acceptance"


async def test_the_fallback_of_a_step_goes_before_that_of_the_catalogue(
    scripted_model: ScriptedModel, home: Path
) -> None:
    scripted_model.reply(one_price(fallback={"value": "unknown"}))
    out = await run(scripted_model, [read(price, fallback="listed"), read(listed)])
    assert by_step(out["report"])["p"]["output"] == "unknown"
    assert decisions(out) == [("price", "transient", "fallback")]


async def test_a_stand_in_that_fails_as_well_leaves_the_first_failure(
    scripted_model: ScriptedModel, home: Path
) -> None:
    scripted_model.reply(plan(step("p", "price", {"item": "rare"})))
    out = await run(scripted_model, [read(price, fallback="listed"), read(listed)])
    result = by_step(out["report"])["p"]
    assert (result["status"], result["failure"]["message"]) == ("failed", "the shop is closed")
    assert result["note"] == "its fallback listed did not help: the list lacks it"
    assert decisions(out)[-1] == ("price", "transient", "stop")


async def test_what_stands_in_must_fit_what_the_first_tool_declares(scripted_model: ScriptedModel, home: Path) -> None:
    def numbers(item: str, days: int = 1) -> int:
        """A number."""
        return 3

    scripted_model.reply(one_price())
    out = await run(scripted_model, [read(price, fallback="numbers"), read(numbers)])
    result = by_step(out["report"])["p"]
    assert result["status"] == "failed"
    assert "numbers did not help: the result does not fit the schema of price" in result["note"]


async def test_what_may_stand_in_counts_where_untrusted_data_flows_into_a_write(
    scripted_model: ScriptedModel, home: Path
) -> None:
    def save(text: str) -> str:
        """Saves."""
        return "saved"

    scripted_model.reply(plan(step("p", "price", {"item": "tea"}), step("s", "save", {"text": "${steps.p}"})))
    tools = [read(price, fallback="listed"), read(listed, untrusted=True), write(save)]
    out = await run(scripted_model, tools, writes="allow")
    assert out["report"]["plans"][0]["untrusted"] == {"s": {"text": ["p"]}}


@pytest.mark.parametrize("context", [{"deny": ["price"]}, {"limits": {"tool_calls": 0}}])
async def test_nothing_stands_in_for_what_a_policy_or_a_budget_refused(
    scripted_model: ScriptedModel, home: Path, context: dict[str, Any]
) -> None:
    scripted_model.reply(*[one_price()] * (3 if "deny" in context else 1))
    out = await run(scripted_model, [read(price, fallback="listed"), read(listed)], **context)
    assert all(result["status"] != "degraded" for result in out["report"]["results"])
    assert out["report"]["stop"]["reason"] in ("blocked", "tool_calls")


async def test_a_forbidden_tool_does_not_stand_in(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(one_price())
    out = await run(scripted_model, [read(price, fallback="listed"), read(listed)], deny=["listed"])
    assert by_step(out["report"])["p"]["status"] == "failed"


def no_days(item: str) -> str:
    """Takes less."""
    return item


def wants_more(item: str, days: int, shop: str) -> str:
    """Takes more."""
    return item


def wants_days(item: str, days: int) -> str:
    """Takes no default."""
    return item


def other_type(item: int, days: int = 1) -> str:
    """Takes a number."""
    return str(item)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (read(no_days, name="listed"), "takes no argument 'days'"),
        (read(wants_more, name="listed"), "needs the argument 'days', which may be missing"),
        (read(wants_days, name="listed"), "needs the argument 'days', which may be missing"),
        (read(other_type, name="listed"), "takes another type of argument 'item'"),
        (write(listed), "changes something"),
        (read(listed, name="list"), "there is no such tool in use; there is: price, list"),
    ],
)
def test_a_fallback_that_could_not_stand_in_is_refused_when_the_catalogue_is_made(other: Tool, words: str) -> None:
    with pytest.raises(InputError, match="tool 'price' names 'listed' as its fallback, but .*" + words):
        catalogue([read(price, fallback="listed"), other], ToolSettings())


def test_a_tool_can_not_stand_in_for_itself_or_for_a_write() -> None:
    with pytest.raises(InputError, match="itself"):
        catalogue([read(price, fallback="price")], ToolSettings())
    with pytest.raises(InputError, match="price changes something"):
        catalogue([write(price, fallback="listed"), read(listed)], ToolSettings())


async def test_a_failure_that_leads_to_a_new_plan_says_so(scripted_model: ScriptedModel, home: Path) -> None:
    other = plan(step("q", "listed", {"item": "tea"}))
    scripted_model.reply(one_price(), other, *replies_after_plan("plan_and_execute"))
    out = await run(scripted_model, [read(price), read(listed)], "plan_and_execute")
    assert decisions(out) == [("price", "transient", "replan")]
    [event] = [event for event in out["events"] if event["event"] == "failure"]
    assert (event["step"], event["reason"]) == ("p", "the shop is closed")
    assert event["evidence"][:3] == ["price", "tool", "transient"]


@pytest.mark.parametrize(("cls", "decision"), [("missing_input", "ask"), ("permanent", "stop")])
async def test_a_failure_that_ends_the_run_says_whether_a_person_is_asked(
    scripted_model: ScriptedModel, home: Path, cls: FailureClass, decision: str
) -> None:
    def lacks(item: str) -> str:
        """Fails."""
        raise ToolFailed("which one?", cls)

    scripted_model.reply(plan(step("l", "lacks", {"item": "x"})))
    settings = {"model": scripted_model, "tools": [read(lacks)], "limits": {"retries": 0}}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "t"}}
    out = await graph.ainvoke({"task": "do it"}, thread, context=settings)
    assert decisions(out) == [("lacks", cls, decision)]


async def test_a_model_that_is_asked_again_says_so(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(ConnectionError("connection refused"), plan(step("q", "listed", {"item": "tea"})))
    out = await run(scripted_model, [read(listed)], limits={"retries": 1})
    assert decisions(out) == [("planner's model", "transient", "retry")]
