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


class Reflection(TypedDict):
    """A diagnosis of a failed attempt: what to do otherwise, and what must change."""

    attempt: int
    trigger: str
    diagnosis: str
    lesson: str
    change: str
