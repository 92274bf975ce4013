"""The one report that every pattern ends in, whatever happened."""

from collections.abc import Iterable
from typing import Any, NotRequired

from typing_extensions import TypedDict

from state.choice import Chosen
from state.draft import Draft
from state.lesson import ToldLesson
from state.plan import Plan
from state.result import Check, Result
from state.stop import Stop
from state.thought import Thought
from state.usage import ReportedUsage
from state.verdict import Reflection, Verdict


class Counted(TypedDict):
    """How many checks and points of the grading came out how; unchecked counts finished steps that had none to pass."""

    passed: int
    failed: int
    unverified: int
    unchecked: int


class Estimate(TypedDict):
    """What running a checked plan would take; None is unknown."""

    tool_calls: int | None
    model_calls: int
    tokens: int | None
    seconds: float | None
    money: float | None
    writes: list[str]


class Report(TypedDict):
    """What was asked, what came of it, why it ended, and what it cost; some fields are not in reports from before."""

    request: str
    pattern: str
    chosen: NotRequired[Chosen | None]
    task: str
    answer: Any
    answered_by: str
    sources: dict[str, list[str]]
    stop: Stop
    plans: list[Plan]
    results: list[Result]
    verdict: Verdict | None
    reflections: list[Reflection]
    thoughts: list[Thought]
    drafts: NotRequired[list[Draft]]
    lessons: NotRequired[list[ToldLesson]]
    checks: Counted
    missing: list[str]
    writes: list[str]
    risks: list[str]
    open_requests: list[dict[str, Any]]
    people: list[str]
    undo: list[dict[str, Any]]
    estimate: Estimate | None
    usage: ReportedUsage
    counts: dict[str, int]
    models: dict[str, str]
    notes: list[str]


def count_checks(results: list[Result], verdict: Verdict | None) -> Counted:
    """Counts acceptance checks over results, and the points of the grading besides."""
    checks = [*(check for result in results for check in result["checks"]), *points(results, verdict)]
    tally = {name: sum(c["outcome"] == name for c in checks) for name in ("passed", "failed", "unverified")}
    unchecked = sum(r["status"] in ("done", "degraded") and not r["checks"] for r in results)
    return {**tally, "unchecked": unchecked}  # type: ignore[typeddict-item]


def points(results: Iterable[Result], verdict: Verdict | None) -> list[Check]:
    """The checks of a verdict that are of the answer, and of no step."""
    known = [check for result in results for check in result["checks"]]
    return [check for check in verdict["checks"] if check not in known] if verdict else []
