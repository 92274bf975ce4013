"""From which failures of a run a lesson about the way of working can be drawn, and why from others none can.

A lesson is told to planners: what no plan can mend, such as a model that was away, a typo in a saved plan or a person's
no, teaches nothing. Leaves out: the wording (`nodes/lesson_drafts.py`).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nodes.lesson_match import error_of, step_of
from nodes.steps import FAULT
from state.errors import shorten
from state.lesson import LONGEST_INTENT
from state.report import Report
from state.request import Request
from state.result import FailureClass, Result
from state.stop import StopReason

PASSING: frozenset[FailureClass] = frozenset({"rate_limit", "timeout", "transient"})
"""Failures of a service that was away; from one run alone they say nothing."""
TEACHING: frozenset[FailureClass] = PASSING | {
    "missing_input", "invalid_arguments", "auth", "not_found", "bad_request", "too_long", "permanent", "acceptance",
}  # fmt: skip
"""Failures of a step that a plan can do something about."""
ONCE = "a service was away in one run only, which says nothing yet"
_UNTAUGHT = {
    "workflow": "its plan is a file: mend the file",
    "reflection": "the pattern reflection has no planner that a lesson could be told to",
}
_ENDS: dict[str, str] = {
    StopReason.MODEL_FAILED: "a model could not be asked, which no plan can mend",
    StopReason.UNUSABLE_REPLY: "a model's reply could not be used, which no plan can mend",
    StopReason.UNVERIFIED: "nobody could verify it, which is no failure",
    StopReason.REJECTED: "a person said no",
    StopReason.BLOCKED: "a rule or a setting forbade it",
    StopReason.PLAN_INVALID: "no plan came about that could run",
    StopReason.PLAN_EMPTY: "no plan came about that could run",
    StopReason.CANNOT_BE_DONE: "the planner saw no way with these tools",
}
_WHATEVER_FAILED = (StopReason.MODEL_FAILED, StopReason.UNUSABLE_REPLY, StopReason.UNVERIFIED, StopReason.REJECTED,
                    StopReason.BLOCKED)  # fmt: skip
"""Ends that say nothing about the way of working, whatever failed before."""


@dataclass(frozen=True)
class Failed:
    """One failure of a run; `tool` is empty where the answer was not accepted."""

    run: str
    tenant: str
    pattern: str
    intent: str
    tool: str
    cls: str
    error: str
    step: str

    @property
    def said(self) -> str:
        """The failure in its own words."""
        return self.error.partition(": ")[2] or self.error


def has_failed(report: Report) -> bool:
    """Whether a run failed or ran into a limit."""
    return report["stop"]["kind"] in ("failure", "budget")


def failures_of(request: Request, report: Report) -> tuple[list[Failed], str]:
    """What a lesson can be drawn from in a run that failed, or why there is nothing."""
    ended = report["stop"]
    if why := _UNTAUGHT.get(_pattern(request, report)):
        return [], why
    if ended["reason"] in _WHATEVER_FAILED:
        return [], _ENDS[ended["reason"]]
    tenant = request["settings"].get("tenant") or str(request["constraints"].get("tenant") or "")
    about = (request["id"], tenant, request["pattern"], shorten(request["task"], LONGEST_INTENT))
    failed = [result for result in report["results"] if result["status"] == "failed" and result["failure"]]
    found = [
        Failed(*about, one["tool"], (one["failure"] or {"cls": ""})["cls"], error_of(one), step_of(one))
        for one in failed
        if _teaches(one)
    ]
    return found or _graded(about, report), _why_not(report, failed)


def _pattern(request: Request, report: Report) -> str:
    """The pattern that did the work; a saved plan that was chosen is one all the same."""
    return "workflow" if any(plan["by"] == "workflow" for plan in report["plans"]) else request["pattern"]


def _teaches(result: Result) -> bool:
    reason = result["failure"]
    return bool(reason and reason["cls"] in TEACHING and not reason["message"].startswith(FAULT))


def _graded(about: tuple[str, str, str, str], report: Report) -> list[Failed]:
    """An answer that was not accepted, with the problems that the grading named."""
    verdict = report["verdict"]
    if not verdict or verdict["outcome"] != "failed" or not verdict["scores"] or not verdict["problems"]:
        return []
    return [Failed(*about, "", "not_accepted", f"not_accepted: {shorten('; '.join(verdict['problems']), 300)}", "")]


def _why_not(report: Report, failed: Iterable[Result]) -> str:
    """Why nothing follows from what failed; only told where that is so."""
    reason = report["stop"]["reason"]
    classes = sorted({one["failure"]["cls"] for one in failed if one["failure"]})
    if classes:
        return f"what failed is nothing that a plan can mend ({', '.join(classes)})"
    if report["stop"]["kind"] == "budget":
        return f"the limit {reason} was reached, and no step was to blame"
    return _ENDS.get(reason, "no step was to blame")


def once_away(group: list[Failed]) -> bool:
    """Whether all that a group holds is one run in which a service was away."""
    return group[0].cls in PASSING and len({one.run for one in group}) == 1
