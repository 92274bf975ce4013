"""Words for a terminal: nothing that was handed in can move the cursor, hide text or turn its direction."""

import json
import re
from collections.abc import Iterable
from typing import Any

from state.errors import InputError, shorten

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]"
    "|(?<=[ -~])[\u200c\u200d]|[\u200c\u200d](?=[ -~])"  # joiners mean nothing there; in Persian and emoji they do
)


def visible(text: Any) -> str:
    """The text with control characters and what has no width written out; line breaks and tabs stay."""
    return _CONTROL.sub(_escaped, _utf8(str(text)))


def check_text(arguments: Iterable[str]) -> None:
    """Refuses bytes that are no UTF-8; Python hands them on as lone surrogates."""
    for place, argument in enumerate(arguments, start=1):
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            shown = shorten(_utf8(argument))
            raise InputError(
                f"argument {place} ({shown}) holds bytes that are no UTF-8 text, at character {error.start}"
            ) from error


def one_line(text: Any, limit: int = 300) -> str:
    """The text on one line, cut where it is long."""
    line = " ".join(visible(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def as_json(value: Any, *, indent: int | None = None, ascii_only: bool = False) -> str:
    """JSON that is also safe to look at."""
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent, default=str)
    return _CONTROL.sub(lambda match: match[0] if match[0] == "\n" else _escaped(match), _utf8(text))


def count(number: float, word: str) -> str:
    """`1 step`, `2 steps`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _utf8(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
