"""Gold plans as prompts ask for them: under other ids, in order, in ReWOO's notation."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nodes.drafting import rename
from state.plan import StepDraft, in_order
from state.references import PATTERN, each_text

VERSION = re.compile(r"_v(\d+)$")
"""What a version of a plan puts behind the id of a step that an earlier one had."""


def asks_for_evidence(prompt: str) -> bool:
    """Whether the plan must be in ReWOO's notation."""
    return "#E1" in prompt.split("<tools>", 1)[0]


def renamed(step: StepDraft, names: Mapping[str, str]) -> StepDraft:
    """The step with other steps under other ids."""
    after = [names.get(name, name) for name in step.after]
    return step.model_copy(update={"args": rename(step.args, names), "after": after})


def as_evidence(steps: Sequence[StepDraft]) -> list[StepDraft]:
    """Steps as E1, E2 ...; a whole result is written #E1, a part of one in the canonical form."""
    names = {step.id: f"E{number}" for number, step in enumerate(steps, 1)}

    def short(text: str) -> str:
        return PATTERN.sub(lambda m: m[0] if m[2] or m[1] not in names.values() else f"#{m[1]}", text)

    short_ids = [renamed(step, names).model_copy(update={"id": names[step.id]}) for step in steps]
    return [step.model_copy(update={"args": each_text(step.args, short)}) for step in short_ids]


def gold_in_order(gold: Sequence[StepDraft]) -> list[StepDraft]:
    """Gold steps with each after what it needs."""
    places = {step.id: step for step in gold}
    steps: Any = [step.model_dump() for step in gold]
    return [places[step["id"]] for step in in_order(steps)]
