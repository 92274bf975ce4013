"""Calls in the fields made for them: `tool_calls`, also the ones that a client could not parse, and `function_call`.

A stream's calls must be read from their raw text: LangChain completes cut arguments. Where the raw text is not kept
and the server stopped at its limit, they count as cut.
"""

import json
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk

from nodes.reading.arguments import call_of
from nodes.reading.record import Call


def native_calls(message: AIMessage, *, cut: bool) -> tuple[Call, ...]:
    """The calls of a message, each readable or with its problem."""
    raw = _raw_calls(message)
    if raw:
        return tuple(_call(name, "{" if cut and not arguments else arguments, id) for name, arguments, id in raw)
    calls = [_whole(call["name"], call["args"], call["id"], cut) for call in message.tool_calls]
    calls += [_call(call["name"], call["args"], call["id"]) for call in message.invalid_tool_calls]
    if not calls and isinstance(old := message.additional_kwargs.get("function_call"), dict):
        calls.append(_call(old.get("name"), old.get("arguments"), ""))
    return tuple(calls)


def _raw_calls(message: AIMessage) -> list[tuple[Any, Any, Any]]:
    """Name, arguments as they came, and id, where the raw text is kept."""
    if isinstance(message, AIMessageChunk):
        return [(chunk["name"], chunk["args"], chunk["id"]) for chunk in message.tool_call_chunks]
    kept = message.additional_kwargs.get("tool_calls")
    found = [call for call in kept if isinstance(call, dict)] if isinstance(kept, list) else []
    functions = [call["function"] if isinstance(call.get("function"), dict) else call for call in found]
    return [
        (each.get("name"), each.get("arguments"), call.get("id")) for each, call in zip(functions, found, strict=True)
    ]


def _whole(name: str, args: dict[str, Any], id: Any, cut: bool) -> Call:
    if cut:
        return Call(name, None, f"the arguments of {name} are cut: the reply reached its token limit", str(id or ""))
    return _call(name, args, id)


def _call(name: Any, arguments: Any, id: Any) -> Call:
    found = call_of(str(name or ""), arguments, str(id or ""))
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
    return Call(found.name, found.args, found.problem, found.id, raw)
