"""A tool's work in a bound of time, off the loop, and what else it is asked: its key, look-up, undo, refusal, probe.

All of it may be plain or async. A plain function runs in a thread, so that one which waits holds up no other run.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from state.errors import ToolFailed, shorten
from tools.at_work import Left, in_thread

_LEAVE = 0.5
"""Seconds that cancelled work gets to end."""


class TimeIsOver(TimeoutError):
    """The bound of time is over; a `TimeoutError` of the tool's own is another thing."""


async def in_its_way(function: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """Awaits a coroutine function, and runs a plain one in a thread so that it can't stop the loop."""
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        return await function(*given, **named)
    result = await in_thread(partial(function, *given, **named))
    return await result if inspect.isawaitable(result) else result


async def asked(hook: Callable[..., Any], *given: Any, seconds: float) -> Any:
    """What a tool says when it is asked something besides its work; whatever goes wrong is an `Exception`."""
    try:
        return await bounded(in_its_way(hook, *given), seconds)
    except TimeIsOver as error:
        raise ToolFailed(f"it gave nothing within {seconds:.3g} s", "timeout") from error


async def bounded(work: Awaitable[Any], seconds: float, left: Left | None = None) -> Any:
    """What a tool's work gives in time; work that does not let itself be cancelled is left behind, to `left`.

    What it raises stays a failure of that tool, also a cancellation of its own or a SystemExit.
    """
    task = asyncio.ensure_future(_contained(work))
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # nobody asks one that is left
    try:
        await asyncio.wait({task}, timeout=seconds)
        if task.done():
            return task.result()
    finally:
        if not task.done():
            if left:
                asyncio.get_running_loop().run_in_executor(None, left.leave)  # which may have to write a file
            task.cancel()
            await asyncio.wait({task}, timeout=_LEAVE)
    raise TimeIsOver


async def _contained(work: Awaitable[Any]) -> Any:
    try:
        return await work
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():  # it is the run that is cancelled, or the time-out
            raise
        raise ToolFailed("the tool cancelled itself", "cancelled", nothing_happened=False) from error
    except Exception:
        raise
    except BaseException as error:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise ToolFailed(shorten(said), nothing_happened=False) from error
