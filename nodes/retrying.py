"""Tries again from nothing: a planner that is told neither of the last plan nor of what became of it, only the attempt.

What reflecting is worth shows against this: it costs as much in plans, and learns nothing.
"""

from typing import Any

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from nodes.look import Look
from nodes.planner import PlanInput, PlanUpdate, checked, draft_plan, write_plan
from nodes.run import Run, open_run
from nodes.settings import get_context
from nodes.stopping import out_of_attempts
from state.context import Context
from state.plan import PlanDraft
from state.request import Request
from state.stop import Stop, StopReason
from tools.catalogue import Catalogue


class AnewUpdate(PlanUpdate):
    """What a new attempt writes."""

    answer: Any


class WayInput(TypedDict):
    """What the router at the beginning reads."""

    request: Request


async def plan_anew(state: PlanInput, runtime: Runtime[Context]) -> AnewUpdate:
    """The next attempt; the answer of the last one is forgotten too."""
    update = await write_plan(state, open_run(state, runtime), checked(_untold))
    return {**update, "counts": {**update["counts"], "attempts": 1}, "answer": None}


async def _untold(state: PlanInput, run: Run, tools: Catalogue, findings: list[str], left_out: int) -> PlanDraft:
    fresh: PlanInput = {**state, "plans": [], "results": {}, "reflections": [], "reviewed": None}
    return await draft_plan(fresh, run, tools, findings, left_out, attempt=len(state["plans"]) + 1)


async def to_plan_or_draft(state: WayInput, runtime: Runtime[Context]) -> str:
    """To a plan, unless there is no tool to plan with, or the answer itself is what has to pass."""
    context = get_context(runtime)
    return "draft" if context.tools == [] or context.tests or context.accept else "plan"


def attempts_used(look: Look) -> Stop | None:
    """The attempt failed and no further one is allowed; how often may be reflected says nothing here."""
    found = out_of_attempts(look)
    return found if found and found["reason"] == StopReason.ATTEMPTS else None
