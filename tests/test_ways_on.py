"""Each kind of failure has its own way on in every pattern, and is told once."""

from pathlib import Path
from typing import Any

import pytest

import graphs
from state.errors import ToolFailed
from state.result import KIND, RETRYABLE, FailureClass, FailureKind
from tests.support.plans import GOOD_GRADE, PLANNING, plan, step
from tests.support.scripted_model import ScriptedModel
from tools.tool import read


def work(name: str) -> str:
    """Works."""
    return name


def fail() -> str:
    """Fails."""
    raise LookupError("gone")


def failures(out: dict[str, Any]) -> list[tuple[str, str]]:
    """The steps that failed and what was decided about each, in order."""
    return [(event["step"], event["next"]) for event in out["events"] if event["event"] == "failure"]


async def test_a_failure_is_told_once_for_each_decision_and_not_again_every_round(
    scripted_model: ScriptedModel, home: Path
) -> None:
    others = [step(f"s{n}", "work", {"name": str(n)}) for n in range(4)]
    scripted_model.reply(plan(step("bad", "fail"), *others), plan(step("more", "work", {"name": "x"})), "the answer")
    settings = {"model": scripted_model, "tools": [read(work), read(fail)], "check_after": "step"}
    out = await graphs.load("plan_and_execute").ainvoke({"task": "do it"}, context=settings)
    assert out["report"]["counts"]["iterations"] == 6
    assert failures(out) == [("bad", "go on"), ("bad", "replan")]


LESSON = {"diagnosis": "the source is down", "lesson": "take another source", "change": "step"}
REPLANS = ("plan_and_execute", "self_reflection")
TOOL_CLASSES: tuple[FailureClass, ...] = ("transient", "rate_limit", "timeout", "auth", "not_found", "permanent")
FIRST: dict[str, Any] = {
    **{cls: step("E1", "look_up", {"name": cls}) for cls in (*TOOL_CLASSES, "missing_input")},
    "bad_reference": step("E1", "work", {"name": "${steps.E0.nothing}"}),
    "acceptance": step("E1", "work", {"name": "x"}, accept=["output == 'y'"]),
}
KINDS: dict[str, FailureKind] = {
    "missing_input": "input", "bad_reference": "plan", "acceptance": "result", **dict.fromkeys(TOOL_CLASSES, "tool"),
}  # fmt: skip


async def given() -> dict[str, Any]:
    """Gives something."""
    return {"a": 1}


async def look_up(name: str) -> str:
    """Fails in the way it is asked for."""
    raise ToolFailed(f"failed: {name}", name)  # type: ignore[arg-type]


@pytest.mark.parametrize("pattern", PLANNING)
@pytest.mark.parametrize("cls", list(FIRST))
async def test_each_class_of_failure_has_its_way_on_in_every_pattern(
    scripted_model: ScriptedModel, home: Path, cls: Any, pattern: str
) -> None:
    asks, replans = cls == "missing_input", pattern in REPLANS
    second = plan(step("E9", "work", {"name": "from another source"}))
    more = {"plan_and_execute": [second], "self_reflection": [LESSON, second, GOOD_GRADE]}.get(pattern, [])
    scripted_model.reply(plan(step("E0", "given"), FIRST[cls]), *([] if asks else more))
    settings: dict[str, Any] = {
        "model": scripted_model, "answerer": "offline", "tools": [read(given), read(look_up), read(work)],
        "limits": {"retries": 1},
    }  # fmt: skip
    out = await graphs.load(pattern).ainvoke({"task": "do it"}, context=settings)
    way = ["retry"] if cls in RETRYABLE else []
    way.append("ask" if asks else "replan" if replans else "stop")
    assert failures(out) == [("E1", one) for one in way]
    told = [event["evidence"][1:3] for event in out["events"] if event["event"] == "failure"]
    assert told == [[KINDS[cls], cls]] * len(way)
    stopped = (
        "needs_input" if asks else "done" if replans else "not_accepted" if cls == "acceptance" else "steps_failed"
    )
    assert out["report"]["stop"]["reason"] == stopped
    if replans and not asks:
        assert cls in str(scripted_model.requests[1:])


@pytest.mark.parametrize("pattern", PLANNING)
@pytest.mark.parametrize("cls", [*TOOL_CLASSES, "acceptance"])
async def test_a_fallback_in_the_plan_stands_in_for_a_tool_and_for_a_result_in_every_pattern(
    scripted_model: ScriptedModel, home: Path, cls: Any, pattern: str
) -> None:
    first = {**FIRST[cls], "fallback": {"tool": "work", "args": {"name": "instead"}}, "accept": []}
    if cls == "acceptance":
        first["accept"] = ["output == 'instead'"]
    scripted_model.reply(plan(first), *([GOOD_GRADE] if pattern == "self_reflection" else []))
    settings: dict[str, Any] = {
        "model": scripted_model, "answerer": "offline", "tools": [read(look_up), read(work)], "limits": {"retries": 1},
    }  # fmt: skip
    out = await graphs.load(pattern).ainvoke({"task": "do it"}, context=settings)
    assert failures(out)[-1] == ("E1", "fallback")
    assert out["report"]["results"][0]["status"] == "degraded"
    assert out["report"]["stop"]["reason"] == "done"


def test_every_class_has_one_of_the_four_kinds() -> None:
    assert set(KIND.values()) == {"input", "tool", "plan", "result"}
    assert {cls: KIND[cls] for cls in KINDS} == KINDS  # type: ignore[index]
