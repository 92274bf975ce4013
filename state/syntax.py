"""Python's parser, one thread at a time: up to 3.12 two that parse at once may fail with a `SystemError`.

Making a pydantic model reads the source of its docstrings, so it parses as well.
"""

import ast
from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Literal, ParamSpec, TypeVar, overload

P = ParamSpec("P")
T = TypeVar("T")

_ONE_AT_A_TIME = RLock()


@overload
def parsed(text: str) -> ast.Module: ...
@overload
def parsed(text: str, mode: Literal["eval"]) -> ast.Expression: ...
def parsed(text: str, mode: Literal["exec", "eval"] = "exec") -> ast.mod:
    """The syntax tree of Python code; raises as `ast.parse` does."""
    with _ONE_AT_A_TIME:
        return ast.parse(text, mode=mode)


def alone(make: Callable[P, T]) -> Callable[P, T]:
    """A function that makes pydantic models while a program runs."""

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> T:
        with _ONE_AT_A_TIME:
            return make(*args, **kwargs)

    return made
