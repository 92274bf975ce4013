"""What running a checked plan would take, said before anything runs. Unknown stays unknown."""

from collections.abc import Iterator

from nodes.run import WITHOUT_WORDS, Run
from state.plan import Plan, Step, calls_of, canonical, needs
from state.report import Estimate
from state.request import pattern_of

_MORE_CALLS = {"self_reflection": 2} | dict.fromkeys(WITHOUT_WORDS, 0)
"""Model calls after planning when all goes well, by pattern; in any other one, for the answer."""


def estimate(plan: Plan, run: Run) -> Estimate:
    """Calls, time and writes of a plan; time is at most the longest chain of time-outs, in seconds."""
    steps = plan["steps"]
    mapped = any(step["each"] for step in steps)
    in_words = sum(run.tools[step["tool"]].uses_model for step in steps)
    judged = any(step["criteria"] for step in steps)
    more = _MORE_CALLS.get(pattern_of(run.request), 1)
    wordless = bool(more) and run.context.models_of("answerer") == ["offline"]  # it answers by code
    calls = in_words + judged + more - wordless + _looks(steps, run)
    free = all(run.context.model_of(role) == "offline" for role in ("executor", "checker", "answerer")) or not calls
    return {
        "tool_calls": None if mapped else len(steps),
        "model_calls": calls,
        "tokens": 0 if free else None,
        "seconds": None if mapped else _longest(steps, run),
        "money": 0.0 if free else None,
        "writes": [line for step in steps for line in _writes(step, run)],
    }


def _looks(steps: list[Step], run: Run) -> int:
    """How often a reflector looks back when all goes well."""
    if pattern_of(run.request) != "plan_act_reflect" or run.context.models_of("reflector") == ["offline"]:
        return 0
    critical = sum(step["critical"] for step in steps)
    return {"step": len(steps), "critical": critical}.get(run.context.reach, 1)


def _writes(step: Step, run: Run) -> Iterator[str]:
    for place, (name, args) in enumerate(calls_of(step)):
        if run.tools[name].effect == "write":
            yield f"{step['id']}: {name} {canonical(args)}{' (only if the step fails)' if place else ''}"


def _longest(steps: list[Step], run: Run) -> float:
    ends: dict[str, float] = {}
    for step in steps:
        begin = max((ends[name] for name in needs(step) if name in ends), default=0.0)
        ends[step["id"]] = begin + (step["timeout"] or run.tools[step["tool"]].timeout)
    return max(ends.values(), default=0.0)
