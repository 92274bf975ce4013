"""Who hears the pieces of a reply while it comes: whoever asks says so, the endpoint looks here."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from nodes.wire.assembly import Piece


class Hearer(Protocol):
    """Hears replies; what it has heard of one that failed is followed by the beginning of the next."""

    def begin(self) -> None:
        """A reply is asked for."""

    def hear(self, piece: Piece) -> None:
        """A piece of it has come."""


_hearer: ContextVar[Hearer | None] = ContextVar("forethought_hearer", default=None)


@contextmanager
def heard_by(hearer: Hearer | None) -> Iterator[None]:
    """Inside, this one hears what comes, and nobody else does."""
    if hearer:
        hearer.begin()
    before = _hearer.set(hearer)
    try:
        yield
    finally:
        _hearer.reset(before)


def hearer() -> Hearer | None:
    """Who hears the reply that is asked for here, if anybody does."""
    return _hearer.get()
