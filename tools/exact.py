"""Arguments in one spelling: what their JSON Schema gives by default is filled in, and 5.0 is 5.

Leaves out: formats. Two ways to write one date are two texts.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from state.schemas import faults

_WAYS = ("anyOf", "oneOf")


def exact(args: Any, schema: Mapping[str, Any]) -> Any:
    """The same for all arguments that mean the same to a tool with this schema."""
    try:
        return _exact(args, schema, schema.get("$defs") or {})
    except Exception:  # a schema that can't be followed says nothing about its arguments
        return _exact(args, {}, {})


def _exact(value: Any, schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Any:
    parts = list(_that_hold(value, schema, defs))
    if isinstance(value, Mapping):
        known = {name: part for one in parts for name, part in (one.get("properties") or {}).items()}
        more: Any = next((one["additionalProperties"] for one in parts if "additionalProperties" in one), {})
        given = {name: part["default"] for name, part in known.items() if _has_default(part)} | dict(value)
        return {name: _exact(item, _schema(known.get(name, more)), defs) for name, item in given.items()}
    if isinstance(value, list | tuple):
        items = next((_schema(one["items"]) for one in parts if "items" in one), {})
        return [_exact(item, items, defs) for item in value]
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return int(value)
    return value


def _that_hold(value: Any, schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schema and every part of it that describes the value."""
    yield schema
    if name := str(schema.get("$ref", "")).rpartition("/")[2]:
        yield from _that_hold(value, _schema(defs.get(name)), defs)
    for part in schema.get("allOf") or ():
        yield from _that_hold(value, _schema(part), defs)
    for way in (part for key in _WAYS for part in schema.get(key) or ()):
        if not faults(value, {**_schema(way), "$defs": defs}, most=1):
            yield from _that_hold(value, _schema(way), defs)
            return


def _schema(part: Any) -> Mapping[str, Any]:
    return part if isinstance(part, Mapping) else {}


def _has_default(part: Any) -> bool:
    return isinstance(part, Mapping) and "default" in part
