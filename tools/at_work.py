"""Which writes this process is still at, also after their time-out: a thread can't be ended from outside."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from anyio import CapacityLimiter, to_thread

_key: ContextVar[str] = ContextVar("at_work", default="")
_working: Counter[str] = Counter()
_lock = threading.Lock()


def is_at_work(key: str) -> bool:
    """Whether anything in this process still works at that write."""
    with _lock:
        return _working[key] > 0


@contextmanager
def at_work(key: str) -> Iterator[None]:
    """For as long as the block runs, whoever has given up waiting for it."""
    if not key:
        yield
        return
    token = _key.set(key)
    with _lock:
        _working[key] += 1
    try:
        yield
    finally:
        with _lock:
            _working[key] -= 1
        _key.reset(token)


async def in_thread(call: Callable[[], Any]) -> Any:
    """Runs a plain function in a daemon thread, so that one which hangs holds up neither the loop nor the end."""
    own = CapacityLimiter(1)  # how many steps run at once is the executor's to say
    key = _key.get()

    def counted() -> Any:
        with at_work(key):
            return call()

    return await to_thread.run_sync(counted, abandon_on_cancel=True, limiter=own)
