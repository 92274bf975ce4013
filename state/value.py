"""What a plan is worth, and the review of one that is worth too little or rests on old evidence."""

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict


class Weights(BaseModel):
    """How the value of a plan is counted: discount per step of depth, weights of risk and cost, worth of steps."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    discount: float = Field(default=0.9, gt=0, le=1)
    """What a result is still worth for each unfinished step that must come before it."""
    risk: float = Field(default=1.0, ge=0)
    """Weight of the risk."""
    cost: float = Field(default=1.0, ge=0)
    """Weight of the cost."""
    utility: dict[str, float] = Field(default_factory=dict)
    """Worth of steps by the id of the step, or by tool; else 3 if critical, 2 if its result is checked, 1."""


class Value(TypedDict):
    """utility - weight * risk - weight * cost; utility, risk and cost are from 0 to 1, `because` is what made them."""

    value: float
    utility: float
    risk: float
    cost: float
    because: list[str]


class Review(TypedDict):
    """What was found about a version of the plan, and whether the planner is to be told now."""

    version: int
    finding: str
    due: bool
