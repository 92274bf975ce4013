"""A request in the form of the protocol, and what of it is left out where a server does not take it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages

from nodes.wire.errors import WireError

Body = dict[str, Any]
OPTIONAL = (
    "stream_options", "parallel_tool_calls", "temperature", "top_p", "seed", "max_tokens", "max_completion_tokens",
    "tool_choice",
)  # fmt: skip
"""What may be left out without changing what is asked for."""


def body_of(model: str, messages: Sequence[BaseMessage], settings: Mapping[str, Any], *, stream: bool) -> Body:
    """The request; the reasoning of turns that called tools goes back with them, as thinking models demand."""
    body: Body = {"model": model, "messages": [_message(message) for message in messages]}
    body |= {name: value for name, value in settings.items() if value is not None}
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


def without(body: Body, error: WireError) -> tuple[Body, str] | None:
    """The request without the one optional part that the server has named as wrong, and what was done."""
    if error.status_code not in (400, 422):
        return None
    said = f"{error.param} {error}".lower()
    named = [name for name in OPTIONAL if name in body and name in said]
    if not named:
        return None
    name = max(named, key=len)
    rest = {key: value for key, value in body.items() if key != name}
    if name == "max_tokens" and "max_completion_tokens" in said:
        return {**rest, "max_completion_tokens": body[name]}, "max_tokens: max_completion_tokens"
    if name == "tool_choice" and isinstance(body[name], Mapping):
        return {**rest, name: "required"}, "tool_choice: required"
    return rest, name


def fitted(body: Body, known: Sequence[str]) -> Body:
    """The request with what is already known about the server."""
    body = dict(body)
    for what in known:
        name, _, instead = what.partition(": ")
        if name in body:
            value = body.pop(name)
            if instead == "max_completion_tokens":
                body[instead] = value
            elif instead:
                body[name] = instead
    return body


def _message(message: BaseMessage) -> Body:
    converted = convert_to_openai_messages(message)
    said: Body = dict(converted) if isinstance(converted, dict) else {}
    if isinstance(message, AIMessage) and said.get("tool_calls"):
        for call in said["tool_calls"]:
            if not isinstance(call["function"]["arguments"], str):
                call["function"]["arguments"] = json.dumps(call["function"]["arguments"], ensure_ascii=False)
        if thought := message.additional_kwargs.get("reasoning_content"):
            said["reasoning_content"] = thought
    return said
