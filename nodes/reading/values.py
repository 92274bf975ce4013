"""One JSON value from a text that is nothing else; what many servers write instead of JSON is put right token by token.

A repair changes a token by itself (quotes, a word, a comma), never the structure, and the result must pass the strict
reader. Leaves out what would be a guess: missing brackets, bare words as values, unescaped quotes, numbers like 1/3.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from state.errors import shorten

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<double>"(?:[^"\\]|\\.)*")
    |(?P<single>'(?:[^'\\]|\\.)*')
    |(?P<curly>“[^“”]*”)
    |(?P<mark>[{}\[\]:,])
    |(?P<word>[^\s{}\[\]:,"'“”/]+)""",
    re.VERBOSE | re.DOTALL,
)
_PYTHON = {"True": "true", "False": "false", "None": "null"}
_LITERALS = {*_PYTHON, *_PYTHON.values()}
_CLOSES = {"{": "}", "[": "]"}
_BEFORE_VALUE = re.compile(r"\s*:")
_NUMBER = re.compile(r"-?\d[\d.eE+-]*")
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*[\w+-]*[ \t]*(?:\n|\r\n?)(.*?)(?:(?:\n|\r\n?)[ \t]*)?\1\s*", re.DOTALL)
_UNKEPT = re.compile("[\0\ud800-\udfff]")
"""What no file or database takes as text: NUL, and halves of characters."""
_DIGITS = 4300
"""The most digits of a whole number that Python reads."""
_DEPTH = 200
_ESCAPED = re.compile(r'[{\[]\s*\\"')


class Unsound(ValueError):
    """JSON of a right form that holds what can't be kept or sent; what it is, in one sentence."""


def read_value(text: str) -> Any:
    """The value; raises `ValueError` with one sentence where a strict reader of the same tokens would not agree."""
    text = unfenced(text)
    if not text:
        raise ValueError("there is no JSON, the text is empty")
    try:
        return strict(text)
    except ValueError as error:
        return _repaired(text, error)


def strict(text: str) -> Any:
    """The value of correct JSON (line breaks inside strings allowed); no NaN, no key twice, no half characters."""
    try:
        return sound(_decoder.decode(text))
    except RecursionError:
        raise Unsound("the JSON is nested too deep") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at character {error.pos}") from None


def decode_at(text: str, start: int) -> tuple[Any, int] | None:
    """The correct JSON value that begins at a place, and where it ends."""
    try:
        value, end = _decoder.raw_decode(text, start)
        return sound(value), end
    except (ValueError, RecursionError):
        return None


def unfenced(text: str) -> str:
    """The text without white space around it, and without the one fence that holds all of it."""
    text = text.strip().removeprefix("\ufeff").strip()
    whole = _FENCE.fullmatch(text)
    return whole[2].strip() if whole else text


def repaired(text: str) -> str:
    """The same tokens as correct JSON; raises `ValueError` at what is no token."""
    tokens = list(_tokens(text))
    out: list[str] = []
    for index, (kind, token) in enumerate(tokens):
        after = tokens[index + 1][1] if index + 1 < len(tokens) else ""
        if token == "," and after in ("}", "]") and out and out[-1] not in ("{", "[", ",", ":"):
            continue
        plain = _plain(kind, token, key=after == ":")
        if out and _comma_missing(out[-1], plain, after):
            out.append(",")
        out.append(plain)
    return "".join(out)


def end_of_tokens(text: str, start: int) -> int | None:
    """Where the bracket at a place is closed by its own kind; None where it is not, or not all before can be JSON."""
    stack: list[str] = []
    place = start
    while match := _TOKEN.match(text, place):
        kind, token, place = match.lastgroup, match[0], match.end()
        if token in _CLOSES and kind == "mark":
            stack.append(_CLOSES[token])
        elif kind == "mark" and token in ("}", "]"):
            if stack.pop() != token:
                return None
            if not stack:
                return place
        elif kind == "word" and not (
            token in _LITERALS or _NUMBER.fullmatch(token) or _BEFORE_VALUE.match(text, place)
        ):
            return None
    return None


def _repaired(text: str, error: ValueError) -> Any:
    """By its tokens; else one level of encoding less."""
    try:
        return strict(f" {repaired(text)}")
    except Unsound:
        raise
    except ValueError:
        if not _ESCAPED.match(text):
            raise error from None
    try:
        return strict(strict(f'"{text}"'))
    except ValueError:
        raise error from None


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if not match:
            raise ValueError(f"not JSON: {text[place]!r} at character {place}")
        place = match.end()
        if match.lastgroup != "skip":
            yield str(match.lastgroup), match[0]


def _plain(kind: str, token: str, *, key: bool) -> str:
    """One token as JSON writes it."""
    if kind in ("single", "curly"):
        body = token[1:-1].replace("\\'", "'")
        return '"' + re.sub(r'(?<!\\)((?:\\\\)*)"', r'\1\\"', body) + '"'
    if kind == "double":
        return re.sub(r"(?<!\\)((?:\\\\)*)\\'", r"\1'", token)
    if kind == "word" and key:
        return json.dumps(token) if re.fullmatch(r"[^\W\d][\w$.-]*", token) else token
    return _PYTHON.get(token, token)


def _comma_missing(before: str, token: str, after: str) -> bool:
    """Whether only a comma can stand between two tokens: one that ends a value, one that begins a key or an item."""
    ends = before in ("}", "]", "true", "false", "null") or before.startswith('"') or bool(_NUMBER.fullmatch(before))
    begins = (token.startswith('"') and after == ":") or (before in ("}", "]") and token in ("{", "["))
    return ends and begins


def sound(value: Any) -> Any:
    """The value, if it can be stored and sent; raises `ValueError` at what no checkpoint or request can hold."""
    stack = [(value, 0)]
    while stack:
        item, depth = stack.pop()
        if depth > _DEPTH:
            raise Unsound("the JSON is nested too deep")
        if isinstance(item, dict):
            stack += [(part, depth + 1) for part in (*item, *item.values())]
        elif isinstance(item, list):
            stack += [(part, depth + 1) for part in item]
        elif isinstance(item, float) and not math.isfinite(item):
            raise Unsound("a number is too large or not finite; write one below 1e308")
        elif isinstance(item, str) and (found := _UNKEPT.search(item)):
            what = "a NUL character" if found[0] == "\0" else "half of a character (a lone surrogate)"
            raise Unsound(f"the text {shorten(item, 60)!a} holds {what}; leave it out")
    return value


def _constant(name: str) -> NoReturn:
    raise Unsound(f"{name} is no JSON number")


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise Unsound(f"a number has {len(digits):,} digits; write at most {_DIGITS:,}, or a text")
    return int(digits)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a key may come twice only with the same value."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and not same(found[key], value):
            raise Unsound(f"the key {key!r} is given twice with different values")
        found[key] = value
    return found


def same(one: Any, other: Any) -> bool:
    """Equality of JSON values: true is not 1, and 1.0 is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


_decoder = json.JSONDecoder(strict=False, parse_constant=_constant, parse_int=_whole, object_pairs_hook=_object)
