"""Checks the conditions of a step before it runs: readable, and about something that its result will have."""

from collections.abc import Iterator, Mapping
from typing import Any

from nodes.typed_args import dead_end
from state.conditions import free_names, output_parts, step_ids, step_paths, unparsable
from state.plan import Step

Known = Mapping[str, dict[str, Any] | None]
"""What can be referred to, with the schema of its output where that is declared."""


def condition_problems(step: Step, known: Known) -> Iterator[str]:
    """What is wrong with acceptance conditions and guard."""
    output = known[step["id"]]
    for condition in step["accept"]:
        wrong = unparsable(condition) or _about_nothing(condition, output) or _others(condition, known)
        yield from filter(None, [wrong])
    yield from filter(None, map(unparsable, step.get("measures", {}).values()))
    if step["when"]:
        yield from filter(None, [unparsable(step["when"]) or _guard(step["when"]) or _paths(step["when"], known)])


def _about_nothing(condition: str, output: dict[str, Any] | None) -> str:
    """Why a condition could never be decided: it names parts that the result does not have."""
    kind = (output or {}).get("type")
    if output is None or kind is None:
        return ""
    own = {"steps"} if step_ids(condition) == ["inputs"] else set()
    if kind != "object":
        strange, there = output_parts(condition) - own, f"the result is of type {kind}; write output or len(output)"
    elif output.get("additionalProperties") or "properties" not in output:
        return ""
    else:
        strange = output_parts(condition) - output["properties"].keys() - own
        there = f"the result has {sorted(output['properties'])}"
    return f"the condition {condition!r} is about {sorted(strange)}, but {there}" if strange else ""


def _guard(when: str) -> str:
    right = "right: steps.s1.rows > 0, or steps.s1.rows > steps.inputs.NAME"
    if not step_ids(when):
        return f"`when` names no earlier step: {when!r}; {right}"
    strange = free_names(when) - {"steps"}
    if "item" in step_ids(when):
        return f"`when` decides on the step as a whole, there is no item yet: {when!r}; {right}"
    return f"`when` uses unknown names {sorted(strange)}; {right}" if strange else ""


def _others(condition: str, known: Known) -> str:
    """Why a condition on a result can't be decided: it names another step's."""
    others = [name for name in step_ids(condition) if name != "inputs" and name in known]
    right = "compare it with inputs (steps.inputs.NAME), or write `when` in a step that comes after both"
    return f"the condition {condition!r} is about the step's own result, not about {others}; {right}" if others else ""


def _paths(when: str, known: Known) -> str:
    """Why a guard can never be decided: what it reads can't be in the result."""
    for name, path in step_paths(when):
        if why := dead_end(known.get(name), path):
            return f"`when` reads a part of steps.{name} that can't be there: {why}"
    return ""
