"""Changes of the mode in mid-run: a thought that leads to a plan or to a reflection, and back to thinking."""

import re
from collections.abc import Awaitable, Callable

from langgraph.runtime import Runtime

from nodes.look import Look
from nodes.planner import PlanInput, PlanUpdate, replan
from nodes.reasoner import ThinkInput
from nodes.reasoning_stops import answered, brings_nothing
from nodes.routing import RouteInput, to_execute_or
from nodes.stopping import too_many_rounds
from nodes.told import PLANNER
from nodes.turn import TurnDraft
from state.channels import Reflections, Thoughts
from state.context import Context
from state.errors import shorten
from state.plan import Plan
from state.stop import Stop, StopReason, stop
from state.thought import Next

_CONDITION = re.compile(
    r"\b(?:if|unless|whether|depend(?:s|ing)? on|in case|otherwise)\b|如果|假如|若|否则|取决于|除非", re.IGNORECASE
)


def nothing_found(draft: TurnDraft, state: ThinkInput) -> Next | None:
    """The last call found nothing, and the turn names no other: the work is reflected on, once."""
    last = state["thoughts"][-1] if state["thoughts"] else None
    result = state["results"].get(last["step"]) if last else None
    failure = result["failure"] if result and result["status"] == "failed" else None
    return "reflect" if failure and failure["cls"] == "not_found" else None


def condition_named(draft: TurnDraft, state: ThinkInput) -> Next | None:
    """What comes next depends on a condition, and the turn calls nothing: a plan is due."""
    return "plan" if draft.move is None and _CONDITION.search(draft.thought) else None


class ModeInput(RouteInput):
    """What the router between thinking, planning and reflecting reads."""

    thoughts: Thoughts
    reflections: Reflections


class PlanModeInput(PlanInput):
    """What the planner reads besides, where a turn asked for a plan."""

    thoughts: Thoughts


async def plan_for_turn(state: PlanModeInput, runtime: Runtime[Context]) -> PlanUpdate:
    """The plan that a turn asked for; what is finished stays."""
    update = await replan(state, runtime)
    reason = f"a turn asked for it: {shorten(state['thoughts'][-1]['text'], 300)}"
    return {**update, "plans": [{**plan, "reason": reason} for plan in update["plans"]]}


def by_mode(**nodes: str) -> Callable[[ModeInput], Awaitable[str]]:
    """To what the last turn asked for and has not got yet, else on to `think`; steps that are open run first."""
    onward = to_execute_or("think", stopped=nodes["stopped"])

    async def route(state: ModeInput) -> str:
        chosen = await onward(state)
        asked = wanted(state["thoughts"], state["plans"], state["reflections"])
        return nodes.get(asked, chosen) if chosen == "think" else chosen

    return route


def wanted(thoughts: Thoughts, plans: list[Plan], reflections: Reflections) -> str:
    """What the last turn asked for and has not got yet: plan, reflect, finish, or nothing."""
    last = thoughts[-1]["next"] if thoughts else ""
    asked = sum(thought["next"] == last for thought in thoughts)
    got = {
        "plan": sum(plan["by"] == PLANNER for plan in plans),
        "reflect": sum(said["cause"] == "asked for" for said in reflections),
    }
    return last if asked > got.get(last, 0) else ""


def no_mode_left(look: Look) -> Stop | None:
    """A turn asks for a plan or a reflection, and the limit of those is reached."""
    asked = wanted(look.thoughts, look.plans, look.reflections)
    for mode, limit, reason in (
        ("plan", "replans", StopReason.REPLANS),
        ("reflect", "reflections", StopReason.REFLECTIONS),
    ):
        used, allowed = look.counts.get(limit, 0), getattr(look.run.limits, limit)
        if asked == mode and used >= allowed and (mode == "reflect" or look.plans):
            return stop(reason, f"limit {limit} reached: {used} of {allowed} used; {look.thoughts[-1]['text']}")
    return None


def gets_nowhere(look: Look) -> Stop | None:
    """Rounds are used up, or turns bring nothing, and no answer is there that could be graded."""
    if wanted(look.thoughts, look.plans, look.reflections) == "finish":
        return None
    return too_many_rounds(look) or brings_nothing(look)


def accepted_answer(look: Look) -> Stop | None:
    """The grading passed; an answer that rests on nothing is still no success."""
    return answered(look) if look.verdict and look.verdict["outcome"] == "passed" else None
