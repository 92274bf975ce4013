"""Every place in the arguments of a call that has a name, with what a tool puts there where it was left out."""

from collections.abc import Iterator, Mapping
from typing import Any

from state.errors import shorten

_LEFT_OUT = object()
Place = tuple[Any, str]
"""A value, and how it is said to a reader."""


def named(name: str, args: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Place]:
    """The values of that name at any depth; one that is left out is the schema's default, or nobody knows what."""
    return _within(name, args, schema, schema.get("$defs") or {}, "")


def _within(name: str, value: Any, schema: Any, defs: Mapping[str, Any], how: str) -> Iterator[Place]:
    shapes = list(_shapes(schema, defs, value))
    if isinstance(value, Mapping):
        for key in {**value, **_left_out(shapes, value)}:
            part = value.get(key, _LEFT_OUT)
            parts = [(shape.get("properties") or {}).get(key, shape.get("additionalProperties")) for shape in shapes]
            yield from _part(name, key, part, parts, defs, how)
    elif isinstance(value, list):
        for one in value:
            for shape in shapes or [{}]:
                yield from _within(name, one, shape.get("items"), defs, how)


def _part(name: str, key: str, value: Any, schemas: list[Any], defs: Mapping[str, Any], how: str) -> Iterator[Place]:
    if value is _LEFT_OUT:
        value = next((one["default"] for one in schemas if isinstance(one, Mapping) and "default" in one), _LEFT_OUT)
        how = "left out" if value is _LEFT_OUT else f"left out and then {shorten(value)}"
    if key == name:
        yield None if value is _LEFT_OUT else value, how or shorten(value)
    elif value is not _LEFT_OUT:
        for schema in schemas or [{}]:
            yield from _within(name, value, schema, defs, how)


def _left_out(shapes: list[Mapping[str, Any]], value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: None for shape in shapes for key in shape.get("properties") or {} if key not in value}


def _shapes(schema: Any, defs: Mapping[str, Any], value: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """The schemas that a value may be meant by: of alternatives those that know its keys and miss none."""
    if not isinstance(schema, Mapping) or depth > 20:  # a schema may be made of itself
        return
    if "$ref" in schema:
        yield from _shapes(defs.get(str(schema["$ref"]).rpartition("/")[2]), defs, value, depth + 1)
    for one in schema.get("allOf") or ():
        yield from _shapes(one, defs, value, depth + 1)
    for one in [*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())]:
        yield from (shape for shape in _shapes(one, defs, value, depth + 1) if _may_be(shape, value))
    if not schema.keys() & {"$ref", "anyOf", "oneOf"} or "properties" in schema:
        yield schema


def _may_be(shape: Mapping[str, Any], value: Any) -> bool:
    if not isinstance(value, Mapping):
        return "properties" not in shape
    known = shape.get("properties")
    return known is not None and value.keys() <= known.keys() and value.keys() >= set(shape.get("required") or ())
