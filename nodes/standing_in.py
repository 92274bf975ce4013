"""Calls a tool; where a read has failed finally, the tool that the catalogue names as its fallback stands in."""

from dataclasses import replace

from nodes.call import breaks_contract, call
from nodes.calls import Call, Outcome
from nodes.decisions import decided
from nodes.run import Run

_NOT_FOR = ("budget", "unknown_outcome", "cancelled")
"""Failures of a tool that another tool must not paper over."""


async def call_or_stand_in(planned: Call, run: Run) -> Outcome:
    """The outcome of the call, or of its stand-in; the first failure stays in it."""
    first = await call(planned, run)
    other = run.tools.get(planned.tool.fallback) if _is_due(planned, first) else None
    if other is None or first.failure is None:
        return first
    name, reason = planned.tool.name, first.failure
    decided(run, "fallback", name, reason["cls"], reason["message"], step=planned.step["id"], more=other.name)
    second = await call(replace(planned, tool=other), run)
    attempts = first.attempts + second.attempts
    misfit = await breaks_contract(planned, second.output) if second.status == "done" else ""
    if second.status == "done" and not misfit:
        note = f"{other.name} stands in for {name}: {reason['message']}"
        return replace(second, status="degraded", failure=reason, attempts=attempts, note=note)
    said = misfit or (second.failure["message"] if second.failure else second.status)
    return replace(first, attempts=attempts, note=f"its fallback {other.name} did not help: {said}")


def _is_due(planned: Call, outcome: Outcome) -> bool:
    """A step's own fallback goes before the catalogue's."""
    if outcome.status != "failed" or not outcome.failure or planned.tool.effect != "read":
        return False
    fits = outcome.failure["kind"] == "tool" and outcome.failure["cls"] not in _NOT_FOR
    return fits and planned.step["on_failure"] != "fallback"
