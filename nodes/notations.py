"""Readers of other notations for references; what they read becomes the canonical form."""

import re
from typing import Any

from state.plan import PlanDraft, StepDraft
from state.references import each_text

_EVIDENCE = re.compile(r"#E(\d+)")


def evidence(draft: PlanDraft) -> PlanDraft:
    """A ReWOO plan: `#E1` stands for the result of step E1 (Xu et al. 2023, arXiv:2305.18323)."""
    return draft.model_copy(update={"steps": [_evidence_step(step) for step in draft.steps]})


def _evidence_step(step: StepDraft) -> StepDraft:
    fixed: dict[str, Any] = {
        "id": step.id.removeprefix("#"),
        "args": each_text(step.args, _canonical),
        "after": [name.removeprefix("#") for name in step.after],
        "each": _canonical(step.each) if step.each else None,
    }
    if step.fallback:
        fixed["fallback"] = step.fallback.model_copy(update={"args": each_text(step.fallback.args, _canonical)})
    return step.model_copy(update=fixed)


def _canonical(text: str) -> str:
    return _EVIDENCE.sub(r"${steps.E\1}", text)
