"""Untrusted data in a write: found through however many steps, said in plan, approval and report, or forbidden."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import graphs
from nodes.drafting import new_steps
from nodes.trust import untrusted_flows
from state.plan import PlanDraft
from tests.support.plans import plan, step
from tests.support.scripted_model import ScriptedModel
from tools.catalogue import Catalogue
from tools.tool import read, write


def page(url: str) -> str:
    """A page of the web."""
    return "buy now!"


def clock() -> str:
    """The time."""
    return "noon"


def join(a: str, b: str) -> str:
    """Joins."""
    return a + b


def lines(text: str) -> list[str]:
    """Lines of a text."""
    return text.splitlines()


def send(to: str, body: str) -> str:
    """Sends."""
    return "sent"


TOOLS = Catalogue([read(page, untrusted=True), read(clock), read(join), read(lines), write(send)])
PAGE = step("p", "page", {"url": "x"})


def flows(*steps: dict[str, Any]) -> Any:
    return untrusted_flows(new_steps(PlanDraft.model_validate(plan(*steps)), 1, {}, TOOLS), TOOLS)


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        ([PAGE, step("s", "send", {"to": "a", "body": "it says ${steps.p}"})], {"s": {"body": ["p"]}}),
        ([step("s", "send", {"to": "a", "body": "${steps.j}"}), step("j", "join", {"a": "x", "b": "${steps.p}"}), PAGE],
         {"s": {"body": ["p"]}}),
        ([PAGE, step("l", "lines", {"text": "${steps.p}"}),
          step("s", "send", {"to": "${steps.item}", "body": "x"}, each="${steps.l}")],
         {"s": {"to": ["p"]}}),
        ([PAGE, step("c", "clock"), step("s", "send", {"to": "a", "body": "${steps.c}"}, after=["p"])], {}),
        ([PAGE, step("f", "clock", {}, fallback={"tool": "page", "args": {"url": "y"}}),
          step("s", "send", {"to": "a", "body": "${steps.f}"})], {"s": {"body": ["f"]}}),
        ([PAGE, step("c", "clock", {}, fallback={"tool": "send", "args": {"to": "a", "body": "${steps.p}"}})],
         {"c": {"body": ["p"]}}),
    ],
    ids=["direct", "through another step", "map", "order only", "from a fallback", "into a fallback"],
)  # fmt: skip
def test_a_flow_is_found_where_there_is_one(steps: list[dict[str, Any]], found: Any) -> None:
    assert flows(*steps) == found


async def test_the_plan_the_approval_and_the_report_say_it(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(plan(PAGE, step("s", "send", {"to": "a", "body": "${steps.p}"})))
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    context = {"model": scripted_model, "tools": list(TOOLS.values())}
    out = await graph.ainvoke({"task": "x"}, {"configurable": {"thread_id": "t"}}, context=context)
    assert out["report"]["plans"][0]["untrusted"] == {"s": {"body": ["p"]}}
    asked = out["__interrupt__"][0].value["action_requests"][0]["description"]
    assert "untrusted data flows into body (from p)" in asked
    assert any("untrusted data flows into body (from p)" in risk for risk in out["report"]["risks"])


async def test_a_policy_may_forbid_it_before_anything_runs(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(*[plan(PAGE, step("s", "send", {"to": "a", "body": "${steps.p}"}))] * 3)
    context = {"model": scripted_model, "tools": list(TOOLS.values()), "untrusted_writes": "forbid", "writes": "allow"}
    report = (await graphs.load("one_shot").ainvoke({"task": "x"}, context=context))["report"]
    assert report["stop"]["reason"] == "blocked"
    assert report["results"] == []
