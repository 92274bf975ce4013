"""A plan is data: what a planner may write (`PlanDraft`) and what flows and runs (`Plan`).

Leaves out: the check against real tools (`nodes/plan_check.py`) and the running (`nodes/executor.py`).
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from state.blank import Reason
from state.conditions import step_ids
from state.references import gather
from state.value import Value

Effect = Literal["read", "write"]
RESERVED = ("inputs", "item")
"""Step ids that always exist: the caller's inputs, and the current item inside a map step."""
_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


class Fallback(TypedDict, total=False):
    """What stands in when a step fails or is late: another call, or a fixed value."""

    tool: str
    args: dict[str, Any]
    value: Any


class Step(TypedDict):
    """One step of a plan. `version` is the plan version that wrote it; `timeout` is in seconds.

    `again` stands only on a step that a turn asked for: why an equal write that is done is made once more, or nothing.
    Steps of threads that were kept from before have no `measures`.
    """

    id: str
    tool: str
    args: dict[str, Any]
    after: list[str]
    why: str
    produces: str
    accept: list[str]
    criteria: list[str]
    timeout: float | None
    retries: int | None
    on_failure: Literal["block", "fallback", "ask"]
    fallback: Fallback | None
    each: str | None
    when: str | None
    rests_on: list[str]
    measures: NotRequired[dict[str, str]]
    critical: bool
    effect: Effect
    version: int
    again: NotRequired[str]


class Change(TypedDict):
    """How a plan version differs from the one before; each list holds step ids."""

    kept: list[str]
    changed: list[str]
    added: list[str]
    dropped: list[str]


class Plan(TypedDict):
    """One version of a plan, in an order in which needs come first; `by` names who wrote it.

    `change` is empty for the first version.

    `untrusted` names for each write the arguments that untrusted outputs reach, and the steps those come from.
    `value` is what the plan was worth when it was written. `other_goal` stands only on a version whose planner named
    another goal than the one before had, which stays.
    """

    version: int
    goal: str
    constraints: list[str]
    steps: list[Step]
    reason: str
    by: str
    change: Change
    untrusted: dict[str, dict[str, list[str]]]
    value: Value | None
    other_goal: NotRequired[str]


class FallbackDraft(BaseModel):
    """Another tool call, or a fixed value, that stands in when the step fails or is late."""

    model_config = ConfigDict(extra="forbid")

    tool: str | None = None
    args: dict[str, Any] = Field(default_factory=dict)
    value: Any = None


class StepDraft(BaseModel):
    """One step as a planner, a user or a file writes it."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    id: str
    """Short unique name: letters, digits, _ and -, starting with a letter."""
    tool: str
    """Name of one of the listed tools."""
    args: dict[str, Any] = Field(default_factory=dict)
    """Arguments for the tool. ${steps.ID} or ${steps.ID.path} stands for an earlier step's result."""
    after: list[str] = Field(default_factory=list)
    """Ids of steps that must be finished first although no argument refers to them."""
    why: str = ""
    """One short reason."""
    produces: str = ""
    """What the result is."""
    accept: list[str] = Field(default_factory=list)
    """Conditions on the result that code can decide, such as: output > 0, len(output) >= 3, confidence >= 0.8,
    output <= steps.inputs.limit."""
    criteria: list[str] = Field(default_factory=list)
    """Conditions on the result in words, for what code can't decide."""
    timeout: float | None = Field(default=None, gt=0)
    """Seconds after which the step counts as failed."""
    retries: int | None = Field(default=None, ge=0, le=10)
    """How often this step may be tried again."""
    on_failure: Literal["block", "fallback", "ask"] = "block"
    """What happens when it fails: what depends on it is blocked, the fallback stands in, or a person is asked."""
    fallback: FallbackDraft | None = None
    """What stands in when on_failure is fallback."""
    each: str | None = None
    """A reference to a list: the step runs once for every item, which its arguments call ${steps.item}."""
    when: str | None = None
    """Run only if this condition on earlier results or inputs holds, such as: steps.s1.rows > steps.inputs.limit."""
    rests_on: list[str] = Field(default_factory=list)
    """For a step that changes something: ids of earlier look-ups whose results must still be the same when it runs."""
    measures: dict[str, str] = Field(default_factory=dict)
    """Quantities that the result gives, by name, each with where it stands in the result: {"funding": "amount"}.

    Where two steps give the same quantity, their numbers are compared."""
    critical: bool = False
    """Whether the result should be looked at before going on."""


class QuestionDraft(BaseModel):
    """One thing that only a person knows."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    name: str
    """Short name of the input that the answer becomes."""
    question: str
    """What the person is asked."""
    type: Literal["string", "number", "integer", "boolean", "array"] = "string"
    """The type of the answer."""


class PlanDraft(BaseModel):
    """A plan as a planner writes it."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    goal: str = ""
    """What will be true when the plan is done."""
    steps: list[StepDraft] = Field(default_factory=list)
    """The steps; independent ones run at the same time."""
    impossible: Reason = None
    """Only if the task can't be done with the listed tools: why."""
    questions: list[QuestionDraft] = Field(default_factory=list)
    """Only if a value is missing that only the user knows, and then no steps: what to ask."""


def empty_change() -> Change:
    """The difference of a first version."""
    return {"kept": [], "changed": [], "added": [], "dropped": []}


def calls_of(step: Step) -> list[tuple[str, dict[str, Any]]]:
    """The calls a step may make, as (tool, arguments): its own, then its fallback's."""
    fallback = step["fallback"] or {}
    return [
        (step["tool"], step["args"]),
        *([(fallback["tool"], fallback.get("args", {}))] if "tool" in fallback else []),
    ]


def needs(step: Step) -> list[str]:
    """Ids of the steps whose results this one waits for, in order of mention, without the reserved ones."""
    named = dict.fromkeys((*step["after"], *step["rests_on"]))
    gather(step["args"], named)
    gather(step["each"], named)
    if step["when"]:
        named |= dict.fromkeys(step_ids(step["when"]))
    if step["fallback"]:
        gather(step["fallback"].get("args"), named)
    return [name for name in named if name not in RESERVED]


def ordered(steps: Iterable[Step]) -> list[Step]:
    """Steps in topological order, stable in plan order; raises `graphlib.CycleError` on a cycle."""
    by_id = {step["id"]: step for step in steps}
    sorter = TopologicalSorter({i: [n for n in needs(s) if n in by_id] for i, s in by_id.items()})
    sorter.prepare()
    rank, done = {i: n for n, i in enumerate(by_id)}, []
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=rank.__getitem__)
        done += [by_id[i] for i in ready]
        sorter.done(*ready)
    return done


def in_order(steps: Sequence[Step]) -> list[Step]:
    """Steps in topological order; as they are where there is none, which the check of the plan will say."""
    try:
        return ordered(steps)
    except CycleError:
        return list(steps)


def canonical(value: Any) -> str:
    """One text for one JSON value: sorted keys, no spaces, characters unescaped."""
    return _CANONICAL.encode(value)


def digest(value: Any) -> str:
    """A short stable fingerprint of a JSON value."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def step_hash(step: Step) -> str:
    """The fingerprint of what a step does; two steps with the same id but other content differ."""
    return digest({key: value for key, value in step.items() if key not in ("why", "produces", "version", "again")})
