"""Checks arguments against a tool's JSON Schema while some of them are still references.

A value that is one reference counts as the type of what it points to, where that is known, and as anything where
it is not; a text with references inside counts as a text.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jsonschema import SchemaError
from jsonschema.exceptions import ValidationError

from state.errors import shorten
from state.references import PATTERN, SEGMENT, each_text
from state.schemas import SECONDS, Validator, extended, faults

Schema = dict[str, Any]
_PASS_ON = ("$ref", "allOf", "anyOf", "oneOf")


@dataclass(frozen=True)
class Later:
    """A value that is not there yet; `schema` describes it where that is known."""

    text: str
    schema: Any = None

    def __repr__(self) -> str:
        return self.text


def problems(args: Any, schema: Schema, known: dict[str, Schema | None]) -> list[str]:
    """What is wrong with arguments; `known` gives the output schema of each step that they may refer to."""
    try:
        errors = faults(mark(args, known), schema, _validator_class())
        return [_say(error) for error in sorted(errors, key=lambda e: list(map(str, e.absolute_path)))]
    except SchemaError as error:
        return [f"the tool's schema is broken: {error.message}"]


def misfit(value: Any, schema: Schema, seconds: float = SECONDS) -> str:
    """The first thing in which a value does not fit a JSON Schema, or an empty text."""
    found = faults(value, schema, most=1, seconds=seconds)
    if not found:
        return ""
    [error] = found
    where = ".".join(map(str, error.absolute_path))
    return shorten(f"{where}: {error.message}" if where else error.message, 300)


def is_small(value: Any) -> bool:
    """Whether a JSON value holds no more than some hundred values, and no long text."""
    left, waiting = 300, [value]
    while waiting and left > 0:
        one = waiting.pop()
        inner = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        left -= 1 + len(inner) + (len(one) // 200 if isinstance(one, str) else 0)
        if left > 0:
            waiting.extend(inner)
    return left > 0


def mark(args: Any, known: dict[str, Schema | None]) -> Any:
    """Arguments with every whole reference replaced by what it will be."""

    def later(text: str) -> Any:
        match = PATTERN.fullmatch(text)
        return text if match is None else Later(text, at_path(known.get(match[1]), match[2]))

    return each_text(args, later)


def at_path(schema: Schema | None, path: str) -> Schema | None:
    """The part of an output schema that a reference's path points to, or None where that is not known."""
    defs = (schema or {}).get("$defs")
    for plain, quoted, bracket in SEGMENT.findall(path):
        schema = _into(_follow(schema, defs), plain or quoted, bracket)
        if schema is None:
            return None
    found = _follow(schema, defs) if schema else None
    return {**found, "$defs": defs} if found and defs else found


def dead_end(schema: Schema | None, path: str) -> str:
    """Why a reference's path can't lead anywhere in an output of this schema, or an empty text."""
    defs = (schema or {}).get("$defs")
    for plain, quoted, bracket in SEGMENT.findall(path):
        schema = _follow(schema, defs)
        if bracket and not bracket[1:-1].lstrip("-").isdigit():
            return ""  # a slice or a projection: what it gives is not known here
        if why := _no_way(schema, plain or quoted, bracket):
            return why
        schema = _into(schema, plain or quoted, bracket)
    return ""


def _no_way(schema: Schema | None, key: str, bracket: str) -> str:
    have = _types(schema)
    if have is not None and ("array" if bracket else "object") not in have:
        return f"there is {_one_of(have)}, which has no part {bracket or repr(key)}"
    named = (schema or {}).get("properties") or {}
    closed = (schema or {}).get("additionalProperties") is False and "patternProperties" not in (schema or {})
    return f"there is no {key!r}; there is {sorted(named)}" if not bracket and closed and key not in named else ""


def _one_of(types: set[str]) -> str:
    return " or ".join(f"{'an' if name[0] in 'aeio' else 'a'} {name}" for name in sorted(types))


def _into(schema: Schema | None, key: str, bracket: str) -> Schema | None:
    if not schema:
        return None
    if bracket:
        found = schema.get("items") if bracket[1:-1].lstrip("-").isdigit() else None
    else:
        found = (schema.get("properties") or {}).get(key, schema.get("additionalProperties"))
    return found if isinstance(found, dict) else None


def _follow(schema: Schema | None, defs: Any) -> Schema | None:
    name = str((schema or {}).get("$ref", "")).rpartition("/")[2]
    return (defs or {}).get(name) if name else schema


@lru_cache(maxsize=1)
def _validator_class() -> Any:
    return extended(Validator, {name: _lenient(name, rule) for name, rule in Validator.VALIDATORS.items()})


def _lenient(keyword: str, rule: Any) -> Any:
    """A schema keyword that knows what to do with a value that is not there yet."""

    def check(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if not isinstance(instance, Later) or keyword in _PASS_ON:
            yield from rule(validator, wanted, instance, schema) or ()
        elif keyword == "type" and not _may_be(instance.schema, wanted):
            yield ValidationError(_unfit(instance, wanted))

    return check


def _unfit(value: Later, wanted: Any) -> str:
    have, needed = " or ".join(sorted(_types(value.schema) or ())), " or ".join(_as_list(wanted))
    hint = f"; right would be a part of it, or a text around it: 'result: {value}'" if "string" in needed else ""
    return f"{value} is of type {have}, not {needed}{hint}"


def _as_list(wanted: Any) -> list[str]:
    return [wanted] if isinstance(wanted, str) else list(wanted)


def _may_be(schema: Any, wanted: Any) -> bool:
    have = _types(schema)
    if have is None:
        return True
    allowed = set(_as_list(wanted))
    if "number" in allowed:
        allowed |= {"integer"}
    return bool(have & allowed) or ("integer" in allowed and "number" in have)


def _types(schema: Any) -> set[str] | None:
    """The types that a schema allows, or None where it does not say."""
    if not isinstance(schema, dict):
        return None
    if "type" in schema:
        return {schema["type"]} if isinstance(schema["type"], str) else set(schema["type"])
    options = schema.get("anyOf") or schema.get("oneOf")
    parts = [_types(option) for option in options] if options else [None]
    return None if None in parts else set().union(*(part for part in parts if part))


def _say(error: Any) -> str:
    where = ".".join(map(str, error.absolute_path))
    if error.validator == "required":
        return f"missing argument: {error.message}"
    if error.validator == "additionalProperties":
        return f"unknown argument: {error.message}; the tool takes {sorted((error.schema or {}).get('properties', {}))}"
    return f"argument {where or '(all)'}: {shorten(error.message, 200)}"
