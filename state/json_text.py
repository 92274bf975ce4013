"""JSON from outside: whatever is wrong with it is one `ValueError`, also brackets in brackets without end."""

import json
import math
import re
import sys
from collections.abc import Callable
from typing import Any, NoReturn


def from_json(
    text: str | bytes, *, numbers: Callable[[str], Any] | None = None, pairs: Callable[[Any], Any] | None = None
) -> Any:
    """The value; `numbers` is asked about NaN, infinities and what is as large as they, `pairs` about each object."""

    def finite(digits: str) -> Any:
        value = float(digits)
        return value if numbers is None or math.isfinite(value) else numbers(digits)

    try:
        return json.loads(
            text, parse_float=finite if numbers else None, parse_constant=numbers, object_pairs_hook=pairs
        )
    except RecursionError:
        raise json.JSONDecodeError("nested too deep", "", 0) from None
    except ValueError as error:
        if "integer string conversion" in str(error):
            raise _too_long(text if isinstance(text, str) else text.decode()) from None
        raise


def no_number(name: str) -> NoReturn:
    """For `numbers`: only what JSON knows is taken."""
    if name.strip("-") in ("NaN", "Infinity"):
        raise ValueError(f"{name} is no number in JSON")
    raise ValueError(f"the number {name} is too large")


def _too_long(text: str) -> json.JSONDecodeError:
    most = sys.get_int_max_str_digits()
    found = re.search(rf"\d{{{most + 1},}}", text)
    digits, place = (len(found[0]), found.start()) if found else (most + 1, 0)
    return json.JSONDecodeError(f"a number has {digits:,} digits, and {most:,} are the most", text, place)
