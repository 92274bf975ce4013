"""Constraints in words: prohibitions are kept; the rest is put to the checker, which says unverified."""

from collections.abc import Mapping
from typing import Any

from nodes.offline.draft import NotUnderstood
from nodes.offline.lexicon import meaning

_TOOLS = {
    "write": "write_file", "create": "write_file", "copy": "copy_file", "compress": "compress", "send": "send_mail",
    "mail": "send_mail", "search": "search", "translate": "translate", "summarise": "summarise", "read": "read_file",
}  # fmt: skip
_SMALL = ("not", "the", "also", "all", "file", "and", "it", "them", "to")


def keep(constraints: Any, steps: list[dict[str, Any]]) -> None:
    """Raises `NotUnderstood` if the plan does what a constraint forbids; other sentences become criteria of the end."""
    for sentence in _sentences(constraints):
        barred = _forbidden(sentence)
        if barred is None:
            steps[-1].setdefault("criteria", []).append(sentence)
        elif broken := next((step for step in steps if step["tool"] in barred), None):
            raise NotUnderstood(f"the task needs the tool {broken['tool']}, and the constraint “{sentence}” forbids it")


def _sentences(constraints: Any) -> list[str]:
    words = constraints.get("words") if isinstance(constraints, Mapping) else constraints
    listed = [words] if isinstance(words, str) else words if isinstance(words, list) else []
    return [item for item in listed if isinstance(item, str) and item.strip()]


def _forbidden(sentence: str) -> set[str] | None:
    """The tools that a prohibition names, or None if the sentence is not one as a whole."""
    tokens = [token for token in meaning(sentence) if token.kind != "mark"]
    named = {_TOOLS[token.value] for token in tokens if token.kind == "word" and token.value in _TOOLS}
    rest = [token for token in tokens if not token.means(*_TOOLS, *_SMALL)]
    return named if named and not rest and any(token.means("not") for token in tokens) else None
