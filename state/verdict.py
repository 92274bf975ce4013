"""What a check or a reflection came to."""

from typing import Any, Literal

from typing_extensions import TypedDict

from state.result import Check

Outcome = Literal["passed", "failed", "unverified"]
DIMENSIONS = ("completeness", "accuracy", "quality")
PASS_MARK = 7
"""What every dimension needs, of 10."""


class Verdict(TypedDict):
    """Whether the work was accepted, by what, with the evidence; scores are 0 to 10, empty where nobody graded."""

    outcome: Outcome
    checks: list[Check]
    scores: dict[str, int]
    problems: list[str]


class Graded(TypedDict):
    """An answer with the grading it got."""

    answer: Any
    answered_by: str
    sources: dict[str, list[str]]
    verdict: Verdict


def better(before: Graded | None, now: Graded) -> Graded:
    """The better one: fewer checks by code failed, then a better weakest dimension; the later one among equals."""
    return before if before and _rank(before["verdict"]) > _rank(now["verdict"]) else now


def _rank(verdict: Verdict) -> tuple[bool, int, int, int]:
    refuted = sum(check["outcome"] == "failed" and check["by"] == "code" for check in verdict["checks"])
    scores = verdict["scores"].values()
    return verdict["outcome"] == "passed", -refuted, min(scores, default=-1), sum(scores)


Cause = Literal[
    "acceptance failed", "evidence against an assumption", "same step failing again", "budget nearly gone",
    "new hard constraint", "look", "asked for",
]  # fmt: skip
"""look: by the setting `reflect`, nothing is known to be wrong; asked for: a turn of reasoning led to it."""
CHANGES = ("assumption", "step", "tool", "argument", "constraint", "scope")


class Trigger(TypedDict):
    """What a reflection starts from, in words and with all that speaks for it."""

    cause: Cause
    said: str
    evidence: list[str]


class Reflection(TypedDict):
    """A diagnosis: what may be the cause, what to do otherwise, and what must change; `steps` must not come again.

    `version` is the plan that it is about. continue and finish: nothing has to change.
    """

    attempt: int
    version: int
    cause: Cause
    trigger: str
    verdict: Literal["continue", "finish", "revise"]
    diagnosis: str
    hypotheses: list[str]
    lesson: str
    change: str
    steps: list[str]
    findings: list[str]
    looked_at: list[str]
