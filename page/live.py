"""Follows a run: patches for its page, from now until nothing goes on any more."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import APIError

from page.odd import OddState, readable
from page.seen import Seen
from page.server import read_thread

CALM, QUIET = 0.15, 2.0
"""Seconds to gather what happens at once; seconds without a word after which the thread is read again."""
_END: Any = object()


async def follow(api: LangGraphClient, seen: Seen, first: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """Patches as things happen, `first` before them; an empty one is a sign of life.

    The last one says that nothing goes on, or why what the thread holds can't be shown any more.
    """
    yield first
    try:
        async for patch in _patches(api, seen):
            yield patch
        yield {"over": True}
    except OddState as error:
        yield {"odd": str(error)}


async def _patches(api: LangGraphClient, seen: Seen) -> AsyncIterator[dict[str, Any]]:
    name = seen.thread.thread["thread_id"]
    while (run := seen.thread.active) is not None:
        async for _ in _parts(api, name, run["run_id"], seen):
            yield _patch(seen)
        now = await read_thread(api, name)
        with readable():
            seen.reread(now)
        yield _patch(seen)


def _patch(seen: Seen) -> dict[str, Any]:
    with readable():
        return seen.patch()


async def _parts(api: LangGraphClient, thread: str, run: str, seen: Seen) -> AsyncIterator[None]:
    """Shows the run's stream from its beginning, and what the thread holds where the stream says nothing."""
    queue: asyncio.Queue[Any] = asyncio.Queue()
    reading = asyncio.create_task(_read(api, thread, run, queue))
    try:
        while True:
            parts = await _gathered(queue)
            for part in parts:
                if part is _END:
                    return
                with readable():
                    seen.see(*part)
            if not parts:
                now = await read_thread(api, thread)
                with readable():
                    seen.fill(now)
            yield
    finally:
        reading.cancel()


async def _gathered(queue: asyncio.Queue[Any]) -> list[Any]:
    """What comes at about the same time, in order; nothing if nothing comes for a while."""
    try:
        async with asyncio.timeout(QUIET):
            parts = [await queue.get()]
    except TimeoutError:
        return []
    await asyncio.sleep(CALM)
    while not queue.empty():
        parts.append(queue.get_nowait())
    return parts


async def _read(api: LangGraphClient, thread: str, run: str, queue: asyncio.Queue[Any]) -> None:
    """Puts every part of the run's stream into the queue, from the first on where the server kept them."""
    try:
        async for part in api.runs.join_stream(thread, run, last_event_id="-1"):
            queue.put_nowait((part.event, part.data))
    except APIError as error:
        queue.put_nowait(("error", {"message": str(error)}))
    finally:
        queue.put_nowait(_END)
