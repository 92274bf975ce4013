"""Runs that are kept: one SQLite file in the home folder, one thread a run, one process a thread."""

import fcntl
import json
import secrets
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from state.errors import InputError, SetupError, shorten

METADATA = "forethought_settings"
"""Where a checkpoint keeps what the run was started with, so that a resume finds the same folders and models."""
_LONGEST = 200
NOT_KEPT = ("smtp", "database", "sql", "home")
"""All but the last may hold a password; the last is where the run was found."""


def new_thread() -> str:
    """A name for a thread: sorts by time, and is not given twice."""
    return f"{time.strftime('%m%d-%H%M%S')}-{secrets.token_hex(2)}"


def valid_thread(thread: str) -> str:
    """The name, or an `InputError` that says what would be right."""
    if not thread.strip() or len(thread) > _LONGEST or not thread.isprintable():
        raise InputError(f"{shorten(thread)!r} is no name for a thread: give 1 to {_LONGEST} visible characters")
    return thread


def metadata(pattern: str, settings: Mapping[str, Any]) -> dict[str, str]:
    """What goes into every checkpoint of a run; a text, since LangGraph drops anything nested."""
    kept = {name: value for name, value in settings.items() if name not in NOT_KEPT}
    return {METADATA: json.dumps({"pattern": pattern, "settings": kept}, ensure_ascii=False)}


@asynccontextmanager
async def saver(home: str) -> AsyncIterator[AsyncSqliteSaver]:
    """The file with the runs, opened."""
    path = Path(home) / "runs.db"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        opened = AsyncSqliteSaver.from_conn_string(str(path))
        found = await opened.__aenter__()
    except (OSError, sqlite3.Error) as error:
        raise SetupError(f"runs can't be kept in {path}: {error}") from error
    try:
        await _set_up(found, path)
        yield found
    finally:
        await opened.__aexit__(None, None, None)


async def _set_up(found: AsyncSqliteSaver, path: Path) -> None:
    try:
        await found.setup()
    except sqlite3.Error as error:
        raise SetupError(f"runs can't be kept in {path}: {error}") from error


async def started_with(found: AsyncSqliteSaver, thread: str, home: str) -> dict[str, Any]:
    """Pattern and settings of a kept run; an unknown thread is an `InputError` that names the latest ones."""
    try:
        kept = await found.aget_tuple({"configurable": {"thread_id": thread}})
    except Exception as error:  # whatever the damage makes of it
        why = shorten(f"{type(error).__name__}: {error}", 300)
        raise SetupError(f"the run {thread!r} can't be read, what is kept in {home} is damaged: {why}") from error
    if kept is None:
        raise InputError(f"there is no run {shorten(thread)!r} in {home}; {await _latest(found)}")
    text: Any = kept.metadata.get(METADATA)
    if text is None:
        raise InputError(f"the run {thread!r} was not started by this command")
    return dict(json.loads(text))


async def _latest(found: AsyncSqliteSaver) -> str:
    every = [kept.config["configurable"]["thread_id"] async for kept in found.alist(None, limit=100)]
    names = list(dict.fromkeys(every))[:5]
    return f"the latest are: {', '.join(names)}" if names else "no run has been kept yet"


@contextmanager
def alone(home: str, thread: str) -> Iterator[None]:
    """Refuses a thread that another process runs; the lock goes with its process, however that ends."""
    place = int.from_bytes(sha256(thread.encode()).digest()[:7], "big")
    try:
        Path(home).mkdir(parents=True, exist_ok=True)
        file = (Path(home) / "runs.lock").open("ab")
    except OSError as error:
        raise SetupError(f"runs can't be kept in {home}: {error.strerror or error}") from error
    with file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except OSError as error:
            raise InputError(f"the run {thread!r} is going on in another process; wait for it, or end it") from error
        yield
