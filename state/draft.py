"""A draft of an answer with what was found wrong with it, and what the refiner said to each finding."""

from typing import Any, Literal

from typing_extensions import TypedDict

from state.verdict import Verdict


class Found(TypedDict):
    """One thing to improve; the same thing found again keeps its id."""

    id: str
    dimension: str
    text: str
    by: Literal["code", "model"]


class Reply(TypedDict):
    """What the refiner says to a finding; not_fixed: it said fixed, and the next review found it again."""

    finding: str
    done: Literal["fixed", "refused", "not_fixed"]
    because: str


class Draft(TypedDict):
    """One draft; `replies` are to the findings of the draft before, `verdict` is None until it was reviewed."""

    number: int
    answer: Any
    replies: list[Reply]
    verdict: Verdict | None
    findings: list[Found]
