"""Calls written as Python: `[f(a=1), g(b="x")]`. Arguments are literals with names; nothing is evaluated.

One list is read as a whole or not at all, so that a broken call never passes for the one beside it.
"""

import ast
import re
import warnings
from typing import Any

from nodes.reading.arguments import call_of
from nodes.reading.record import Call
from state.syntax import parsed

_CALL = r"[A-Za-z_][\w.]*\("
_LOOKS = re.compile(rf"\[\s*{_CALL}(?:\s*\)|\s*\w+\s*=|.*\)\s*\]\s*\Z)", re.DOTALL)
_SINGLE = re.compile(rf"\s*(?:print\()?\s*{_CALL}", re.DOTALL)
_WORDS = {"true": True, "false": False, "null": None}


def looks_pythonic(text: str) -> bool:
    """Whether a text as a whole seems to be a list of Python calls."""
    return bool(_LOOKS.match(text))


def looks_like_a_call(text: str) -> bool:
    """Whether a marked text seems to be one or more Python calls."""
    return looks_pythonic(text.strip()) or bool(_SINGLE.match(text))


def pythonic_calls(text: str) -> list[Call]:
    """The calls of a text that is nothing else; one call with a problem where any of them can't be read."""
    try:
        return [call_of(name, args) for name, args in _read(text)]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        return [Call("", None, f"calls written as Python can't be read: {reason}")]


def _read(text: str) -> list[tuple[str, dict[str, Any]]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that Python will refuse one day
        body = parsed(text.strip()).body
    nodes: list[ast.expr] = []
    for statement in body:
        if not isinstance(statement, ast.Expr):
            raise ValueError("there is something else than calls")
        value = statement.value
        nodes += value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
    return [_call(node) for node in nodes]


def _call(node: ast.expr) -> tuple[str, dict[str, Any]]:
    if not isinstance(node, ast.Call):
        raise ValueError("there is something else than calls")
    name = ast.unparse(node.func)
    if name == "print" and len(node.args) == 1 and not node.keywords:
        return _call(node.args[0])
    if node.args or any(keyword.arg is None for keyword in node.keywords):
        raise ValueError(f"an argument of {name} has no name")
    if len({item.arg for item in node.keywords}) < len(node.keywords):
        raise ValueError(f"an argument of {name} is given twice")
    return name.removesuffix(".call"), {str(item.arg): literal(item.value) for item in node.keywords}


def literal(node: ast.expr) -> Any:
    """The value of a literal, with JSON's words too; raises `ValueError` at anything that would have to be computed."""
    if isinstance(node, ast.Name) and node.id in _WORDS:
        return _WORDS[node.id]
    if isinstance(node, ast.List | ast.Tuple):
        return [literal(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        keys = [literal(key) if key else None for key in node.keys]
        if not all(isinstance(key, str) for key in keys) or len(set(keys)) < len(keys):
            raise ValueError("the keys of an object must be texts that differ")
        return dict(zip(keys, map(literal, node.values), strict=True))
    value = ast.literal_eval(node)
    if not isinstance(value, str | int | float | bool | None):
        raise ValueError(f"a {type(value).__name__} is no JSON value")
    return value
