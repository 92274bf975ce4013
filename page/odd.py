"""A state that no run wrote, as any client of the server may put one into a thread: it is said in one line."""

from collections.abc import Iterator
from contextlib import contextmanager

from state.errors import ForethoughtError, shorten


class OddState(ForethoughtError):
    """What a thread holds is not what a run writes."""


@contextmanager
def readable() -> Iterator[None]:
    """Around code that reads only what a thread holds: where that can't be read, it raises `OddState`."""
    try:
        yield
    except OddState:
        raise
    except (ForethoughtError, LookupError, TypeError, ValueError, AttributeError) as error:
        said = f"{type(error).__name__}: {shorten(str(error))}"
        raise OddState(f"this run's state can't be shown: it holds what no run writes ({said})") from error
