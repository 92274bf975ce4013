"""What a gold plan needs and a prompt does not offer: a tool that is not there, a value that only the user knows."""

from collections.abc import Mapping
from typing import Any

from evals.tasks import Task
from state.references import PATTERN, each_text

INPUTS = "inputs"


def tools_lacking(task: Task, fences: Mapping[str, Any]) -> list[str]:
    """The tools of the gold plan that neither the task has nor the prompt lists; a shortlist may leave some out."""
    there = {tool.name for tool in task.tools} | {one["name"] for one in fences.get("tools") or []}
    return sorted({step.tool for step in task.gold} - there)


def inputs_lacking(task: Task, fences: Mapping[str, Any]) -> list[str]:
    """The inputs that gold arguments name and nobody has given."""
    named: dict[str, None] = {}

    def note(text: str) -> None:
        named.update({m[2].lstrip("."): None for m in PATTERN.finditer(text) if m[1] == INPUTS})

    each_text([step.args for step in task.gold], note)
    return [name for name in named if name not in (fences.get(INPUTS) or {})]


def says_lacking(task: Task, fences: Mapping[str, Any]) -> dict[str, Any] | None:
    """How a planner says so: why it can't be done, or what to ask; None where nothing is lacking."""
    if tools := tools_lacking(task, fences):
        return {"steps": [], "impossible": f"no tool for {', '.join(tools)}"}
    if names := inputs_lacking(task, fences):
        return {"steps": [], "questions": [{"name": name, "question": f"Which {name}?"} for name in names]}
    return None
