"""The channels of every graph, declared once. A node names the slice it reads and the keys it writes.

Growing channels are delta channels: only what is new is stored at each step. So is the request, which stays as it is.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from langgraph.channels.delta import DeltaChannel
from langgraph.channels.ephemeral_value import EphemeralValue
from typing_extensions import TypedDict

from state.asked import Answered, Asked
from state.draft import Draft
from state.events import Event
from state.lesson import ToldLesson
from state.messages import Message, converse
from state.plan import Plan
from state.report import Report
from state.request import Request
from state.result import Result
from state.stop import Stop
from state.thought import Thought
from state.usage import Usage
from state.value import Review
from state.verdict import Graded, Reflection, Verdict


def extend(state: list[Any], writes: Sequence[list[Any]]) -> list[Any]:
    """Appends every write to a list; one that begins as the list does is the list itself, edited by a person."""
    out = list(state)
    for write in writes:
        edited = out and len(write) >= len(out) and write[0] == out[0]
        out = list(write) if edited else [*out, *write]
    return out


def grow(state: list[Plan], writes: Sequence[list[Plan]]) -> list[Plan]:
    """Appends plan versions; one that is there already brings more steps, or is that version edited by a person."""
    out = list(state)
    for plan in (plan for write in writes for plan in write):
        place = next((place for place, one in enumerate(out) if one["version"] == plan["version"]), None)
        if place is None:
            out.append(plan)
        elif _ids(out[place]).isdisjoint(_ids(plan)):
            last = out[place]
            more = {"steps": [*last["steps"], *plan["steps"]], "untrusted": last["untrusted"] | plan["untrusted"]}
            out[place] = {**last, **more}  # type: ignore[call-overload]
        else:
            out[place] = plan
    return out


def _ids(plan: Plan) -> set[str]:
    return {step["id"] for step in plan["steps"]}


def revise(state: list[Draft], writes: Sequence[list[Draft]]) -> list[Draft]:
    """Appends drafts; one whose number is there already takes its place, with its review."""
    out = {draft["number"]: draft for draft in state}
    out.update((draft["number"], draft) for write in writes for draft in write)
    return list(out.values())


def merge(state: dict[str, Any], writes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Lays every write over a mapping."""
    out = dict(state)
    for write in writes:
        out.update(write)
    return out


def add_counts(state: dict[str, int] | None, write: dict[str, int]) -> dict[str, int]:
    """Adds counts key by key; `reset` starts anew."""
    if write.get("reset"):
        return {}
    state = state or {}
    return state | {key: state.get(key, 0) + value for key, value in write.items()}


SNAPSHOT = 1000
"""Writes after which a growing channel is stored whole: seldom, or the snapshots grow with the square of the run."""
Frozen = Annotated[Request, DeltaChannel(merge, dict)]
Plans = Annotated[list[Plan], DeltaChannel(grow, list, snapshot_frequency=SNAPSHOT)]
Results = Annotated[dict[str, Result], DeltaChannel(merge, dict, snapshot_frequency=SNAPSHOT)]
Events = Annotated[list[Event], DeltaChannel(extend, list, snapshot_frequency=SNAPSHOT)]
Reflections = Annotated[list[Reflection], DeltaChannel(extend, list)]
Thoughts = Annotated[list[Thought], DeltaChannel(extend, list, snapshot_frequency=SNAPSHOT)]
Drafts = Annotated[list[Draft], DeltaChannel(revise, list)]
Lessons = Annotated[dict[str, ToldLesson], DeltaChannel(merge, dict)]
Approvals = Annotated[dict[str, Answered], DeltaChannel(merge, dict, snapshot_frequency=SNAPSHOT)]
Counts = Annotated[dict[str, int], add_counts]
Messages = Annotated[list[Message], DeltaChannel(converse, list)]
Asks = list[Asked]
"""What a person is asked about the request as a whole: one plan, or what its planner lacks; steps hold their own."""


Task = Annotated[str, EphemeralValue]
Constraints = Annotated[Any, EphemeralValue]
Inputs = Annotated[Any, EphemeralValue]
"""What a caller hands in lasts until intake has frozen it into `request`, so that the next task inherits nothing."""


class Input(TypedDict, total=False):
    """What a caller hands in: the task in words, what must hold throughout, and values the task may use by name.

    A chat hands in messages in place of the task, which then is the last one.
    """

    task: Task
    constraints: Constraints
    inputs: Inputs
    messages: Messages


class State(TypedDict, total=False):
    """Everything a graph carries."""

    task: Task
    constraints: Constraints
    inputs: Inputs
    messages: Messages
    request: Frozen
    plans: Plans
    results: Results
    ask: Asked
    asks: Asks
    approvals: Approvals
    reflections: Reflections
    thoughts: Thoughts
    drafts: Drafts
    lessons: Lessons
    events: Events
    counts: Counts
    usage: Usage
    verdict: Verdict | None
    trouble: Stop | None
    stop: Stop | None
    answer: Any
    answered_by: str
    sources: dict[str, list[str]]
    best: Graded | None
    reviewed: Review | None
    report: Report | None
