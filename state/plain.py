"""Makes any value JSON-plain, so that it can stand in a checkpoint, a prompt and a file."""

import math
from typing import Any

from pydantic_core import to_jsonable_python

_INT64 = 1 << 63


def plain(value: Any) -> Any:
    """The value with only dict, list, str, int (64 bit), float, bool and None in it.

    Larger integers become text, since no checkpoint holds them; NaN and infinities become text, since JSON has none.
    A value that contains itself, or is nested too deep, becomes a text that says so: the work it came from is done.
    """
    try:
        return _fit(to_jsonable_python(value, fallback=repr, bytes_mode="base64", inf_nan_mode="constants"))
    except Exception as error:  # also what the value's own code raises while it is looked at
        return f"a {type(value).__name__} that can't be shown as JSON: {type(error).__name__}"


def clean_text(text: str) -> str:
    """Text without lone surrogates, which no UTF-8 file or request can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _fit(value: Any) -> Any:
    if isinstance(value, dict):
        return {clean_text(str(key)): _fit(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_fit(item) for item in value]
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        return str(value) if value.bit_length() < 14_000 else f"integer of {value.bit_length()} bits"
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
