"""What to say about settings that can't be used."""

from collections.abc import Iterable
from typing import Any

from state.errors import offer, shorten
from state.limits import Limits


def in_one_line(error: ValueError, settings: Iterable[str]) -> str:
    """What is wrong first, the value, and what would be right; `settings` are those that there are."""
    problems: list[Any] = getattr(error, "errors", list)()
    if not problems:
        return str(error)
    first = problems[0]
    where = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        return _unknown(first["loc"], where, settings)
    right = (
        f"; right would be [{first['input']!r}]" if first["type"] == "list_type" and _is_word(first["input"]) else ""
    )
    return f"context setting {where!r}: {first['msg']}, got {shorten(first['input'])}{right}"


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 100


def _unknown(place: tuple[Any, ...], where: str, settings: Iterable[str]) -> str:
    """What there is in the place of a key that there is not."""
    if len(place) == 1:
        return f"context has no setting {where!r}; {offer(where, settings)}"
    if place[0] == "limits":
        return f"there is no limit {str(place[1])!r}; {offer(str(place[1]), Limits.model_fields)}"
    return f"context setting {where!r} is not known: {'.'.join(map(str, place[:-1]))!r} has no such key"
