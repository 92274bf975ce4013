"""Stop conditions of the user's own: functions of the look and texts, put together by `|` and `&`.

A condition that raises, or gives what is no answer, ends the run as a failure that says so: it was to hold the run,
and nothing else does in its place.
"""

import asyncio
import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_args

from nodes.failures import one_line
from nodes.look import Look
from state.conditions import evaluated, free_names
from state.context import Context
from state.errors import shorten
from state.stop import Stop, StopKind, StopReason, stop
from state.stop_when import kind_and_expression, label, several

Own = str | Callable[[Look], Any]
"""A text, or a function that gives None or False to go on; True, a message, or a `Stop` to end."""


class When:
    """A condition with a name; `a | b` holds where one does, `a & b` where both do."""

    def __init__(self, name: str, found: Callable[[Look], Stop | None]) -> None:
        self.name, self._found = name, found

    def __call__(self, look: Look) -> Stop | None:
        """The stop that is due, or None."""
        return self._found(look)

    def __repr__(self) -> str:
        return f"when({self.name!r})"

    def __or__(self, other: Own) -> "When":
        return any_of(self, other)

    def __ror__(self, other: Own) -> "When":
        return any_of(other, self)

    def __and__(self, other: Own) -> "When":
        return all_of(self, other)

    def __rand__(self, other: Own) -> "When":
        return all_of(other, self)


def when(condition: Own, kind: StopKind | None = None) -> When:
    """A condition of a text or a plain function; `kind` says of which kind the end is, else budget."""
    if isinstance(condition, str):
        named, expression = kind_and_expression(condition)
        return When(condition.strip(), lambda look: _by_text(expression, kind or named, look))
    if isinstance(condition, When) and kind is None:
        return condition
    name = label(condition)
    return When(name, lambda look: _by_function(condition, name, kind, look))


def any_of(*conditions: Own) -> When:
    """Holds where one of them does; the first that holds is the reason."""
    parts = [when(one) for one in conditions]
    return When(_joined(parts, "|"), lambda look: next((found for one in parts if (found := one(look))), None))


def all_of(*conditions: Own) -> When:
    """Holds where all of them do; the evidence of all is kept, the kind is that of the first."""
    parts = [when(one) for one in conditions]
    return When(_joined(parts, "&"), lambda look: _together([one(look) for one in parts]))


def _joined(parts: list[When], sign: str) -> str:
    return f"({f' {sign} '.join(part.name for part in parts)})"


def _together(found: list[Stop | None]) -> Stop | None:
    held = [one for one in found if one]
    if not held or len(held) < len(found):
        return None
    kind = "failure" if any(one["kind"] == "failure" for one in held) else held[0]["kind"]
    evidence = list(dict.fromkeys(text for one in held for text in one["evidence"]))
    return ended("; ".join(one["message"] for one in held), *evidence, kind=kind)


def own_stop(context: Context, look: Look) -> Stop | None:
    """The first of the user's conditions that holds."""
    return next((found for one in several(context.stop_when) if (found := when(one)(look))), None)


def ended(message: str, *evidence: str, kind: StopKind = "budget") -> Stop:
    """What a condition gives that ends the run."""
    return {**stop(StopReason.STOP_CONDITION, message, list(evidence)), "kind": kind}


def _by_text(expression: str, kind: StopKind, look: Look) -> Stop | None:
    try:
        if not evaluated(expression, look.numbers):
            return None
    except ValueError as error:
        return _broken(expression, str(error))
    named = [f"{name} = {look.numbers[name]:g}" for name in sorted(free_names(expression))]
    return ended(f"the condition {expression} holds: {', '.join(named)}", *named, kind=kind)


def _by_function(condition: Callable[[Look], Any], name: str, kind: StopKind | None, look: Look) -> Stop | None:
    try:
        found = condition(look)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and _is_cancelled():  # it is the run that is cancelled
            raise
        return _broken(name, f"it raised {one_line(error)}")
    if found is None or found is False:
        return None
    if found is True or (isinstance(found, str) and found.strip()):
        return ended(f"the condition {name} holds" if found is True else shorten(found, 300), kind=kind or "budget")
    try:
        return _read(found, name, kind)
    except Exception as error:  # whatever an object does that looks like a stop
        return _broken(name, f"it gave a {type(found).__name__} that can't be read: {one_line(error)}")


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and bool(task.cancelling())


def _read(found: Any, name: str, kind: StopKind | None) -> Stop | None:
    """A stop record of whatever reason: the reason is that the user's condition holds."""
    if inspect.iscoroutine(found):
        found.close()
    told = found if isinstance(found, Mapping) else {}
    message, evidence = told.get("message"), told.get("evidence", [])
    known = told.get("kind") in get_args(StopKind) and isinstance(message, str) and isinstance(evidence, list | tuple)
    if not known:
        right = "right would be None or False to go on, True, a message or a Stop to end"
        return _broken(name, f"it gave {shorten(found)}; {right}")
    return ended(shorten(message, 300), *(shorten(one) for one in evidence), kind=kind or told["kind"])


def _broken(name: str, why: str) -> Stop:
    return ended(f"the stop condition {name} could not be decided: {why}", name, kind="failure")
