"""Makes any value JSON-plain, so that it can stand in a checkpoint, a prompt and a file."""

import math
from itertools import islice
from types import GeneratorType
from typing import Any

from pydantic_core import to_jsonable_python

_INT64 = 1 << 63
_MOST_ITEMS = 100_000


def plain(value: Any) -> Any:
    """The value with only dict, list, str, int (64 bit), float, bool and None in it.

    Larger integers become text, since no checkpoint holds them; NaN and infinities become text, since JSON has none.
    A value that contains itself, or is nested too deep, becomes a text that says so: the work it came from is done.
    """
    try:
        return _fit(value)
    except Exception as error:  # also what the value's own code raises while it is looked at
        return f"a {type(value).__name__} that can't be shown as JSON: {type(error).__name__}"


def clean_text(text: str) -> str:
    """Text without lone surrogates, which no UTF-8 file or request can hold, and without NUL, which no database can."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def _fit(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return {_key(key): _fit(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [_fit(item) for item in value]
    if kind is str:
        return clean_text(value)
    if value is None or kind in (bool, int, float):
        return _number(value)
    if kind is GeneratorType:
        return _drained(value)
    return _fit(to_jsonable_python(value, fallback=repr, bytes_mode="base64", inf_nan_mode="constants"))


def _key(key: Any) -> str:
    if type(key) is not str:
        [key] = to_jsonable_python({key: None}, fallback=repr, bytes_mode="base64")
    return clean_text(str(key))


def _number(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        return str(value) if value.bit_length() < 14_000 else f"integer of {value.bit_length()} bits"
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _drained(items: Any) -> list[Any]:
    """What a generator gives; one without an end is cut, and says so."""
    found = [_fit(item) for item in islice(items, _MOST_ITEMS)]
    return [*found, f"and more than these {_MOST_ITEMS} items"] if len(found) == _MOST_ITEMS else found
