"""A bound of time for work that data from outside may make endless: conditions of a plan, schemas of a tool.

Python can't stop such work from outside, so the work looks at the clock itself: that of its thread's processor time,
since a busy or sleeping machine says nothing about the work. What stands inside is sync, and stays in its thread.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_until: ContextVar[tuple[float, float]] = ContextVar("forethought_time_bound", default=(float("inf"), 0.0))
"""When it ends, and after how many seconds that is."""


class TookTooLong(ValueError):
    """The work has not come to its end in its time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"it takes more than {seconds:g} s")


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Work inside ends with `TookTooLong` after so many seconds of processor time; the shorter of two bounds counts."""
    token = _until.set(min(_until.get(), (time.thread_time() + seconds, seconds)))
    try:
        yield
    finally:
        _until.reset(token)


def look_at_clock() -> None:
    """Raises `TookTooLong` where the time is over."""
    end, seconds = _until.get()
    if time.thread_time() > end:
        raise TookTooLong(seconds)
