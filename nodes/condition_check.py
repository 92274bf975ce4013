"""Checks the conditions of a step before it runs: readable, and about something that its result will have."""

from collections.abc import Iterator
from typing import Any

from state.conditions import free_names, output_parts, step_ids, unparsable
from state.plan import Step


def condition_problems(step: Step, output: dict[str, Any] | None) -> Iterator[str]:
    """What is wrong with acceptance conditions and guard; `output` is the schema of the result, where it is known."""
    for condition in step["accept"]:
        yield from filter(None, [unparsable(condition) or _about_nothing(condition, output)])
    yield from filter(None, map(unparsable, step["measures"].values()))
    if step["when"]:
        yield from filter(None, [unparsable(step["when"]) or _guard(step["when"])])


def _about_nothing(condition: str, output: dict[str, Any] | None) -> str:
    """Why a condition could never be decided: it names parts that the result does not have."""
    kind = (output or {}).get("type")
    if output is None or kind is None:
        return ""
    if kind != "object":
        strange, there = output_parts(condition), f"the result is of type {kind}; write output or len(output)"
    elif output.get("additionalProperties") or "properties" not in output:
        return ""
    else:
        strange = output_parts(condition) - output["properties"].keys()
        there = f"the result has {sorted(output['properties'])}"
    return f"the condition {condition!r} is about {sorted(strange)}, but {there}" if strange else ""


def _guard(when: str) -> str:
    right = "right: steps.s1.rows > 0"
    if not step_ids(when):
        return f"`when` names no earlier step: {when!r}; {right}"
    strange = free_names(when) - {"steps"}
    return f"`when` uses unknown names {sorted(strange)}; {right}" if strange else ""
