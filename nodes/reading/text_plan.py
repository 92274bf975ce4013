"""Plans as models write them in text: the records, what every such plan must keep to, and the way to a `PlanDraft`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from state.plan import PlanDraft, StepDraft

_BARE_ID = re.compile(r"\d")


@dataclass(frozen=True)
class TextStep:
    """One step; `args` has arguments with names, `inputs` those without; references are canonical (`${steps.E1}`)."""

    id: str
    tool: str
    deps: tuple[str, ...] = ()
    inputs: tuple[Any, ...] = ()
    args: Mapping[str, Any] | None = None
    why: str = ""


@dataclass(frozen=True)
class Finding:
    """What is wrong with a plan: a code, and a sentence that names the place."""

    code: str
    message: str


@dataclass(frozen=True)
class TextPlan:
    """A plan and its findings; it may run only without any."""

    steps: tuple[TextStep, ...]
    findings: tuple[Finding, ...] = ()


def checked(steps: Iterable[TextStep]) -> TextPlan:
    """The plan with what its text alone shows to be wrong: ids twice, references to nothing, itself or later steps."""
    listed = tuple(steps)
    known = [step.id for step in listed]
    findings = [
        Finding("duplicate_id", f"{name} is there twice") for name in dict.fromkeys(known) if known.count(name) > 1
    ]
    for place, step in enumerate(listed):
        for name in step.deps:
            if code := _fault(name, step.id, known, place):
                findings.append(Finding(code, f"{step.id} refers to {name}"))
    return TextPlan(listed, tuple(findings or ([] if listed else [Finding("no_steps", "there is no step")])))


def _fault(name: str, own: str, known: list[str], place: int) -> str:
    if name == own:
        return "self_reference"
    if name not in known:
        return "unresolved_reference"
    return "" if name in known[:place] else "forward_reference"


def draft_of(plan: TextPlan, parameters: Mapping[str, Sequence[str]]) -> PlanDraft:
    """The plan in its canonical form; `parameters` are the names of each tool's arguments, for those without one.

    Raises `ValueError` at a finding, or at an input for which the tool has no argument.
    """
    if plan.findings:
        raise ValueError("; ".join(finding.message for finding in plan.findings))
    return PlanDraft(steps=[_draft(step, parameters.get(step.tool, ())) for step in plan.steps])


def _draft(step: TextStep, names: Sequence[str]) -> StepDraft:
    if len(step.inputs) > len(names):
        raise ValueError(f"{step.id} has more inputs than {step.tool} has arguments")
    args = dict(zip(names, step.inputs, strict=False))
    if twice := set(args) & set(step.args or {}):
        raise ValueError(f"{step.id} gives {sorted(twice)} twice")
    after = [step_name(name) for name in step.deps]
    return StepDraft(
        id=step_name(step.id), tool=step.tool, args={**args, **(step.args or {})}, after=after, why=step.why
    )


def step_name(id: str) -> str:
    """The id that a step has in a plan, where ids begin with a letter."""
    return f"s{id}" if _BARE_ID.match(id) else id
