"""What a planner is told when it plans anew, and what is said to be the reason."""

from collections.abc import Mapping
from typing import Any

from nodes.conflicts import open_conflicts
from nodes.views import bounded
from state.errors import shorten
from state.result import FINISHED, Result, why

PROGRESS = 6000
"""Characters of finished results that a replanner sees in all, so that its prompt does not grow with the run."""


def progress(state: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a replanner needs: finished results, what failed and why, lessons; not the whole history."""
    if not state["plans"]:
        return None
    results = state["results"].values()
    last = state["plans"][-1]["version"]
    failed = [_failed(result) for result in results if result["status"] == "failed" and result["plan_version"] == last]
    outputs = {result["step"]: result["output"] for result in results if result["status"] in FINISHED}
    told = {
        "results": bounded(outputs, PROGRESS),
        "failed": failed,
        "conflicts": [str(one) for one in open_conflicts(state["plans"], state["results"])],
        "review": review_in(state),
        "lessons": [one["lesson"] for one in state["reflections"] if one["lesson"]],
    }
    return told if any(told.values()) else None


def _failed(result: Result) -> dict[str, Any]:
    cls = result["failure"]["cls"] if result["failure"] else ""
    return {"id": result["step"], "tool": result["tool"], "args": result["args"], "class": cls, "why": why(result)}


def reason_of(state: Mapping[str, Any]) -> str:
    """Why there is to be another version of the plan."""
    if told := review_in(state):
        return f"review: {told}"
    last = state["plans"][-1]["version"]
    if words := [state["approvals"][ask["id"]]["value"] for ask in state["asks"] if ask["kind"] == "plan"]:
        return f"a person said: {shorten(words[0], 300)}"
    for result in state["results"].values():
        if result["status"] == "failed" and result["plan_version"] == last and result["failure"]:
            return f"step {result['step']} failed ({result['failure']['cls']}): {result['failure']['message']}"
    if disputed := open_conflicts(state["plans"], state["results"]):
        return f"evidence in conflict: {disputed[0]}"
    if state["reflections"] and (lesson := state["reflections"][-1]["lesson"]):
        return f"lesson: {lesson}"
    return "the last plan was not accepted"


def review_in(state: Mapping[str, Any]) -> str:
    """What a review of the last version found, where that is why it is planned anew."""
    return state["reviewed"]["finding"] if state["reviewed"] and state["reviewed"]["due"] else ""
