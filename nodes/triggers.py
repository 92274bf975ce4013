"""What a reflection may start from, and what it may change then: code says so, before any model is asked."""

from collections.abc import Callable
from typing import Any

from nodes.conflicts import open_conflicts
from nodes.look import Look
from nodes.value import shares
from state.result import why
from state.thought import contradicted
from state.verdict import CHANGES, Cause, Trigger

NEARLY = 0.8
"""Share of a limit from which on a budget is nearly gone."""
_ALLOWED: dict[Cause, tuple[str, ...]] = {
    "same step failing again": ("assumption", "step", "tool", "argument", "scope"),
    "budget nearly gone": ("step", "scope"),
    "new hard constraint": ("step", "tool", "argument", "constraint", "scope"),
}
_BOUND = ("model_calls", "tool_calls", "tokens", "money", "seconds")


def trigger_of(look: Look) -> Trigger | None:
    """The first that holds, or None: then there is nothing to reflect on."""
    return next((found for trigger in TRIGGERS if (found := trigger(look))), None)


def allowed_changes(cause: Cause) -> tuple[str, ...]:
    """What a reflection on this cause may change."""
    return _ALLOWED.get(cause, CHANGES)


def against_an_assumption(look: Look) -> Trigger | None:
    """Two sources give different numbers for one quantity, or a turn said that an assumption does not hold."""
    told = [str(one) for one in open_conflicts(look.plans, look.everything)]
    told += [f"assumption {mark['text']!r} does not hold" for mark in contradicted(look.thoughts)]
    return _trigger("evidence against an assumption", told)


def failing_again(look: Look) -> Trigger | None:
    """A step failed that did the same work with the same tool as one that failed before it."""
    version = look.run.plan_version
    before = {one["tool"] for one in look.everything.values() if one["status"] == "failed"
              and one["plan_version"] < version}  # fmt: skip
    again = [one for one in look.having("failed") if one["tool"] in before and one["plan_version"] == version]
    return _trigger(
        "same step failing again", [f"step {one['step']}, again {one['tool']}: {why(one)}" for one in again]
    )


def new_constraint(look: Look) -> Trigger | None:
    """A step met a rule that the plan did not know of."""
    told = [f"step {one['step']}: {why(one)}" for one in look.failures("policy", "stale")]
    return _trigger("new hard constraint", told)


def acceptance_failed(look: Look) -> Trigger | None:
    """Checks by code, criteria in words, or a grading say no."""
    bad = look.verdict if look.verdict and look.verdict["outcome"] == "failed" else None
    return _trigger("acceptance failed", bad["problems"] or ["not accepted"] if bad else [])


def budget_nearly_gone(look: Look) -> Trigger | None:
    """What is left of the plan would take nearly all that is left of a limit."""
    if not look.left:
        return None
    used = {name: share for name, share in shares(look.plans[-1], look.everything, look.run).items() if name in _BOUND}
    return _trigger("budget nearly gone", [f"{name}: {share:.0%}" for name, share in used.items() if share >= NEARLY])


def _trigger(cause: Cause, told: list[str]) -> Trigger | None:
    return {"cause": cause, "said": "; ".join(told[:3]), "evidence": told} if told else None


TRIGGERS: tuple[Callable[[Look], Trigger | None], ...] = (
    against_an_assumption, failing_again, new_constraint, acceptance_failed, budget_nearly_gone,
)  # fmt: skip


def budget_left(look: Look) -> dict[str, Any]:
    """What a reflection may still spend, as it is told to the reflector."""
    limits, counts = look.run.limits, look.counts
    return {name: getattr(limits, name) - counts.get(name, 0) for name in ("reflections", "replans", "iterations")}
