"""One statement in one transaction of SQLite or PostgreSQL, with the database's own walls beside the syntax tree.

A query has a read-only connection, and on PostgreSQL a read-only transaction as well; every statement has its time.
"""

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

from sqlglot import exp

from state.errors import ToolFailed, shorten
from state.result import FailureClass
from tools.sql_policy import Dialect, text

SECONDS = 20.0
CAP = 2_000_000
"""Bytes that the rows of an answer may have."""
Row = tuple[Any, ...]
_STATES: dict[str, FailureClass] = {
    "08": "transient", "28": "auth", "3D": "not_found", "40": "transient", "42": "invalid_arguments",
    "53": "transient", "55": "transient", "57014": "timeout", "57": "transient", "22": "invalid_arguments",
    "42501": "auth",
}  # fmt: skip
_READS = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
_NEVER = (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA)


@dataclass(frozen=True)
class Answer:
    """Columns and at most `most` + 1 rows, or how many rows were changed."""

    columns: list[str]
    rows: list[Row]
    changed: int = 0


class Database(Protocol):
    """Where statements run; both methods block."""

    dialect: Dialect

    def query(self, tree: exp.Expr, values: Mapping[str, Any], most: int) -> Answer:
        """Runs what only reads."""
        ...

    def execute(self, tree: exp.Expr, values: Mapping[str, Any], most: int, spared: exp.Expr | None = None) -> Answer:
        """Runs what changes something, all of it or nothing; `spared` is a table that must not change as a whole."""
        ...

    def columns(self) -> list[Row]:
        """Table, column and type, of everything that is not the database's own."""
        ...


class SQLite:
    """A file. Its own authorizer sees every action of a statement, also those that no text shows."""

    dialect: Dialect = "sqlite"

    def __init__(self, path: Path) -> None:
        self._path = path

    def query(self, tree: exp.Expr, values: Mapping[str, Any], most: int) -> Answer:
        """Runs it on a connection that can't write."""
        with self._open("ro", _only_reads) as db:
            db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, CAP)
            db.setlimit(sqlite3.SQLITE_LIMIT_COLUMN, 200)
            return _taken(db.execute(text(tree, "sqlite"), dict(values)), most)

    def execute(self, tree: exp.Expr, values: Mapping[str, Any], most: int, spared: exp.Expr | None = None) -> Answer:
        """Runs it in a transaction."""
        with self._open("rw", lambda action, _: action not in _NEVER) as db:
            db.execute("BEGIN IMMEDIATE")
            with closing(db.execute(text(tree, "sqlite"), dict(values))) as cursor:
                answer = _taken(cursor, most)
            if spared:
                changed = db.execute("SELECT changes()").fetchone()[0]
                _check_spared(db, tree, text(spared, "sqlite"), changed)
            db.execute("COMMIT")
            return answer

    def columns(self) -> list[Row]:
        """Asks the schema tables."""
        find = (
            "SELECT m.name, p.name, p.type FROM sqlite_master m, pragma_table_info(m.name) p"
            " WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, p.cid"
        )
        with self._open("ro", lambda *_: True) as db:
            return db.execute(find).fetchall()

    @contextmanager
    def _open(self, mode: str, allowed: Any) -> Iterator[sqlite3.Connection]:
        end = time.monotonic() + SECONDS
        try:
            uri = f"{self._path.as_uri()}?mode={mode}"
            with closing(sqlite3.connect(uri, uri=True, timeout=5, isolation_level=None)) as db:
                db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 50_000_000)
                db.set_progress_handler(lambda: time.monotonic() > end, 10_000)
                db.set_authorizer(lambda *said: sqlite3.SQLITE_OK if allowed(*said[:2]) else sqlite3.SQLITE_DENY)
                yield db
        except sqlite3.Error as error:
            raise ToolFailed(f"SQLite: {shorten(str(error))}", _sqlite_class(str(error))) from error


def _only_reads(action: int, name: str | None) -> bool:
    """json_each and json_tree declare their columns, as if in the schema's table, which this connection can't write."""
    return action in _READS or (action == sqlite3.SQLITE_UPDATE and name == "sqlite_master")


class PostgreSQL:
    """A database by its address; the password never stands in a message."""

    dialect: Dialect = "postgres"

    def __init__(self, url: str) -> None:
        self._url = url

    def query(self, tree: exp.Expr, values: Mapping[str, Any], most: int) -> Answer:
        """Runs it in a read-only transaction."""
        import psycopg

        with (
            self._open(read_only=True) as (db, _),
            psycopg.RawServerCursor(db.connection, "rows") as rows,  # the server keeps what is not taken
        ):
            return _taken(rows.execute(*_numbered(tree, values)), most)

    def execute(self, tree: exp.Expr, values: Mapping[str, Any], most: int, spared: exp.Expr | None = None) -> Answer:
        """Runs it in a transaction; a connection that is lost while it is committed leaves the outcome open."""
        with self._open(read_only=False) as (db, step):
            answer = _taken(db.execute(*_numbered(tree, values)), most)
            if spared:
                _check_spared(db, tree, text(spared, "postgres"), answer.changed)
            step.append("commit")
            db.connection.commit()
            return answer

    def columns(self) -> list[Row]:
        """Asks the information schema."""
        find = (
            "SELECT table_schema || '.' || table_name, column_name, data_type FROM information_schema.columns"
            " WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, ordinal_position"
        )
        with self._open(read_only=True) as (db, _):
            return [(str(table).removeprefix("public."), *rest) for table, *rest in db.execute(find).fetchall()]

    @contextmanager
    def _open(self, *, read_only: bool) -> Iterator[tuple[Any, list[str]]]:
        import psycopg

        options = f"-c statement_timeout={SECONDS:.0f}s -c idle_in_transaction_session_timeout={SECONDS:.0f}s"
        step: list[str] = []
        try:
            with closing(psycopg.connect(self._url, connect_timeout=8, options=options)) as connection:
                connection.read_only = read_only
                yield psycopg.RawCursor(connection), step
        except psycopg.Error as error:
            state = error.sqlstate or ("08" if isinstance(error, psycopg.OperationalError) else "")
            cls = _STATES.get(state) or _STATES.get(state[:2]) or "permanent"
            said = shorten((error.diag.message_primary or str(error)).replace(self._url, "…"))
            raise ToolFailed(f"PostgreSQL: {said}", cls, nothing_happened=not step) from error


def _numbered(tree: exp.Expr, values: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The statement with $1, $2 for its named values, as the server takes them."""
    names = list(values)

    def number(node: exp.Expr) -> exp.Expr:
        is_value = isinstance(node, exp.Placeholder)
        return exp.Parameter(this=exp.Literal.number(names.index(node.name) + 1)) if is_value else node

    return text(tree.transform(number), "postgres"), list(values.values())


def _check_spared(db: Any, tree: exp.Expr, table: str, changed: int) -> None:
    """Ends the transaction where every row went, or was changed, and there was more than one."""
    least = 1 if isinstance(tree, exp.Delete) else changed + 1
    [there] = db.execute(f"SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT {least}) AS there").fetchone()
    if changed > 1 and there < least:
        what = "delete" if isinstance(tree, exp.Delete) else "change"
        raise ToolFailed(
            f"this would {what} all {changed} rows of {shorten(table)}, so nothing was done; a person may allow it by"
            " the setting sql_destructive=true",
            "policy",
        )


def _taken(cursor: Any, most: int) -> Answer:
    if cursor.description is None:
        return Answer([], [], max(cursor.rowcount, 0))
    rows: list[Row] = []
    left = CAP
    while len(rows) <= most and (row := cursor.fetchone()) is not None:
        rows.append(tuple(map(_value, row)))
        left -= sum(map(_size, row))
        if left < 0:
            why = f"its first {len(rows)} rows have more than {CAP // 10**6} MB; ask for fewer rows or columns"
            raise ToolFailed(f"the answer is too large: {why}", "invalid_arguments")
    return Answer([column[0] for column in cursor.description], rows, max(cursor.rowcount, 0))


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes) else len(str(value)) if isinstance(value, list | dict) else 16


def _value(value: Any) -> Any:
    """A number as a number: what follows may compute with it."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() and value.as_tuple().exponent == 0 else float(value)
    return value


def _sqlite_class(message: str) -> FailureClass:
    if "locked" in message or "busy" in message:
        return "transient"
    if "interrupted" in message:
        return "timeout"
    if "not authorized" in message or "prohibited" in message or "readonly" in message:
        return "policy"
    asked = ("no such", "syntax error", "constraint failed", "ambiguous", "misuse", "has no column", "wrong number")
    return "invalid_arguments" if any(word in message for word in asked) else "permanent"
