"""One private event loop in a daemon thread: the sync side of every graph runs its async side here.

Leaves out: a *foreign* sync graph that is called directly in an async node blocks this loop like any blocking code.
"""

import asyncio
import atexit
import os
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import Context as Variables
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, TypeVar

from state.errors import SetupError

T = TypeVar("T")
GRACE = 5.0
"""Seconds that cancelled work gets to finish after Ctrl-C."""
WORKERS = 128
"""Most threads for blocking work, made on demand; a sync tool that runs a graph holds one, its own tools need more."""
_END: Any = object()
_waiting: ContextVar[tuple[asyncio.AbstractEventLoop, ...]] = ContextVar("forethought_waiting_loops", default=())
_lock = threading.Lock()
_shared: "LoopThread | None" = None
_parents: list["LoopThread | None"] = []


class LoopThread:
    """An event loop that runs in a daemon thread until the interpreter ends."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.loop.set_default_executor(ThreadPoolExecutor(WORKERS, thread_name_prefix="forethought-work"))
        self.thread = threading.Thread(target=self._serve, name="forethought-loop", daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        while True:
            try:
                self.loop.run_forever()
                break
            except (KeyboardInterrupt, SystemExit):
                continue  # asyncio lets these out of the loop as well; the task has handed them to its caller
        self.loop.close()

    def wait(self, work: Callable[[], Coroutine[Any, Any, T]], variables: Variables) -> T:
        """Runs the work here and blocks the calling thread for it; Ctrl-C cancels the work."""
        refuse(self.loop)
        outcome: Future[T] = Future()
        tasks: list[asyncio.Task[T]] = []
        try:  # the work may have begun before this thread comes to wait for it
            self.loop.call_soon_threadsafe(self._begin, work, variables, outcome, tasks)
            return outcome.result()
        finally:
            if not outcome.done():  # it is this thread that was interrupted
                self.loop.call_soon_threadsafe(_give_up, outcome, tasks)
                wait([outcome], GRACE)

    def _begin(
        self,
        work: Callable[[], Coroutine[Any, Any, T]],
        variables: Variables,
        outcome: Future[T],
        tasks: list[asyncio.Task[T]],
    ) -> None:
        async def body() -> T:
            return await work()

        tasks.append(self.loop.create_task(body(), context=variables))
        tasks[0].add_done_callback(partial(_hand_over, outcome))

    async def _quit(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1)
        self.loop.stop()

    def stop(self) -> None:
        """Cancels what still runs and ends the thread."""
        asyncio.run_coroutine_threadsafe(self._quit(), self.loop)
        self.thread.join(2)


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs async work on the private loop and waits for it, with the caller's context variables."""
    return _home().wait(work, _variables())


def walk(iterate: Callable[[], AsyncGenerator[T, None]]) -> Iterator[T]:
    """Iterates an async generator step by step on the private loop; leaving early closes it."""
    # One set of variables for all steps, so that the generator can reset in one step what it set in another.
    home, variables = _home(), _variables()
    items = iterate()
    try:
        while (item := _step(home, items, variables)) is not _END:
            yield item
    finally:
        _leave(home, items, variables)


def _step(home: LoopThread, items: AsyncGenerator[T, None], variables: Variables) -> T:
    async def step() -> T:
        return await anext(items, _END)

    return home.wait(step, variables)


def _leave(home: LoopThread, items: Any, variables: Variables) -> None:
    if items.ag_running or not home.loop.is_running():
        return
    if _running() is home.loop:  # the garbage collector may close a forgotten stream in any thread
        home.loop.create_task(items.aclose())
    else:
        home.wait(items.aclose, variables)


def refuse(loop: asyncio.AbstractEventLoop) -> None:
    """A sync call from the loop that would have to do the work can never end."""
    if _running() is loop:
        raise SetupError("a sync call blocks the event loop that runs the graph; use `await graph.ainvoke(...)` there")


def waits_for_us(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether that loop is blocked by the sync call that this work belongs to."""
    return loop in _waiting.get()


def _give_up(outcome: Future[Any], tasks: list[asyncio.Task[Any]]) -> None:
    if tasks:
        tasks[0].cancel()
    else:  # interrupted before the work was handed over
        outcome.set_exception(asyncio.CancelledError())


def _hand_over(outcome: Future[T], task: asyncio.Task[T]) -> None:
    if task.cancelled():
        outcome.set_exception(asyncio.CancelledError())
    elif error := task.exception():
        outcome.set_exception(error)
    else:
        outcome.set_result(task.result())


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _variables() -> Variables:
    variables = copy_context()
    if blocked := _running():
        variables.run(_waiting.set, (*_waiting.get(), blocked))
    return variables


def _home() -> LoopThread:
    global _shared
    with _lock:
        if _shared is None:
            _shared = LoopThread()
        return _shared


def _forget() -> None:
    """Threads don't survive a fork: the child makes its own, and never closes the parent's loop."""
    global _shared, _lock
    _parents.append(_shared)
    _shared, _lock = None, threading.Lock()


@atexit.register
def _stop() -> None:
    if _shared is not None:
        _shared.stop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
