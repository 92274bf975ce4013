"""Drafts of lessons from failed runs: failures of one kind together, worded by a model or by rules.

Nothing here is ever used before a person approves it.
"""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict

from nodes.ask import ask
from nodes.lesson_match import USED_FROM
from nodes.lesson_sources import PASSING, Failed
from nodes.likeness import alike
from nodes.prompts.lessons import draft_messages
from nodes.recording import redacted
from nodes.run import Run
from state.clock import now
from state.lesson import Lesson, Origin, Scope, Trigger, new_lesson

_INTENTS = 5
_RULES = {
    "missing_input": (
        "the task did not say a value that {tool} needs",
        "Ask for the value, or find it with another tool, before {tool} is called.",
    ),
    "invalid_arguments": (
        "the arguments did not fit what {tool} takes",
        "Hold the arguments against the schema of {tool} before it is called, and mind what it refused: {said}",
    ),
    "auth": ("{tool} was not let in", "Plan without {tool} until a person has given it a key or the right to do this."),
    "not_found": (
        "what {tool} was asked for is not there under that name",
        "Look for what there is, with a list or a search, before {tool} is called with a name.",
    ),
    "acceptance": (
        "the result of {tool} was not what its step had to give",
        "Choose another source or other arguments for this step, and don't build on its result before it is checked.",
    ),
    "too_long": ("there was more data than fits", "Cut or filter the data in a step of its own before {tool}."),
    "not_accepted": ("the answer did not give what was asked for", "Plan for what the grading missed: {said}"),
} | dict.fromkeys(
    PASSING,
    (
        "the service behind {tool} was not available",
        "Give the step a fallback with another tool, or plan without {tool}.",
    ),
)  # fmt: skip
_OTHERWISE = (
    "{tool} refused this call, and would again",
    "Call {tool} with other arguments, or another tool in its place; it said: {said}",
)


class LessonDraft(BaseModel):
    """A lesson from several failures."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    problem: str
    """What goes wrong, in one sentence."""
    cause: str
    """The root cause, with the evidence for it."""
    strategy: str
    """What a plan must do otherwise."""


def groups(failed: Iterable[Failed]) -> list[list[Failed]]:
    """Failures of one kind together, the most frequent first: tenant, tool and class the same, and words alike."""
    found: list[list[Failed]] = []
    for one in failed:
        kind = (one.tenant, one.tool, one.cls)
        same = (
            g for g in found if kind == (g[0].tenant, g[0].tool, g[0].cls) and alike(g[0].error, one.error) >= USED_FROM
        )
        if (group := next(same, None)) is not None:
            group.append(one)
        else:
            found.append([one])
    return sorted(found, key=len, reverse=True)


def draft_by_rules(group: list[Failed]) -> Lesson:
    """A lesson in the words that go with the class of failure."""
    one, times = group[0], len({failed.run for failed in group})
    cause, strategy = _RULES.get(one.cls, _OTHERWISE)
    runs = "a run" if times == 1 else f"{times} runs"
    problem = f"{one.tool or 'the answer'} failed in {runs}: {one.said}"
    return _draft(group, (problem, _filled(cause, one), _filled(strategy, one)))


async def draft_by_model(group: list[Failed], run: Run) -> Lesson:
    """A lesson in the words of the reflector's model; raises `ModelFailed` or `BudgetSpent`."""
    one = group[0]
    evidence: dict[str, Any] = redacted({
        "tasks": _intents(group), "tool": one.tool, "class": one.cls, "step": one.step,
        "failures": list(dict.fromkeys(failed.error for failed in group))[:_INTENTS],
    })  # fmt: skip
    messages = draft_messages(evidence, run.language)
    draft = await ask(messages, LessonDraft, name="lesson", role="reflector", run=run)
    return _draft(group, (draft.problem, draft.cause, draft.strategy))


def is_known(group: list[Failed], lessons: Iterable[Lesson]) -> bool:
    """Whether there is a lesson about this kind of failure already, learned or drafted, whatever its status."""
    new = draft_by_rules(group)
    return any(
        one["id"] == new["id"]
        or (
            (one["scope"]["tenant"], one["scope"]["tools"]) == (new["scope"]["tenant"], new["scope"]["tools"])
            and alike(one["trigger"]["error"], new["trigger"]["error"]) >= USED_FROM
        )
        for one in lessons
    )


def _draft(group: list[Failed], words: tuple[str, str, str]) -> Lesson:
    one = group[0]
    trigger: Trigger = {"intents": _intents(group), "error": one.error, "step": one.step}
    scope: Scope = {
        "tenant": one.tenant,
        "thread": "",
        "pattern": "" if one.tool else one.pattern,
        "tools": [one.tool] if one.tool else [],
        "tags": [],
    }
    runs = list(dict.fromkeys(failed.run for failed in group))
    origin: Origin = {"runs": runs, "pattern": one.pattern, "attempt": 0}
    clean: list[Any] = redacted([words, trigger])
    return new_lesson(tuple(clean[0]), clean[1], scope, origin, now())


def _intents(group: list[Failed]) -> list[str]:
    return list(dict.fromkeys(failed.intent for failed in group))[:_INTENTS]


def _filled(words: str, one: Failed) -> str:
    return words.replace("{tool}", one.tool).replace("{said}", one.said)
