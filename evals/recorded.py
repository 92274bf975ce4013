"""A model that says what a real one once said: plans or programs, each checked by code before the next.

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


def _draft(task: Task, fences: Mapping[str, Any], prompt: str) -> str:
    return str(_code(task, 0))


def _refine(task: Task, fences: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    """The last attempt, with the same word for every finding."""
    said = [{"finding": one["id"], "done": "fixed", "because": "tried anew"} for one in fences["findings"]]
    return {"answer": _code(task, -1), "replies": said}


def _code(task: Task, place: int) -> Any:
    step = _attempts(task)[place]
    return step and step.args["code"]


def _criticise(task: Task, fences: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    """Nothing to add to what code found out."""
    scores = dict.fromkeys(fences["dimensions"], 10)
    return {"scores": scores, "findings": [], "verdict": "nothing_to_improve"}


_SAYS = {
    **ROLES, "planner": _plan, "reasoner": _reason, "drafter": _draft, "refiner": _refine, "critic": _criticise,
    "direct": _draft,
}  # fmt: skip


class RecordedModel(OracleModel):
    """Plans and drafts as recorded; everything else by gold."""

    @classmethod
    def of(cls, tasks: Sequence[Task]) -> "RecordedModel":
        """The model for these tasks."""
        return cls(known=by_text(tasks), roles=_SAYS, model_name="recorded")
