"""The log of a run: one record for everything that mattered."""

import time
from typing import Any

from typing_extensions import TypedDict

from state.plain import clean_text


class Event(TypedDict):
    """One thing that happened; `time` is seconds since the epoch, `step` is empty for the run as a whole."""

    run: str
    plan_version: int
    event: str
    step: str
    reason: str
    evidence: list[Any]
    next: str
    time: float


def event_record(
    run: str, event: str, *, plan_version: int = 0, step: str = "", reason: str = "",
    evidence: list[Any] | None = None, next: str = "",
) -> Event:  # fmt: skip
    """An event that happens now."""
    return {
        "run": run, "plan_version": plan_version, "event": event, "step": step, "reason": clean_text(reason),
        "evidence": evidence or [], "next": next, "time": time.time(),
    }  # fmt: skip
