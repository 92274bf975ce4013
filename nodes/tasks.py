"""LangGraph tasks: each finished one is stored at once; a resumed run takes its result and does not run it again."""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeVar

from langgraph.func import task

T = TypeVar("T")
_body: ContextVar[Callable[[], Awaitable[Any]]] = ContextVar("forethought_task_body")


async def step() -> Any:
    """What a step runs as: LangGraph keeps what it finds out about a module's function, and asks anew about others."""
    return await _body.get()()


def start_step(body: Callable[[], Awaitable[T]]) -> asyncio.Future[T]:
    """Calls a task now that has one name with all other steps: every checkpoint holds every name that there was."""
    token = _body.set(body)
    try:
        future: asyncio.Future[T] = _step()  # it takes the context as it is now
    finally:
        _body.reset(token)
    return future


def start_task(name: str, body: Callable[[], Awaitable[T]]) -> asyncio.Future[T]:
    """Calls a task now; LangGraph knows it again by its name and the order of calls, so that order must be stable."""
    call: Any = task(name=name)(body)  # type: ignore[arg-type]
    future: asyncio.Future[T] = call()
    return future


_step: Any = task(step)
