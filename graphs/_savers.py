"""Savers and stores made usable from any loop: sync ones in a thread, loop-bound ones on their own loop.

They serve runs and state look-ups; deleting, copying and pruning threads is done on the saver itself.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import BaseStore, Op, Result
from langgraph.store.memory import InMemoryStore

from graphs._loop import waits_for_us
from state.errors import SetupError

T = TypeVar("T")


class ReachedSaver(BaseCheckpointSaver[Any]):
    """A saver whose async methods can be awaited in any loop."""

    def __init__(self, saver: BaseCheckpointSaver[Any]) -> None:
        super().__init__(serde=saver.serde)
        self.saver = saver

    @property
    def config_specs(self) -> list[Any]:
        """Those of the saver."""
        return self.saver.config_specs

    def get_next_version(self, current: Any, channel: None) -> Any:
        """As the saver numbers its versions."""
        return self.saver.get_next_version(current, channel)

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> "ReachedSaver":
        """The same with more types that may be read back."""
        return ReachedSaver(self.saver.with_allowlist(extra_allowlist))

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Passed on."""
        return self.saver.get_tuple(config)

    def list(self, config: RunnableConfig | None, **options: Any) -> Iterator[CheckpointTuple]:
        """Passed on."""
        return self.saver.list(config, **options)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Passed on."""
        return self.saver.put(config, checkpoint, metadata, new_versions)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Passed on."""
        self.saver.put_writes(config, writes, task_id, task_path)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Passed on."""
        return self.saver.get_delta_channel_history(config=config, channels=channels)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Passed on to where the saver can run."""
        return await reach(self.saver, partial(self.saver.aget_tuple, config), partial(self.saver.get_tuple, config))

    async def alist(self, config: RunnableConfig | None, **options: Any) -> AsyncIterator[CheckpointTuple]:
        """Passed on to where the saver can run; read to the end first, so that no cursor changes threads."""

        async def native() -> Sequence[CheckpointTuple]:
            return [found async for found in self.saver.alist(config, **options)]

        for found in await reach(self.saver, native, lambda: tuple(self.saver.list(config, **options))):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Passed on to where the saver can run."""
        what = (config, checkpoint, metadata, new_versions)
        return await reach(self.saver, partial(self.saver.aput, *what), partial(self.saver.put, *what))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Passed on to where the saver can run."""
        what = (config, writes, task_id, task_path)
        await reach(self.saver, partial(self.saver.aput_writes, *what), partial(self.saver.put_writes, *what))

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Passed on to where the saver can run."""
        native = partial(self.saver.aget_delta_channel_history, config=config, channels=channels)
        plain = partial(self.saver.get_delta_channel_history, config=config, channels=channels)
        return await reach(self.saver, native, plain)


class ReachedStore(BaseStore):
    """A store whose async methods can be awaited in any loop; all of them end in `abatch`."""

    def __init__(self, store: BaseStore) -> None:
        self.store = store
        self.supports_ttl, self.ttl_config = store.supports_ttl, store.ttl_config

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Passed on."""
        return self.store.batch(ops)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Passed on to where the store can run."""
        ops = list(ops)
        return await reach(self.store, partial(self.store.abatch, ops), partial(self.store.batch, ops))


def reach_saver(saver: BaseCheckpointSaver[Any]) -> BaseCheckpointSaver[Any]:
    """The saver itself if it can be awaited here, else a `ReachedSaver`."""
    return saver if _is_here(saver, InMemorySaver, ReachedSaver) else ReachedSaver(saver)


def reach_store(store: BaseStore) -> BaseStore:
    """The store itself if it can be awaited here, else a `ReachedStore`."""
    return store if _is_here(store, InMemoryStore, ReachedStore) else ReachedStore(store)


async def reach(owner: object, native: Callable[[], Awaitable[T]], plain: Callable[[], T]) -> T:
    """Awaits the native method on the owner's loop, or here if it has none; without a native one runs the plain one."""
    if (loop := _loop_of(owner)) is not None:
        return await _on(loop, owner, native)
    try:
        return await native()
    except NotImplementedError:  # how SqliteSaver and BaseCheckpointSaver say that they are sync
        return await _in_thread(plain)


def _is_here(owner: object, *kinds: type) -> bool:
    if isinstance(owner, kinds):
        return True
    return _loop_of(owner) is asyncio.get_running_loop()


def _loop_of(owner: object) -> asyncio.AbstractEventLoop | None:
    """The loop that a saver (`loop`) or store (`_loop`) of LangGraph was made in."""
    loop = getattr(owner, "loop", None) or getattr(owner, "_loop", None)
    return loop if isinstance(loop, asyncio.AbstractEventLoop) else None


async def _on(loop: asyncio.AbstractEventLoop, owner: object, native: Callable[[], Awaitable[T]]) -> T:
    name = type(owner).__name__
    if waits_for_us(loop):
        raise SetupError(f"this sync call blocks the event loop that {name} needs; use `await graph.ainvoke(...)`")
    if not loop.is_running():
        raise SetupError(f"{name} was opened in an event loop that has ended; open it where the graph runs")

    async def call() -> T:
        return await native()

    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call(), loop))


async def _in_thread(plain: Callable[[], T]) -> T:
    # Threads of their own: the loop's may all be held by tools that wait for a run, which waits for its saver.
    work = asyncio.get_running_loop().run_in_executor(_threads, copy_context().run, plain)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])  # the connection may be closed right after the run
        raise


def _make_threads() -> None:
    """Also in the child of a fork, where the parent's threads are gone."""
    global _threads
    _threads = ThreadPoolExecutor(16, thread_name_prefix="forethought-saver")


_threads: ThreadPoolExecutor
_make_threads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_make_threads)
