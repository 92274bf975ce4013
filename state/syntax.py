"""Python's parser, one thread at a time: up to 3.12 two that parse at once may fail with a `SystemError`."""

import ast
from threading import RLock
from typing import Literal, overload

_ONE_AT_A_TIME = RLock()


@overload
def parsed(text: str) -> ast.Module: ...
@overload
def parsed(text: str, mode: Literal["eval"]) -> ast.Expression: ...
def parsed(text: str, mode: Literal["exec", "eval"] = "exec") -> ast.mod:
    """The syntax tree of Python code; raises as `ast.parse` does."""
    with _ONE_AT_A_TIME:
        return ast.parse(text, mode=mode)
