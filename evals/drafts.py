"""Answers in one go under a noise: right when no call of the gold plan would have gone wrong on the way to them."""

from collections.abc import Mapping
from typing import Any

from evals.critics import sees_wrong
from evals.faults import MALFORMED, other
from evals.oracle import ROLES
from evals.rates import Noise
from evals.tasks import Task
from state.references import as_text

Fences = Mapping[str, Any]


def _answer(noise: Noise, task: Task, told: Any) -> str:
    kinds = [noise.fault(task, step, told).kind for step in task.gold]
    gone_wrong = any(kind not in ("", MALFORMED) for kind in kinds)
    right = task.answer()
    return as_text(other(right, {}, task, noise.about(task, told)) if gone_wrong else right)


def _direct(noise: Noise, task: Task, fences: Fences, prompt: str) -> str:
    return _answer(noise, task, fences.get("findings") or [])


def _thinker(noise: Noise, task: Task, fences: Fences, prompt: str) -> dict[str, Any]:
    reasoned = ROLES["thinker"](task, fences, prompt)["reasoning"]
    return {"reasoning": reasoned, "answer": _direct(noise, task, fences, prompt)}


def _refine(noise: Noise, task: Task, fences: Fences, prompt: str) -> dict[str, Any]:
    """Another answer, drawn anew with what was found wrong in mind."""
    replies = [{"finding": one["id"], "done": "fixed", "because": "drawn anew"} for one in fences["findings"]]
    return {"answer": _answer(noise, task, fences["findings"]), "replies": replies}


def _criticise(noise: Noise, task: Task, fences: Fences, prompt: str) -> dict[str, Any]:
    """One finding where the critic calls the draft wrong, else none."""
    dimensions = fences["dimensions"]
    wrong = sees_wrong(task, fences["draft"], noise)
    findings = [{"dimension": dimensions[0], "text": "it is not the gold answer"}] if wrong else []
    verdict = "improve" if wrong else "nothing_to_improve"
    return {"scores": dict.fromkeys(dimensions, 3 if wrong else 9), "findings": findings, "verdict": verdict}


DRAFTS: Mapping[str, Any] = {
    "direct": _direct, "drafter": _direct, "thinker": _thinker, "refiner": _refine, "critic": _criticise,
}  # fmt: skip
"""What is said in the roles that write and better an answer."""
