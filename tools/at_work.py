"""Which writes this process is still at, also after their time-out: a thread can't be ended from outside.

What such a write comes to when nobody waits for it any more is told to whoever keeps it.
"""

import inspect
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from anyio import CapacityLimiter, to_thread

Tell = Callable[[Any, BaseException | None], None]
"""Takes what work came to: its output, or what it raised."""


class Left:
    """One piece of work that may be left: what it comes to is told if nobody waits for it any more, and once."""

    def __init__(self, tell: Tell) -> None:
        self._tell, self._lock = tell, threading.Lock()
        self._is_left = False
        self._came: tuple[Any, BaseException | None] | None = None

    def leave(self) -> None:
        """Nobody waits any more; what it has come to in this very moment is told."""
        with self._lock:
            self._is_left, came = True, self._came
        if came:
            self._tell(*came)

    def came(self, output: Any, error: BaseException | None = None) -> None:
        """It has ended."""
        with self._lock:
            self._came, is_left = (output, error), self._is_left
        if is_left:
            self._tell(output, error)


_key: ContextVar[str] = ContextVar("at_work", default="")
_left: ContextVar[Left | None] = ContextVar("left", default=None)
_working: Counter[str] = Counter()
_claiming: Counter[str] = Counter()
_lock = threading.Lock()


def is_at_work(key: str) -> bool:
    """Whether anything in this process still works at that write."""
    with _lock:
        return _working[key] > 0


def is_under_way(key: str) -> bool:
    """The same, or whether a run of this process is claiming it, is about to begin it, or keeps its result."""
    with _lock:
        return _working[key] + _claiming[key] > 0


@contextmanager
def under_way(key: str) -> Iterator[None]:
    """From before the claim until the result is kept, for as long as the run lasts."""
    with _counted(_claiming, key):
        yield


@contextmanager
def at_work(key: str, left: Left | None = None) -> Iterator[None]:
    """For as long as the block runs, whoever has given up waiting for it; what it comes to is for `left`."""
    if not key:
        yield
        return
    token, token_left = _key.set(key), _left.set(left)
    try:
        with _counted(_working, key):
            yield
    finally:
        _key.reset(token)
        _left.reset(token_left)


@contextmanager
def _counted(counter: Counter[str], key: str) -> Iterator[None]:
    with _lock:
        counter[key] += 1
    try:
        yield
    finally:
        with _lock:
            counter[key] -= 1
            if not counter[key]:
                del counter[key]


async def in_thread(call: Callable[[], Any]) -> Any:
    """Runs a plain function in a daemon thread, so that one which hangs holds up neither the loop nor the end."""
    own = CapacityLimiter(1)  # how many steps run at once is the executor's to say
    key, left = _key.get(), _left.get()

    def counted() -> Any:
        with at_work(key):
            return _heard(call, left)

    return await to_thread.run_sync(counted, abandon_on_cancel=True, limiter=own)


def _heard(call: Callable[[], Any], left: Left | None) -> Any:
    try:
        output = call()
    except BaseException as error:
        if left:
            left.came(None, error)
        raise
    if left and not inspect.isawaitable(output):  # else it has only begun
        left.came(output)
    return output
