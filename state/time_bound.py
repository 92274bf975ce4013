"""A bound of time for work that data from outside may make endless: conditions of a plan, schemas of a tool.

Python can't stop such work from outside, so the work looks at the clock itself: that of its thread's processor time,
since a busy or sleeping machine says nothing about the work. What stands inside is sync, and stays in its thread.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

PAUSE = 0.05
"""Seconds that count at most between two looks: in between, Python may sweep the memory of the whole process."""


class TookTooLong(ValueError):
    """The work has not come to its end in its time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"it takes more than {seconds:g} s")


@dataclass
class _Bound:
    """How many seconds are left, how many there were, and when the work last looked."""

    left: float
    seconds: float
    looked: float


_bound: ContextVar[_Bound | None] = ContextVar("forethought_time_bound", default=None)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Work inside ends with `TookTooLong` after so many seconds of processor time; the shorter of two bounds counts."""
    outer = _bound.get()
    if outer and outer.left <= seconds:
        yield
        return
    inner = _Bound(seconds, seconds, time.thread_time())
    token = _bound.set(inner)
    try:
        yield
    finally:
        _bound.reset(token)
        if outer:
            outer.left, outer.looked = outer.left - (seconds - inner.left), time.thread_time()


def look_at_clock() -> None:
    """Raises `TookTooLong` where the time is over."""
    bound = _bound.get()
    if bound is None:
        return
    now = time.thread_time()
    bound.left -= min(now - bound.looked, PAUSE)
    bound.looked = now
    if bound.left < 0:
        raise TookTooLong(bound.seconds)
