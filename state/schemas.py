"""JSON Schemas that callers and tools hand in: what is wrong with one, said before anything relies on it."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator, SchemaError
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from state.errors import shorten

_AS_DATA = ("const", "enum", "default", "examples")
_SAMPLES: tuple[Any, ...] = (None, "", 0, [], {})


def validator(schema: Any) -> Draft202012Validator:
    """A validator that follows references inside the schema only, and fetches nothing."""
    return Draft202012Validator(schema, registry=Registry())


def schema_fault(schema: Any) -> str:
    """Why a schema can't be used, or an empty text."""
    try:
        return _fault(json.dumps(schema, sort_keys=True))
    except (TypeError, ValueError, RecursionError) as error:
        return f"it is no JSON: {shorten(str(error))}"


@lru_cache(maxsize=4096)
def _fault(text: str) -> str:
    schema = json.loads(text)
    try:
        Draft202012Validator.check_schema(schema)
        inside = Registry().with_resource("", DRAFT202012.create_resource(schema)).crawl().resolver()
        for keyword, value in _keywords(schema):
            if keyword == "pattern":
                re.compile(value)
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
    for key, value in schema.items() if isinstance(schema, Mapping) else ():
        if key in ("$ref", "pattern") and isinstance(value, str):
            yield key, value
        elif key not in _AS_DATA:
            yield from _keywords(value)
