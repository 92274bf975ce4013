"""JSON from outside: whatever is wrong with it is one `ValueError`, also brackets in brackets without end."""

import json
from collections.abc import Callable
from typing import Any


def from_json(
    text: str | bytes, *, numbers: Callable[[str], Any] | None = None, pairs: Callable[[Any], Any] | None = None
) -> Any:
    """The value; `numbers` is asked about NaN and the infinities, `pairs` about each object."""
    try:
        return json.loads(text, parse_constant=numbers, object_pairs_hook=pairs)
    except RecursionError:
        raise json.JSONDecodeError("nested too deep", "", 0) from None
