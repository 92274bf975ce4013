"""Holds the next plan to what the reflection before it said must change; words alone change nothing."""

from nodes.drafting import content
from nodes.plan_check import Finding, finding
from state.plan import Plan, Step
from state.verdict import Reflection

IGNORED = "reflection_ignored"


def due(reflections: list[Reflection], last: Plan | None) -> Reflection | None:
    """The reflection that the next version has to follow: it was about the last one and asked for a change."""
    if not reflections or last is None:
        return None
    said = reflections[-1]
    return said if said["version"] == last["version"] and said["verdict"] == "revise" else None


def ignored(said: Reflection | None, last: Plan | None, new: list[Step]) -> list[Finding]:
    """What of the reflection a new version leaves as it was."""
    if said is None or last is None:
        return []
    old = {step["id"]: step for step in last["steps"]}
    named = [old[name] for name in said["steps"] if name in old]
    again = {content([step])[0]: step["id"] for step in new}
    found = [
        finding(again[same], IGNORED, f"step {again[same]!r} does what {step['id']!r} did, which must change "
                f"({said['change']}): {said['lesson']}")
        for step in named if (same := content([step])[0]) in again
    ]  # fmt: skip
    before = {step["tool"] for step in named or last["steps"]}
    after = {step["tool"] for step in new}
    if said["change"] == "tool" and (after <= before if named else after == before):
        message = f"the tool must change ({said['lesson']}), and the plan has only {sorted(before)} as before"
        found.append(finding("", IGNORED, message))
    return found
