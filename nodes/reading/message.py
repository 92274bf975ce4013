"""Reads one message of a model."""

import json
from typing import Any

from langchain_core.messages import AIMessage

from nodes.reading.record import Call, Reading


def read_message(message: AIMessage) -> Reading:
    """Takes a reply apart; never raises."""
    calls = tuple(Call(call["name"], call["args"], id=call["id"] or "") for call in message.tool_calls)
    text = str(message.text)
    return Reading(
        text,
        calls=calls,
        finish=message.response_metadata.get("finish_reason"),
        refusal=str(message.additional_kwargs.get("refusal") or ""),
        raw=text,
        problem="" if text or calls else "the reply is empty",
        visible=text,
    )


def value_of(reading: Reading, name: str) -> dict[str, Any]:
    """The object of a typed reply: the arguments of the call `name`, else the JSON object in the text.

    Raises `ValueError` with one sentence where there is none, it is cut, or there are two that differ.
    """
    for call in reading.calls:
        if call.name == name and call.args is not None:
            return call.args
    try:
        value = json.loads(reading.text)
    except ValueError as error:
        raise ValueError(f"not a JSON object: {error}") from error
    if not isinstance(value, dict):
        raise ValueError("the JSON value is not an object")
    return value
