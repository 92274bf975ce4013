"""Clients of models: one for all runs of an event loop, made once, closed when the loop ends.

What is left out: a loop that is dropped without `shutdown_asyncgens`, which `asyncio.run` calls, keeps its connections.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from langchain_core.language_models import BaseChatModel

Wanted = tuple[str, ...]


@dataclass
class _Clients:
    """Those of one loop."""

    made: dict[Wanted, BaseChatModel] = field(default_factory=dict)
    making: dict[Wanted, "asyncio.Task[BaseChatModel]"] = field(default_factory=dict)
    end: AsyncGenerator[None, None] | None = None

    async def close_with_the_loop(self) -> None:
        """A loop that ends closes the generators that were begun in it; nothing else tells of its end."""
        self.end = self._until_the_end()
        await anext(self.end)

    async def _until_the_end(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            for model in self.made.values():
                with suppress(Exception):  # a connection that can't be closed in good order is gone as well
                    await model.aclose()  # type: ignore[attr-defined]
            del _clients[asyncio.get_running_loop()]
            self.end = None  # a generator holds its loop, and would keep it here


_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, _Clients] = WeakKeyDictionary()


async def client(wanted: Wanted, make: Callable[[], BaseChatModel]) -> BaseChatModel:
    """The one client of this loop; of many runs that want it at once the first makes it, in a thread."""
    loop = asyncio.get_running_loop()
    if loop not in _clients:
        _clients[loop] = _Clients()
        await _clients[loop].close_with_the_loop()
    mine = _clients[loop]
    if wanted in mine.made:
        return mine.made[wanted]

    def done(task: "asyncio.Task[BaseChatModel]") -> None:
        del mine.making[wanted]
        if not task.cancelled() and task.exception() is None:
            mine.made[wanted] = task.result()

    if wanted not in mine.making:
        mine.making[wanted] = asyncio.create_task(asyncio.to_thread(make))
        mine.making[wanted].add_done_callback(done)
    return await asyncio.shield(mine.making[wanted])
