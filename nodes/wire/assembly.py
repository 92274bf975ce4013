"""From records to one message, whole or in pieces by the same rules, so that both give the same.

What was cut is never completed: arguments that are no JSON object stay text in `invalid_tool_calls`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage

from nodes.wire.calls import CallPieces
from nodes.wire.content import reasoning_of, refusal_of, text_of
from nodes.wire.errors import bad_response, error_in
from nodes.wire.usage import usage_of

_BROKEN = {"error", "network_error", "insufficient_system_resource", "abort", "cancelled", "canceled", "unknown_error"}
"""Finish reasons with which servers say that they themselves failed."""


@dataclass(frozen=True)
class Piece:
    """What one record has added; `args` to the arguments of the first tool call."""

    text: str = ""
    reasoning: str = ""
    args: str = ""


class Assembly:
    """`add` records, then take the `message`."""

    def __init__(self) -> None:
        self._clear()
        self._finish = ""
        self._choice: Any = None
        self._usage: Mapping[str, Any] = {}
        self._about: dict[str, str] = {}
        self._is_whole = False

    def add(self, record: Mapping[str, Any]) -> Piece:
        """Takes a record; raises `WireError` where it is an error."""
        if error := error_in(record):
            raise error
        self._note(record)
        choices = record.get("choices")
        piece = Piece()
        for choice in choices if isinstance(choices, list) else []:
            if isinstance(choice, Mapping) and self._is_ours(choice):
                piece = self._take(choice)
        return piece

    def is_complete(self, done: bool) -> bool:
        """Whether the reply has come to its end; `done` is the end mark of a stream."""
        return self._is_whole or bool(self._finish) or (done and self._choice is not None)

    def message(self, done: bool) -> AIMessage:
        """The whole message; raises `WireError` where the reply was cut off, or is none."""
        if self._choice is None:
            raise bad_response("the reply holds no choice")
        if not self.is_complete(done):
            raise bad_response("the stream ended before the reply was complete")
        if self._finish.lower() in _BROKEN:
            raise bad_response(f"the server broke off the reply (finish_reason {self._finish})")
        good, bad = self._calls.split(cut=self._finish.lower() in ("length", "max_tokens"))
        extra = {"reasoning_content": self._reasoning, "refusal": self._refusal}
        return AIMessage(
            content=self._text,
            tool_calls=good,
            invalid_tool_calls=bad,
            additional_kwargs={key: value for key, value in extra.items() if value},
            usage_metadata=usage_of(self._usage),
            response_metadata={**self._about, "finish_reason": self._finish or None},
        )

    def _clear(self) -> None:
        self._text = self._reasoning = self._refusal = ""
        self._calls = CallPieces()

    def _note(self, record: Mapping[str, Any]) -> None:
        for key in ("id", "model", "system_fingerprint"):
            if isinstance(value := record.get(key), str) and value:
                self._about["model_name" if key == "model" else key] = value
        groq = record.get("x_groq")
        self._use(record.get("usage") or (groq.get("usage") if isinstance(groq, Mapping) else None))

    def _use(self, usage: Any) -> None:
        if isinstance(usage, Mapping) and any(value is not None for value in usage.values()):
            self._usage = usage

    def _is_ours(self, choice: Mapping[str, Any]) -> bool:
        """One reply was asked for: the first choice that is seen is it."""
        index = str(choice.get("index") or 0)
        if self._choice is None:
            self._choice = index
        return bool(index == self._choice)

    def _take(self, choice: Mapping[str, Any]) -> Piece:
        if choice.get("error") and (error := error_in(choice)):
            raise error
        self._use(choice.get("usage"))
        if isinstance(finish := choice.get("finish_reason"), str) and finish not in ("", "null"):
            self._finish = finish
        whole, delta = choice.get("message"), choice.get("delta")
        if isinstance(whole, Mapping) and not (isinstance(delta, Mapping) and delta):
            was_shown = bool(self._text or self._reasoning)
            self._clear()  # a last record that repeats the whole is not added to its pieces
            self._is_whole = True
            piece = self._pour(whole, whole=True)
            return Piece() if was_shown else piece
        if isinstance(text := choice.get("text"), str) and delta is None:
            self._is_whole = self._is_whole or "finish_reason" not in choice
            return self._pour({"content": text})
        return self._pour(delta) if isinstance(delta, Mapping) else Piece()

    def _pour(self, delta: Mapping[str, Any], *, whole: bool = False) -> Piece:
        text, reasoning = text_of(delta.get("content")), reasoning_of(delta)
        self._text += text
        self._reasoning += reasoning
        self._refusal += refusal_of(delta)
        calls = delta.get("tool_calls") or delta.get("function_call")
        every = [call for call in (calls if isinstance(calls, list) else [calls]) if isinstance(call, Mapping)]
        return Piece(text, reasoning, "".join([self._calls.add(call, whole=whole) for call in every]))
