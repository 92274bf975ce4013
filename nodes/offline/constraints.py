"""Constraints in words: prohibitions are kept; the rest is put to the checker, which says unverified."""

import re
from collections.abc import Container, Mapping
from typing import Any

from nodes.offline.draft import NotUnderstood
from nodes.offline.lexicon import meaning
from tools.constraints import OWN

_TOOLS = {
    "write": "write_file", "create": "write_file", "copy": "copy_file", "compress": "compress", "send": "send_mail",
    "mail": "send_mail", "search": "search", "translate": "translate", "summarise": "summarise", "read": "read_file",
}  # fmt: skip
_SMALL = ("not", "the", "also", "all", "file", "and", "it", "them", "to", "anything", "any", "something", "new")
_LIMIT = re.compile(
    r"\b(?:at most|at least|more than|less than|fewer than|up to|over|under|above|below|max(?:imum)?|min(?:imum)?|only|"
    r"limit(?:ed)?|within|without|except|unless|no|none|nothing|nobody|neither|nor|cannot|avoid|refrain|stop)\b|"
    r"最多|至多|不超过|超过|以内|以下|以上|至少|只能|仅|禁止|除非",
    re.IGNORECASE,
)
"""Words of a limit beside a plain no."""


def keep(constraints: Any, steps: list[dict[str, Any]], writing: Container[str]) -> None:
    """Raises `NotUnderstood` if the plan does what a constraint forbids; other sentences become criteria of the end.

    `writing` are the tools that change something: a limit that is not understood as a whole may be meant for each of
    them, unless it names others.
    """
    for sentence in _sentences(constraints):
        barred, whole = _forbidden(sentence)
        unsure = [step for step in steps if step["tool"] in writing] if not whole and _limits(sentence) else []
        if unclear := next((step for step in unsure if not barred or step["tool"] in barred), None):
            raise NotUnderstood(
                f"the task needs the tool {unclear['tool']}, which the constraint “{sentence}” may forbid: not all of "
                "it is understood"
            )
        if not whole:
            steps[-1].setdefault("criteria", []).append(sentence)
        elif broken := next((step for step in steps if step["tool"] in barred), None):
            raise NotUnderstood(f"the task needs the tool {broken['tool']}, and the constraint “{sentence}” forbids it")


def _limits(sentence: str) -> bool:
    """Whether the sentence says no to something, or only so far."""
    return bool(_LIMIT.search(sentence)) or any(token.means("not") for token in meaning(sentence))


def _sentences(constraints: Any) -> list[str]:
    """Every constraint that no code keeps; a key of the caller's own reads as a sentence."""
    keys = constraints if isinstance(constraints, Mapping) else {"words": constraints}
    words = keys.get("words")
    listed = [words] if isinstance(words, str) else words if isinstance(words, list) else []
    own = [f"{key} = {value}" for key, value in keys.items() if key not in OWN]
    return [item for item in listed if isinstance(item, str) and item.strip()] + own


def _forbidden(sentence: str) -> tuple[set[str], bool]:
    """The tools that a prohibition names, and whether the sentence is nothing but that prohibition."""
    tokens = [token for token in meaning(sentence) if token.kind != "mark"]
    if not any(token.means("not") for token in tokens):
        return set(), False
    named = {_TOOLS[token.value] for token in tokens if token.kind == "word" and token.value in _TOOLS}
    rest = [token for token in tokens if not token.means(*_TOOLS, *_SMALL)]
    return named, bool(named) and not rest
