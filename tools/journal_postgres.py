"""A journal on PostgreSQL, for the processes of many machines: the table `writes` in the schema `forethought`.

A process holds one session for each database, and in it a lock on its own name. The lock goes with the session, and
the session with the process, so that others see from anywhere whether the owner of a claim is still there. Needs
sessions of its own: a pooler that hands them out by the transaction keeps no such lock.
"""

import atexit
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from state.errors import InputError, SetupError, shorten
from state.extras import extra
from tools.journal import Table
from tools.processes import runs_here, this_process

if TYPE_CHECKING:
    import psycopg

_SCHEMA = """CREATE SCHEMA IF NOT EXISTS forethought;
CREATE TABLE IF NOT EXISTS forethought.writes (
  key TEXT PRIMARY KEY, request TEXT NOT NULL, step TEXT NOT NULL, tool TEXT NOT NULL, args TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('intent', 'done')), output TEXT, claimed DOUBLE PRECISION NOT NULL,
  finished DOUBLE PRECISION, owner TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS forethought.settled (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS writes_of_request ON forethought.writes (request)"""
_PATIENT = {"connect_timeout": "10", "tcp_user_timeout": "30000", "application_name": "forethought"}
_MAKING = 6_048_215_307
"""The lock under which the table is made: two who make it at once would stumble over each other."""
_RIGHT = "right would be postgresql://user:password@host:port/name, with marks in the password as %40 and the like"


def parts_of(url: str) -> dict[str, Any]:
    """The parts of an address; an `InputError` never shows it, since a password may be in it."""
    try:
        from psycopg import Error
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as error:
        raise SetupError(f"a database needs {extra('postgres')}: {error}") from error
    try:
        if url.startswith(("postgresql://", "postgres://")):
            return dict(conninfo_to_dict(url))
    except Error:
        pass  # its words hold parts of the address
    raise InputError(f"the database is no address of PostgreSQL; {_RIGHT}")


def place_of(url: str) -> str:
    """The database that an address means, without user and password."""
    parts = parts_of(url)
    host = parts.get("host") or parts.get("hostaddr") or "localhost"
    return f"postgresql://{host}:{parts.get('port') or 5432}/{parts.get('dbname') or parts.get('user') or ''}"


class PostgresStorage:
    """The table in a database."""

    def __init__(self, url: str) -> None:
        self._url, self.place = url, place_of(url)

    @contextmanager
    def open(self) -> Iterator[Table]:
        """A transaction."""
        with self._session() as connection, connection.transaction():
            yield _Rows(connection)

    def now(self) -> float:
        """The server's clock."""
        with self._session() as connection:
            return float(_one(connection, "SELECT extract(epoch FROM clock_timestamp())::float8"))

    def owner(self) -> str:
        """The process."""
        return this_process()

    def is_running(self, owner: str, late: bool) -> bool:
        """By its lock, then by its machine; one that lost its session elsewhere is given the time-out of its tool."""
        high, low = divmod(_lock_of(owner), 2**32)
        with self._session() as connection:
            held = _one(
                connection,
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted"
                " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
                " AND classid = %s::bigint::oid AND objid = %s::bigint::oid",
                (high, low),
            )
        here = runs_here(owner)
        return bool(held) or (not late if here is None else here)

    @contextmanager
    def _session(self) -> Iterator["psycopg.Connection[Any]"]:
        from psycopg import Error

        session = _sessions.setdefault((os.getpid(), self._url), _Session(self._url))
        try:
            with session.lock:
                yield session.connection()
        except Error as error:
            raise SetupError(
                f"the journal of writes at {self.place} can't be used: {shorten(str(error), 300)}"
            ) from error


class _Session:
    """The one connection of this process to a database; made anew when it was lost."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._found: psycopg.Connection[Any] | None = None
        self.lock = threading.Lock()

    def connection(self) -> "psycopg.Connection[Any]":
        """A connection that answers, and holds the lock on this process's name."""
        from psycopg import Error

        if self._found is not None:
            with suppress(Error):
                self._found.execute("SELECT 1")
                return self._found
            self.close()
        self._found = _connected(self._url)
        return self._found

    def close(self) -> None:
        """Gives the connection up, and with it the lock."""
        if self._found is not None:
            self._found.close()
        self._found = None


_sessions: dict[tuple[int, str], _Session] = {}


def _connected(url: str) -> "psycopg.Connection[Any]":
    import psycopg

    connection: psycopg.Connection[Any] = psycopg.connect(
        **{**_PATIENT, **parts_of(url)}, autocommit=True, prepare_threshold=None
    )
    try:
        connection.execute("SET statement_timeout = '30s'")
        connection.execute("SET search_path = forethought")
        if _one(connection, "SELECT to_regclass('forethought.settled')::text") is None:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
                connection.execute(_SCHEMA.encode())
        # shared: a session that was lost may linger on the server and hold it still
        connection.execute("SELECT pg_advisory_lock_shared(%s)", (_signed(_lock_of(this_process())),))
    except BaseException:
        connection.close()
        raise
    return connection


def _one(connection: "psycopg.Connection[Any]", sql: str, values: Sequence[Any] = ()) -> Any:
    row = connection.execute(sql.encode(), values).fetchone()
    return row[0] if row else None


def _lock_of(owner: str) -> int:
    return int.from_bytes(sha256(owner.encode()).digest()[:8], "big")


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


class _Rows:
    def __init__(self, connection: "psycopg.Connection[Any]") -> None:
        self._connection = connection

    def change(self, sql: str, values: Sequence[Any]) -> int:
        return self._connection.execute(sql.replace("?", "%s").encode(), values).rowcount

    def rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql.replace("?", "%s").encode(), values).fetchall()


@atexit.register
def _close() -> None:
    for (process, _), session in _sessions.items():
        if process == os.getpid():  # a fork has its parent's in its memory
            session.close()
