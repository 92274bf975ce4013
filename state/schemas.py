"""JSON Schemas that callers and tools hand in: what is wrong with one, said before anything relies on it."""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import regex
from jsonschema import Draft202012Validator, SchemaError
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from state.errors import shorten
from state.json_text import from_json

_AS_DATA = ("const", "enum", "default", "examples")
_SAMPLES: tuple[Any, ...] = (None, "", 0, [], {})


PATTERN_SECONDS = 0.1
"""What one pattern may take on one text: some take longer than anybody lives, and would hold everything up."""


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and (why := _unmatched(pattern, instance)):
        yield ValidationError(why)


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    for name, value in instance.items() if isinstance(instance, Mapping) else ():
        for pattern, part in patterns.items():
            if not _unmatched(pattern, name):
                yield from validator.descend(value, part, path=name, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    names = [name for name in instance if name not in known] if isinstance(instance, Mapping) else []
    more = [name for name in names if all(_unmatched(pattern, name) for pattern in patterns)]
    if isinstance(allowed, Mapping):
        for name in more:
            yield from validator.descend(instance[name], allowed, path=name)
    elif not allowed and more:
        shown = ", ".join(map(repr, sorted(more, key=str)))
        were = "was" if len(more) == 1 else "were"
        yield ValidationError(f"Additional properties are not allowed ({shown} {were} unexpected)")


def _unmatched(pattern: str, text: str) -> str:
    """Why a text does not match, or an empty text; one that can't be decided in time does not match."""
    try:
        found = regex.search(pattern, text, timeout=PATTERN_SECONDS)
    except TimeoutError:
        return f"whether {shorten(text)!r} matches {shorten(pattern)!r} can't be decided in {PATTERN_SECONDS} s"
    return "" if found else f"{text!r} does not match {pattern!r}"


Validator: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
    },
)
"""Draft 2020-12, with patterns that have their time."""


def validator(schema: Any) -> Any:
    """A validator that follows references inside the schema only, and fetches nothing."""
    return Validator(schema, registry=Registry())


def schema_fault(schema: Any) -> str:
    """Why a schema can't be used, or an empty text."""
    try:
        return _fault(json.dumps(schema, sort_keys=True))
    except (TypeError, ValueError, RecursionError) as error:
        return f"it is no JSON: {shorten(str(error))}"


@lru_cache(maxsize=4096)
def _fault(text: str) -> str:
    schema = from_json(text)
    if '"unevaluatedProperties"' in text and '"patternProperties"' in text:
        return "unevaluatedProperties with patternProperties is not taken; right would be additionalProperties"
    try:
        Draft202012Validator.check_schema(schema)
        inside = Registry().with_resource("", DRAFT202012.create_resource(schema)).crawl().resolver()
        for keyword, value in _keywords(schema):
            if keyword == "pattern":
                regex.compile(value)
            else:
                inside.lookup(value)
        for sample in _SAMPLES:
            next(validator(schema).iter_errors(sample), None)
    except SchemaError as error:
        return shorten(error.message)
    except RecursionError:
        return "it refers to itself without end"
    except Exception as error:  # each library below says it in its own way
        return shorten(f"{type(error).__name__}: {error}")
    return ""


def _keywords(schema: Any) -> Iterator[tuple[str, str]]:
    """Every reference and pattern in a schema."""
    if isinstance(schema, list):
        for item in schema:
            yield from _keywords(item)
    if isinstance(schema, Mapping) and isinstance(named := schema.get("patternProperties"), Mapping):
        yield from (("pattern", pattern) for pattern in named)
    for key, value in schema.items() if isinstance(schema, Mapping) else ():
        if key in ("$ref", "pattern") and isinstance(value, str):
            yield key, value
        elif key not in _AS_DATA:
            yield from _keywords(value)
