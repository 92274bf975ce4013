"""The limits of a run. Every one ends in a normal report that names it."""

from pydantic import BaseModel, ConfigDict, Field

from state.plain import Count


class Limits(BaseModel):
    """How much a run may use before it ends in a report; None means no limit of that kind."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    retries: Count = Field(default=2, ge=0)
    """How often the same step is tried again after a failure that may pass."""
    all_retries: Count | None = Field(default=30, ge=0)
    """How often anything, steps and calls of a model together, is tried again in the whole run."""
    failures: Count = Field(default=3, ge=1)
    """How many steps may fail in the whole run."""
    replans: Count = Field(default=2, ge=0)
    """How often what is left of a plan may be planned anew."""
    iterations: Count = Field(default=8, ge=1)
    """How many rounds of running and checking."""
    same_call: Count = Field(default=3, ge=1)
    """How often the same tool may be called with the same arguments."""
    steps: Count = Field(default=15, ge=1)
    """How many steps may run in all versions of the plan together."""
    reflections: Count = Field(default=2, ge=0)
    """How many reflections."""
    attempts: Count = Field(default=3, ge=1)
    """How many attempts of self-reflection, the first one included."""
    plan_feedback: Count = Field(default=2, ge=0)
    """How often the findings about one plan go back to the planner."""
    questions: Count = Field(default=10, ge=0)
    """How many questions about missing input a person is asked in the whole run; 0: none, the run ends instead."""
    model_calls: Count | None = Field(default=None, ge=0)
    """How many calls of a model."""
    tool_calls: Count | None = Field(default=None, ge=0)
    """How many calls of a tool."""
    tokens: Count | None = Field(default=None, ge=0)
    """How many tokens, in and out together."""
    money: float | None = Field(default=None, ge=0)
    """How much money, by the price table."""
    seconds: float | None = Field(default=None, gt=0)
    """How many seconds of work; the time a person takes to answer does not count."""
