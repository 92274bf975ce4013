"""A role's instructions with the words that a caller has set; its first line, tools and data stay as they are."""

from collections.abc import Sequence

from langchain_core.messages import BaseMessage, SystemMessage

from nodes.prompts.fence import BLOCK
from state.roles import PromptChange


def changed(messages: Sequence[BaseMessage], change: PromptChange | None) -> list[BaseMessage]:
    """The messages; the change is text and no template, so braces in it stay braces."""
    if change is None or not isinstance(messages[0], SystemMessage):
        return list(messages)
    head, _, rest = str(messages[0].content).partition("\n")
    rules, data = _apart(rest)
    parts = [head, change.replace or rules, change.add or "", data]
    return [SystemMessage("\n".join(part for part in parts if part)), *messages[1:]]


def _apart(text: str) -> tuple[str, str]:
    """Rules, and the fenced data after them."""
    found = BLOCK.search(text)
    return (text[: found.start()].rstrip("\n"), text[found.start() :]) if found else (text, "")
