"""What is left of a request that was too long: the largest data goes first; task, rules, tools and schema stay."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage

from nodes.prompts.fence import BLOCK, fence
from state.json_text import from_json
from state.references import each_text

_STAYS = {"task", "constraints", "inputs", "tools", "schema", "findings", "criteria"}
_SHARE = 0.5
"""How much of all characters is left, at most, of what may be cut."""
_LEAST = 200


@dataclass(frozen=True)
class Shorter:
    """Messages with less in them, and what was cut."""

    messages: list[BaseMessage]
    what: list[str]


def shortened(messages: Sequence[BaseMessage]) -> Shorter | None:
    """The messages at about half their length, or None where nothing may be cut."""
    texts = [str(message.content) for message in messages]
    goal = int(sum(map(len, texts)) * _SHARE)
    what: list[str] = []
    for _, place, name, body in sorted(_data(texts), reverse=True):
        over = sum(map(len, texts)) - goal
        if over <= 0 or len(body) <= _LEAST:
            break
        less = _trimmed(from_json(body), max(_LEAST, len(body) - over))
        texts[place] = texts[place].replace(f"<{name}>\n{body}\n</{name}>", fence(name, less), 1)
        what.append(f"{name}: {len(json.dumps(less, ensure_ascii=False))} of {len(body)} characters")
    if not what:
        return None
    return Shorter([m.model_copy(update={"content": t}) for m, t in zip(messages, texts, strict=True)], what)


def _data(texts: list[str]) -> list[tuple[int, int, str, str]]:
    """Every block that may be cut: length, message, name, JSON."""
    return [
        (len(found[2]), place, found[1], found[2])
        for place, text in enumerate(texts)
        for found in BLOCK.finditer(text)
        if found[1] not in _STAYS
    ]


def _trimmed(value: Any, size: int) -> Any:
    """The value with its long texts cut so that it fits; where that is not enough, its JSON, cut."""
    longest = size
    while longest >= 40:
        less = each_text(value, lambda text, most=longest: _cut(text, most))  # type: ignore[misc]
        if len(json.dumps(less, ensure_ascii=False)) <= size:
            return less
        longest //= 2
    return _cut(json.dumps(value, ensure_ascii=False), size)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… (shortened: {most} of {len(text)} characters)"
