"""The items of one list in a JSON object that is still coming, each as soon as it is whole.

For starting on steps before their plan has ended. Strict: what is not correct JSON from its beginning gives nothing
more, and whoever reads waits for the whole. Nothing here judges the reply; that is done when it has come.
"""

import json
import re
from typing import Any

from nodes.reading.thinking import set_aside
from nodes.reading.values import decode_at

_FENCE = re.compile(r"`{3,}[ \t]*(?:json)?[ \t]*\r?\n", re.IGNORECASE)
_SPACE = " \t\r\n"
_THOUGHT_BEGINS, _THOUGHT_ENDS = ("<", "[", "◁"), re.compile(r"[>\]▷]")
"""How the marks of reasoning begin, and how they end."""


class Coming:
    """`push` text in whatever pieces; each gives the items of the list that have become whole."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._text = self._piece = ""
        self._read: Any = self._before
        """What is to come next; it gives whether it has moved on."""
        self._found: list[Any] = []

    def push(self, piece: str) -> list[Any]:
        """Takes the next piece."""
        if self._read is None:
            return []
        self._text, self._piece, self._found = self._text + piece, piece, []
        try:
            while self._read and self._read():
                pass
        except ValueError:
            self._read = None
        return self._found

    def _before(self) -> bool:
        """Reasoning, if the reply begins with it; it is looked at only where it may have ended."""
        text = self._text.lstrip("\ufeff" + _SPACE)
        if text.startswith(_THOUGHT_BEGINS):
            if not _THOUGHT_ENDS.search(self._piece) or (parted := set_aside(text)).open:
                return False
            text = parted.visible
        elif not text:
            return False
        self._text, self._read = text, self._beginning
        return True

    def _beginning(self) -> bool:
        """The beginning of the object, with or without a fence."""
        text = self._text.lstrip()
        if text.startswith("`"):
            if not (fence := _FENCE.match(text)):
                return False
            text = text[fence.end() :].lstrip()
        self._text = text
        return bool(text) and self._mark("{", self._member)

    def _member(self) -> bool:
        """A key with its value, or the beginning of the list that is looked for."""
        text = self._text.lstrip(_SPACE)
        if not text or (key := _string_at(text)) is None:
            return False
        rest = text[key[1] :].lstrip(_SPACE)
        if not rest:
            return False
        if rest[0] != ":":
            raise ValueError("a key without a value")
        value = rest[1:].lstrip(_SPACE)
        if key[0] == self._key:
            self._text = value
            return self._mark("[", self._item) if value else self._wait(text)
        return self._other(value, text)

    def _other(self, value: str, text: str) -> bool:
        """A value that is not looked for; a number at the end of the text may still grow."""
        found = decode_at(value, 0) if value else None
        if found is None or not value[found[1] :].lstrip(_SPACE):
            return self._wait(text)
        self._text = value[found[1] :].lstrip(_SPACE)
        return self._mark(",", self._member)

    def _item(self) -> bool:
        text = self._text.lstrip(_SPACE)
        if not text:
            return False
        if text[0] != "{":
            raise ValueError("the item is no object, or the list is empty")
        if "}" not in self._piece or (found := decode_at(text, 0)) is None:
            return self._wait(text)
        self._found.append(found[0])
        self._text, self._read = text[found[1] :], self._between
        return True

    def _between(self) -> bool:
        text = self._text.lstrip(_SPACE)
        if not text:
            return False
        self._text = text
        return self._mark(",", self._item)

    def _mark(self, mark: str, following: Any) -> bool:
        """Steps over one mark; any other one ends the reading."""
        if self._text[0] != mark:
            raise ValueError(f"{self._text[0]!r} where {mark!r} should be")
        self._text, self._read = self._text[1:], following
        return True

    def _wait(self, text: str) -> bool:
        self._text = text
        return False


def _string_at(text: str) -> tuple[str, int] | None:
    """The string that begins a text, and where it ends; None while it has not ended."""
    if text[0] != '"':
        raise ValueError("no key")
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError:
        return None
    return value, end
