"""What a process has worked out of the records of a run, so that no turn works it out again.

A record is never changed in place: the same one gives the same. It lasts as long as one call of a graph; after a
resume, or in a fork, nothing is there yet. Leaves out everything that a run can't do without.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from langgraph.config import get_config

T = TypeVar("T")
MEMO = "__pregel_forethought"
"""Its place in the config of a call; LangGraph neither stores nor shows keys that begin like this."""


class Memo:
    """Holds the records too, so that the ids by which it knows them stay theirs."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Any, ...], tuple[tuple[Any, ...], Any]] = {}

    def of(self, make: Callable[..., T], *records: Any) -> T:
        """What `make` gives for these records; without any it is one thing for the whole call."""
        key = (make, *map(id, records))
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = records, make(*records)
        made: T = found[1]
        return made

    def clear(self) -> None:
        """The call is over: what LangGraph still holds of it until memory is swept shall not hold this."""
        self._kept.clear()


def memo_of_call() -> Memo:
    """That of the call that runs; a node that is run by hand has one of its own."""
    return get_config().get("configurable", {}).get(MEMO) or Memo()
