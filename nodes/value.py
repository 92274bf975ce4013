"""What a plan is worth: discounted utility minus risk and cost; and when that, or old evidence, calls for a review.

A review is a trigger of replanning, never an end by itself: a pattern that can't replan reports it as a risk.
"""

import math
from collections.abc import Iterator, Mapping

from nodes.estimate import estimate
from nodes.executor import is_open
from nodes.look import Look
from nodes.run import Run
from state.clock import now
from state.plan import Plan, Step, needs
from state.result import FINISHED, Result, is_finished
from state.value import Review, Value, Weights

WRITE, UNTRUSTED, UNVERIFIED, FAILED = 0.1, 0.2, 0.1, 0.1
"""How likely each is to spoil the plan: a write still to come, untrusted data in one, a check that could not be
decided, a step that failed before."""


def value_of(plan: Plan, results: Mapping[str, Result], run: Run) -> Value:
    """The value of a plan as things stand."""
    weights = run.context.value
    utility = _utility(plan["steps"], results, weights)
    risks, used = list(_risks(plan, results)), shares(plan, results, run)
    risk = 1 - math.prod(1 - share for share, _ in risks)
    name, cost = max(used.items(), key=lambda one: one[1], default=("", 0.0))
    return {
        "value": round(utility - weights.risk * risk - weights.cost * cost, 3),
        "utility": round(utility, 3), "risk": round(risk, 3), "cost": round(cost, 3),
        "because": [*(why for _, why in risks), *([f"{name}: {cost:.0%} of the limit"] if cost else [])],
    }  # fmt: skip


def _utility(steps: list[Step], results: Mapping[str, Result], weights: Weights) -> float:
    """The share of the plan's worth that is there or can still come; what lies deeper counts less."""
    due = [step for step in steps if step["id"] not in results or results[step["id"]]["status"] != "skipped"]
    depths: dict[str, int] = {}
    worth = total = 0.0
    for step in due:
        one = _worth(step, weights)
        total += one
        if is_finished(step["id"], results):
            worth += one
        elif is_open(step, results):
            depths[step["id"]] = max((depths[name] + 1 for name in needs(step) if name in depths), default=0)
            worth += one * weights.discount ** depths[step["id"]]
    return worth / total if total else 0.0


def _worth(step: Step, weights: Weights) -> float:
    checked = 2.0 if step["accept"] or step["criteria"] else 1.0
    return weights.utility.get(step["id"], weights.utility.get(step["tool"], 3.0 if step["critical"] else checked))


def _risks(plan: Plan, results: Mapping[str, Result]) -> Iterator[tuple[float, str]]:
    for step in plan["steps"]:
        if step["effect"] == "write" and is_open(step, results):
            yield WRITE, f"step {step['id']} changes something"
            if step["id"] in plan["untrusted"]:
                yield UNTRUSTED, f"step {step['id']} takes untrusted data"
    for name, result in results.items():
        if result["status"] in FINISHED and any(check["outcome"] == "unverified" for check in result["checks"]):
            yield UNVERIFIED, f"step {name} is not verified"
        elif result["status"] == "failed":
            yield FAILED, f"step {name} failed"


def shares(plan: Plan, results: Mapping[str, Result], run: Run) -> dict[str, float]:
    """What the run has used and the rest of the plan would take, as shares of the limits; unknown is left out."""
    left = [step for step in plan["steps"] if is_open(step, results)]
    rest, used, limits = estimate({**plan, "steps": left}, run), run.meter.usage(), run.limits
    amounts: dict[str, tuple[float, float | None]] = {
        "steps": (sum(bool(one["attempts"]) for one in results.values()) + len(left), limits.steps),
        "tool_calls": (used["tool_calls"] + (rest["tool_calls"] or len(left)), limits.tool_calls),
        "model_calls": (used["model_calls"] + rest["model_calls"], limits.model_calls),
        "tokens": (used["tokens"] + (rest["tokens"] or 0), limits.tokens),
        "money": (used["money"] + (rest["money"] or 0), limits.money),
        "seconds": (used["seconds"], limits.seconds),
    }
    return {
        name: min(1.0, amount / limit) if limit else 1.0
        for name, (amount, limit) in amounts.items()
        if limit is not None
    }


def review(look: Look, before: Review | None, *, replans: bool) -> Review | None:
    """The review that is due, or the one before; each version is reviewed once."""
    if not look.left or (before and before["version"] == look.run.plan_version):
        return before
    if not (found := _finding(look)):
        return before
    finding, evidence = found
    due = replans and look.counts.get("replans", 0) < look.run.limits.replans
    look.run.event("review", reason=finding, evidence=evidence, next="replan" if due else "go on")
    return {"version": look.run.plan_version, "finding": finding, "due": due}


def _finding(look: Look) -> tuple[str, list[str]] | None:
    context, plan = look.run.context, look.plans[-1]
    if context.review_below is not None:
        worth = value_of(plan, look.everything, look.run)
        if worth["value"] < context.review_below:
            told = f"the plan is worth less than review_below={context.review_below:g}"
            return told, [f"value {worth['value']:g}", *worth["because"]]
    if context.evidence_age is not None and (old := _old(look, context.evidence_age)):
        return f"older than evidence_age={context.evidence_age:g} s: the result of {', '.join(old)}", old
    return None


def _old(look: Look, most: float) -> list[str]:
    """Look-ups older than that, which steps that still have to run build on."""
    wanted = {name for step in look.steps.values() if is_open(step, look.everything) for name in needs(step)}
    found = {name: look.everything[name] for name in sorted(wanted) if is_finished(name, look.everything)}
    return [name for name, one in found.items() if one["effect"] == "read" and now() - one["ended"] > most]
