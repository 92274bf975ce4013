"""JSON inside a text: prose, fences and marks around it are no part of it, what stands inside it is data.

Leaves out: choosing between two objects that differ. A text that can be read in two ways is refused.
"""

import re
from collections.abc import Iterator
from typing import Any

from nodes.reading.values import Unsound, decode_at, end_of_tokens, read_value, same, unfenced

_BRACKET = re.compile(r"[{\[]")
_QUOTED_OR_BRACKET = re.compile(r'[{\["]')
_PIECE = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*(?:"|\Z)|(?<![\w\\])'(?:[^'\\\n]|\\.)*')|(?P<open>[{\[])|(?P<close>[}\]])""",
    re.DOTALL,
)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*("?)')
_BEGINS_DATA = re.compile(
    r"""\{\s*(?:["'{\[\\“]|[\w$-]+\s*:)|\[\s*(?:["{\[\\]|-?\d[\d.eE+-]*\s*,|(?:true|false|null|None|True|False)\s*,)"""
)
_HAS_KEY = re.compile(r"""["'”]\s*:""")
_GOES_ON = re.compile(r"""\s*(?:[}\]]|,\s*["'{\[])""")
_INSIDE = re.compile(r"""["']\s*:\s*$""")
_ATTEMPTS = 50
"""Brackets that may open and never close, before a text counts as unreadable."""


def object_in(text: str) -> dict[str, Any]:
    """The one JSON object in a text; raises `ValueError` with one sentence where there is none, or two that differ."""
    whole = unfenced(text)
    if whole[:1] in ("{", "[", '"') or not _BRACKET.search(whole):
        try:
            return _object(_once_more(read_value(whole)))
        except ValueError as error:
            if isinstance(error, Unsound) and (whole[:1] == '"' or closing(whole, 0)):
                raise
            return _in_prose(text, error)
    return _in_prose(text, ValueError("there is no JSON object in the text"))


def values_in(text: str, *, skip_quoted: bool = False) -> Iterator[tuple[Any, int, int]]:
    """Objects and lists that stand for themselves in a text, with their places.

    Raises `ValueError` at one that is broken: nothing inside or after it can be trusted.
    """
    place, unclosed, lone = 0, 0, 0
    pattern = _QUOTED_OR_BRACKET if skip_quoted else _BRACKET
    while match := pattern.search(text, place):
        start = match.start()
        if text[start] == '"':
            quoted = _STRING.match(text, start) if start >= lone else None
            lone = quoted.end() if quoted else lone
            place = lone if quoted and quoted[1] else start + 1
            continue
        if found := data_at(text, start):
            value, place = found
            yield value, start, place
            continue
        end = closing(text, start)
        unclosed += end is None
        if unclosed > _ATTEMPTS:
            raise ValueError("too many brackets that never close")
        place = _past_prose(text, start, end)


def data_at(text: str, start: int) -> tuple[Any, int] | None:
    """The object or list that begins at a bracket, and where it ends."""
    if found := decode_at(text, start):
        return found
    if not _BEGINS_DATA.match(text, start) or (end := end_of_tokens(text, start)) is None:
        return None
    try:
        return read_value(text[start:end]), end
    except ValueError:
        return None


def next_outside(pattern: re.Pattern[str], text: str, start: int = 0) -> re.Match[str] | None:
    """The next match that does not stand inside JSON data."""
    match, place, broken = pattern.search(text, start), start, 0
    while match and (bracket := _BRACKET.search(text, place, match.start() + 1)):
        found = data_at(text, bracket.start()) if broken < _ATTEMPTS else None
        broken += found is None
        place = found[1] if found else bracket.end()
        if found and place > match.start():
            match = pattern.search(text, place)
    return match


def closing(text: str, start: int) -> int | None:
    """Where the bracket at `start` is closed, strings set aside; None where it is not, or not by its own kind."""
    stack: list[str] = []
    for piece in _PIECE.finditer(text, start):
        if piece["open"]:
            stack.append("}" if piece["open"] == "{" else "]")
        elif piece["close"]:
            if not stack or stack.pop() != piece["close"]:
                return None
            if not stack:
                return piece.end()
    return None


def _past_prose(text: str, start: int, end: int | None) -> int:
    """Where to go on after a bracket that is only a mark in prose; raises `ValueError` where it was meant as data."""
    if _BEGINS_DATA.match(text, start) or (end and text[start] == "{" and _HAS_KEY.search(text, start, end)):
        raise ValueError("the JSON is cut: it never closes") if end is None else _fault(text[start:end])
    return end if end and text[start] == "{" else start + 1


def _fault(text: str) -> ValueError:
    """What is wrong with a piece of JSON: what it holds, where its form is right."""
    try:
        read_value(text)
    except Unsound as error:
        return error
    except ValueError:
        pass
    return ValueError("the JSON in the text is broken")


def _in_prose(text: str, error: ValueError) -> dict[str, Any]:
    """Read twice, with what stands in quotes and without: both must find the same."""
    found = [_objects(text, skip_quoted) for skip_quoted in (False, True)]
    if not found[0] and not found[1]:
        raise error
    first = (found[0] or found[1])[0]
    if not all(each and all(same(first, other) for other in each) for each in found):
        raise ValueError("the text holds more than one JSON object, and they differ")
    return first


def _objects(text: str, skip_quoted: bool) -> list[dict[str, Any]]:
    found = []
    for value, start, end in values_in(text, skip_quoted=skip_quoted):
        if isinstance(value, list):
            if any(isinstance(item, dict | list) for item in value):
                raise ValueError("the JSON value is a list, not an object")
            continue
        if _GOES_ON.match(text, end) or _INSIDE.search(text[max(0, start - 80) : start]):
            raise ValueError("the JSON in the text is a piece of something larger that is broken")
        found.append(value)
    return found


def _once_more(value: Any) -> Any:
    """The value inside a text that was encoded twice."""
    return read_value(value) if isinstance(value, str) and value.strip()[:1] == "{" else value


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    kinds = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    raise ValueError(f"the JSON value is {kinds.get(type(value), 'a number')}, not an object")
