"""Kept runs in PostgreSQL: LangGraph's own tables, and a lock for each run that ends with its session."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from graphs._saved import empty
from state.errors import SetupError
from state.extras import extra
from tools.journal_postgres import parts_of, place_of

_MAKING = 6_048_215_308
"""The lock under which the tables are made: two who make them at once would stumble over each other."""
_CLASS = 1 << 56
"""Keeps the locks of runs apart from other locks in the database; a run's own number is below it."""
_PATIENCE = 0.1


@asynccontextmanager
async def opened(url: str, *, make: bool) -> AsyncIterator[Any]:
    """The database with the runs; without `make`, an empty one in memory where none was ever kept."""
    with _told(url):
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

        opening = AsyncPostgresSaver.from_conn_string(url)
        found = await opening.__aenter__()
    try:
        with _told(url):
            there = await _has(found, "checkpoint_migrations")
            if make or there:
                await _set_up(found)
        if make or there:
            yield found
        else:
            async with empty() as nothing:
                yield nothing
    finally:
        await opening.__aexit__(None, None, None)


@asynccontextmanager
async def store_opened(url: str, *, make: bool) -> AsyncIterator[Any]:
    """The database with the lessons; without `make`, None where none was ever kept."""
    with _told(url, "lessons"):
        from langgraph.store.postgres.aio import AsyncPostgresStore

        opening = AsyncPostgresStore.from_conn_string(url)
        found = await opening.__aenter__()
    try:
        with _told(url, "lessons"):
            there = await _has(found, "store_migrations")
            if make:
                await _set_up(found)
        yield found if there or make else None
    finally:
        await opening.__aexit__(None, None, None)


async def _has(found: Any, table: str) -> bool:
    return bool((await rows_of(found, f"SELECT to_regclass('{table}') IS NOT NULL AS there"))[0]["there"])


async def _set_up(found: Any) -> None:
    # Polled and not waited for: a statement that waits would hold up the making of an index in the other session.
    while not (await rows_of(found, f"SELECT pg_try_advisory_lock({_MAKING}) AS won"))[0]["won"]:
        await asyncio.sleep(_PATIENCE)
    try:
        await found.setup()
    finally:
        await rows_of(found, f"SELECT pg_advisory_unlock({_MAKING})")


async def rows_of(found: Any, query: str) -> list[dict[str, Any]]:
    """What a query of our own gives, as mappings."""
    cursor = await found.conn.execute(query.encode())
    rows: list[dict[str, Any]] = await cursor.fetchall()
    return rows


@contextmanager
def locked(url: str, number: int) -> Iterator[bool]:
    """Holds the lock of a run, if nobody else does; the database lets go of it when this process ends."""
    with _told(url):
        import psycopg

        session = psycopg.connect(url, autocommit=True, connect_timeout=10)
    with session:
        row = session.execute("SELECT pg_try_advisory_lock(%s)", (_CLASS + number,)).fetchone()
        yield bool(row and row[0])


@contextmanager
def _told(url: str, what: str = "runs") -> Iterator[None]:
    """What goes wrong with the database as one line, without the password."""
    parts = parts_of(url)
    from psycopg import Error

    try:
        yield
    except ImportError as error:  # psycopg alone is here, which other extras bring as well
        raise SetupError(f"{what} in a database need {extra('postgres')}: {error}") from error
    except Error as error:
        said = " ".join(str(error).split())
        if parts.get("password"):
            said = said.replace(str(parts["password"]), "***")
        raise SetupError(f"{what} can't be kept in {place_of(url)}: {said}") from error
