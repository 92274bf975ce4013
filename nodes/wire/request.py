"""A request in the form of the protocol, and what of it is left out where a server does not take it."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, convert_to_openai_messages
from pydantic_core import to_json

from nodes.wire.errors import WireError

Body = dict[str, Any]
OPTIONAL = (
    "stream_options", "parallel_tool_calls", "temperature", "top_p", "seed", "max_tokens", "max_completion_tokens",
    "tool_choice",
)  # fmt: skip
"""What may be left out without changing what is asked for."""
_NO_STREAM = re.compile(r"(?:not|n't|un)[ _-]?support|can ?not|can't|not (?:allowed|implemented|available)")


def body_of(model: str, messages: Sequence[BaseMessage], settings: Mapping[str, Any], *, stream: bool) -> Body:
    """The request; the reasoning of turns that called tools goes back with them, as thinking models demand."""
    body: Body = {"model": model, "messages": [_message(message) for message in messages]}
    body |= {name: value for name, value in settings.items() if value is not None}
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


def encoded(body: Body) -> bytes:
    """Every character as it is; half of a surrogate pair, which no server takes, becomes a question mark."""
    try:
        return to_json(body)
    except ValueError:
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def without(body: Body, error: WireError) -> tuple[Body, str] | None:
    """The request without the one optional part that the server has named as wrong, and what was done."""
    said = f"{error.param} {error}".lower()
    if body.get("stream") and _takes_no_stream(error.status_code, said):
        return {key: value for key, value in body.items() if key not in ("stream", "stream_options")}, "stream"
    if error.status_code not in (400, 422):
        return None
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


def _takes_no_stream(status: int | None, said: str) -> bool:
    """Some servers take no stream together with tools or a schema; some of them call that a fault of their own."""
    named = re.search(r"\bstream(?:ing)?\b", said)
    return status in (400, 422, 500, 501) and bool(named) and bool(_NO_STREAM.search(said))


def fitted(body: Body, known: Sequence[str]) -> Body:
    """The request with what is already known about the server."""
    body = dict(body)
    for what in known:
        name, _, instead = what.partition(": ")
        if name in body:
            value = body.pop(name)
            if name == "stream":
                body.pop("stream_options", None)
            if instead == "max_completion_tokens":
                body[instead] = value
            elif instead:
                body[name] = instead
    return body


_PLAIN = {SystemMessage: "system", HumanMessage: "user", AIMessage: "assistant"}


def _message(message: BaseMessage) -> Body:
    role = _PLAIN.get(type(message))
    if role and isinstance(message.content, str) and not _holds_more(message, role):
        return {"role": role, "content": message.content}  # as below; most messages are no more than this
    converted = convert_to_openai_messages(message)
    said: Body = dict(converted) if isinstance(converted, dict) else {}
    if isinstance(message, AIMessage) and said.get("tool_calls"):
        for call in said["tool_calls"]:
            if not isinstance(call["function"]["arguments"], str):
                call["function"]["arguments"] = json.dumps(call["function"]["arguments"], ensure_ascii=False)
        if thought := message.additional_kwargs.get("reasoning_content"):
            said["reasoning_content"] = thought
    return said


def _holds_more(message: Any, role: str) -> bool:
    calls = role == "assistant" and (message.tool_calls or message.invalid_tool_calls)
    return bool(message.name or message.additional_kwargs or calls)
