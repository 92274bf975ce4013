"""References to earlier results: `${steps.ID}` and `${steps.ID.path}`; any other `${` is plain text.

A value that is one reference keeps the type of what it points to; inside a longer text it becomes text.
What a reference brings in is never read for references again.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError

from state.errors import ReferenceMissing

_PATH = r"""(?:\.[\w-]+|\."[^"{}]*"|\[(?:-?\d+|\*|-?\d*:-?\d*(?::-?\d+)?)\])*"""
PATTERN = re.compile(r"\$\{steps\.([A-Za-z_][\w-]*)(" + _PATH + r")\}")
SEGMENT = re.compile(r'\.([\w-]+)|\."([^"{}]*)"|(\[[^\]]*\])')

_BRANCHES = (dict, list, tuple, Mapping)
_LEAVES = (int, float, type(None))
"""Not asked whether they are a Mapping, which takes longer than all else here."""


def references(value: Any) -> list[str]:
    """Ids of the steps that a nested value refers to, in order of mention."""
    found: dict[str, None] = {}
    gather(value, found)
    return list(found)


def gather(value: Any, found: dict[str, None]) -> None:
    """The same into a dict that may hold names already; asked many times for each step, so it builds nothing."""
    if isinstance(value, str):
        if "${steps." in value:
            for match in PATTERN.finditer(value):
                found[match[1]] = None
    elif not isinstance(value, _LEAVES) and isinstance(value, _BRANCHES):
        for item in value.values() if isinstance(value, Mapping) else value:
            gather(item, found)


def each_text(value: Any, visit: Callable[[str], Any]) -> Any:
    """Rebuilds a nested value with `visit` applied to every text in it, keys left alone."""
    if isinstance(value, str):
        return visit(value)
    if isinstance(value, _LEAVES) or not isinstance(value, _BRANCHES):
        return value
    if isinstance(value, Mapping):
        return {key: each_text(item, visit) for key, item in value.items()}
    return [each_text(item, visit) for item in value]


def whole(value: Any) -> re.Match[str] | None:
    """The match when the value is exactly one reference and nothing else."""
    return PATTERN.fullmatch(value) if isinstance(value, str) else None


def resolve(value: Any, outputs: Mapping[str, Any]) -> Any:
    """Puts results in the place of references; raises `ReferenceMissing` where one points to nothing."""

    def put(text: str) -> Any:
        if match := PATTERN.fullmatch(text):
            return look_up(match, outputs)
        return PATTERN.sub(lambda m: as_text(look_up(m, outputs)), text)

    return each_text(value, put)


def look_up(match: re.Match[str], outputs: Mapping[str, Any]) -> Any:
    """The value one reference points to."""
    name, path = match[1], match[2]
    if name not in outputs:
        raise ReferenceMissing(match[0], f"there is no result of a step {name!r}; there are {sorted(outputs)}")
    value = outputs[name]
    if not path:
        return value
    try:
        found = jmespath.search(expression(path), value)
    except JMESPathError as error:
        raise ReferenceMissing(match[0], f"the path can't be read: {error}") from error
    if found is None and (why := _missing(path, value)):
        raise ReferenceMissing(match[0], why)
    return found


def expression(path: str) -> str:
    """A reference's path as a jmespath expression, keys quoted so that `-` and digits are only characters."""
    parts = [bracket or json.dumps(plain or quoted) for plain, quoted, bracket in SEGMENT.findall(path)]
    text = "@"
    for part in parts:
        text += part if part.startswith("[") else f".{part}"
    return text


def as_text(value: Any) -> str:
    """A result as it stands inside a longer text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _missing(path: str, value: Any) -> str:
    """Why a path finds nothing, or an empty text when it finds a null."""
    for plain, quoted, bracket in SEGMENT.findall(path):
        if bracket and not bracket[1:-1].lstrip("-").isdigit():
            return ""  # a slice or a projection of a non-list is null by jmespath's rules
        key: Any = int(bracket[1:-1]) if bracket else plain or quoted
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return f"nothing at {key!r}; {_offer(value)}"
    return ""


def _offer(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"there is {sorted(map(str, value))[:12]}"
    if isinstance(value, list):
        return f"there is a list of {len(value)}"
    return f"there is a {type(value).__name__} without parts"
