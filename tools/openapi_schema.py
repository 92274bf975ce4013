"""The schemas of an OpenAPI document as JSON Schema: references to `$defs`, and 3.0's own words in today's."""

from collections.abc import Iterator, Mapping
from typing import Any

from state.errors import InputError, shorten
from tools.described import plain_schema

_KEPT = ("type", "properties", "items", "additionalProperties", "$ref", "allOf", "anyOf", "oneOf", "description")
_VALUES = ("default", "enum", "const")
_FOR_PEOPLE = ("example", "examples", "xml", "discriminator", "externalDocs")
_OLDER = ("$recursiveAnchor", "$recursiveRef")
"""Words of an older JSON Schema: what they point at may be anything here, since the newer one has no such words."""
_PREFIX = "#/components/schemas/"


class Document:
    """A document whose local references are followed."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._defs: dict[tuple[str, bool], dict[str, Any]] = {}

    def paths(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Each path with its operations."""
        for path, item in (self._document.get("paths") or {}).items():
            if isinstance(item, dict):
                yield str(path), self.followed(item)

    def security(self) -> Iterator[Mapping[str, Any]]:
        """The ways of the document to give a key."""
        for scheme in ((self._document.get("components") or {}).get("securitySchemes") or {}).values():
            yield self.followed(scheme)

    def followed(self, part: Any) -> dict[str, Any]:
        """A part of the document, or what it refers to."""
        for _ in range(10):
            if not isinstance(part, dict) or "$ref" not in part:
                return dict(part or {})
            part = self._at(str(part["$ref"]))
        raise InputError(f"the OpenAPI document refers in a circle: {shorten(part)}")

    def _at(self, reference: str) -> Any:
        found: Any = self._document
        for key in reference.removeprefix("#/").split("/"):
            name = key.replace("~1", "/").replace("~0", "~")
            if not reference.startswith("#/") or not isinstance(found, dict) or name not in found:
                raise InputError(f"the OpenAPI document refers to {shorten(reference)!r}, which is not in it")
            found = found[name]
        return found

    def schema(self, part: Any) -> dict[str, Any]:
        """A schema of the document, with references as `$defs` has them."""
        found = plain_schema(_today(part))
        return found if isinstance(found, dict) else {}

    def whole(self, schema: dict[str, Any], *, loosely: bool = False) -> dict[str, Any]:
        """A schema with all the definitions that it needs."""
        defs: dict[str, Any] = {}
        left = list(_references(schema))
        while left:
            name = left.pop()
            if name not in defs:
                defs[name] = self._definition(name, loosely)
                left += _references(defs[name])
        return {**schema, "$defs": defs} if defs else schema

    def _definition(self, name: str, loosely: bool) -> dict[str, Any]:
        if (name, loosely) not in self._defs:
            found = self.schema(self._at(_PREFIX + name))
            self._defs[name, loosely] = loosened(found) if loosely else found
        return self._defs[name, loosely]


def loosened(schema: Any) -> Any:
    """Only what a plan needs to find its way: types and fields; anything may be null or left out."""
    if isinstance(schema, list):
        return [loosened(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: value for key, value in schema.items() if key in _KEPT}
    if isinstance(found.get("properties"), dict):
        found["properties"] = {name: loosened(one) for name, one in found["properties"].items()}
    for key in ("items", "additionalProperties", "allOf", "anyOf", "oneOf"):
        if key in found:
            found[key] = loosened(found[key])
    if "oneOf" in found:  # loosened, several may fit
        found["anyOf"] = found.pop("oneOf")
    if "type" in found:
        found["type"] = _or_null(found["type"])
    return found


def _or_null(kinds: Any) -> list[Any]:
    """A type, or a list of them, that may be null as well."""
    return list(dict.fromkeys([*(kinds if isinstance(kinds, list) else [kinds]), "null"]))


def _today(part: Any) -> Any:
    """Schema words of OpenAPI 3.0 in those of JSON Schema."""
    if isinstance(part, list):
        return [_today(one) for one in part]
    if not isinstance(part, dict):
        return part
    if isinstance(part.get("$ref"), str):
        return {"$ref": part["$ref"].replace(_PREFIX, "#/$defs/")}
    found = {key: _part(key, value) for key, value in part.items() if key not in (*_FOR_PEOPLE, *_OLDER)}
    return _nullable(_bounds(found))


def _part(key: str, value: Any) -> Any:
    if key == "properties" and isinstance(value, dict):  # its keys are names, whatever they are
        return {name: _today(one) for name, one in value.items()}
    return value if key in _VALUES else _today(value)


def _bounds(schema: dict[str, Any]) -> dict[str, Any]:
    for bound, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(schema.get(bound), bool) and schema.pop(bound) and limit in schema:
            schema[bound] = schema.pop(limit)
    return schema


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if schema.get("nullable") in (True, False) and schema.pop("nullable") and isinstance(schema.get("type"), str):
        schema["type"] = _or_null(schema["type"])
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
    return schema


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str) and schema["$ref"].startswith("#/$defs/"):
            yield schema["$ref"].removeprefix("#/$defs/")
        for value in schema.values():
            yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)
