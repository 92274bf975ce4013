"""The forms of a judgement; one that contradicts itself, or that rests on nothing, is refused and told back."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from state.blank import says_nothing
from state.errors import shorten
from state.verdict import DIMENSIONS, PASS_MARK

Score = Annotated[int, Field(ge=0, le=10)]


class CheckDraft(BaseModel):
    """One criterion, decided."""

    model_config = ConfigDict(extra="forbid")

    criterion: str
    outcome: Literal["passed", "failed", "unverified"]
    evidence: str


class JudgeDraft(BaseModel):
    """A decision for every criterion asked about."""

    model_config = ConfigDict(extra="forbid")

    checks: list[CheckDraft]

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if wrong := _hollow(self.checks) or _twofold(self.checks):
            raise ValueError(wrong)
        return self


class GradeDraft(BaseModel):
    """The grading of an answer."""

    model_config = ConfigDict(extra="forbid")

    checks: list[CheckDraft]
    completeness: Score
    accuracy: Score
    quality: Score
    accepted: bool
    problems: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if wrong := _against_yes(self) if self.accepted else _against_no(self):
            raise ValueError(wrong)
        return self

    def named(self) -> list[str]:
        """The problems that say something."""
        return [text for text in self.problems if not says_nothing(text)]

    def not_good(self) -> list[str]:
        """The scores that are too low, and the points that failed."""
        low = [name for name in DIMENSIONS if getattr(self, name) < PASS_MARK]
        return low or [check.criterion for check in self.checks if check.outcome == "failed"]

    def is_open(self) -> bool:
        """Whether nothing but a point that was not decided keeps the answer from being accepted."""
        undecided = any(check.outcome == "unverified" for check in self.checks)
        return undecided and not self.not_good() and not self.named()


def _against_yes(draft: GradeDraft) -> str:
    if bad := draft.not_good():
        return f"accepted is true, but {bad} is not good enough: the verdict contradicts itself"
    if named := draft.named():
        return f"accepted is true, but a problem is named ({shorten(named[0])}): the verdict contradicts itself"
    if not draft.checks:
        return "accepted is true, but checks is empty; right would be a point for each thing that the task asks for"
    return _hollow(draft.checks)


def _against_no(draft: GradeDraft) -> str:
    if draft.not_good() or draft.named() or draft.is_open():
        return ""
    return "accepted is false, but every score is at least 7, no point failed, no problem is named"


def _hollow(checks: Sequence[CheckDraft]) -> str:
    """What is wrong with a point that says nothing, or that passed with nothing to show for it."""
    for number, check in enumerate(checks, 1):
        if says_nothing(check.criterion):
            return f"point {number} has an empty criterion; right would be what is asked for"
        if check.outcome == "passed" and says_nothing(check.evidence):
            return f"{shorten(check.criterion)} passed, but its evidence is empty; right would be what shows it"
    return ""


def _twofold(checks: Sequence[CheckDraft]) -> str:
    """A criterion that was decided in two ways."""
    seen: dict[str, str] = {}
    for check in checks:
        if seen.setdefault(check.criterion, check.outcome) != check.outcome:
            ways = f"{seen[check.criterion]} and {check.outcome}"
            return f"{shorten(check.criterion)} is {ways}: the verdict contradicts itself"
    return ""
