"""A model that says what a real one once said: plans, attempt by attempt, each checked by code before the next.

It tells from the prompt which attempts have failed, so it works in process and behind a server, as the oracle does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.oracle import ROLES, OracleModel, as_answer, turns_told
from evals.tasks import Task, by_text
from state.plan import StepDraft

_NONE = {"impossible": "the model gave no plan"}


@dataclass(frozen=True)
class Attempted(Task):
    """A task with what a real model tried; None stands for a reply without a plan."""

    attempts: tuple[StepDraft | None, ...] = ()


def _plan(task: Task, fences: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    """The attempt after the last that failed."""
    attempts = _attempts(task)
    failed = [one["args"] for one in fences.get("failed") or []]
    tried = [place for place, one in enumerate(attempts) if one and one.args in failed]
    step = attempts[max(tried, default=-1) + 1 :][:1]
    return {"steps": [step[0].model_dump(exclude_defaults=True)]} if step and step[0] else _NONE


def _reason(task: Task, fences: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    """The next attempt as one turn; when none is left, the answer."""
    left = _attempts(task)[len(turns_told(fences)) :]
    if not left:
        return {"thought": "the last attempt was right", "answer": as_answer(task)}
    move = {"tool": left[0].tool, "args": left[0].args} if left[0] else _NONE
    return {"thought": "an attempt", **move}


def _attempts(task: Task) -> tuple[StepDraft | None, ...]:
    assert isinstance(task, Attempted)
    return task.attempts


class RecordedModel(OracleModel):
    """Plans as recorded; everything else by gold."""

    @classmethod
    def of(cls, tasks: Sequence[Task]) -> "RecordedModel":
        """The model for these tasks."""
        return cls(known=by_text(tasks), roles={**ROLES, "planner": _plan, "reasoner": _reason}, model_name="recorded")
