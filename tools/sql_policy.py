"""Which SQL may run, decided by its syntax tree, and the text of it that does run.

What runs is written anew from the tree that was checked, so a database can't read a text otherwise than it was
checked. Everything is refused that is not known to be harmless: an unknown statement, an unknown function.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NoReturn

from sqlglot import ErrorLevel, exp, parse
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.simplify import simplify

from state.errors import ToolFailed, shorten

Dialect = Literal["sqlite", "postgres"]
_QUERY = (exp.Select, exp.SetOperation, exp.Values, exp.Subquery)
_WRITE = (exp.Insert, exp.Update, exp.Delete, exp.Create)
_DESTRUCTIVE = (exp.Drop, exp.TruncateTable, exp.Alter, exp.Merge)
_NO_QUERY = (
    exp.DML, exp.DDL, exp.Drop, exp.TruncateTable, exp.Alter, exp.Merge, exp.Into, exp.Lock, exp.Command, exp.Copy,
    exp.Pragma, exp.Attach, exp.Detach, exp.Set, exp.Transaction, exp.Analyze, exp.Comment, exp.Grant,
)  # fmt: skip
_KINDS = {"TABLE", "INDEX", "VIEW"}
_SQLITE = """
    acos asin atan atan2 ceil ceiling changes char concat concat_ws cos cume_dist date datetime degrees dense_rank
    format glob hex ifnull instr json json_array json_array_length json_each json_group_array json_group_object
    json_insert json_object json_patch json_quote json_remove json_replace json_set json_tree json_type json_valid
    julianday likelihood ln log log10 log2 mod ntile octet_length percent_rank pi printf quote radians rank sign sin
    soundex sqlite_version substr tan time timediff total trunc typeof unhex unicode unixepoch
"""
_POSTGRES = """
    age array_position array_positions array_remove array_replace array_to_string bool_and bool_or btrim cbrt
    char_length cume_dist date_bin dense_rank div encode every factorial format gcd isfinite json_agg
    json_array_elements json_array_elements_text json_array_length json_build_array json_build_object json_each
    json_each_text json_object_agg json_object_keys json_typeof jsonb_agg jsonb_array_elements
    jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text
    jsonb_object_agg jsonb_object_keys jsonb_pretty jsonb_set jsonb_strip_nulls jsonb_typeof justify_days lcm
    make_date make_interval make_timestamp mode ntile num_nulls octet_length percent_rank pi quote_ident
    quote_literal rank regexp_count regexp_like regexp_match regexp_matches regexp_split_to_array
    regexp_split_to_table row_to_json scale string_to_array string_to_table to_char to_json to_jsonb to_number
    trim_scale tsvector_to_array width_bucket
"""
_FUNCTIONS: dict[Dialect, frozenset[str]] = {
    "sqlite": frozenset(_SQLITE.split()),
    "postgres": frozenset(_POSTGRES.split()),
}
"""Functions that sqlglot has no class for and that only compute. Those it has a class for only compute as well, but:"""
_NOT_THESE = (exp.ReadCSV, exp.ReadParquet, exp.NextValueFor)
_WIDE = re.compile(r"%[-+ #0,!]*\d*\.?(?:\*|\d{4,})|%[-+ #0,!]*\d{4,}")
logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of statements that it can't read; those are refused


def checked_query(sql: str, dialect: Dialect, names: Mapping[str, Any]) -> exp.Expr:
    """The tree of one statement that only reads; raises `ToolFailed` for any other."""
    tree = _one(sql, dialect)
    if not isinstance(tree, _QUERY):
        _refuse(f"{_name(tree)} is no query; sql_query takes SELECT, also with WITH and UNION")
    if (found := next(tree.find_all(*_NO_QUERY), None)) is not None:
        _refuse(f"there is {_name(found)} inside this query; sql_query only reads")
    _check_parts(tree, dialect, names)
    return tree


def checked_write(sql: str, dialect: Dialect, names: Mapping[str, Any], destructive: bool) -> exp.Expr:
    """The tree of one statement that changes rows or makes a table; what destroys more must be allowed."""
    tree = _one(sql, dialect)
    if isinstance(tree, _QUERY):
        _refuse("this is a query; sql_query runs it, without waiting for a person")
    if not isinstance(tree, (*_WRITE, *_DESTRUCTIVE)) or next(tree.find_all(exp.Command, exp.Copy), None):
        _refuse(f"{_name(tree)} is not run; sql_execute takes INSERT, UPDATE, DELETE and CREATE TABLE, INDEX or VIEW")
    if (
        isinstance(tree, exp.Create | exp.Drop | exp.Alter)
        and str(tree.args.get("kind", "TABLE")).upper() not in _KINDS
    ):
        _refuse(f"{_name(tree)} {tree.args.get('kind')} is not run; only tables, indexes and views are")
    if not destructive and (why := next(_destroys(tree), "")):
        _refuse(f"{why}; a person may allow it by the setting sql_destructive=true")
    _check_parts(tree, dialect, names)
    return tree


def spared(tree: exp.Expr, destructive: bool) -> exp.Expr | None:
    """The table of which a change must leave rows as they are: no tree tells whether a condition holds for all."""
    if destructive or not isinstance(tree, exp.Update | exp.Delete) or not isinstance(tree.this, exp.Table):
        return None
    return exp.Table(this=tree.this.this, db=tree.this.args.get("db"), catalog=tree.this.args.get("catalog"))


def text(tree: exp.Expr, dialect: Dialect) -> str:
    """The statement to run."""
    try:
        return tree.sql(dialect=dialect, comments=False, unsupported_level=ErrorLevel.RAISE)
    except SqlglotError as error:
        raise ToolFailed(f"{dialect} has no such SQL: {shorten(str(error))}", "invalid_arguments") from error


def _one(sql: str, dialect: Dialect) -> exp.Expr:
    try:
        found = [tree for tree in parse(sql, dialect=dialect) if tree is not None]
    except (SqlglotError, RecursionError) as error:
        why = shorten(str(error).replace("\x1b[4m", "").replace("\x1b[0m", ""))
        raise ToolFailed(f"this SQL can't be read: {why}", "invalid_arguments") from error
    if len(found) != 1:
        what = "is no statement" if not found else f"are {len(found)} statements"
        raise ToolFailed(f"here {what}; give exactly one", "policy" if found else "invalid_arguments")
    return found[0].unnest() if isinstance(found[0], exp.Subquery) else found[0]


def _destroys(tree: exp.Expr) -> Iterator[str]:
    """What in a statement destroys more than chosen rows."""
    for node in tree.find_all(*_DESTRUCTIVE, *_WRITE):
        if isinstance(node, _DESTRUCTIVE):
            yield f"{_name(node)} destroys what can't be brought back"
        elif isinstance(node, exp.Create):
            if node.args.get("replace"):
                yield "CREATE OR REPLACE destroys what was there"
        elif isinstance(node, exp.Insert):
            if _overwrites(node):
                yield f"{_name(node)} of what a query gives, over rows that are there, changes rows that nobody chose"
        elif isinstance(node, exp.Update | exp.Delete):
            yield from _changes_all(node, tree)


def _changes_all(node: exp.Update | exp.Delete, tree: exp.Expr) -> Iterator[str]:
    if not _chooses(node.args.get("where")):
        yield f"{_name(node)} without a condition about the rows changes all of them"
    elif node is not tree:
        yield f"there is {_name(node)} inside this {_name(tree)}, and how many rows it changes can't be seen"


def _overwrites(node: exp.Insert) -> bool:
    """Whether it puts rows of a query in the place of rows that are there."""
    conflict = node.args.get("conflict")
    over = node.args.get("alternative") == "REPLACE" or (conflict and conflict.args.get("expressions"))
    return bool(over) and not isinstance(node.expression, exp.Values)


def _chooses(where: exp.Expr | None) -> bool:
    """Whether a condition is there that depends on the row: neither 1 = 1 nor id = id."""
    if where is None:
        return False
    left = simplify(where.this.copy())
    same = isinstance(left, exp.EQ) and left.this == left.expression
    return left.find(exp.Column) is not None and not same


def _check_parts(tree: exp.Expr, dialect: Dialect, names: Mapping[str, Any]) -> None:
    for node in tree.find_all(exp.Func, exp.Dot):
        _check_function(node, dialect)
    if next(tree.find_all(exp.Parameter), None) or any(not node.name for node in tree.find_all(exp.Placeholder)):
        raise ToolFailed("values are written :name here, and given in parameters", "invalid_arguments")
    wanted = {node.name for node in tree.find_all(exp.Placeholder)}
    if wanted != set(names):
        problem = f"the statement names {sorted(wanted)} and parameters gives {sorted(names)}"
        raise ToolFailed(f"{problem}; right would be the same names", "invalid_arguments")


def _check_function(node: exp.Expr, dialect: Dialect) -> None:
    if isinstance(node, exp.Dot):
        if isinstance(node.expression, exp.Func):
            _refuse(f"function {node.sql(dialect=dialect)} is called by a path; only built-in functions are run")
    elif isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        if node.name.lower() not in _FUNCTIONS[dialect]:
            _refuse(f"function {shorten(node.name)} is not among those that are known only to compute")
        if dialect == "sqlite" and node.name.lower() == "printf":
            _check_form(node.expressions[0] if node.expressions else None)
    elif isinstance(node, exp.Format) and dialect == "sqlite":
        _check_form(node.this)
    elif isinstance(node, _NOT_THESE):
        _refuse(f"function {node.sql_name().lower()} does more than compute")


def _check_form(form: Any) -> None:
    """SQLite fills up to a width sign by sign, whatever its limits are, and nothing ends it there."""
    if not isinstance(form, exp.Literal) or _WIDE.search(form.name):
        _refuse("the form of printf must stand in the statement, with widths of at most three digits and no *")


def _name(node: exp.Expr) -> str:
    """What a statement is called: its keyword."""
    if isinstance(node, exp.Command):
        return str(node.this).split()[0].upper()
    named = {"TRUNCATETABLE": "TRUNCATE", "INTO": "SELECT INTO", "LOCK": "FOR UPDATE"}
    word = type(node).__name__.upper()
    return named.get(word, word)


def _refuse(why: str) -> NoReturn:
    raise ToolFailed(why, "policy")
