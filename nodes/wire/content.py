"""Text, reasoning and refusal of a message or of a piece of one, in the forms that servers use."""

import json
from collections.abc import Mapping
from typing import Any

_REASONING = ("reasoning_content", "reasoning", "reasoning_text", "thinking", "thoughts", "reasoning_details")
_THOUGHT_PARTS = ("thinking", "reasoning", "reasoning.text", "reasoning.summary", "thought", "summary_text")
_INNER = ("text", "content", "value", "thinking", "reasoning", "summary")


def text_of(content: Any) -> str:
    """The words of a content: a text, a list of parts, or one part."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return "".join(map(text_of, content))
    if isinstance(content, Mapping):
        return _part(content)
    return json.dumps(content)


def reasoning_of(delta: Mapping[str, Any]) -> str:
    """What was thought, from the first field that has it: some servers send it in two at once."""
    for name in _REASONING:
        if found := _thought(delta.get(name)):
            return found
    content = delta.get("content")
    parts = content if isinstance(content, list) else [content]
    return "".join(_thought(part) for part in parts if isinstance(part, Mapping) and _is_thought(part))


def refusal_of(delta: Mapping[str, Any]) -> str:
    """The words of a refusal."""
    if isinstance(said := delta.get("refusal"), str) and said:
        return said
    content = delta.get("content")
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    return "".join(str(part.get("refusal") or "") for part in parts)


def _part(part: Mapping[str, Any]) -> str:
    kind = part.get("type")
    if _is_thought(part) or kind == "refusal":
        return ""
    inner = part.get("text", part.get("content") if kind else None)
    if isinstance(inner, Mapping):
        inner = inner.get("value")
    if isinstance(inner, str):
        return inner
    # an object that is no part is the answer itself, which a server has parsed
    return json.dumps(part, ensure_ascii=False) if kind is None else ""


def _is_thought(part: Mapping[str, Any]) -> bool:
    return part.get("type") in _THOUGHT_PARTS or part.get("thought") is True


def _thought(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(_thought, value))
    if isinstance(value, Mapping):
        return next((found for name in _INNER if (found := _thought(value.get(name)))), "")
    return ""
