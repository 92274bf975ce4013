"""A state that a person edits: what is written into a thread is held against the records that a run writes itself.

Leaves out: whether what is well formed makes sense together, as the check of a plan and the frozen settings say.
"""

from functools import cache
from types import FunctionType
from typing import Any, get_args

from langgraph.channels.binop import _get_overwrite
from langgraph.channels.delta import DeltaChannel
from pydantic import TypeAdapter, ValidationError
from typing_extensions import get_type_hints

from state.channels import State
from state.context import Context, make_context
from state.errors import InputError, offer, shorten
from state.messages import converse
from state.plain import plain
from state.request import FROZEN, Request

_HINTS = get_type_hints(State, include_extras=True)
_KINDS: dict[str, Any] = {
    name: get_args(kind)[0] if hasattr(kind, "__metadata__") else kind for name, kind in _HINTS.items()
}
_GROWING = {
    name for name, kind in _HINTS.items()
    if any(isinstance(how, DeltaChannel | FunctionType) for how in getattr(kind, "__metadata__", ()))
}  # fmt: skip
"""Channels that have a reducer, and so a way to be written just as given."""
_RIGHT = "give what get_state shows, with the change in it"


def check_edit(values: Any) -> None:
    """Refuses with an `InputError` what no run would write into its channels, before anything of it is stored."""
    if not isinstance(values, dict):
        raise InputError(f"the edit {shorten(values)} is no mapping of channels; {_RIGHT}")
    for name, given in values.items():
        if name not in _KINDS:
            raise InputError(f"the edited state has no channel {shorten(str(name))!r}; {offer(str(name), _KINDS)}")
        if why := _fault(name, given):
            raise InputError(f"the edit of {name!r} is not taken: {why}; {_RIGHT}")


def record_fault(kind: Any, value: Any, *, part: bool = False) -> str:
    """Why a value is no record of this kind, with its place and what is there; empty if it is one.

    `part`: it is laid key by key over one that is there, so that keys may be left out.
    """
    for first in _errors(kind, value):
        if not (part and first["type"] == "missing" and len(first["loc"]) == 1):
            place = ".".join(map(str, first["loc"]))
            what = "it is missing" if first["type"] == "missing" else first["msg"]
            return f"{f'{place}: ' if place else ''}{what}, got {shorten(first['input'])}"
    return "" if plain(value) == value else f"only JSON can be kept, got {shorten(value)}"


def _errors(kind: Any, value: Any) -> list[Any]:
    try:
        _adapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        return [*error.errors(include_url=False)]
    return []


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _fault(name: str, given: Any) -> str:
    whole, inner = _get_overwrite(given) if name in _GROWING else (False, None)
    value: Any = inner if whole else given
    if whole and value is None:  # LangGraph takes it as nothing
        return ""
    if name == "messages" and not whole:  # in any form that a chat has for them
        converse([], [value])
        return ""
    wrong = record_fault(_KINDS[name], value, part=name == "request" and not whole)
    return wrong or (_request_fault(value) if name == "request" else "")


def _request_fault(given: dict[str, Any]) -> str:
    """What else is wrong with a request, or a part of one: a key with a slip, or its settings."""
    if slip := next((str(name) for name in given if name not in Request.__annotations__), None):
        return f"it has no field {shorten(slip)!r}, {offer(slip, Request.__annotations__)}"
    if "settings" not in given:
        return ""
    if lacking := next((name for name in FROZEN if name not in given["settings"]), None):
        return f"settings: {lacking} is missing"
    make_context(**{name: value for name, value in given["settings"].items() if name in Context.model_fields})
    return ""
