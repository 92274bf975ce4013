"""The lessons of the command: a SQLite file in the home folder, or the database that keeps the runs."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from langgraph.store.base import BaseStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from graphs._saved import Home
from state.context import Context
from state.errors import SetupError

FILE = "lessons.db"
_TRIES, _PATIENCE = 20, 0.1


@asynccontextmanager
async def store_of(home: Home, context: Context, *, kept: bool) -> AsyncIterator[BaseStore | None]:
    """The store for a run, or None: one that only reads, or is not kept, makes none where there is none yet."""
    if context.lessons == "off":
        yield None
        return
    async with lesson_store(home, make=kept and context.lessons == "learn") as found:
        yield found


def lesson_store(home: Home, *, make: bool) -> AbstractAsyncContextManager[BaseStore | None]:
    """The store with the lessons; without `make`, None where there is none yet."""
    if home.database:
        from graphs._saved_postgres import store_opened

        return store_opened(home.database, make=make)
    return _file(Path(home.folder) / FILE, make)


@asynccontextmanager
async def _file(path: Path, make: bool) -> AsyncIterator[BaseStore | None]:
    if not make and not await asyncio.to_thread(path.is_file):
        yield None
        return
    opening: Any = AsyncSqliteStore.from_conn_string(str(path))
    try:
        await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
        found = await opening.__aenter__()
    except (OSError, sqlite3.Error) as error:
        raise SetupError(f"lessons can't be kept in {path}: {error}") from error
    try:
        await _set_up(found, path)
        yield found
    finally:
        await opening.__aexit__(None, None, None)


async def _set_up(found: AsyncSqliteStore, path: Path) -> None:
    """Makes the tables; another process that makes them at the same moment is waited for."""
    for left in reversed(range(_TRIES)):
        try:
            return await found.setup()
        except (sqlite3.IntegrityError, sqlite3.OperationalError) as error:
            if not left:
                raise SetupError(f"lessons can't be kept in {path}: {error}") from error
            await asyncio.sleep(_PATIENCE)
        except sqlite3.Error as error:
            raise SetupError(f"lessons can't be kept in {path}: {error}") from error
    return None
