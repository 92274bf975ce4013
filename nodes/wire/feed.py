"""From bytes, in whatever pieces they come, to JSON records: server-sent events, JSON lines, or one JSON document.

Leaves out: event ids and reconnection, which chat completions don't use.
"""

import re
from typing import Any

from nodes.wire.errors import WireError, bad_response
from state.json_text import from_json

Record = dict[str, Any]
_BREAK = re.compile(rb"\r\n|\n|\r")
_DONE = "[DONE]"


class Feed:
    """`push` bytes, then `close`; each gives the records that are complete. What the first mark is decides the form."""

    def __init__(self) -> None:
        self.done = False
        self._bytes = bytearray()
        self._is_events: bool | None = None
        self._data: list[str] = []

    def push(self, piece: bytes) -> list[Record]:
        """Takes the next bytes."""
        self._bytes += piece
        if self._is_events is None:
            start = bytes(self._bytes).removeprefix(b"\xef\xbb\xbf").lstrip()
            if not start or b"\xef\xbb\xbf".startswith(start):
                return []
            self._bytes, self._is_events = bytearray(start), start[:1] not in b'{[<"'
        return self._lines(last=False) if self._is_events else []

    def close(self) -> list[Record]:
        """Ends the input."""
        if self._is_events:
            return [*self._lines(last=True), *self._dispatch()]
        return _document(self._bytes.decode("utf-8", "replace"))

    def _lines(self, *, last: bool) -> list[Record]:
        # a carriage return at the end may be half of a line break
        held = not last and self._bytes.endswith(b"\r")
        *lines, rest = _BREAK.split(bytes(self._bytes[:-1] if held else self._bytes))
        self._bytes = bytearray(rest + (b"\r" if held else b""))
        if last:
            lines.append(rest)
            self._bytes.clear()
        return [record for line in lines for record in self._line(line.decode("utf-8", "replace"))]

    def _line(self, line: str) -> list[Record]:
        if not line.strip():
            return self._dispatch()
        name, colon, value = line.partition(":")
        if line.lstrip().startswith(("{", "[")):  # JSON lines, or an error between the events
            value = line
        elif not colon or name.strip() != "data":
            return []
        self._data.append(value.strip())
        # servers that send no empty line between events: what parses by itself is an event by itself
        return self._dispatch() if len(self._data) == 1 and _is_whole(self._data[0]) else []

    def _dispatch(self) -> list[Record]:
        text, self._data = "\n".join(self._data).strip(), []
        if text.startswith(_DONE):
            self.done = True
            return []
        if not text.startswith(("{", "[")):  # a comment or a sign of life that a proxy has turned into data
            return []
        return [_record(text)]


def _is_whole(text: str) -> bool:
    if text.startswith(_DONE):
        return True
    try:
        from_json(text)
    except ValueError:
        return False
    return True


def _record(text: str) -> Record:
    try:
        value = from_json(text)
    except ValueError as error:
        raise bad_response("a piece of the stream is no JSON") from error
    if isinstance(value, list) and value and isinstance(value[0], dict):
        value = value[0]  # an error in a list
    if not isinstance(value, dict):
        raise bad_response("a piece of the stream is no JSON object")
    return value


def _document(text: str) -> list[Record]:
    """One JSON document, or JSON lines."""
    text = text.strip()
    if not text:
        raise bad_response("the reply is empty: no byte of a body")
    if text.startswith("<"):
        raise bad_response("a web page came instead of JSON; is the address right, does it end in /v1?")
    try:
        return [_record(text)]
    except WireError:
        lines = [line for line in re.split(r"\r?\n", text) if line.strip()]
        if len(lines) > 1 and all(_is_whole(line) for line in lines):
            return [_record(line) for line in lines]
    raise bad_response("the reply is no JSON, or was cut")
