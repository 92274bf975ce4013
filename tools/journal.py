"""The journal of writes: an intent is claimed before a write, its result is kept after it.

A claim is one atomic insert on a unique key, so two processes can't both win it. An intent without a result
means that nobody knows whether the write happened. Where the table lies, and what can be known of the process that
made a claim, is the storage's matter: `tools/journal_file.py` (SQLite), `tools/journal_postgres.py`.
"""

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

from typing_extensions import TypedDict

from state.errors import SetupError
from state.json_text import from_json

NOBODY = "nobody"
"""The owner of a claim that nobody is at any more."""
_UNDONE = " undone, of "


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


class Table(Protocol):
    """The table `writes`, inside one transaction."""

    def change(self, sql: str, values: Sequence[Any]) -> int:
        """How many rows a statement changed; values stand as `?`."""

    def rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """What a query finds."""


class Storage(Protocol):
    """Where a journal lies. Everything may raise `SetupError`, which names the place."""

    place: str
    """As it may be shown: without a password."""

    def open(self) -> AbstractContextManager[Table]:
        """A transaction, kept when the block ends and taken back when it raises."""

    def now(self) -> float:
        """The time by the one clock that all who use this journal share."""

    def owner(self) -> str:
        """The name of this process in its claims."""

    def is_running(self, owner: str, late: bool) -> bool:
        """Whether a process may still be at its claim; `late`: its tool's time-out is over."""


class Journal:
    """The writes in one storage. Every method blocks: call it in a thread."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.place = storage.place

    def claim(self, key: str, request: str, step: str, tool: str, args: dict[str, Any]) -> Entry | None:
        """Claims a write: None if the claim was won, else the entry that was there before."""
        given = (key, request, step, tool, json.dumps(args, ensure_ascii=False))
        row = (*given, self._storage.now(), self._storage.owner())
        while True:
            with self._storage.open() as table:
                won = table.change(
                    "INSERT INTO writes (key, request, step, tool, args, state, claimed, owner)"
                    " VALUES (?, ?, ?, ?, ?, 'intent', ?, ?) ON CONFLICT (key) DO NOTHING",
                    row,
                )
                before = None if won else _entry(table, key)
            if won or before:  # else the row that beat us was released before it could be read
                return before

    def finish(self, key: str, output: Any) -> None:
        """Keeps the result of a claimed write."""
        values = (json.dumps(output, ensure_ascii=False), self._storage.now(), key)
        with self._storage.open() as table:
            kept = table.change("UPDATE writes SET state='done', output=?, finished=? WHERE key=?", values)
        if not kept:
            raise SetupError(f"the journal of writes at {self.place} has lost the claim of this write")

    def finish_late(self, key: str, output: Any) -> bool:
        """Keeps the result of a write of this process that nobody waited for; whether its claim was still open."""
        mine = (self._storage.owner(), NOBODY)
        values = (json.dumps(output, ensure_ascii=False), self._storage.now(), key, *mine)
        still_open = "key=? AND state='intent' AND owner IN (?, ?)"
        with self._storage.open() as table:
            return bool(
                table.change(f"UPDATE writes SET state='done', output=?, finished=? WHERE {still_open}", values)
            )

    def failed_late(self, key: str, said: str) -> None:
        """Notes how a write of this process ended that nobody waited for; its outcome stays open."""
        if entry := self.entry(key):
            self.first(_end_of(entry), said)

    def end_of(self, entry: Entry) -> str:
        """What was noted about the end of a write whose outcome is open, or an empty text."""
        with self._storage.open() as table:
            found = table.rows("SELECT value FROM settled WHERE name=?", (_end_of(entry),))
        return str(from_json(found[0][0])) if found else ""

    def undone(self, key: str, claimed: float) -> None:
        """Sets a write aside that was undone: it stays listed, and its key is free for the same write anew."""
        with self._storage.open() as table:
            aside = f"{key}{_UNDONE}{claimed!r}"
            table.change("UPDATE writes SET key=? WHERE key=? AND claimed=? AND state='done'", (aside, key, claimed))

    def is_undone(self, entry: Entry) -> bool:
        """Whether a write was set aside as undone."""
        return _UNDONE in entry["key"]

    def first(self, name: str, value: Any) -> Any:
        """What was settled under a name by whoever came first: this value, or another."""
        with self._storage.open() as table:
            text = json.dumps(value, ensure_ascii=False)
            table.change("INSERT INTO settled (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (name, text))
            [(kept,)] = table.rows("SELECT value FROM settled WHERE name=?", (name,))
        return from_json(kept)

    def begin(self, request: str) -> None:
        """Notes that a request has this journal."""
        self.first(f"request {request}", "begun")

    def check_begun(self, request: str) -> None:
        """A `SetupError` where a request began with a journal that is no longer there."""
        with self._storage.open() as table:
            if table.rows("SELECT 1 FROM settled WHERE name=?", (f"request {request}",)):
                return
        raise SetupError(
            f"the journal of writes at {self.place} knows nothing of this request, which began with one there: it was "
            "removed or another put in its place; put it back, or start a new request after looking at what was written"
        )

    def release(self, key: str, claimed: float | None = None) -> None:
        """Takes back the claim of this process, or that made at `claimed`: the write is known not to have happened."""
        mine = claimed is None
        which = "owner IN (?, ?)" if mine else "claimed=?"
        values = (key, self._storage.owner(), NOBODY) if mine else (key, claimed)
        with self._storage.open() as table:
            table.change(f"DELETE FROM writes WHERE key=? AND state='intent' AND {which}", values)

    def give_up(self, key: str) -> None:
        """Says of a claim of this process that nobody is at it any more, though its outcome is not known."""
        values = (NOBODY, key, self._storage.owner())
        with self._storage.open() as table:
            table.change("UPDATE writes SET owner=? WHERE key=? AND state='intent' AND owner=?", values)

    def entry(self, key: str) -> Entry | None:
        """The write with this key, if it was claimed."""
        with self._storage.open() as table:
            return _entry(table, key)

    def entries(self, request: str) -> list[Entry]:
        """The writes of one request, oldest first."""
        with self._storage.open() as table:
            keys = table.rows("SELECT key FROM writes WHERE request=? ORDER BY claimed", (request,))
            return [entry for (key,) in keys if (entry := _entry(table, key))]

    def is_running(self, entry: Entry, longest: float, waited: float = 0.0) -> bool:
        """Whether the process that claimed a write may still be making it; yes where that can not be known.

        `longest` are the seconds that the write may take, `waited` those that the caller has waited for it.
        """
        if entry["owner"] == NOBODY:
            return False
        return self._storage.is_running(entry["owner"], self._age(entry, waited) >= longest)

    def is_in_time(self, entry: Entry, longest: float, waited: float = 0.0) -> bool:
        """Whether that process may be making it, and for no longer than it may take."""
        return self.is_running(entry, longest, waited) and self._age(entry, waited) < longest

    def _age(self, entry: Entry, waited: float) -> float:
        """Seconds since the claim, and no less than was waited: the clock may have been set back."""
        return max(self._storage.now() - entry["claimed"], waited)


def _end_of(entry: Entry) -> str:
    return f"end of {entry['key']}, of {entry['claimed']!r}"


def _entry(table: Table, key: str) -> Entry | None:
    names = list(Entry.__annotations__)
    rows = table.rows(f"SELECT {', '.join(names)} FROM writes WHERE key=?", (key,))
    if not rows:
        return None
    entry: Entry = dict(zip(names, rows[0], strict=True))  # type: ignore[assignment]
    entry["args"] = from_json(entry["args"])  # type: ignore[arg-type]
    entry["output"] = from_json(entry["output"]) if entry["output"] is not None else None
    return entry
