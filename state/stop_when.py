"""Stop conditions of the user's own, as a setting: texts, Python objects, and what of them is kept with a thread.

A text is a condition such as `tokens > 20000 and iterations >= 3`, with the kind of its end before a colon where it
is not `budget`: `pause: failures >= 2`. An object can't be kept: its name is, and a resume must bring it again.
"""

import inspect
import re
from collections.abc import Sequence
from typing import Any, get_args

from state.conditions import evaluated, free_names, unparsable
from state.errors import InputError, shorten
from state.stop import StopKind

NAMES = {
    "iterations": "rounds of running and checking so far",
    "replans": "new versions of the plan that were asked for",
    "reflections": "reflections",
    "attempts": "failed attempts of self-reflection",
    "failures": "steps that failed in the whole run",
    "tool_calls": "calls of tools",
    "model_calls": "calls of models",
    "retries": "times that anything was tried again",
    "tokens": "tokens in and out, as far as models said so",
    "money": "money, as far as prices are known",
    "seconds": "seconds of work, without waiting for people",
    "steps": "steps of the current plan",
    "done": "finished steps of the current plan",
    "failed": "failed and blocked steps of the current plan",
    "left": "steps of the current plan that still have to run",
    "score": "the lowest score of the last grading, 0 to 10; before that neither above nor below anything",
}
"""What a condition in words may name, each a number."""
OBJECT = "@"
"""Stands before the name of an object where conditions are kept."""
_KIND = re.compile(r"\s*([a-z]+)\s*:\s*(.*)", re.DOTALL)
_ORDER = re.compile(r"[<>]|[=!]=")


def kind_and_expression(text: str) -> tuple[StopKind, str]:
    """The kind of the end and the condition; raises `ValueError` that says what would be right."""
    found, kind, expression = _KIND.fullmatch(text), "budget", text
    if found:
        kind, expression = found[1], found[2]
    if kind not in get_args(StopKind):
        raise ValueError(f"{shorten(text)!r}: there is no kind {kind!r}; there are: {', '.join(get_args(StopKind))}")
    if why := _fault(expression):
        raise ValueError(why)
    return kind, expression.strip()  # type: ignore[return-value]


def _fault(expression: str) -> str:
    if why := unparsable(expression):
        return why.replace("output > 0", "tokens > 20000 and iterations >= 3")
    right = f"right would be for example: tokens > 20000 and iterations >= 3; there are: {', '.join(NAMES)}"
    names = free_names(expression)
    if unknown := sorted(names - NAMES.keys()):
        return f"{shorten(expression)!r} names {unknown[0]!r}, which is not there; {right}"
    if not names or not _ORDER.search(expression):
        return f"{shorten(expression)!r} compares nothing of the run; {right}"
    return _trial(expression)


def _trial(expression: str) -> str:
    """What is wrong with the condition whatever the numbers are, such as a comparison with a text."""
    numbers: dict[str, Any] = dict.fromkeys(NAMES, 1)
    try:
        evaluated(expression, numbers)
    except ValueError as error:
        return "" if isinstance(error.__cause__, ArithmeticError) else str(error)
    return ""


def several(given: Any) -> list[Any]:
    """What the setting holds, as a list."""
    return [] if given is None else list(given) if isinstance(given, list | tuple) else [given]


def checked(given: Any) -> Any:
    """The setting as it was given; raises `ValueError` for what is no condition."""
    for one in several(given):
        if isinstance(one, str):
            kind_and_expression(one)
        elif not callable(one) or inspect.iscoroutinefunction(one):
            raise ValueError(f"{shorten(one)} is no stop condition: give a plain function of the look, or a text")
    return given


def label(condition: Any) -> str:
    """What a condition is called in a report: its text, or its own name."""
    own = getattr(condition, "name", None) or getattr(condition, "__name__", type(condition).__name__)
    return condition.strip() if isinstance(condition, str) else str(own)


def kept(given: Any) -> list[str] | None:
    """What is kept with a thread: texts as they are, of objects only the name."""
    return [one if isinstance(one, str) else f"{OBJECT}{label(one)}" for one in several(given)] or None


def with_objects(given: Any, frozen: Sequence[str] | None) -> list[Any]:
    """The conditions of the thread with the objects of this call, which may add to them but never leave one out."""
    given, before = several(given), list(frozen or [])
    here = [f"{OBJECT}{label(one)}" for one in given if not isinstance(one, str)]
    if lost := [name for name in before if name.startswith(OBJECT) and name not in here]:
        name = lost[0].removeprefix(OBJECT)
        raise InputError(
            f"this run was begun with the stop condition {name!r}, a Python object, which can't be kept with a thread; "
            f"pass it again: context={{'stop_when': [{name}]}}"
        )
    texts = dict.fromkeys([one for one in [*before, *given] if isinstance(one, str) and not one.startswith(OBJECT)])
    return [*texts, *(one for one in given if not isinstance(one, str))]
