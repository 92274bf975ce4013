"""Results against gold: which are wrong, which are missing, and whether a task is done however it came about.

A run that went wrong and was mended is right here, in contrast to `evals.tasks.same_outputs`, which counts every call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from evals.tasks import Task
from state.plan import canonical
from state.result import FINISHED, Result

Views = Mapping[str, Any]
"""Results by id, each with at least tool, status and output, as records and prompts have them."""


class Truth(NamedTuple):
    """What is wrong with results: the ids of those that gold does not have, and the gold steps that have none."""

    wrong: list[str]
    lost: list[str]
    strays: list[str]
    """Those of the wrong ones that changed something."""


def truth(task: Task, views: Views) -> Truth:
    """Each gold step is met by the newest result of its tool with its output; what is left over is wrong."""
    tools = {step.id: step.tool for step in task.gold}
    lost = {name: canonical([tools[name], made.output]) for name, made in task.expected().items()}
    wrong: list[str] = []
    for name, one in reversed([(name, one) for name, one in views.items() if one["status"] in FINISHED]):
        key = canonical([one["tool"], one["output"]])
        met = next((gold for gold, other in lost.items() if other == key), None)
        if met is None:
            wrong.insert(0, name)
        else:
            del lost[met]
    writes = {tool.name for tool in task.tools if tool.effect == "write"}
    return Truth(wrong, list(lost), [name for name in wrong if views[name]["tool"] in writes])


def done_in_the_end(task: Task, results: Sequence[Result]) -> list[str]:
    """Every gold result must be there, and nothing changed that gold does not change."""
    views = {one["step"]: one for one in results}
    found = truth(task, views)
    strays = [f"not in the gold plan: {canonical([views[name]['tool'], views[name]['args']])}" for name in found.strays]
    return [f"missing: {name}" for name in found.lost] + strays


def mended(tasks: Sequence[Task]) -> list[Task]:
    """The tasks, graded by what is there in the end."""
    return [replace(task, check=done_in_the_end) for task in tasks]
