"""Whose turn it is at an endpoint, when more runs ask it at once than it gets requests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any


@asynccontextmanager
async def turn(model: Any, seconds: float | None) -> AsyncIterator[None]:
    """Waits for a place, first come, first served; raises `TimeoutError` after the seconds that the run has left.

    Waiting is no time of the model: the time-out of a call begins with its turn.
    """
    places = getattr(getattr(model, "bound", model), "places", None)
    if not isinstance(places, asyncio.Semaphore):
        async with nullcontext():
            yield
        return
    async with asyncio.timeout(seconds):
        await places.acquire()
    try:
        yield
    finally:
        places.release()
