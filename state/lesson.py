"""What earlier runs learned: problem, cause and strategy, when it is used, for whom, how long, and how it did."""

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from state.errors import shorten
from state.plan import digest
from state.stop import Stop, StopReason

Status = Literal["draft", "approved", "off"]
"""A draft waits for a person; only what is approved is ever shown to a model; off stays off until a person says on."""
Outcome = Literal["helped", "did not help", "open", "learned", "drafted"]
"""What came of a lesson in a run; open where the end says nothing about it."""
LOSES_AT = 3
"""A lesson that failed to help so many times more than it helped is put off."""
_LONGEST = 500
_RUNS_KEPT = 50
_MOST_INTENTS, LONGEST_INTENT = 50, 1000
_SAYS_NOTHING = {StopReason.MODEL_FAILED, StopReason.REJECTED, StopReason.UNVERIFIED, StopReason.PLANNED}
"""Ends that are no fault and no merit of a lesson."""


class Trigger(TypedDict):
    """When a lesson is used: what was wanted (any of these), what went wrong, and in which step."""

    intents: list[str]
    error: str
    step: str


class Scope(TypedDict):
    """For whom a lesson is: empty is everybody; the run must have every one of the tools, and one of the tags."""

    tenant: str
    thread: str
    pattern: str
    tools: list[str]
    tags: list[str]


class Origin(TypedDict):
    """Where a lesson came from: runs, and the attempt whose reflection it is; 0 where it was drafted from failures."""

    runs: list[str]
    pattern: str
    attempt: int


@with_config(ConfigDict(strict=True, allow_inf_nan=False))
class Lesson(TypedDict):
    """Problem, root cause and strategy; `created` and `expires` are seconds since the epoch, None is never.

    `helped` and `missed` are the runs that were told it and passed or failed, newest last.
    """

    id: str
    problem: str
    cause: str
    strategy: str
    trigger: Trigger
    scope: Scope
    origin: Origin
    status: Status
    note: str
    created: float
    expires: float | None
    helped: list[str]
    missed: list[str]
    helps: int
    misses: int


class ToldLesson(TypedDict):
    """A lesson that a run was told: how well it fitted, who was told, and what came of it."""

    id: str
    problem: str
    cause: str
    strategy: str
    score: float
    roles: list[str]
    outcome: Outcome


DRAFT_OFF = "put off by a person before it was approved"
"""The note of a lesson that is a draft again when it is put on again."""


def new_lesson(words: tuple[str, str, str], trigger: Trigger, scope: Scope, origin: Origin, now: float) -> Lesson:
    """A draft; `words` are problem, cause and strategy. The same one gets the same id again.

    One that was drafted from failures is the same for the same failure, whoever words it.
    """
    problem, cause, strategy = (shorten(text.strip(), _LONGEST) for text in words)
    content = [trigger, strategy] if origin["attempt"] else [trigger["error"], trigger["step"]]
    return {
        "id": f"l{digest([scope['tenant'], *content])[:8]}",
        "problem": problem, "cause": cause, "strategy": strategy, "trigger": trigger, "scope": scope,
        "origin": origin, "status": "draft", "note": "", "created": now, "expires": None, "helped": [], "missed": [],
        "helps": 0, "misses": 0,
    }  # fmt: skip


_FORM = TypeAdapter(Lesson)


def lesson_in(kept: Any) -> Lesson | None:
    """The lesson that a store holds, as short as lessons are; None for what is none, whoever put it there."""
    try:
        return bounded(_FORM.validate_python(kept))
    except ValidationError:
        return None


def bounded(lesson: Lesson) -> Lesson:
    """The lesson with every text as short as it is kept and told."""
    trigger, words = lesson["trigger"], ("problem", "cause", "strategy", "note")
    short: Trigger = {
        "intents": [shorten(text, LONGEST_INTENT) for text in trigger["intents"][:_MOST_INTENTS]],
        "error": shorten(trigger["error"], _LONGEST), "step": shorten(trigger["step"], _LONGEST),
    }  # fmt: skip
    return {**lesson, "trigger": short, **{name: shorten(lesson[name], _LONGEST) for name in words}}  # type: ignore[literal-required, typeddict-item]


def is_live(lesson: Lesson, now: float) -> bool:
    """Whether it may be used."""
    return lesson["status"] == "approved" and not is_expired(lesson, now)


def is_expired(lesson: Lesson, now: float) -> bool:
    """Whether its time is over."""
    return lesson["expires"] is not None and lesson["expires"] <= now


def is_for(lesson: Lesson, who: Scope) -> bool:
    """Whether a lesson is for this run; `who` has its tenant, thread, pattern, tools and tags."""
    scope = lesson["scope"]
    bound = all(scope[name] in ("", who[name]) for name in ("thread", "pattern"))
    tagged = not scope["tags"] or bool(set(scope["tags"]) & set(who["tags"]))
    return bound and tagged and scope["tenant"] == who["tenant"] and set(scope["tools"]) <= set(who["tools"])


def outcome_of(ended: Stop) -> Outcome:
    """What the end of a run says about the lessons it was told."""
    if ended["kind"] == "pause" or ended["reason"] in _SAYS_NOTHING:
        return "open"
    return "helped" if ended["kind"] == "success" else "did not help"


def booked(lesson: Lesson, run: str, outcome: Outcome, expires: float | None) -> Lesson:
    """The lesson with what came of it in a run, each run once; one that helped lasts anew, one that loses is off."""
    if outcome not in ("helped", "did not help") or run in (*lesson["helped"], *lesson["missed"]):
        return lesson
    if outcome == "helped":
        helped = [*lesson["helped"], run][-_RUNS_KEPT:]
        later = None if expires is None or lesson["expires"] is None else max(expires, lesson["expires"])
        return {**lesson, "helped": helped, "helps": lesson["helps"] + 1, "expires": later}
    helps, misses = lesson["helps"], lesson["misses"] + 1
    missed: Lesson = {**lesson, "missed": [*lesson["missed"], run][-_RUNS_KEPT:], "misses": misses}
    if misses - helps < LOSES_AT:
        return missed
    return {
        **missed,
        "status": "off",
        "note": f"put off by itself: told in {misses + helps} runs, it helped in {helps}",
    }


def turned(lesson: Lesson, status: Status, expires: float | None, strategy: str = "") -> Lesson:
    """The lesson as a person wants it; one that is approved, or on again, lasts anew and is counted anew."""
    if status == "off":
        return {**lesson, "status": status, "note": DRAFT_OFF if lesson["status"] == "draft" else "put off by a person"}
    if lesson["note"] == DRAFT_OFF and lesson["status"] == "off":
        return {**lesson, "status": "draft", "note": ""}
    words = shorten(strategy.strip(), _LONGEST) or lesson["strategy"]
    fresh: Lesson = {**lesson, "status": status, "note": "", "strategy": words}
    return {**fresh, "expires": expires, "misses": 0}


def ended_lessons(told: Iterable[ToldLesson], ended: Stop) -> list[ToldLesson]:
    """What a run was told, with what came of it."""
    return [{**one, "outcome": outcome_of(ended)} for one in told]
