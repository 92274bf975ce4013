"""SQL on one database, a SQLite file or PostgreSQL: tables, queries (reads), and changes (writes).

Values go in as parameters, never pasted into the text. Leaves out: several statements in one transaction, and finding
out by itself whether a statement was committed whose connection was lost just then: a person is asked.
"""

from typing import Annotated, Any

from anyio import to_thread
from pydantic import Field
from typing_extensions import TypedDict

from state.errors import ToolFailed, shorten
from state.extras import extra
from tools.folder import Folder
from tools.settings import ToolSettings
from tools.tool import Tool, read, write

_MOST_TABLES = 200
Value = str | int | float | bool | None


class Rows(TypedDict):
    """The rows by column name; `more` says that there are more than were asked for."""

    columns: list[str]
    rows: list[dict[str, Any]]
    more: bool


class Changed(TypedDict):
    """How many rows were changed, and what RETURNING gave."""

    changed: int
    rows: list[dict[str, Any]]


def tools(settings: ToolSettings) -> list[Tool]:
    """The tools on the database of the setting `sql`."""

    def sql_tables() -> dict[str, dict[str, str]]:
        """Gives the tables of the database, with their columns and types."""
        found: dict[str, dict[str, str]] = {}
        for table, column, kind in _database(settings).columns():
            if table in found or len(found) < _MOST_TABLES:
                found.setdefault(table, {})[column] = kind
        return found

    def sql_query(
        sql: str, parameters: dict[str, Value] | None = None, limit: Annotated[int, Field(ge=1, le=1000)] = 100
    ) -> Rows:
        """Runs one SELECT on the database and gives at most limit rows; values are written :name and given in
        parameters."""
        from tools.sql_policy import checked_query

        database, values = _database(settings), parameters or {}
        answer = _helped(settings, lambda: database.query(checked_query(sql, database.dialect, values), values, limit))
        rows = _named(answer.columns, answer.rows)
        return {"columns": list(rows[0]) if rows else answer.columns, "rows": rows[:limit], "more": len(rows) > limit}

    def sql_execute(sql: str, parameters: dict[str, Value] | None = None) -> Changed:
        """Runs one INSERT, UPDATE, DELETE or CREATE on the database; values are written :name and given in
        parameters."""
        from tools.sql_policy import checked_write, spared

        database, values = _database(settings), parameters or {}
        tree = checked_write(sql, database.dialect, values, settings.sql_destructive)
        kept = spared(tree, settings.sql_destructive)
        answer = _helped(settings, lambda: database.execute(tree, values, 100, kept))
        return {"changed": answer.changed, "rows": _named(answer.columns, answer.rows)}

    needs = "a database in the setting sql, and the extra sql"
    probe = (lambda: to_thread.run_sync(sql_tables)) if settings.sql else None
    return [
        read(sql_tables, untrusted=True, needs=needs, probe=probe),
        read(sql_query, untrusted=True, needs=needs),
        write(sql_execute, needs=needs),
    ]


def _database(settings: ToolSettings) -> Any:
    postgresql = "postgresql://host:port/name (user and password before the host)"
    right = f"data.db (a file in the root folder) or {postgresql}"
    if not settings.sql:
        raise ToolFailed(f"no database is set; set sql to {right}", "permanent")
    try:
        from tools.sql_databases import PostgreSQL, SQLite

        if settings.sql.startswith(("postgresql://", "postgres://")):
            import psycopg  # noqa: F401

            return PostgreSQL(settings.sql)
    except ImportError as error:
        raise ToolFailed(f"SQL needs the package {error.name}: install {extra('sql')}", "permanent") from error
    if "://" in settings.sql:
        raise ToolFailed(f"the setting sql names no SQLite file and no PostgreSQL; right would be {right}", "permanent")
    return SQLite(Folder(settings.root, settings.home).file(settings.sql))


def _helped(settings: ToolSettings, call: Any) -> Any:
    """A statement that the database can't read fails with the names that there are."""
    try:
        return call()
    except ToolFailed as error:
        if error.failure != "invalid_arguments" or "constraint" in str(error):
            raise
        tables: dict[str, list[str]] = {}
        for table, column, _ in _database(settings).columns():
            tables.setdefault(table, []).append(column)
        there = "; ".join(f"{table} ({', '.join(columns)})" for table, columns in tables.items()) or "none"
        raise ToolFailed(f"{error}; the tables are: {shorten(there, 600)}", "invalid_arguments") from error


def _named(columns: list[str], rows: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Rows by name; of columns with the same name the later ones get a number."""
    names: list[str] = []
    for column in columns:
        same = sum(name == column or name.startswith(f"{column}_") for name in names)
        names.append(f"{column}_{same + 1}" if column in names else column)
    return [dict(zip(names, row, strict=True)) for row in rows]
