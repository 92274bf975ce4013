"""Routers: they read what `decide` wrote and name the next node, nothing more."""

from collections.abc import Awaitable, Callable

from typing_extensions import TypedDict

from nodes.conflicts import open_conflicts
from nodes.executor import is_open
from nodes.reflection_stops import last_word
from state.channels import Counts, Plans, Reflections, Results
from state.stop import Stop
from state.value import Review


class RouteInput(TypedDict):
    """What a router reads."""

    stop: Stop | None
    plans: Plans
    results: Results
    reviewed: Review | None


class TroubleInput(TypedDict):
    """What the router after a node that may give up reads."""

    trouble: Stop | None


Router = Callable[[RouteInput], Awaitable[str]]


def to_execute_or(otherwise: str, *, stopped: str = "answer", reviewed: str = "") -> Router:
    """To `stopped` when the run ends, to the executor while steps are open, else to `otherwise`.

    Where a review of the plan is due, it goes to `reviewed`.
    """

    async def route(state: RouteInput) -> str:
        if state["stop"]:
            return stopped
        if reviewed and state["reviewed"] and state["reviewed"]["due"]:
            return reviewed
        steps = state["plans"][-1]["steps"] if state["plans"] else []
        return "execute" if any(is_open(step, state["results"]) for step in steps) else otherwise

    return route


class LookedInput(RouteInput):
    """What the routers around a look back read."""

    counts: Counts
    reflections: Reflections


def to_look(look: str, *, stopped: str = "answer", reviewed: str = "replan") -> Callable[[LookedInput], Awaitable[str]]:
    """As `to_execute_or`, but to `look` first where a round has run that nobody has looked at."""
    onward = to_execute_or(look, stopped=stopped, reviewed=reviewed)

    async def route(state: LookedInput) -> str:
        chosen, counts = await onward(state), state["counts"]
        ran = counts.get("iterations", 0) > counts.get("looked", 0)
        return look if chosen == "execute" and ran else chosen

    return route


def after_look(replan: str, *, stopped: str = "answer") -> Callable[[LookedInput], Awaitable[str]]:
    """To `replan` where the look says that something has to change, else on with what is open."""
    onward = to_execute_or(replan, stopped=stopped)

    async def route(state: LookedInput) -> str:
        version = state["plans"][-1]["version"] if state["plans"] else 0
        changes = not state["stop"] and last_word(state["reflections"], version) == "revise"
        return replan if changes else await onward(state)

    return route


def to_grading(answer: str, grade: str, stopped: str, reviewed: str) -> Router:
    """As `to_execute_or`, but straight to the grading where code knows the verdict without an answer.

    That is where a step failed, or sources disagree.
    """
    onward = to_execute_or(answer, stopped=stopped, reviewed=reviewed)

    async def route(state: RouteInput) -> str:
        current = {step["id"] for step in state["plans"][-1]["steps"]} if state["plans"] else set()
        failed = any(result["status"] == "failed" for name, result in state["results"].items() if name in current)
        chosen = await onward(state)
        known = chosen == answer and (failed or open_conflicts(state["plans"], state["results"]))
        return grade if known else chosen

    return route


def unless_in_trouble(onward: str, decide: str) -> Callable[[TroubleInput], Awaitable[str]]:
    """To `onward`; where the node before proposed to stop, to the node that decides about it."""

    async def route(state: TroubleInput) -> str:
        return decide if state["trouble"] else onward

    return route
