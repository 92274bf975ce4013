"""Results against gold: which are wrong, which are missing, and whether a task is done however it came about.

A run that went wrong and was mended is right here, in contrast to `evals.tasks.same_outputs`, which counts every call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from evals.gold import VERSION
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
    """Each gold step is met by the newest result of its tool with its output; what is left over is wrong.

    The steps of a plan have the names of the gold steps, with the version of the plan behind where they came later.
    """
    tools = {step.id: step.tool for step in task.gold}
    lost = {name: canonical([tools.get(name), made.output]) for name, made in task.expected().items()}
    wrong: list[str] = []
    finished = [(name, one) for name, one in views.items() if one["status"] in FINISHED]
    for name, one in sorted(reversed(finished), key=lambda pair: _plain(pair[0]) not in lost):
        met = _met(_plain(name), canonical([one["tool"], one["output"]]), lost)
        if met:
            del lost[met]
        else:
            wrong.append(name)
    wrong = [name for name, _ in finished if name in wrong]
    writes = {tool.name for tool in task.tools if tool.effect == "write"}
    return Truth(wrong, list(lost), [name for name in wrong if views[name]["tool"] in writes])


def _met(name: str, key: str, lost: Mapping[str, str]) -> str | None:
    """The gold step that a result stands for: the one of its own name where that fits."""
    if lost.get(name) == key:
        return name
    return next((gold for gold, other in lost.items() if other == key), None)


def _plain(name: str) -> str:
    return VERSION.sub("", name)


def done_in_the_end(task: Task, results: Sequence[Result]) -> list[str]:
    """Every gold result must be there, and nothing changed that gold does not change."""
    views = {one["step"]: one for one in results}
    found = truth(task, views)
    strays = [f"not in the gold plan: {canonical([views[name]['tool'], views[name]['args']])}" for name in found.strays]
    return missing(task, results) + strays


def missing(task: Task, results: Sequence[Result]) -> list[str]:
    """The gold steps whose result is not there, whatever else is; for worlds whose state says what was changed."""
    return [f"missing: {name}" for name in truth(task, {one["step"]: one for one in results}).lost]


def mended(tasks: Sequence[Task]) -> list[Task]:
    """The tasks, graded by what is there in the end."""
    return [replace(task, check=done_in_the_end) for task in tasks]
