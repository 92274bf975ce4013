"""Circuit breakers: a tool that fails again and again is taken out for a while, then tried once and brought back.

One breaker a tool in this process, kept only while something is wrong, so that a healthy tool costs a look into an
empty dict. Our own, since purgatory and pybreaker measure the rest by the wall clock or let every waiting call through
at once when the rest is over. Leaves out: the events, and when a tool is probed (`nodes/health.py`).
"""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Literal

from state.errors import ToolFailed, shorten
from state.result import FailureClass
from tools.bounded import asked
from tools.tool import Tool

COUNTED: frozenset[FailureClass] = frozenset({"transient", "timeout", "rate_limit", "auth"})
"""Failures that say that the service is not well."""
ANSWERED: frozenset[FailureClass] = frozenset({"not_found", "bad_request"})
"""Failures that say that the service works; any other is about this one call and says neither."""
_MOST = 256
_LONGEST_PROBE = 5.0
Health = Literal["in", "out", "due"]
"""due: its rest is over, and the next call or its probe decides."""


@dataclass
class Breaker:
    """What is known of one tool that failed; times are those of a clock that is never set."""

    of: Any
    """Held so that the identity of what the tool was made of is not given to another."""
    failures: int = 0
    why: str = ""
    until: float | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held by the one call that tries it when its rest is over."""

    def health(self) -> Health:
        """How it stands at this moment."""
        if self.until is None:
            return "in"
        return "due" if time.monotonic() >= self.until else "out"

    def words(self, name: str) -> str:
        """Why it is out, and for how long."""
        left = max(0.0, (self.until or 0.0) - time.monotonic())
        return (
            f"{name} is taken out after {self.failures} failures in a row (the last: {self.why}); "
            f"it is tried again in {left:.0f} s"
        )


_breakers: OrderedDict[tuple[Any, ...], Breaker] = OrderedDict()


def breaker_of(tool: Tool) -> Breaker | None:
    """The breaker of a tool that failed lately, or None for one that is well."""
    return _breakers.get(_key(tool)) if _breakers else None


def health(tool: Tool) -> Health:
    """Whether a tool may be called: in, out, or due to be tried."""
    breaker = breaker_of(tool)
    return breaker.health() if breaker else "in"


def saw_failure(tool: Tool, cls: FailureClass, message: str, threshold: int, seconds: float) -> Breaker | None:
    """Counts a failure; gives the breaker if the tool is taken out by it, for the first time or again."""
    if cls not in COUNTED or not threshold or not tool.one_service:
        return None
    breaker = _breakers.setdefault(_key(tool), Breaker(_origin(tool)))
    _breakers.move_to_end(_key(tool))
    while len(_breakers) > _MOST:
        _breakers.popitem(last=False)
    stood = breaker.health()
    breaker.failures += 1
    breaker.why = f"{cls}: {shorten(message, 200)}"
    if breaker.failures < threshold or stood == "out":
        return None
    breaker.until = time.monotonic() + seconds
    return breaker


def saw_answer(tool: Tool) -> bool:
    """A tool's service answered; whether it had been out and is back."""
    breaker = _breakers.pop(_key(tool), None) if _breakers else None
    if breaker is None or breaker.until is None:
        return False
    breaker.until = None  # for those who wait for what its try shows
    return True


async def probe(tool: Tool) -> str:
    """Why a tool says that it is not well; empty when it is, or has no probe."""
    if tool.probe is None:
        return ""
    seconds = min(tool.timeout, _LONGEST_PROBE)
    try:
        return str(await asked(tool.probe, seconds=seconds) or "")
    except Exception as error:
        return shorten(str(error) if isinstance(error, ToolFailed) else f"{type(error).__name__}: {error}", 200)


def forget() -> None:
    """Every tool counts as well again."""
    _breakers.clear()


def _origin(tool: Tool) -> Any:
    return tool.run if tool.source is None else tool.source


def _key(tool: Tool) -> tuple[Any, ...]:
    """Name and origin; a method's is its object and its function, since each look-up makes the method anew."""
    origin = _origin(tool)
    owner = getattr(origin, "__self__", None)
    return tool.name, id(owner), id(getattr(origin, "__func__", origin))
