"""JSON Schemas that callers and tools hand in: what is wrong with one, said before anything relies on it."""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

import regex
from jsonschema import Draft202012Validator, SchemaError
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from state.errors import shorten
from state.json_text import from_json
from state.time_bound import TookTooLong, at_most, look_at_clock

_AS_DATA = ("const", "enum", "default", "examples")
_SAMPLES: tuple[Any, ...] = (None, "", 0, [], {})

SECONDS = 0.5
"""What the look at a value by a schema may take: parts that refer to parts twice double it with each level."""
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


def _unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if wanted and isinstance(instance, list) and len(set(map(_spelled, instance))) < len(instance):
        yield ValidationError(f"{shorten(instance)} has non-unique elements")


def _spelled(value: Any) -> str:
    """One text for all JSON values that are the same: 1 is 1.0 and not true."""
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{json.dumps(key)}:{_spelled(value[key])}' for key in sorted(value))}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_spelled, value))}]"
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value, default=str)


def _timed(rule: Any) -> Any:
    """A keyword that looks at the clock: parts that refer to their next part twice double the work with each level."""

    def check(validator: Any, wanted: Any, instance: Any, schema: Any) -> Any:
        look_at_clock()
        return rule(validator, wanted, instance, schema)

    return check


def extended(validator: Any, keywords: Mapping[str, Any]) -> Any:
    """A validator class with these keywords, also for parts that say `$schema`: jsonschema would take its own there."""
    made: Any = extend(validator, keywords)  # type: ignore[no-untyped-call]
    evolve = made.evolve

    def same_class(self: Any, **changes: Any) -> Any:
        other = evolve(self, **changes)
        if type(other) is made:
            return other
        return made(other.schema, registry=other._registry, _resolver=other._resolver)

    made.evolve = same_class
    return made


_RULES = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
}
Validator: Any = extended(
    Draft202012Validator, {name: _timed(rule) for name, rule in {**Draft202012Validator.VALIDATORS, **_RULES}.items()}
)
"""Draft 2020-12, with patterns that have their time, for use by `faults`."""


def faults(
    value: Any, schema: Any, kind: Any = None, *, most: int | None = None, seconds: float = SECONDS
) -> list[ValidationError]:
    """What is wrong with a value by a schema; that it can't be decided in time is a fault as well."""
    found: list[ValidationError] = []
    try:
        with at_most(seconds):
            found += islice((kind or Validator)(schema, registry=Registry()).iter_errors(value), most)
    except TookTooLong as error:
        found.append(ValidationError(f"whether it fits its schema can't be decided: {error}"))
    return found


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
        _try_out(schema)
    except SchemaError as error:
        return shorten(error.message)
    except TookTooLong as error:
        return f"{error} to look at an empty value by it: its parts refer to each other too often"
    except RecursionError:
        return "it refers to itself without end"
    except Exception as error:  # each library below says it in its own way
        return shorten(f"{type(error).__name__}: {error}")
    return ""


def _try_out(schema: Any) -> None:
    """Follows each reference, reads each pattern, and looks at a value of each kind."""
    inside = Registry().with_resource("", DRAFT202012.create_resource(schema)).crawl().resolver()
    for keyword, value in _keywords(schema):
        if keyword == "pattern":
            regex.compile(value)
        else:
            inside.lookup(value)
    with at_most(SECONDS):
        for sample in _SAMPLES:
            next(Validator(schema, registry=Registry()).iter_errors(sample), None)


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
