"""Constraints in words: prohibitions are kept; the rest is put to the checker, which says unverified."""

from collections.abc import Mapping
from typing import Any

from nodes.offline.draft import NotUnderstood
from nodes.offline.lexicon import meaning

_TOOLS = {
    "write": "write_file", "create": "write_file", "copy": "copy_file", "compress": "compress", "send": "send_mail",
    "mail": "send_mail", "search": "search", "translate": "translate", "summarise": "summarise", "read": "read_file",
}  # fmt: skip
_SMALL = ("not", "the", "also", "all", "file", "and", "it", "them", "to", "anything", "any", "something", "new")
_WRITING = {"write_file", "copy_file", "compress", "send_mail"}


def keep(constraints: Any, steps: list[dict[str, Any]]) -> None:
    """Raises `NotUnderstood` if the plan does what a constraint forbids; other sentences become criteria of the end."""
    for sentence in _sentences(constraints):
        barred, whole = _forbidden(sentence)
        if unclear := next((step for step in steps if not whole and step["tool"] in barred & _WRITING), None):
            raise NotUnderstood(
                f"the task needs the tool {unclear['tool']}, which the constraint “{sentence}” may forbid: not all of "
                "it is understood"
            )
        if not whole:
            steps[-1].setdefault("criteria", []).append(sentence)
        elif broken := next((step for step in steps if step["tool"] in barred), None):
            raise NotUnderstood(f"the task needs the tool {broken['tool']}, and the constraint “{sentence}” forbids it")


def _sentences(constraints: Any) -> list[str]:
    """Every constraint that no code keeps; a key of the caller's own reads as a sentence."""
    keys = constraints if isinstance(constraints, Mapping) else {"words": constraints}
    words = keys.get("words")
    listed = [words] if isinstance(words, str) else words if isinstance(words, list) else []
    own = [f"{key} = {value}" for key, value in keys.items() if key not in ("words", "read_only", "forbid")]
    return [item for item in listed if isinstance(item, str) and item.strip()] + own


def _forbidden(sentence: str) -> tuple[set[str], bool]:
    """The tools that a prohibition names, and whether the sentence is nothing but that prohibition."""
    tokens = [token for token in meaning(sentence) if token.kind != "mark"]
    if not any(token.means("not") for token in tokens):
        return set(), False
    named = {_TOOLS[token.value] for token in tokens if token.kind == "word" and token.value in _TOOLS}
    rest = [token for token in tokens if not token.means(*_TOOLS, *_SMALL)]
    return named, bool(named) and not rest
