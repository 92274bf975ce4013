"""The calculator: exact arithmetic on what a person or a model writes, evaluated by `simpleeval`, never by Python.

Numbers are exact fractions until the end, so 0.1 + 0.2 is 0.3; sqrt, log and the like work in floats.
Leaves out: units, variables, comparisons, complex numbers.
"""

import ast
import difflib
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import partial, reduce
from typing import Any

from simpleeval import FunctionNotDefined, InvalidExpression, NameNotDefined, SimpleEval

from state.errors import ToolFailed, shorten
from state.syntax import parsed
from tools.notation import to_python
from tools.settings import ToolSettings
from tools.tool import Tool, read

Number = int | float | Fraction
_MAX_BITS = 8_000
"""Size of an intermediate result; far above what a float can hold, far below what takes time."""
_MAX_LENGTH = 10_000
_INT64 = 1 << 63


class _Refused(Exception):
    """A calculation that has no usable result; its message says why."""


def tools(settings: ToolSettings) -> list[Tool]:
    """The calculator."""
    return [read(calculator, timeout=10.0)]


def calculator(expression: str) -> float:
    """Calculates numbers: + - * / // % ** ( ), sqrt, round(x, digits), abs, min, max, sum([..]), mean, log, exp, pi, e.

    15% means 0.15. Whole results are exact up to 64 bits. Angles are in radians.
    """
    try:
        return _plain(_value(expression))
    except _Refused as error:
        raise ToolFailed(f"{shorten(expression)!r}: {error}", "invalid_arguments") from error


def _value(expression: str) -> Any:
    if len(expression) > _MAX_LENGTH:
        raise _Refused(f"{len(expression)} characters are too long, at most {_MAX_LENGTH}")
    try:
        return _EVALUATOR.eval(expression, _tree(to_python(expression)))
    except (FunctionNotDefined, NameNotDefined) as error:
        raise _Refused(_unknown(getattr(error, "func_name", "") or getattr(error, "name", ""))) from error
    except ZeroDivisionError as error:
        raise _Refused("division by zero") from error
    except OverflowError as error:
        raise _Refused("a number in it is too large") from error
    except RecursionError as error:
        raise _Refused("nested too deeply; sum([..]) adds many numbers") from error
    except (InvalidExpression, ValueError, TypeError) as error:
        raise _Refused(f"{error}; right would be for example: (2024 - 1982) * 2") from error


def _tree(text: str) -> ast.expr:
    try:
        return parsed(text, "eval").body
    except (SyntaxError, MemoryError) as error:
        why = getattr(error, "msg", "") or "too deeply nested"
        raise _Refused(f"can't be read ({why}); right would be for example: (2024 - 1982) * 2") from error


def _unknown(name: str) -> str:
    known = [*_FUNCTIONS, *_CONSTANTS]
    close = difflib.get_close_matches(name, known, n=3)
    return f"{name!r} is not known here; " + (
        f"close: {', '.join(close)}" if close else f"there is: {', '.join(known)}"
    )


def _plain(value: Any) -> int | float:
    """The result as JSON can carry it: whole numbers whole up to 64 bits, the rest as floats."""
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise _Refused("gives no number" if not isinstance(value, complex) else "has no real result")
    if isinstance(value, Fraction) and value.denominator == 1:
        value = value.numerator
    if isinstance(value, int) and -_INT64 <= value < _INT64:
        return value
    try:
        result = float(value)
    except OverflowError as error:
        raise _Refused("the result is too large") from error
    if not math.isfinite(result) or (result == 0 and value):
        raise _Refused("the result is too large or too small")
    return result


def _size(value: Any) -> int:
    if isinstance(value, float):
        return 0
    exact = Fraction(value)
    return max(exact.numerator.bit_length(), exact.denominator.bit_length())


def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with a look at every result, so that no later step can take for ever."""

    def call(*args: Any, **named: Any) -> Any:
        result = function(*args, **named)
        if isinstance(result, complex):
            raise _Refused("has no real result")
        if isinstance(result, float) and not math.isfinite(result):
            raise _Refused("a number in it is too large")
        if isinstance(result, int | Fraction) and _size(result) > _MAX_BITS:
            raise _Refused("a number in it is too large")
        return result

    return call


def _power(base: Number, exponent: Number) -> Any:
    if isinstance(exponent, Fraction) and exponent.denominator == 1:
        exponent = exponent.numerator
    if isinstance(exponent, int) and base not in (-1, 0, 1) and _size(base) * abs(exponent) > _MAX_BITS:
        raise _Refused("a number in it is too large")
    return base**exponent


def _divide(left: Number, right: Number) -> Number:
    exact = not isinstance(left, float) and not isinstance(right, float)
    return Fraction(left) / Fraction(right) if exact else left / right


def _root(value: Number) -> Number:
    if value < 0:
        raise _Refused("has no real result")
    if isinstance(value, float):
        return math.sqrt(value)
    exact = Fraction(value)
    above, below = math.isqrt(exact.numerator), math.isqrt(exact.denominator)
    return Fraction(above, below) if Fraction(above, below) ** 2 == exact else math.sqrt(exact)


def _round(value: Number, ndigits: Number | None = None) -> Number:
    """As people round, not as Python does: a half goes away from zero, so that 2.5 becomes 3 and 0.125 becomes 0.13."""
    digits = 0 if ndigits is None else _whole(ndigits)
    if abs(digits) > 300:
        raise _Refused(f"round to {digits} digits is too much, at most 300")
    if isinstance(value, int) and digits >= 0:
        return value
    unit = Fraction(10) ** -digits
    units = math.floor(abs(Fraction(value)) / unit + Fraction(1, 2))
    return units * unit if value >= 0 else -units * unit


def _log(value: Number, base: Number = math.e) -> float:
    if base in (2, 10):  # exact for 1000, where the general way gives 2.9999999999999996
        return math.log10(value) if base == 10 else math.log2(value)
    return math.log(value, base)


def _whole(value: Number) -> int:
    if value != int(value):
        raise _Refused(f"{float(value)} should be a whole number")
    return int(value)


def _factorial(value: Number) -> int:
    if value > 500:
        raise _Refused("a number in it is too large")
    return math.factorial(_whole(value))


def _items(numbers: tuple[Any, ...]) -> list[Any]:
    """The numbers of f(1, 2) and of f([1, 2])."""
    return [*numbers[0]] if len(numbers) == 1 and isinstance(numbers[0], list) else [*numbers]


def _mean(*numbers: Any) -> Number:
    found = _items(numbers)
    return _divide(sum(found), len(found))


def _literal(node: ast.Constant) -> Number:
    """A number as it was written: 0.1 is a tenth."""
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Refused(f"{shorten(value)!r} is no number")
    if isinstance(value, float) and not math.isfinite(value):
        raise _Refused("a number in it is too large")
    return Fraction(repr(value)) if isinstance(value, float) else value


def _list(node: ast.List | ast.Tuple) -> list[Any]:
    return [_EVALUATOR._eval(item) for item in node.elts]


def _call(evaluate: Callable[[ast.Call], Any], node: ast.Call) -> Any:
    if not isinstance(node.func, ast.Name):
        raise _Refused("an operator is missing before a bracket; right would be for example: 2 * (3 + 4)")
    return evaluate(node)


def _of_whole(function: Callable[..., int]) -> Callable[..., int]:
    return lambda *numbers: reduce(function, map(_whole, _items(numbers)))


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": _root, "round": _round, "abs": abs, "pow": _power, "factorial": _factorial, "mean": _mean,
    "min": lambda *n: min(_items(n)), "max": lambda *n: max(_items(n)), "sum": lambda *n: sum(_items(n)),
    "log": _log, "ln": math.log, "log2": math.log2, "log10": math.log10, "exp": math.exp,
    "floor": math.floor, "ceil": math.ceil, "int": math.trunc, "float": lambda x: x,
    "gcd": _of_whole(math.gcd), "lcm": _of_whole(math.lcm), "hypot": math.hypot,
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan,
    "degrees": math.degrees, "radians": math.radians,
}  # fmt: skip
_CONSTANTS = {"pi": math.pi, "e": math.e, "tau": math.tau}
_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: _divide,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: _power,
    ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip


def _evaluator() -> SimpleEval:
    made = SimpleEval(
        operators={kind: _guarded(function) for kind, function in _OPERATORS.items()},
        functions={name: _guarded(function) for name, function in _FUNCTIONS.items()},
        names=_CONSTANTS,
    )
    kept = (ast.UnaryOp, ast.BinOp, ast.keyword, ast.Name)
    made.nodes = {kind: made.nodes[kind] for kind in kept} | {ast.Call: partial(_call, made._eval_call)}
    made.nodes |= {ast.Constant: _literal, ast.List: _list, ast.Tuple: _list}
    return made


_EVALUATOR = _evaluator()
"""One for all calls: evaluating leaves nothing in it, and making one changes the process's warning filters."""
