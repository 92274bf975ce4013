"""What the call that goes on with a request may set: more is forbidden than when it began, never less."""

from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from state.context import Context
from state.errors import InputError
from state.limits import Limits

_ORDER = {
    "writes": ("allow", "ask", "deny"),
    "approve_plan": ("never", "writes", "always"),
    "untrusted_writes": ("say", "forbid"),
    "shadow": (False, True),
    "volatile_writes": (True, False),
    "sql_destructive": (True, False),
}
"""Settings with few values, the strictest last."""


def stricter(context: Context, frozen: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that hold where this call forbids more than the request did; raises `InputError` for `dry_run`."""
    if context.dry_run and not frozen["dry_run"]:
        raise InputError(
            "dry_run is set for a request that has begun without it, and steps of it may have run; "
            "right would be a new request, or shadow=True, which makes no write from here on"
        )
    given = {name for name in _ORDER if name in context.model_fields_set}
    ordered = {name: max(frozen[name], getattr(context, name), key=_ORDER[name].index) for name in given}
    allow = frozen["allow"] if context.allow is None else context.allow
    return {
        **{name: frozen[name] for name in _ORDER},
        **ordered,
        "deny": [*frozen["deny"], *(name for name in context.deny if name not in frozen["deny"])],
        "allow": allow if frozen["allow"] is None else [name for name in frozen["allow"] if name in allow],
        "lease": _least(frozen["lease"], context.lease) if "lease" in context.model_fields_set else frozen["lease"],
        "limits": _limits(context.limits, frozen["limits"]),
    }


def _limits(given: Limits, frozen: Mapping[str, Any]) -> dict[str, Any]:
    return {**frozen, **{name: _least(frozen.get(name), getattr(given, name)) for name in given.model_fields_set}}


def _least(one: float | None, other: float | None) -> float | None:
    known: Callable[[float | None], float] = lambda value: inf if value is None else value  # noqa: E731
    return min(one, other, key=known)
