"""Makes any value JSON-plain, so that it can stand in a checkpoint, a prompt and a file."""

import math
from itertools import islice
from types import GeneratorType
from typing import Annotated, Any

from pydantic import Field
from pydantic_core import PydanticSerializationError, to_jsonable_python

DEPTH = 200
"""How deep a value may be nested: no checkpoint holds more than 255 levels, some of which are the state's own."""
Count = Annotated[int, Field(le=(1 << 53) - 1)]
"""A number that a checkpoint holds, and a browser exactly."""
_INT64 = 1 << 63
_MOST_ITEMS = 100_000


def plain(value: Any) -> Any:
    """The value with only dict, list, str, int (64 bit), float, bool and None in it.

    Larger integers become text, since no checkpoint holds them; NaN and infinities become text, since JSON has none.
    Of keys that are the same as texts, such as 1 and "1", all but a text get their type: "1 (int)".
    A value that contains itself, or is nested too deep, becomes a text that says so: the work it came from is done.
    """
    try:
        return _fit(value)
    except Exception as error:  # also what the value's own code raises while it is looked at
        return f"a {type(value).__name__} that can't be shown as JSON: {type(error).__name__}"


def clean_text(text: str) -> str:
    """Text without lone surrogates, which no UTF-8 file or request can hold, and without NUL, which no database can."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def storable(value: Any, *, within: int = 0) -> Any:
    """The value as JSON, where nothing of it is lost by that; else a `ValueError` that says what can't be kept.

    `within`: how many levels stand around it.
    """
    return _exact(value, DEPTH - within)


def _exact(value: Any, left: int) -> Any:
    kind = type(value)
    if value is None or kind in (str, bool, float):
        return value
    if kind is int:
        return _small(value)
    if not left:
        raise ValueError(f"it is nested more than {DEPTH} deep, or holds itself; give it as a text or in a file")
    if kind is dict:
        kept = {_key(key): _exact(item, left - 1) for key, item in value.items()}
        if len(kept) < len(value):
            names = [*map(_key, value)]
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"the key {twice!r} stands twice when all are texts, as in JSON; give each another name")
        return kept
    if kind is list or kind is tuple:
        return [_exact(item, left - 1) for item in value]
    try:
        found = _drained(value) if kind is GeneratorType else to_jsonable_python(value, bytes_mode="base64")
    except PydanticSerializationError as error:
        raise ValueError(f"a value of type {kind.__name__} can't be kept; give what JSON has") from error
    return _exact(found, left - 1)


def _small(value: int) -> int:
    if not -_INT64 <= value < _INT64:
        raise ValueError(f"an integer of {value.bit_length()} bits can't be kept, at most 64 can; give it as a text")
    return value


def _fit(value: Any, left: int = DEPTH) -> Any:
    kind = type(value)
    if kind is str:
        return clean_text(value)
    if value is None or kind in (bool, int, float):
        return _number(value)
    if not left:
        raise RecursionError
    if isinstance(value, dict):
        found = {_key(key): _fit(item, left - 1) for key, item in value.items()}
        return found if len(found) == len(value) else _told_apart(value, left)
    if kind is list or kind is tuple:
        return [_fit(item, left - 1) for item in value]
    if kind is GeneratorType:
        return _drained(value)
    return _fit(to_jsonable_python(value, fallback=repr, bytes_mode="base64", inf_nan_mode="constants"), left - 1)


def _told_apart(value: dict[Any, Any], left: int) -> dict[str, Any]:
    """Every value under a name of its own, where keys are the same as texts."""
    names = [*map(_key, value)]
    texts = [type(key) is str and key == name for key, name in zip(value, names, strict=True)]
    taken = {name for name, is_text in zip(names, texts, strict=True) if is_text}
    for place, key in enumerate(value):
        while not texts[place] and names[place] in taken:
            names[place] += f" ({type(key).__name__})"
        taken.add(names[place])
    return {name: _fit(item, left - 1) for name, item in zip(names, value.values(), strict=True)}


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
