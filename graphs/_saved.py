"""Runs that are kept: one SQLite file in the home folder or a database, one thread a run, one process a thread."""

import fcntl
import json
import os
import secrets
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from state.context import env, make_context
from state.errors import InputError, SetupError, shorten
from state.json_text import from_json
from state.masking import is_masked, without_passwords
from state.references import each_text
from tools.folder import real_path
from tools.journal_postgres import place_of

Saver = BaseCheckpointSaver[Any]

METADATA = "forethought_settings"
"""Where a checkpoint keeps what the run was started with, so that a resume finds the same folders and models."""
_LONGEST = 200
NOT_KEPT = ("smtp", "database", "sql", "home", "debug")
"""The first three may hold a password; the home is where the run was found; debug is for one call."""


@dataclass(frozen=True)
class Home:
    """Where runs are kept: in the folder, or in the database if there is one; recordings are in the folder."""

    folder: str
    database: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        """As it may be shown."""
        return place_of(self.database) if self.database else self.folder

    @property
    def runs(self) -> Path:
        """The file with the runs, if there is no database."""
        return Path(self.folder) / "runs.db"

    def recording(self, thread: str) -> Path:
        """The file with everything that a run exchanged."""
        name = quote(thread, safe="")
        if len(name) > _LONGEST:
            name = f"{name[:_LONGEST]}-{sha256(thread.encode()).hexdigest()[:16]}"
        return Path(self.folder) / "recordings" / f"{name}.jsonl"


def home_of(settings: Mapping[str, Any]) -> Home:
    """Where a command with these settings keeps its runs."""
    context = make_context(**settings)
    return Home(str(real_path(context.home_folder())), context.database_url())


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
    kept = each_text({name: value for name, value in settings.items() if name not in NOT_KEPT}, without_passwords)
    return {METADATA: json.dumps({"pattern": pattern, "settings": kept}, ensure_ascii=False)}


def whole_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a run that is to go on; a password that was not kept must be given again."""
    found = dict(settings)
    if is_masked(found.get("base_url")) and env("LLM_BASE_URL", "OPENAI_BASE_URL"):
        del found["base_url"]
    for name, value in found.items():
        if is_masked(value):
            option = "--base-url URL" if name == "base_url" else f"--set {name}=..."
            raise InputError(
                f"{name} was given with a password, which is not kept ({shorten(value)}); give it again: {option}"
            )
    return found


@asynccontextmanager
async def saver(home: Home, *, make: bool = True) -> AsyncIterator[Saver]:
    """The file or database with the runs, opened; without `make`, an empty one in memory where no run was ever kept."""
    if home.database:
        from graphs._saved_postgres import opened

        async with opened(home.database, make=make) as shared:
            yield shared
        return
    path = home.runs
    if not make and not os.path.isfile(path):
        async with empty() as nothing:
            yield nothing
        return
    async with _file(path) as found:
        try:
            yield found
        except sqlite3.OperationalError:  # busy or full: the file is whole
            raise
        except sqlite3.DatabaseError as error:
            raise SetupError(f"what is kept in {path} is damaged: {error}") from error


@asynccontextmanager
async def empty() -> AsyncIterator[Saver]:
    """What is opened where no run was ever kept and none is to be."""
    async with AsyncSqliteSaver.from_conn_string(":memory:") as found:
        await found.setup()
        yield found


@asynccontextmanager
async def _file(path: Path) -> AsyncIterator[AsyncSqliteSaver]:
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


async def started_with(found: Saver, thread: str, home: Home) -> dict[str, Any]:
    """Pattern and settings of a kept run; an unknown thread is an `InputError` that names the latest ones."""
    try:
        kept = await found.aget_tuple({"configurable": {"thread_id": thread}})
    except Exception as error:  # whatever the damage makes of it
        why = shorten(f"{type(error).__name__}: {error}", 300)
        raise SetupError(f"the run {thread!r} can't be read, what is kept in {home} is damaged: {why}") from error
    if kept is None:
        raise _no_run(thread, home, ", ".join([name async for name in threads(found, 5)]))
    if METADATA not in kept.metadata:
        raise InputError(f"the run {thread!r} was not started by this command")
    if (before := settings_in(kept.metadata)) is None:
        raise SetupError(f"the run {thread!r} can't be read, what is kept in {home} is damaged: it has no settings")
    return before


def check_any(home: Home, thread: str) -> None:
    """Refuses a thread where no run was ever kept, before anything is made there."""
    if not home.database and not os.path.isfile(home.runs):
        raise _no_run(thread, home)


def _no_run(thread: str, home: Home, latest: str = "") -> InputError:
    known = f"the latest are: {latest}" if latest else "no run has been kept yet"
    return InputError(f"there is no run {shorten(thread)!r} in {home}; {known}")


def settings_in(metadata: Any) -> dict[str, Any] | None:
    """Pattern and settings in what is kept with a checkpoint; None where there are none that can be read."""
    try:
        found = from_json(metadata[METADATA])
        whole = isinstance(found["pattern"], str) and isinstance(found["settings"], dict)
    except (KeyError, TypeError, ValueError):
        return None
    return dict(found) if whole else None


async def threads(found: Saver, limit: int) -> AsyncIterator[str]:
    """The names of the kept runs, the one that was last at work first."""
    query = (
        "SELECT thread_id, max(checkpoint_id) AS latest FROM checkpoints WHERE checkpoint_ns = '' "
        "GROUP BY thread_id ORDER BY latest DESC"
    )
    if isinstance(found, AsyncSqliteSaver):
        async with found.conn.execute(f"{query} LIMIT {int(limit)}") as rows:
            async for row in rows:
                yield row[0]
    else:
        from graphs._saved_postgres import rows_of

        for one in await rows_of(found, f"{query} LIMIT {int(limit)}"):
            yield one["thread_id"]


@contextmanager
def alone(home: Home, thread: str) -> Iterator[None]:
    """Refuses a thread that another process runs; the lock goes with its process, however that ends."""
    place = int.from_bytes(sha256(thread.encode()).digest()[:7], "big")
    if home.database:
        from graphs._saved_postgres import locked

        held = locked(home.database, place)
    else:
        held = _locked(home.folder, place)
    with held as won:
        if not won:
            raise InputError(f"the run {thread!r} is going on in another process; wait for it, or end it")
        yield


@contextmanager
def _locked(home: str, place: int) -> Iterator[bool]:
    try:
        Path(home).mkdir(parents=True, exist_ok=True)
        file = (Path(home) / "runs.lock").open("ab")
    except OSError as error:
        raise SetupError(f"runs can't be kept in {home}: {error.strerror or error}") from error
    with file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except OSError:
            yield False
        else:
            yield True
