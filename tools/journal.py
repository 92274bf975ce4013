"""The journal of writes: an intent is claimed before a write, its result is kept after it.

A claim is one atomic insert on a unique key, so two processes can't both win it. An intent without a result
means that nobody knows whether the write happened.
"""

import json
import os
import socket
import sqlite3
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal

from typing_extensions import TypedDict

from state.errors import SetupError

_SCHEMA = """CREATE TABLE IF NOT EXISTS writes (
  key TEXT PRIMARY KEY, request TEXT NOT NULL, step TEXT NOT NULL, tool TEXT NOT NULL, args TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('intent', 'done')), output TEXT, claimed REAL NOT NULL, finished REAL,
  owner TEXT NOT NULL)"""
_HERE = f"{socket.gethostname()}:{uuid.getnode():x}"
_NOBODY = "nobody"
_SELF = uuid.uuid4().hex
"""Tells this process from an ended one whose number it has got, as in a container that was started again."""


class Entry(TypedDict):
    """One write in the journal; times in seconds since the epoch."""

    key: str
    request: str
    step: str
    tool: str
    args: dict[str, Any]
    state: Literal["intent", "done"]
    output: Any
    claimed: float
    owner: str


def is_running(entry: Entry) -> bool:
    """Whether the process that claimed a write may still be making it; yes where that can not be known."""
    if entry["owner"] == _NOBODY:
        return False
    host, pid, token = [*entry["owner"].split("/"), "", ""][:3]
    if host != _HERE or not pid.isdigit():
        return True
    if int(pid) == os.getpid():
        return token == _SELF
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _owner() -> str:
    return f"{_HERE}/{os.getpid()}/{_SELF}"


class Journal:
    """A table of writes in one SQLite file. Every method blocks: call it in a thread."""

    def __init__(self, path: str) -> None:
        self.path = path

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=30, isolation_level=None)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=FULL")
                connection.execute(_SCHEMA)
                yield connection
        except (OSError, sqlite3.Error) as error:
            raise SetupError(f"the journal of writes at {self.path} can't be used: {error}") from error

    def claim(self, key: str, request: str, step: str, tool: str, args: dict[str, Any]) -> Entry | None:
        """Claims a write: None if the claim was won, else the entry that was there before."""
        row = (key, request, step, tool, json.dumps(args, ensure_ascii=False), time.time(), _owner())
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")  # else the row that beat us could be released before it is read
            before = self._entry(db, key)
            if before is None:
                db.execute(
                    "INSERT INTO writes (key, request, step, tool, args, state, claimed, owner)"
                    " VALUES (?, ?, ?, ?, ?, 'intent', ?, ?)",
                    row,
                )
            db.execute("COMMIT")
            return before

    def finish(self, key: str, output: Any) -> None:
        """Keeps the result of a claimed write."""
        text = json.dumps(output, ensure_ascii=False)
        with self._open() as db:
            db.execute("UPDATE writes SET state='done', output=?, finished=? WHERE key=?", (text, time.time(), key))

    def release(self, key: str, claimed: float | None = None) -> None:
        """Takes a claim back, or only the one made at `claimed`: the write is known not to have happened."""
        with self._open() as db:
            db.execute(
                "DELETE FROM writes WHERE key=? AND state='intent' AND claimed=coalesce(?, claimed)", (key, claimed)
            )

    def give_up(self, key: str) -> None:
        """Says of a claim of this process that nobody is at it any more, though its outcome is not known."""
        with self._open() as db:
            db.execute("UPDATE writes SET owner=? WHERE key=? AND state='intent' AND owner=?", (_NOBODY, key, _owner()))

    def entry(self, key: str) -> Entry | None:
        """The write with this key, if it was claimed."""
        with self._open() as db:
            return self._entry(db, key)

    def entries(self, request: str) -> list[Entry]:
        """The writes of one request, oldest first."""
        with self._open() as db:
            keys = db.execute("SELECT key FROM writes WHERE request=? ORDER BY claimed", (request,)).fetchall()
            return [entry for (key,) in keys if (entry := self._entry(db, key))]

    def _entry(self, db: sqlite3.Connection, key: str) -> Entry | None:
        names = list(Entry.__annotations__)
        row = db.execute(f"SELECT {', '.join(names)} FROM writes WHERE key=?", (key,)).fetchone()
        if row is None:
            return None
        entry: Entry = dict(zip(names, row, strict=True))  # type: ignore[assignment]
        entry["args"] = json.loads(row[4])
        entry["output"] = json.loads(row[6]) if row[6] is not None else None
        return entry
