"""A saved plan: what a file holds, and how it flows once it is read."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from state.plan import StepDraft


class PlanFile(BaseModel):
    """A plan with parameters, as a file holds it (docs/workflows.md)."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    goal: str = Field(min_length=1)
    """What will be true when the plan is done; the task where none is given."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """A JSON Schema of the inputs, an object; a default stands where an input is not given."""
    steps: list[StepDraft] = Field(min_length=1)
    """The steps, as a planner writes them."""


class Workflow(TypedDict):
    """A saved plan as it is kept with a request; `source` is its file, `lines` says where its steps stand there."""

    source: str
    goal: str
    parameters: dict[str, Any]
    steps: list[dict[str, Any]]
    lines: dict[str, int]
