"""Reading JSON Schema: what kind of thing a parameter takes, and where in a tool's result such a thing is."""

from collections.abc import Mapping
from typing import Any, Literal

Schema = Mapping[str, Any]
Want = Literal["number", "text", "path", "paths", "list", "any"]
_DIALECT = {
    "float": "number", "dict": "object", "tuple": "array", "str": "string", "int": "integer", "bool": "boolean",
    "list": "array", "any": "",
}  # fmt: skip
_PATHS = ("path", "file", "archive", "target", "filename", "file_path", "name")
_TEXTS = ("text", "content", "summary", "translation", "answer", "result", "output", "value", "body")
_NUMBERS = ("words", "count", "value", "result", "total", "number", "answer")


def resolved(schema: Schema | None, root: Schema | None = None) -> dict[str, Any]:
    """A schema without `$ref` at its top and without a null among its alternatives."""
    found: dict[str, Any] = dict(schema or {})
    reference = found.get("$ref")
    if isinstance(reference, str) and root:
        target: Any = root
        for part in reference.removeprefix("#/").split("/"):
            target = target.get(part, {}) if isinstance(target, Mapping) else {}
        found = {**target, **{key: value for key, value in found.items() if key != "$ref"}}
    choices = [c for c in found.get("anyOf") or found.get("oneOf") or () if c.get("type") != "null"]
    if len(choices) == 1:
        return {**resolved(choices[0], root), **{k: v for k, v in found.items() if k not in ("anyOf", "oneOf")}}
    return found


def type_of(schema: Schema | None) -> str:
    """The JSON type of a schema, in JSON Schema's words also where another dialect was used; empty when open."""
    kind = (schema or {}).get("type", "")
    if isinstance(kind, list):
        kind = next((k for k in kind if k != "null"), "")
    return str(_DIALECT.get(kind, kind))


def want_for(schema: Schema) -> Want:
    """What a parameter of this schema needs of a result."""
    wants: dict[str, Want] = {"number": "number", "integer": "number", "string": "text", "array": "list"}
    return wants.get(type_of(schema), "any")


def part_for(returns: Schema | None, want: Want) -> str | None:
    """The path inside a result at which the wanted thing is: "" for the result itself, None when there is none."""
    schema = resolved(returns, returns)
    kind = type_of(schema)
    if kind == "object" and schema.get("properties"):
        return _property(schema["properties"], want)
    if kind == "array" and want in ("paths", "list"):
        items = resolved(schema.get("items"), returns)
        if want == "paths" and type_of(items) == "object" and items.get("properties"):
            inner = _property(items["properties"], "path")
            return f"[*]{inner}" if inner else None
        return ""
    return "" if _is(kind, want) else None


def item_of(returns: Schema | None) -> Schema | None:
    """The schema of the items of the list that a result is or holds."""
    path = part_for(returns, "list")
    schema = resolved(returns, returns)
    if path:
        schema = resolved(schema["properties"][path[1:]], returns)
    return resolved(schema.get("items"), returns) if schema.get("items") else None


def _property(properties: Mapping[str, Schema], want: Want) -> str | None:
    fits = [name for name, schema in properties.items() if _is(type_of(resolved(schema)), want, strict=True)]
    known = {"path": _PATHS, "paths": ("paths", "files"), "text": _TEXTS, "number": _NUMBERS}.get(want, ())
    for name in (*known, *(fits if len(fits) == 1 or want == "list" else ())):
        if name in fits:
            return f".{name}"
    return "" if want == "any" else None


def _is(kind: str, want: Want, strict: bool = False) -> bool:
    kinds = {
        "number": ("number", "integer"), "text": ("string",), "path": ("string",), "paths": ("array",),
        "list": ("array",),
    }.get(want, (kind,))  # fmt: skip
    return kind in kinds or (not kind and not strict)
