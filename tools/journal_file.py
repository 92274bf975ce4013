"""A journal in one SQLite file, for the processes of one machine."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from state.errors import SetupError
from tools.journal import Table
from tools.processes import runs_here, this_process

_SCHEMA = """CREATE TABLE IF NOT EXISTS writes (
  key TEXT PRIMARY KEY, request TEXT NOT NULL, step TEXT NOT NULL, tool TEXT NOT NULL, args TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('intent', 'done')), output TEXT, claimed REAL NOT NULL, finished REAL,
  owner TEXT NOT NULL)"""
_SETTLED = "CREATE TABLE IF NOT EXISTS settled (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
_PATIENCE = 30.0
"""Seconds to wait for another process that has the file locked."""
_QUEUE = 30.0
"""Seconds to wait for the threads of this process before."""
_turns: dict[str, threading.Lock] = {}


class FileStorage:
    """The table in a file; each transaction opens it, so that nothing is held over a fork or between loops."""

    def __init__(self, path: str) -> None:
        self.place = path

    @contextmanager
    def open(self) -> Iterator[Table]:
        """A transaction that nobody else writes beside."""
        try:
            Path(self.place).parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.place, timeout=_PATIENCE, isolation_level=None)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=FULL")
                connection.execute(_SCHEMA)
                connection.execute(_SETTLED)
                with _turn(self.place):
                    connection.execute("BEGIN IMMEDIATE")
                    yield _Rows(connection)
                    connection.execute("COMMIT")
        except (OSError, sqlite3.Error) as error:
            raise SetupError(f"the journal of writes at {self.place} can't be used: {error}") from error

    def now(self) -> float:
        """The machine's clock."""
        return time.time()

    def owner(self) -> str:
        """The process."""
        return this_process()

    def is_running(self, owner: str, late: bool) -> bool:
        """Only a process of this machine can be known to have ended."""
        return runs_here(owner) is not False


@contextmanager
def _turn(path: str) -> Iterator[None]:
    """One thread after the other: SQLite lets all who wait sleep and try again, the unlucky ones for seconds."""
    turn = _turns.setdefault(os.path.abspath(path), threading.Lock())
    held = turn.acquire(timeout=_QUEUE)
    try:
        yield
    finally:
        if held:
            turn.release()


class _Rows:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def change(self, sql: str, values: Sequence[Any]) -> int:
        return self._connection.execute(sql, values).rowcount

    def rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, values).fetchall()


if hasattr(os, "register_at_fork"):  # a thread that held one is not in the child
    os.register_at_fork(after_in_child=_turns.clear)
