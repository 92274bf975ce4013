"""Routers: they read what `decide` wrote and name the next node, nothing more."""

from collections.abc import Awaitable, Callable

from typing_extensions import TypedDict

from nodes.executor import is_open
from state.channels import Plans, Results
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


def to_grading(answer: str, grade: str, stopped: str, reviewed: str) -> Router:
    """As `to_execute_or`, but straight to the grading where a step failed: code knows the verdict without an answer."""
    onward = to_execute_or(answer, stopped=stopped, reviewed=reviewed)

    async def route(state: RouteInput) -> str:
        current = {step["id"] for step in state["plans"][-1]["steps"]} if state["plans"] else set()
        failed = any(result["status"] == "failed" for name, result in state["results"].items() if name in current)
        chosen = await onward(state)
        return grade if chosen == answer and failed else chosen

    return route


def unless_in_trouble(onward: str, decide: str) -> Callable[[TroubleInput], Awaitable[str]]:
    """To `onward`; where the node before proposed to stop, to the node that decides about it."""

    async def route(state: TroubleInput) -> str:
        return decide if state["trouble"] else onward

    return route
