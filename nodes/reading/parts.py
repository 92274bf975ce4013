"""The parts of a message's content: a text, null, or a list of parts of many types."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage

from nodes.reading.arguments import call_from
from nodes.reading.record import Call

_REASONING = ("reasoning_content", "reasoning", "reasoning_text", "thinking", "reasoning_details")
_CALLS = ("tool_use", "tool_call", "function_call")


@dataclass(frozen=True)
class Parts:
    """What the parts of a message hold; `raw` is the text with everything that stood in it."""

    text: str
    reasoning: str
    refusal: str
    calls: tuple[Call, ...]
    raw: str


def parts_of(message: AIMessage) -> Parts:
    """Sorts content and side fields by what they are."""
    extra: dict[str, Any] = message.additional_kwargs
    listed = message.content if isinstance(message.content, list) else [message.content]
    text = "".join(_texts(listed))
    thought = next((said for key in _REASONING if (said := "".join(_thoughts(extra.get(key))))), "")
    thought = "\n".join(
        filter(None, (thought.strip(), "".join(_thoughts(_of_type(listed, "reason", "think"))).strip()))
    )
    refusals = [extra.get("refusal"), *(part.get("refusal") for part in _of_type(listed, "refusal"))]
    calls = () if message.tool_calls else tuple(_called(listed))
    raw = text or (json.dumps(listed, ensure_ascii=False, default=str) if any(listed) else "")
    return Parts(text, thought, " ".join(str(said) for said in refusals if said), calls, raw)


def _texts(listed: list[Any]) -> Iterator[str]:
    for part in listed:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and part.get("type") in ("text", "output_text", None):
            said = part.get("text")
            yield said if isinstance(said, str) else ""


def _thoughts(value: Any) -> Iterator[str]:
    """The texts in a field of reasoning, which may be a text, a part, or parts in parts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _thoughts(item)
    elif isinstance(value, dict):
        for key in ("text", "summary", "content", "thinking", "reasoning", "reasoning_content"):
            yield from _thoughts(value.get(key))


def _of_type(listed: list[Any], *kinds: str) -> list[dict[str, Any]]:
    return [
        part for part in listed if isinstance(part, dict) and any(kind in str(part.get("type", "")) for kind in kinds)
    ]


def _called(listed: list[Any]) -> Iterator[Call]:
    """Calls that stand among the parts."""
    for part in listed:
        if isinstance(part, dict) and part.get("type") in _CALLS:
            yield call_from(part) or Call("", None, "a tool call without a name")
