import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphs
from state.errors import ToolFailed
from tests.support.postgres import Postgres
from tests.support.scripted_model import ScriptedModel
from tools import sql_databases
from tools.catalogue import catalogue
from tools.settings import ToolSettings
from tools.sql_policy import Dialect, checked_query, checked_write
from tools.tool import ToolEnv

ROWS = "INSERT INTO item VALUES (1, 'pen', 1.5), (2, 'ink', 4.0), (3, 'it''s; drop', 2.25)"
SCHEMA = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price NUMERIC(9, 2))"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as db:
        db.execute(SCHEMA)
        db.execute(ROWS)
        db.commit()
    yield tmp_path


@pytest.fixture
def postgres_url(postgres: Postgres) -> str:
    url = postgres.new_database()
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(SCHEMA)
        db.execute(ROWS)
    return url


def sqlite_settings(root: Path, **more: Any) -> ToolSettings:
    return ToolSettings(root=str(root), sql="shop.db", home=str(root / "home"), **more)


async def run(settings: ToolSettings, name: str, **args: Any) -> Any:
    return await catalogue(["sql"], settings)[name].run(args, ToolEnv())


async def refused(settings: ToolSettings, name: str, **args: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        await run(settings, name, **args)
    return caught.value


def both(dialect: Dialect, statement: str) -> list[str]:
    """What the two tools say to a statement; an empty text where it may run."""
    said = []
    for check in (lambda: checked_query(statement, dialect, {}), lambda: checked_write(statement, dialect, {}, False)):
        try:
            check()
            said.append("")
        except ToolFailed as error:
            said.append(str(error))
    return said


QUERIES = [
    "SELECT name, price * 2 FROM item WHERE name LIKE '%n%' ORDER BY 1",
    "WITH cheap AS (SELECT * FROM item WHERE price < 2) SELECT count(*) FROM cheap",
    "SELECT id FROM item UNION SELECT 2 ORDER BY 1",
    "(SELECT 1)",
    "VALUES (1), (2)",
    "SELECT coalesce(max(price), 0), sum(price), avg(price), min(name) FROM item GROUP BY name HAVING count(*) > 0",
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5) SELECT sum(x) FROM n",
    "SELECT 'drop table item; -- delete' AS text",
    "SELECT row_number() OVER (ORDER BY price), CAST(price AS TEXT), upper(name), length(name) FROM item",
    "SELECT CASE WHEN price > 2 THEN 'dear' ELSE 'cheap' END FROM item",
    "SELECT 1 -- a comment; DROP TABLE item",
]
NO_QUERIES = [
    "WITH gone AS (DELETE FROM item RETURNING *) SELECT * FROM gone",
    "WITH new AS (INSERT INTO item(id) VALUES (9) RETURNING *) SELECT * FROM new",
    "WITH up AS (UPDATE item SET price = 0 RETURNING *) SELECT * FROM up",
    "SELECT * INTO copied FROM item",
    "SELECT 1; DROP TABLE item",
    "SELECT * FROM item; SELECT 2",
    "DROP TABLE item",
    "TRUNCATE item",
    "DELETE FROM item",
    "ALTER TABLE item ADD COLUMN x INT",
    "PRAGMA user_version = 3",
    "PRAGMA table_info(item)",
    "ATTACH 'other.db' AS other",
    "VACUUM INTO 'copy.db'",
    "EXPLAIN ANALYZE DELETE FROM item",
    "COPY item TO '/tmp/x'",
    "COPY item FROM PROGRAM 'id'",
    "COPY (SELECT 1) TO STDOUT",
    "SELECT load_extension('x')",
    "SELECT pg_sleep(100)",
    'SELECT "pg_sleep"(100)',
    "SELECT pg_catalog.pg_sleep(100)",
    "SELECT mine.upper(name) FROM item",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT * FROM pg_ls_dir('/')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT query_to_xml('DELETE FROM item', true, true, '')",
    "SELECT dblink('dbname=x', 'DELETE FROM item')",
    "SELECT nextval('s')",
    "SELECT set_config('transaction_read_only', 'off', false)",
    "SELECT (SELECT (SELECT pg_sleep(1)))",
    "SELECT * FROM item WHERE pg_sleep(1) IS NOT NULL",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT writefile('x', 'y')",
    "SELECT fts3_tokenizer('x')",
    "SET default_transaction_read_only = off",
    "BEGIN",
    "COMMIT",
    "GRANT ALL ON item TO public",
    "CALL something()",
    "DO $$ BEGIN DELETE FROM item; END $$",
    "LISTEN x",
    "NOTIFY x",
    "ANALYZE",
    "REINDEX item",
    "LOCK TABLE item",
    "PREPARE x AS SELECT 1",
    "",
    "-- nothing",
    "what is the price of ink?",
]


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
@pytest.mark.parametrize("statement", QUERIES)
def test_a_query_may_run_and_is_no_write(dialect: Dialect, statement: str) -> None:
    query, write = both(dialect, statement)
    assert not query
    assert "sql_query runs it" in write


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
@pytest.mark.parametrize("statement", NO_QUERIES)
def test_what_is_more_than_a_query_is_not_run_as_one(dialect: Dialect, statement: str) -> None:
    assert both(dialect, statement)[0]


def test_a_locking_query_is_refused_where_it_locks() -> None:
    assert "FOR UPDATE" in both("postgres", "SELECT * FROM item FOR UPDATE")[0]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO item VALUES (4, 'cap', 1)",
        "INSERT INTO item SELECT id + 10, name, price FROM item",
        "INSERT INTO item VALUES (1, 'pen', 2) ON CONFLICT (id) DO UPDATE SET price = excluded.price",
        "UPDATE item SET price = 2 WHERE id = 1",
        "DELETE FROM item WHERE name = 'pen' AND price > 1 RETURNING id",
        "CREATE TABLE other (id INT)",
        "CREATE INDEX by_name ON item (name)",
        "CREATE VIEW cheap AS SELECT * FROM item WHERE price < 2",
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_a_change_of_chosen_rows_may_run(dialect: Dialect, statement: str) -> None:
    assert both(dialect, statement)[1] == ""


DESTRUCTIVE = [
    "DROP TABLE item",
    "DROP VIEW IF EXISTS cheap",
    "TRUNCATE TABLE item",
    "ALTER TABLE item DROP COLUMN price",
    "DELETE FROM item",
    "UPDATE item SET price = 0",
    "DELETE FROM item WHERE 1 = 1",
    "DELETE FROM item WHERE TRUE",
    "DELETE FROM item WHERE id = 3 OR 1 = 1",
    "DELETE FROM item WHERE id = id",
    "INSERT INTO item (id, name) SELECT id, 'x' FROM item WHERE id > 0 ON CONFLICT (id) DO UPDATE SET name = 'x'",
    "WITH gone AS (DELETE FROM item WHERE id >= id RETURNING *) INSERT INTO item SELECT * FROM gone",
    "UPDATE item SET price = 0 WHERE 'a' <> 'b'",
    "CREATE OR REPLACE VIEW cheap AS SELECT 1",
]


@pytest.mark.parametrize("statement", DESTRUCTIVE)
@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_what_destroys_more_than_chosen_rows_must_be_allowed(dialect: Dialect, statement: str) -> None:
    assert "sql_destructive=true" in both(dialect, statement)[1]
    checked_write(statement, dialect, {}, True)


def test_rows_of_a_query_in_the_place_of_rows_that_are_there_must_be_allowed() -> None:
    assert "sql_destructive=true" in both("sqlite", "INSERT OR REPLACE INTO item SELECT id, 'x', 1 FROM item")[1]
    assert both("sqlite", "INSERT OR REPLACE INTO item VALUES (1, 'x', 1)")[1] == ""


def test_a_destructive_part_inside_another_statement_is_found() -> None:
    said = both("postgres", "WITH gone AS (DELETE FROM item RETURNING *) INSERT INTO item SELECT * FROM gone")[1]
    assert "DELETE without a condition" in said


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE FUNCTION f() RETURNS INT AS $$ DELETE FROM item $$ LANGUAGE sql",
        "CREATE TRIGGER t AFTER INSERT ON item BEGIN DELETE FROM item; END",
        "CREATE EXTENSION dblink",
        "CREATE DATABASE other",
        "DROP DATABASE shop",
        "DROP SCHEMA public",
        "COPY item FROM PROGRAM 'id'",
        "INSERT INTO item VALUES (1, pg_read_file('/etc/passwd'), 1)",
        "ATTACH 'x' AS y",
        "VACUUM",
        "GRANT ALL ON item TO public",
        "DO $$ BEGIN END $$",
        "INSERT INTO item(id) VALUES (5); DELETE FROM item",
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_what_runs_code_or_changes_more_than_tables_is_never_run(dialect: Dialect, statement: str) -> None:
    with pytest.raises(ToolFailed):
        checked_write(statement, dialect, {}, True)


@given(st.text())
def test_any_text_is_run_or_refused_by_name(text: str) -> None:
    for dialect in ("sqlite", "postgres"):
        both(dialect, text)  # type: ignore[arg-type]


async def test_rows_come_by_name_and_numbers_as_numbers(root: Path) -> None:
    settings = sqlite_settings(root)
    found = await run(settings, "sql_query", sql="SELECT name, price FROM item WHERE id < 3 ORDER BY id")
    assert found == {
        "columns": ["name", "price"],
        "rows": [{"name": "pen", "price": 1.5}, {"name": "ink", "price": 4}],
        "more": False,
    }


async def test_columns_of_the_same_name_are_told_apart(root: Path) -> None:
    found = await run(sqlite_settings(root), "sql_query", sql="SELECT 1 AS a, 2 AS a, 3 AS a")
    assert found["rows"] == [{"a": 1, "a_2": 2, "a_3": 3}]


async def test_no_more_rows_than_asked_for_are_taken(root: Path) -> None:
    found = await run(sqlite_settings(root), "sql_query", sql="SELECT id FROM item", limit=2)
    assert (len(found["rows"]), found["more"]) == (2, True)


async def test_a_value_is_a_value_whatever_stands_in_it(root: Path) -> None:
    name = "it's; drop"
    found = await run(
        sqlite_settings(root), "sql_query", sql="SELECT id FROM item WHERE name = :name", parameters={"name": name}
    )
    assert found["rows"] == [{"id": 3}]


@pytest.mark.parametrize(
    ("sql", "parameters"),
    [
        ("SELECT :a", {}),
        ("SELECT 1", {"a": 1}),
        ("SELECT ?", {"a": 1}),
        ("SELECT $1", {"a": 1}),
        ("SELECT :a", {"b": 1}),
    ],
)
async def test_names_and_values_must_match(root: Path, sql: str, parameters: dict[str, Any]) -> None:
    failed = await refused(sqlite_settings(root), "sql_query", sql=sql, parameters=parameters)
    assert failed.failure == "invalid_arguments" and "parameters" in str(failed)


async def test_an_unknown_name_is_answered_with_the_tables(root: Path) -> None:
    for sql in ("SELECT * FROM itm", "SELECT cost FROM item", "SELEC 1"):
        failed = await refused(sqlite_settings(root), "sql_query", sql=sql)
        assert failed.failure == "invalid_arguments"
        assert "the tables are: item (id, name, price)" in str(failed)


async def test_tables_are_told_with_their_columns(root: Path) -> None:
    found = await run(sqlite_settings(root), "sql_tables")
    assert found == {"item": {"id": "INTEGER", "name": "TEXT", "price": "NUMERIC(9, 2)"}}


async def test_a_change_is_made_and_counted(root: Path) -> None:
    settings = sqlite_settings(root)
    sql = "UPDATE item SET price = price + :more WHERE price < 3 RETURNING id"
    found = await run(settings, "sql_execute", sql=sql, parameters={"more": 1})
    assert found["rows"] == [{"id": 1}, {"id": 3}]
    assert await run(settings, "sql_execute", sql="DELETE FROM item WHERE id IN (1, 2)") == {"changed": 2, "rows": []}
    assert (await run(settings, "sql_query", sql="SELECT count(*) AS n FROM item"))["rows"] == [{"n": 1}]


async def test_a_change_that_fails_leaves_nothing_behind(root: Path) -> None:
    settings = sqlite_settings(root)
    failed = await refused(settings, "sql_execute", sql="INSERT INTO item(id) VALUES (7), (1)")
    assert failed.nothing_happened and "UNIQUE constraint failed" in str(failed)
    assert (await run(settings, "sql_query", sql="SELECT max(id) AS n FROM item"))["rows"] == [{"n": 3}]


ALL_ROWS = [
    '"id" = id', "item.id = id", "id IS id", "id >= id", "id = id + 0", "id = id AND name = name",
    "id BETWEEN id AND id", "id IN (id)", "id = 1 OR id <> 1", "price > 0",
]  # fmt: skip
"""Conditions about the rows that hold for every one."""


@pytest.mark.parametrize("where", ALL_ROWS)
@pytest.mark.parametrize("change", ["DELETE FROM item AS item", "UPDATE item SET name = 'x'", "DELETE FROM item"])
async def test_a_change_of_every_row_is_undone_whatever_its_condition_looks_like(
    root: Path, change: str, where: str
) -> None:
    settings, before = sqlite_settings(root), "SELECT count(*) AS n FROM item WHERE name <> 'x'"
    error = await refused(settings, "sql_execute", sql=f"{change} WHERE {where}")
    assert error.failure == "policy" and "sql_destructive" in str(error)
    assert (await run(settings, "sql_query", sql=before))["rows"] == [{"n": 3}]
    allowed = sqlite_settings(root, sql_destructive=True)
    assert (await run(allowed, "sql_execute", sql=f"{change} WHERE {where} RETURNING id"))["changed"] == 3


async def test_the_only_row_of_a_table_may_be_changed_by_its_condition(root: Path) -> None:
    settings = sqlite_settings(root)
    await run(settings, "sql_execute", sql="DELETE FROM item WHERE id > 1")
    assert (await run(settings, "sql_execute", sql="UPDATE item SET name = 'x' WHERE id = 1"))["changed"] == 1
    assert (await run(settings, "sql_execute", sql="DELETE FROM item WHERE id = 1"))["changed"] == 1


async def test_rows_of_more_than_some_megabytes_are_not_taken(root: Path) -> None:
    value = "replace(printf('%999s', ''), ' ', printf('%999s', ''))"
    for text, said in ((value, "ask for fewer"), (f"{value} || {value} || {value}", "too big")):
        error = await refused(sqlite_settings(root), "sql_query", sql=f"SELECT {text} AS a FROM item")
        assert said in str(error)


@pytest.mark.parametrize("form", ["'%.*c'", "'%*d'", "'%2000000000c'", "'%-9.1234f'", "'%' || '9999s'", ":form"])
async def test_a_width_that_sqlite_would_fill_for_ever_is_refused(root: Path, form: str) -> None:
    for name in ("printf", "format"):
        given = {"form": "%.*c"} if form == ":form" else {}
        error = await refused(
            sqlite_settings(root), "sql_query", sql=f"SELECT {name}({form}, 2000000000, 'x')", parameters=given
        )
        assert error.failure == "policy" and "at most three digits" in str(error)


async def test_a_list_in_json_is_read_as_rows(root: Path) -> None:
    rows = await run(sqlite_settings(root), "sql_query", sql="SELECT value FROM json_each('[1, 2]') ORDER BY value")
    assert rows["rows"] == [{"value": 1}, {"value": 2}]


async def test_sqlite_itself_refuses_what_the_tree_would_let_through(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlglot import parse_one

    database = sql_databases.SQLite(root / "shop.db")
    for sql in ("DELETE FROM item WHERE id = 1", "INSERT INTO item(id) VALUES (8)", "DROP TABLE item", "PRAGMA x = 1"):
        with pytest.raises(ToolFailed) as caught:
            database.query(parse_one(sql, dialect="sqlite"), {}, 1)
        assert caught.value.failure == "policy"
    with pytest.raises(ToolFailed, match="not authorized"):
        database.execute(parse_one("ATTACH 'x' AS y", dialect="sqlite"), {}, 1)


async def test_a_query_without_an_end_is_ended(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_databases, "SECONDS", 0.2)
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT sum(x) FROM n"
    assert (await refused(sqlite_settings(root), "sql_query", sql=endless)).failure == "timeout"


async def test_a_locked_database_is_a_passing_failure(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **more: real(*args, **{**more, "timeout": 0.01}))
    with closing(real(root / "shop.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        failed = await refused(sqlite_settings(root), "sql_execute", sql="INSERT INTO item(id) VALUES (8)")
    assert (failed.failure, failed.nothing_happened) == ("transient", True)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (None, "no database is set; set sql to data.db"),
        ("missing.db", "there is no file 'missing.db'"),
        ("../shop.db", "'..'"),
        ("/etc/passwd", "leads out"),
        ("home/journal.db", "leads out"),
        ("mysql://host/db", "no SQLite file and no PostgreSQL"),
        ("no.txt", "file is not a database"),
    ],
)
async def test_a_database_that_can_not_be_used_is_named(root: Path, sql: str | None, words: str) -> None:
    (root / "no.txt").write_text("nothing of a database " * 100)
    (root / "home").mkdir()
    (root / "home" / "journal.db").touch()
    settings = ToolSettings(root=str(root), sql=sql, home=str(root / "home"))
    assert words in str(await refused(settings, "sql_query", sql="SELECT * FROM item"))


async def test_a_run_asks_before_it_changes_a_table(root: Path, scripted_model: ScriptedModel, home: Path) -> None:
    steps = [
        {"id": "s1", "tool": "sql_query", "args": {"sql": "SELECT max(price) AS price FROM item"}},
        {
            "id": "s2",
            "tool": "sql_execute",
            "args": {
                "sql": "UPDATE item SET price = :price WHERE id = 1",
                "parameters": {"price": "${steps.s1.rows[0].price}"},
            },
        },
    ]
    scripted_model.reply({"goal": "raise", "steps": steps})
    context = {"model": scripted_model, "tools": ["sql"], "sql": "shop.db", "root": str(root), "writes": "allow"}
    report = (await graphs.load("one_shot").ainvoke({"task": "raise the price"}, context=context))["report"]
    assert [result["output"] for result in report["results"]][1] == {"changed": 1, "rows": []}
    with closing(sqlite3.connect(root / "shop.db")) as db:
        assert db.execute("SELECT price FROM item WHERE id = 1").fetchone() == (4,)


# ---- PostgreSQL


@pytest.mark.slow
async def test_postgres_gives_rows_and_takes_changes(postgres_url: str) -> None:
    settings = ToolSettings(sql=postgres_url)
    assert await run(settings, "sql_tables") == {"item": {"id": "integer", "name": "text", "price": "numeric"}}
    sql = "SELECT name, price FROM item WHERE name LIKE '%in%' AND price > :least"
    found = await run(settings, "sql_query", sql=sql, parameters={"least": 3})
    assert found["rows"] == [{"name": "ink", "price": 4.0}]
    changed = await run(settings, "sql_execute", sql="UPDATE item SET name = :n WHERE id < 3", parameters={"n": "x%"})
    assert changed == {"changed": 2, "rows": []}
    assert (await run(settings, "sql_query", sql="SELECT count(*) AS n FROM item WHERE name = 'x%'"))["rows"][0][
        "n"
    ] == 2


@pytest.mark.slow
@pytest.mark.parametrize("sql", QUERIES)
async def test_postgres_and_sqlite_run_every_query(postgres_url: str, root: Path, sql: str) -> None:
    for settings in (ToolSettings(sql=postgres_url), sqlite_settings(root)):
        assert (await run(settings, "sql_query", sql=sql))["rows"]


@pytest.mark.slow
async def test_no_function_of_postgres_with_an_effect_is_called(postgres_url: str) -> None:
    pure = {"random", "clock_timestamp", "timeofday", "gen_random_uuid", "random_normal", "uuidv4", "uuidv7"}
    with psycopg.connect(postgres_url) as db:
        rows = db.execute("SELECT DISTINCT proname FROM pg_proc WHERE provolatile = 'v' AND prokind = 'f'").fetchall()
    names = {name for (name,) in rows if re.fullmatch(r"\w+", name)} - pure
    assert len(names) > 200
    assert [name for name in sorted(names) if not both("postgres", f"SELECT {name}('a', 1)")[0]] == []
    assert [name for name in sorted(names) if not both("postgres", f"SELECT {name}()")[0]] == []


@pytest.mark.slow
async def test_postgres_itself_refuses_what_the_tree_would_let_through(postgres_url: str) -> None:
    from sqlglot import parse_one

    database = sql_databases.PostgreSQL(postgres_url)
    for sql in ("DELETE FROM item WHERE id = 1", "CREATE TABLE x (a INT)", "SELECT * INTO y FROM item"):
        with pytest.raises(ToolFailed, match=r"read-only transaction|syntax error|not allowed"):
            database.query(parse_one(sql, dialect="postgres"), {}, 1)


@pytest.mark.slow
@pytest.mark.parametrize("where", [*ALL_ROWS, "id IS NOT DISTINCT FROM id"])
async def test_postgres_undoes_a_change_of_every_row(postgres_url: str, where: str) -> None:
    if where == "id IS id":
        return  # SQLite alone has it
    settings = ToolSettings(sql=postgres_url)
    for change in ("DELETE FROM item", "UPDATE item SET name = 'x'"):
        error = await refused(settings, "sql_execute", sql=f"{change} WHERE {where}")
        assert error.failure == "policy" and "sql_destructive" in str(error)
    assert (await run(settings, "sql_query", sql="SELECT id FROM item WHERE name <> 'x'"))["rows"] == [
        {"id": 1}, {"id": 2}, {"id": 3}
    ]  # fmt: skip


@pytest.mark.slow
async def test_postgres_keeps_the_rows_that_are_not_taken(postgres_url: str) -> None:
    many = "SELECT repeat('x', 100000) AS a FROM generate_series(1, 100000)"
    error = await refused(ToolSettings(sql=postgres_url), "sql_query", sql=many, limit=1000)
    assert "ask for fewer rows" in str(error)


@pytest.mark.slow
async def test_postgres_ends_what_takes_too_long(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_databases, "SECONDS", 1)
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n"
    assert (await refused(ToolSettings(sql=postgres_url), "sql_query", sql=endless)).failure == "timeout"


@pytest.mark.slow
async def test_failures_of_postgres_have_their_class_and_no_password(postgres: Postgres, postgres_url: str) -> None:
    settings = ToolSettings(sql=postgres_url)
    failed = await refused(settings, "sql_query", sql="SELECT cost FROM item")
    assert failed.failure == "invalid_arguments" and "item (id, name, price)" in str(failed)
    failed = await refused(settings, "sql_execute", sql="INSERT INTO item(id) VALUES (9), (1)")
    assert failed.nothing_happened and "duplicate key" in str(failed)
    wrong = postgres_url.replace(postgres.password, "wrong-one")
    failed = await refused(ToolSettings(sql=wrong), "sql_query", sql="SELECT 1")
    assert "wrong-one" not in str(failed) and postgres.password not in str(failed)
    assert failed.failure in ("auth", "transient")
    failed = await refused(ToolSettings(sql="postgresql://u:s3cret@127.0.0.1:9/x"), "sql_query", sql="SELECT 1")
    assert failed.failure == "transient" and "s3cret" not in str(failed)


@pytest.mark.slow
async def test_a_connection_lost_while_committing_leaves_the_outcome_open(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = psycopg.Connection.commit

    def commit(self: Any) -> None:
        monkeypatch.setattr(psycopg.Connection, "commit", real)
        with psycopg.connect(postgres_url, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", (self.info.backend_pid,))
        real(self)

    monkeypatch.setattr(psycopg.Connection, "commit", commit)
    failed = await refused(ToolSettings(sql=postgres_url), "sql_execute", sql="INSERT INTO item(id) VALUES (9)")
    assert not failed.nothing_happened
