"""LangGraph tasks: each finished one is stored at once; a resumed run takes its result and does not run it again."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from langgraph.func import task

T = TypeVar("T")


def start_task(name: str, body: Callable[[], Awaitable[T]]) -> asyncio.Future[T]:
    """Calls a task now; LangGraph knows it again by its name and the order of calls, so that order must be stable."""
    call: Any = task(name=name)(body)  # type: ignore[arg-type]
    future: asyncio.Future[T] = call()
    return future
