"""Conditions that code can decide: acceptance of a result (`rows > 0`) and guards on steps (`steps.s1.ok`).

The expressions are evaluated by `simpleeval`, never by Python's `eval`, and may come from a model: what one can cost is
bounded by its length, by its operations, by its time, and by operators that make nothing long of something short.
"""

import ast
from collections.abc import Mapping
from typing import Any

from simpleeval import (
    DEFAULT_OPERATORS,
    AttributeDoesNotExist,
    EvalWithCompoundTypes,
    FeatureNotAvailable,
    InvalidExpression,
)

from state.errors import shorten
from state.result import Check
from state.syntax import parsed
from state.time_bound import at_most, look_at_clock

_LONGEST = 2_000
_MOST_BITS = 10_000
_MOST_OPERATIONS = 100_000
SECONDS = 2.0
"""What one condition may take: each of its operations may go through a long result."""
_METHODS = frozenset({
    "count", "endswith", "get", "index", "isalpha", "isdigit", "items", "keys", "lower", "split", "startswith", "strip",
    "upper", "values",
})  # fmt: skip
"""What may be called on a value: nothing that makes a long text of a short one."""


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * abs(exponent) > _MOST_BITS:
        raise ValueError("a number in it is too large")
    return base**exponent


def _product(left: Any, right: Any) -> Any:
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        raise ValueError("* is for numbers")
    if isinstance(left, int) and isinstance(right, int) and left.bit_length() + right.bit_length() > _MOST_BITS:
        raise ValueError("a number in it is too large")
    return left * right


def _remainder(left: Any, right: Any) -> Any:
    if isinstance(left, str | bytes):
        raise ValueError("% is for numbers")
    return left % right


def _sum(values: Any, start: Any = 0) -> Any:
    """Of numbers: a sum of lists takes the square of their length."""
    numbers = [start, *values]
    if not all(isinstance(one, int | float) for one in numbers):
        raise ValueError("sum is for numbers")
    return sum(numbers)


def _round(value: Any, digits: int = 0) -> Any:
    if abs(digits) > 300:
        raise ValueError("round to so many digits is too much")
    return round(value, digits) if digits else round(value)


_OPERATORS = DEFAULT_OPERATORS | {ast.Pow: _power, ast.Mult: _product, ast.Mod: _remainder}
_FUNCTIONS = {
    "len": len, "abs": abs, "min": min, "max": max, "sum": _sum, "any": any, "all": all, "round": _round,
    "str": str, "int": int, "float": float, "sorted": sorted, "set": set,
    "lower": lambda text: str(text).lower(), "contains": lambda whole, part: part in whole,
}  # fmt: skip
_CONSTANTS = {"true": True, "false": False, "null": None}
_NODES = frozenset(EvalWithCompoundTypes().nodes) - {ast.JoinedStr, ast.FormattedValue}
NAMES = frozenset(_FUNCTIONS) | frozenset(_CONSTANTS) | {"output", "True", "False", "None"}


class _Bounded(EvalWithCompoundTypes):  # type: ignore[misc]
    """Counts what it evaluates: loops in loops over a long result would take for ever."""

    operations = 0

    def _eval(self, node: Any) -> Any:
        self.operations += 1
        if self.operations > _MOST_OPERATIONS:
            raise ValueError(f"it takes more than {_MOST_OPERATIONS:,} operations")
        look_at_clock()
        return super()._eval(node)

    def _check_disallowed_items(self, item: Any) -> None:
        """Not part by part after every operation, as the library does: names are plain JSON, which no call leaves."""
        if callable(item):
            raise FeatureNotAvailable("a function is no value here")

    def _eval_attribute(self, node: Any) -> Any:
        """A part of a mapping, whatever its name is: a result may well have `items`, `values` or `keys`."""
        whole = self._eval(node.value)
        if isinstance(whole, Mapping) and node.attr in whole:
            return whole[node.attr]
        raise AttributeDoesNotExist(node.attr, self.expr)

    def _eval_call(self, node: Any) -> Any:
        if not isinstance(node.func, ast.Attribute):
            return super()._eval_call(node)
        method = getattr(self._eval(node.func.value), node.func.attr)  # one of _METHODS, or it would not be read
        return method(*map(self._eval, node.args), **dict(self._eval(one) for one in node.keywords))


def unparsable(expression: str) -> str:
    """Why an expression can't be read, or an empty text."""
    try:
        _tree(expression)
        return ""
    except (SyntaxError, ValueError, InvalidExpression, FeatureNotAvailable, RecursionError, MemoryError) as error:
        bare = "; references stand without ${ } in a condition: steps.s1.rows > 0" if "${" in expression else ""
        right = bare or "; right would be for example: output > 0"
        return f"{shorten(expression)!r} can't be read as a condition: {error}{right}"


def step_ids(expression: str) -> list[str]:
    """Ids of the steps that a guard names as `steps.ID` or `steps["ID"]`."""
    try:
        tree = _tree(expression)
    except Exception:  # an unreadable guard is a finding of check_plan, not an error here
        return []
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_steps(node.value):
            found.append(node.attr)
        elif isinstance(node, ast.Subscript) and _is_steps(node.value) and isinstance(node.slice, ast.Constant):
            found.append(str(node.slice.value))
    return list(dict.fromkeys(found))


def step_paths(expression: str) -> list[tuple[str, str]]:
    """The ids that a condition names as `step_ids` does, each with its path as a reference would have it."""
    nodes = [*ast.walk(_tree(expression))]
    methods = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    chains = {id(node): chain for node in nodes if id(node) not in methods and (chain := _chain(node))}
    inner = {id(node.value) for node in nodes if id(node) in chains and isinstance(node, ast.Attribute | ast.Subscript)}
    ends = [chain for node, chain in chains.items() if node not in inner]
    return [(str(name), "".join(f"[{p}]" if isinstance(p, int) else f'."{p}"' for p in path)) for name, *path in ends]


def _chain(node: ast.AST) -> list[Any] | None:
    """What stands behind `steps`, part by part; None for anything else."""
    if _is_steps(node):
        return []
    part: Any
    if isinstance(node, ast.Attribute):
        before, part = _chain(node.value), node.attr
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        before, part = _chain(node.value), node.slice.value
    else:
        return None
    return None if before is None else [*before, part]


def free_names(expression: str) -> set[str]:
    """Names an expression uses that are neither functions nor constants."""
    tree = _tree(expression)
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - NAMES - bound


def output_parts(expression: str) -> set[str]:
    """Parts of a result that an acceptance condition names, bare (`rows`) or as `output.rows`."""
    nodes = [*ast.walk(_tree(expression))]
    methods = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    attributes = [node for node in nodes if isinstance(node, ast.Attribute) and id(node) not in methods]
    of_output = {n.attr for n in attributes if isinstance(n.value, ast.Name) and n.value.id == "output"}
    return free_names(expression) | of_output


def holds(expression: str, outputs: Mapping[str, Any]) -> bool:
    """Whether a guard on earlier results holds; raises `ValueError` when it can't be evaluated."""
    return bool(evaluated(expression, {"steps": dict(outputs)}))


def accept(expression: str, output: Any, name: str = "output", inputs: Mapping[str, Any] | None = None) -> Check:
    """Decides one acceptance condition; a condition that can't be evaluated is unverified, never passed."""
    fields = output if isinstance(output, Mapping) else {}
    names = {str(key): value for key, value in fields.items()} | {name: output}
    if "inputs" in step_ids(expression):
        names["steps"] = {"inputs": dict(inputs or {})}
    try:
        outcome: Any = "passed" if evaluated(expression, names) else "failed"
        evidence = f"{name} = {shorten(output)}"
    except ValueError as error:
        outcome, evidence = "unverified", str(error)
    return {"condition": expression, "outcome": outcome, "evidence": evidence, "by": "code"}


def evaluated(expression: str, names: Mapping[str, Any]) -> Any:
    """What an expression over these names comes to; raises `ValueError` whatever is wrong with it."""
    evaluator = _Bounded(operators=_OPERATORS, functions=dict(_FUNCTIONS), names={**names, **_CONSTANTS})
    try:
        with at_most(SECONDS):
            return evaluator.eval(expression, previously_parsed=_tree(expression))
    except Exception as error:  # whatever a condition does wrong, it is "could not be decided"
        raise ValueError(f"{shorten(expression)!r} could not be evaluated: {error}") from error


def _tree(expression: str) -> ast.expr:
    if len(expression) > _LONGEST:
        raise FeatureNotAvailable(f"{len(expression)} characters are too long, at most {_LONGEST}")
    tree = parsed(expression.strip(), "eval").body
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and type(node) not in _NODES:
            raise FeatureNotAvailable(f"{type(node).__name__} is not allowed")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr not in _METHODS:
            raise FeatureNotAvailable(f"the method {node.func.attr} is not allowed; there is {sorted(_METHODS)}")
    return tree


def _is_steps(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "steps"
