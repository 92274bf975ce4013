"""What a check or a reflection came to."""

from typing import Literal

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


class Reflection(TypedDict):
    """A diagnosis of a failed attempt: what to do otherwise, and what must change."""

    attempt: int
    trigger: str
    diagnosis: str
    lesson: str
    change: str
