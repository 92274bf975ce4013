"""Tool calls from their pieces: by index, by id, or by what the pieces themselves show."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from langchain_core.messages import InvalidToolCall, ToolCall
from langchain_core.messages.tool import invalid_tool_call, tool_call

from state.json_text import from_json, no_number


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    def args(self) -> str:
        """The arguments: all pieces together; or the last, where every piece repeats what came before it."""
        together = "".join(self.pieces)
        if len(self.pieces) < 2 or _object(together)[0] is not None:
            return together
        *before, last = self.pieces
        grows = all(more.startswith(less) for less, more in pairwise(self.pieces))
        return last if grows or "".join(before) == last else together

    def is_finished(self) -> bool:
        """Whether the arguments are there."""
        return bool(self.pieces) and _object(self.args())[0] is not None


class CallPieces:
    """`add` pieces in the order in which they come, then `split` them into good and bad calls."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._at: dict[str, _Call] = {}

    def add(self, piece: Mapping[str, Any], *, whole: bool = False) -> str:
        """Takes a call, or a piece of one; gives what it adds to the arguments of the first."""
        inner = piece.get("function")
        function: Mapping[str, Any] = inner if isinstance(inner, Mapping) else piece
        name = function.get("name")
        named = name.strip() if isinstance(name, str) else ""
        given = function.get("arguments", function.get("parameters"))
        args = "" if given is None else given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        call_id = piece.get("id")
        call_id = call_id if isinstance(call_id, str) else ""
        index = piece.get("index")
        at = None if index is None else str(index)
        call = self._new(call_id) if whole else self._find(at, call_id, named, args)
        call.name = _joined(call.name, named)
        if args:
            call.pieces.append(args)
        return args if call is self._calls[0] else ""

    def split(self, *, cut: bool = False) -> tuple[list[ToolCall], list[InvalidToolCall]]:
        """Calls whose arguments are a JSON object, and calls whose arguments are not; every id is there, and once.

        In a reply that was cut, a last call without arguments may have lost them.
        """
        good: list[ToolCall] = []
        bad: list[InvalidToolCall] = []
        taken: set[str] = set()
        for place, call in enumerate(self._calls):
            call_id = call.id if call.id and call.id not in taken else f"call_{place}"
            taken.add(call_id)
            value, why = _object(call.args())
            text = call.args()
            if cut and call is self._calls[-1] and not call.pieces:
                value, why, text = None, "the reply was cut before the arguments", "{"  # begun and never closed
            if value is None or not call.name:
                why = why or "the call names no tool"
                bad.append(invalid_tool_call(name=call.name or None, args=text, id=call_id, error=why))
            else:
                good.append(tool_call(name=call.name, args=value, id=call_id))
        return good, bad

    def _new(self, call_id: str) -> _Call:
        self._calls.append(_Call(call_id))
        return self._calls[-1]

    def _find(self, index: str | None, call_id: str, name: str, args: str) -> _Call:
        known = self._at.get(index) if index is not None else self._by_id(call_id) or next(reversed(self._calls), None)
        if known is None or _begins_another(known, call_id, name, args, indexed=index is not None):
            known = self._new(call_id)
        known.id = known.id or call_id
        if index is not None:
            self._at[index] = known
        return known

    def _by_id(self, call_id: str) -> _Call | None:
        return next((call for call in self._calls if call_id and call.id == call_id), None)


def _begins_another(known: _Call, call_id: str, name: str, args: str, *, indexed: bool) -> bool:
    """Whether a piece is the first of a new call although it stands where a call is known."""
    if known.is_finished():
        return bool(call_id and known.id not in ("", call_id)) or bool(name and args.strip() and args != known.args())
    if known.pieces:  # in the middle of its arguments; some servers send a new id with every piece
        return bool(name) and not name.startswith(known.name)
    other = bool(call_id and known.id and call_id != known.id)
    if indexed:
        return other and bool(name) and (name != known.name or args.strip() in ("", "{}"))
    return other or (bool(name) and call_id != known.id)


def _joined(name: str, more: str) -> str:
    """A name from its pieces; servers repeat it in every piece, or send it as it grows."""
    if more == name or (name and more.startswith(name)):
        return more
    return name + more


def _object(text: str) -> tuple[dict[str, Any] | None, str]:
    """The JSON object in a text, also where it was encoded twice; nothing at all is the empty object."""
    if not text.strip():
        return {}, ""
    try:
        value = from_json(text, numbers=no_number)
        if isinstance(value, str):
            value = from_json(value, numbers=no_number) if value.strip() else {}
    except ValueError as error:
        return None, f"the arguments are no JSON: {error}"
    if value is None:
        return {}, ""
    return (value, "") if isinstance(value, dict) else (None, "the arguments are no JSON object")
