"""The frozen side of a run: what was asked, under which constraints and limits. It survives a resume."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from state.choice import Chosen
from state.workflow import Workflow

FROZEN = (
    "limits", "check_after", "writes", "allow", "deny", "volatile_writes", "output_cap", "slow_step", "answer_schema",
    "dry_run", "concurrency", "untrusted_writes", "lease", "shadow", "breaker", "breaker_seconds",
    "stop_when", "review_below", "evidence_age", "value", "sql_destructive", "retrieve", "approve_plan", "reflect",
    "accept", "tests", "dimensions", "self_critique",
    "lessons", "tenant", "lesson_tags", "lesson_scope", "lesson_days",
)  # fmt: skip
"""Settings of the context that are kept with the thread: a resume without them must not fall back to defaults."""


class Earlier(TypedDict):
    """An earlier request of the same thread and what came of it."""

    task: str
    answer: str
    stop: str


class Dropped(TypedDict):
    """Earlier requests of a thread that had not come to their end, and what they wrote, in words for the report."""

    said: list[str]
    writes: list[str]


class Request(TypedDict):
    """One request on a thread; `started` is seconds since the epoch, `earlier` are the last requests before it.

    `workflow` is the saved plan that it runs, `chosen` the pattern that `auto` decided on, `heard` whether an earlier
    request, whose answer a model is told, had seen untrusted data. `asked` names what somebody set of the settings that
    not every pattern uses.
    """

    id: str
    task: str
    inputs: dict[str, Any]
    pattern: str
    language: Annotated[str, Field(pattern="^(en|zh)$")]
    constraints: dict[str, Any]
    settings: dict[str, Any]
    started: float
    earlier: list[Earlier]
    workflow: NotRequired[Workflow | None]
    chosen: NotRequired[Chosen | None]
    heard: NotRequired[bool]
    asked: NotRequired[list[str]]
    dropped: NotRequired[Dropped | None]


def pattern_of(request: Request) -> str:
    """The pattern that a request is worked on by: its own, or the one that was chosen for it."""
    chosen = request.get("chosen")
    return chosen["pattern"] if chosen else request["pattern"]
