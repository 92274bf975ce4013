"""What `auto` decided on: which pattern, by which features of the task, and why."""

from typing_extensions import TypedDict


class Features(TypedDict):
    """What a task looks like; `workflow` names the saved plan that does it, `by` says who estimated: model or code."""

    steps: int
    dependent: bool
    expandable: bool
    vague: bool
    writes: bool
    workflow: str
    by: str


class Chosen(TypedDict):
    """A pattern, the features that it was chosen by, and the reason in words."""

    pattern: str
    features: Features
    reason: str
