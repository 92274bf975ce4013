"""Constraints as a caller hands them in: sentences, and keys that are enforced.

What looks like an enforced key and is not one is refused: a constraint that nobody notices protects nothing.
"""

import difflib
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from state.errors import InputError, shorten
from state.plain import plain
from tools.catalogue import FAMILIES, unknown
from tools.constraints import OWN, bounds_and_deadline

LISTS = ("forbid", "approve", "words")


def valid_constraints(constraints: Any, tools: Iterable[str] = ()) -> dict[str, Any]:
    """Constraints as a mapping: sentences under `words`, everything else under its own key."""
    if constraints is None:
        return {}
    if isinstance(constraints, str):
        return {"words": [plain(constraints)]}
    if isinstance(constraints, list | tuple) and all(isinstance(item, str) for item in constraints):
        return {"words": plain(list(constraints))} if constraints else {}
    found = plain(constraints)
    if not isinstance(constraints, Mapping) or not isinstance(found, dict):
        raise InputError(
            f"constraints are {shorten(constraints)}; right would be a list of sentences or keys with values"
        )
    return _checked(found, list(tools))


def no_typos(names: Iterable[str], tools: Iterable[str], what: str) -> None:
    """Refuses a name that no tool has and that is close to one that there is; others may be meant for other runs."""
    known = list(tools)
    for name in set(names) - {*known, *FAMILIES, *chain(*FAMILIES.values())}:
        if difflib.get_close_matches(name, known, n=1, cutoff=0.8):
            raise InputError(f"{what}: {unknown(name, known)}")


def _checked(found: dict[str, Any], tools: list[str]) -> dict[str, Any]:
    for key in found:
        close = difflib.get_close_matches(key.lower().replace("-", "_"), OWN, n=1, cutoff=0.8)
        if key not in OWN and close:
            raise InputError(f"constraint {key!r} is not enforced; did you mean {close[0]!r}?")
    if not isinstance(found.get("read_only", False), bool):
        raise InputError(f"constraint read_only is {shorten(found['read_only'])}; right would be true or false")
    for key in LISTS:
        if key in found:
            found[key] = _texts(key, found[key])
    for key in ("forbid", "approve"):
        no_typos(found.get(key, []), tools, f"constraint {key}")
    return bounds_and_deadline(found)


def _texts(key: str, value: Any) -> list[str]:
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
        right = '["in simple words"]' if key == "words" else '["send_mail"]'
        raise InputError(f"constraint {key} is {shorten(value)}; right would be {right}")
    return list(given)
