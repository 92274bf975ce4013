"""What a reader should know before believing the answer of a run."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nodes.conflicts import conflicts
from nodes.invented import invented_numbers
from nodes.repeats import made_again, made_otherwise
from nodes.trust import in_words
from state.errors import shorten
from state.plan import Plan
from state.report import points
from state.result import Check, Result, why
from state.thought import broken, unconfirmed


def risks(state: Mapping[str, Any]) -> list[str]:
    """What a dropped request wrote, untrusted data in writes, what ran slowly or unverified, what was made up."""
    flows = state["plans"][-1]["untrusted"] if state["plans"] else {}
    dropped = state["request"].get("dropped")
    return [
        *(dropped["writes"] if dropped else []),
        *(f"step {name}: {in_words(flow)}" for name, flow in flows.items()),
        *_reviewed(state),
        *_goals(state["plans"]),
        *made_again({step["id"]: step for plan in state["plans"] for step in plan["steps"]}.values(), state["results"]),
        *made_otherwise(state["plans"], state["results"]),
        *(f"evidence in conflict: {one}" for one in conflicts(state["plans"], state["results"])),
        *(line for result in state["results"].values() for line in _of_step(result)),
        *(f"the answer: {line}" for line in _unverified(points(state["results"].values(), state["verdict"]))),
        *(f"assumption does not hold: {text} ({', '.join(by)})" for text, by in broken(state["thoughts"]).items()),
        *(f"assumption never confirmed: {text}" for text in unconfirmed(state["thoughts"])),
        *(f"the answer says {number}, which stands in no result" for number in _invented(state)),
    ]


def _reviewed(state: Mapping[str, Any]) -> list[str]:
    """What a review found about the last version of the plan, where nothing was planned anew for it."""
    found = state["reviewed"]
    return [f"plan: {found['finding']}"] if found and found["version"] == state["plans"][-1]["version"] else []


def _goals(plans: list[Plan]) -> Iterator[str]:
    """What planners took for the goal in mid-run; code can't say whether the steps lead there."""
    for plan in plans:
        if other := plan.get("other_goal"):
            kept = shorten(plan["goal"])
            yield f"plan {plan['version']} was written for another goal, {other!r}; the goal is {kept!r}"


def _of_step(result: Result) -> Iterator[str]:
    name = f"step {result['step']}"
    if result["slow"]:
        yield f"{name} took {result['ended'] - result['started']:.1f} s"
    if result["status"] == "degraded":
        yield f"{name}: {result['note']}"
    if result["status"] == "unknown":
        yield f"{name}: pending_reconcile, {why(result)}"
    yield from (f"{name}: {line}" for line in _unverified(result["checks"]))


def _unverified(checks: Iterable[Check]) -> Iterator[str]:
    return (f"unverified: {check['condition']}" for check in checks if check["outcome"] == "unverified")


def _invented(state: Mapping[str, Any]) -> list[str]:
    if state["answered_by"] != "model":
        return []
    request = state["request"]
    known = (request["task"], request["inputs"], request["constraints"], request["earlier"])
    return invented_numbers(state["answer"], known, state["results"])
