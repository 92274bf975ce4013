"""Readers of other notations for references; what they read becomes the canonical form.

Each is used only where its notation was asked for or declared, so that the same marks elsewhere stay plain text.
"""

import re
from collections.abc import Mapping
from typing import Any

from state.plan import PlanDraft, StepDraft
from state.references import each_text

_EVIDENCE = re.compile(r"#(E\d+)")
_EVIDENCE_PART = re.compile(r"#(E\d+)((?:\.[A-Za-z_][\w-]*|\[\d+\])+)")
_LABEL = re.compile(r"\$(var_?\d+)((?:\.[\w-]+(?: [\w-]+)*|\[\d+\])*)\$")
_SEGMENT = re.compile(r"\.([^.\[\]]+)|(\[\d+\])")
_HASH, _DOLLAR, _NODE = re.compile(r"#(\d+)"), re.compile(r"\$(\d+)"), re.compile(r"<node-(\d+)>")


def evidence(draft: PlanDraft) -> PlanDraft:
    """A ReWOO plan: `#E1` stands for the result of step E1 (Xu et al. 2023, arXiv:2305.18323).

    Alone, `#E1.path` is a part of it; inside a longer text a dot after `#E1` is only a dot.
    """
    return draft.model_copy(update={"steps": [_evidence_step(step) for step in draft.steps]})


def labels(value: Any) -> Any:
    """NESTFUL: `$var1.field$` and `$var1$` are results of the step with that label; fields may hold spaces."""
    return each_text(value, lambda text: _LABEL.sub(lambda m: f"${{steps.{m[1]}{_path(m[2])}}}", text))


def hashes(value: Any, names: Mapping[int, str]) -> Any:
    """MathQA: `#0` is the result of operation 0; `names` says which step that is, other numbers stay text."""
    return _numbered(value, _HASH, names)


def dollars(value: Any, names: Mapping[int, str]) -> Any:
    """LLMCompiler: `$1` is the result of task 1; a number that no task has is money."""
    return _numbered(value, _DOLLAR, names)


def nodes(value: Any, names: Mapping[int, str]) -> Any:
    """TaskBench: `<node-1>` is the result of node 1."""
    return _numbered(value, _NODE, names)


def _numbered(value: Any, mark: re.Pattern[str], names: Mapping[int, str]) -> Any:
    def put(match: re.Match[str]) -> str:
        name = names.get(int(match[1]))
        return match[0] if name is None else f"${{steps.{name}}}"

    return each_text(value, lambda text: mark.sub(put, text))


def _path(text: str) -> str:
    """A path with its fields quoted where they are more than a word."""
    return "".join(bracket or f".{_key(field)}" for field, bracket in _SEGMENT.findall(text))


def _key(field: str) -> str:
    return field if re.fullmatch(r"[\w-]+", field) else f'"{field}"'


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
    if part := _EVIDENCE_PART.fullmatch(text):
        return f"${{steps.{part[1]}{part[2]}}}"
    return _EVIDENCE.sub(r"${steps.\1}", text)
