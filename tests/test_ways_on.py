"""Each kind of failure has its own way on in every pattern, and is told once."""

from pathlib import Path
from typing import Any

import graphs
from tests.support.plans import plan, step
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
