"""Arguments that a schema itself lists: choices of an enum, and flags."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nodes.offline.draft import NotUnderstood
from nodes.offline.schemas import resolved, type_of
from nodes.offline.tokens import Token
from tools.stems import stem

_OPTION = re.compile(r"(?<!\w)['\"‘“]([\w -]{2,40})['\"’”](?!\w)")
_NO = {"not", "no", "without", "don't", "exclude", "excluding", "never", "不", "不要", "别"}


def choices(clause: Sequence[Token], parameters: Mapping[str, Any]) -> tuple[dict[str, Any], set[int]]:
    """The enum values that the request names, and the places of the words that name them."""
    args: dict[str, Any] = {}
    used: set[int] = set()
    for name, schema in parameters.items():
        listed = type_of(schema) == "array"
        options = (resolved(schema.get("items")) if listed else schema).get("enum") or ()
        options = (
            options or _OPTION.findall(str(schema.get("description") or "")) if type_of(schema) == "string" else options
        )
        hits = [
            (option, places) for option in options if isinstance(option, str) and (places := _places(option, clause))
        ]
        hits = [hit for hit in hits if not any(set(hit[1]) < set(other[1]) for other in hits)]
        if len(hits) == 1 or (hits and listed):
            args[name] = [option for option, _ in hits] if listed else hits[0][0]
            used |= {place for _, places in hits for place in places}
        elif hits:
            raise NotUnderstood(f"the argument {name!r} takes one of {[option for option, _ in hits]}, not all of them")
    return args, used


def flags(clause: Sequence[Token], parameters: Mapping[str, Any]) -> dict[str, bool]:
    """Booleans whose name the request mentions: true, or false behind a "not" or for the opposite with un-."""
    args: dict[str, bool] = {}
    words = [token.text.lower() for token in clause]
    stems = [stem(word) for word in words]
    for name, schema in parameters.items():
        if type_of(schema) != "boolean":
            continue
        parts = [
            stem(part)
            for part in re.split(r"[_\W]+", name)
            if part and part not in ("is", "has", "get", "include", "use", "should", "enable")
        ]
        if parts and all(part in stems for part in parts):
            at = stems.index(parts[0])
            args[name] = not any(word in _NO for word in words[max(0, at - 3) : at])
        elif len(parts) == 1 and parts[0].startswith("un") and parts[0][2:] in stems:
            args[name] = False
    return args


def _places(option: str, clause: Sequence[Token]) -> tuple[int, ...]:
    """Where a choice's words stand side by side."""
    wanted = [stem(word) for word in re.split(r"[\W_]+", option) if word]
    said = [stem(token.text) if token.kind in ("word", "quote") else str(token.value) for token in clause]
    for at in range(len(said) - len(wanted) + 1):
        if wanted and said[at : at + len(wanted)] == wanted:
            return tuple(range(at, at + len(wanted)))
    return ()
