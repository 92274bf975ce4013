"""What time it is for a run: the machine's time, or in a replay the time of what was recorded last."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_recorded: ContextVar[Callable[[], float] | None] = ContextVar("forethought_recorded_time", default=None)


def now() -> float:
    """Seconds since the epoch."""
    recorded = _recorded.get()
    return time.time() if recorded is None else recorded()


def ticks() -> float:
    """Seconds on a clock that nobody sets, to measure spans with."""
    recorded = _recorded.get()
    return time.monotonic() if recorded is None else recorded()


@contextmanager
def recorded_time(tell: Callable[[], float]) -> Iterator[None]:
    """Within it, and in every task that is begun in it, it is the time that `tell` tells."""
    token = _recorded.set(tell)
    try:
        yield
    finally:
        _recorded.reset(token)
