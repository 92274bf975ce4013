"""The node that decides by code whether a run goes on, and if not, why it ends (conditions: `nodes/stopping.py`)."""

from typing import Any

from langgraph.config import get_config
from langgraph.managed import RemainingSteps
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from nodes.composition import own_stop
from nodes.look import Condition, Look, LookInput, look_at
from nodes.run import open_run
from nodes.value import review
from nodes.ways_on import decide_failures
from state.channels import Events
from state.context import Context
from state.stop import Stop, StopReason, stop
from state.value import Review

ROOM = 8
"""Supersteps that the way to the next decision and from there to the report takes at most."""
YIELDING = (StopReason.STEPS_FAILED, StopReason.NOT_ACCEPTED)
"""Ends in which nothing but failed steps speaks for the end: a condition of the user's own says more."""


class DecideInput(LookInput):
    """What `decide` reads."""

    events: Events
    reviewed: Review | None
    remaining_steps: RemainingSteps


class DecideUpdate(TypedDict):
    """What `decide` writes."""

    stop: Stop | None
    reviewed: Review | None
    events: Events


def decide(*conditions: Condition, grading_follows: bool = False, replans: bool = False) -> Any:
    """The node that takes the first condition that holds, then the user's own; none means that the run goes on.

    Where the same round is graded after, that look tells what comes of failures that end nothing here. `replans` says
    that the pattern can act on a review of the plan.
    """

    async def decide(state: DecideInput, runtime: Runtime[Context]) -> DecideUpdate:
        """Decides by code whether the run goes on, and if not, why it ends."""
        run = open_run(state, runtime)
        look = look_at(state, run)
        ended = why_ended(conditions, look) or out_of_supersteps(state["remaining_steps"])
        if ended or not grading_follows:
            decide_failures(look, ended, state["events"])
        if ended:
            onward = "a person" if ended["kind"] == "pause" else ""
            reason = f"{ended['reason']}: {ended['message']}"
            run.event("stop", reason=reason, evidence=list(ended["evidence"]), next=onward)
        reviewed = state["reviewed"] if ended else review(look, state["reviewed"], replans=replans)
        return {"stop": ended, "reviewed": reviewed, "events": run.events}

    return decide


def why_ended(conditions: tuple[Condition, ...], look: Look) -> Stop | None:
    """The first of the pattern's conditions that holds, else the first of the user's own."""
    found = next((found for condition in conditions if (found := condition(look))), None)
    if found and found["reason"] not in YIELDING:
        return found
    return own_stop(look.run.context, look) or found


def out_of_supersteps(left: int) -> Stop | None:
    """LangGraph's own limit would end the run before its next decision: an error, without a report."""
    if left >= ROOM:
        return None
    said = f"limit recursion_limit reached: {left} of the {get_config()['recursion_limit']} supersteps"
    right = "leave recursion_limit out of the config: the run's own limits end it"
    return stop(
        StopReason.RECURSION_LIMIT, f"{said} that the caller's config allows are left, too few to go on; {right}"
    )
