"""Which tool a request means, by the words of its name, description and parameters; no meaning beyond the words."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from nodes.offline.draft import Draft, NotUnderstood, Tool
from nodes.offline.fill import fill
from nodes.offline.stopwords import STOP
from nodes.offline.tokens import Token
from tools.stems import stem

_BUILT_IN = """
    calculator search list_files read_file count_words write_file copy_file compress send_mail translate
    summarise extract
"""
BUILT_IN = frozenset(_BUILT_IN.split())
_SAYING_NOTHING = """
    get set find calcul comput retriev fetch show api tool function util search check info data
"""
_NEUTRAL = frozenset(_SAYING_NOTHING.split())
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[\u3400-\u9fff]+")
_HAN = re.compile(r"[\u3400-\u9fff]+")
FOUND = "len(output) > 0"
"""What is asked of a search that stands in for another look-up: to have found nothing is no answer."""
_MARGIN, _ENOUGH = 1.2, 3.0


def stems_of(text: str) -> list[str]:
    """The stems of a name or a description; Chinese as pairs of characters."""
    words = [
        stem(word) for word in _CAMEL.findall(text) if word.lower() not in STOP and (len(word) > 1 or word.isdigit())
    ]
    pairs = [run[at : at + 2] for run in _HAN.findall(text) for at in range(len(run) - 1)]
    return [word for word in words if word.isascii()] + pairs


def name_stems(tool: Tool) -> list[str]:
    """The stems of a tool's name."""
    return stems_of(tool.name)


def any_tool(clause: list[Token], draft: Draft, text: str) -> bool:
    """Adds a step of the tool that the request's words fit best, if one fits clearly."""
    tool = best(clause, draft)
    if tool is None:
        return False
    if tool.name in draft.failed and "search" in draft.tools and tool.effect == "read":
        draft.add(
            draft.tools["search"],
            {"query": text[clause[0].start : clause[-1].end]},
            noun="passages",
            why=f"{tool.name} failed",
        )
        draft.steps[-1]["accept"] = [FOUND]
        return True
    draft.add(tool, fill(clause, tool, draft, vocabulary(tool), text), noun=tool.name)
    return True


def named_in_full(clause: Sequence[Token], draft: Draft) -> bool:
    """Whether the request names a tool of the user's own with every word of its name."""
    said = _said(clause)
    return any(
        (len(set(name_stems(tool))) > 1 and set(name_stems(tool)) <= said and tool.name not in BUILT_IN)
        or _literally(clause, tool)
        for tool in draft.tools.values()
        if tool.name not in BUILT_IN
    )


def _literally(clause: Sequence[Token], tool: Tool) -> bool:
    return any(token.text.lower() == tool.name.lower() for token in clause)


def best(clause: Sequence[Token], draft: Draft) -> Tool | None:
    """The tool that fits clearly better than every other, or None; `NotUnderstood` between two that fit as well."""
    own = [tool for tool in draft.tools.values() if tool.name not in BUILT_IN]
    for tool in own:
        if _literally(clause, tool):
            return tool
    said = _said(clause)
    scored = sorted(((score(said, tool, own), tool.name) for tool in own), reverse=True)
    if not scored or scored[0][0] < _ENOUGH:
        return None
    if len(scored) > 1 and scored[0][0] < _MARGIN * scored[1][0]:
        raise NotUnderstood(f"it could mean the tool {scored[0][1]} or {scored[1][1]}; name one of them")
    return draft.tools[scored[0][1]]


def related(clause: Sequence[Token], draft: Draft) -> list[str]:
    """The user's own tools that share a telling word with a request."""
    said = _said(clause) - _NEUTRAL
    return [tool.name for tool in draft.tools.values() if tool.name not in BUILT_IN and said & vocabulary(tool)]


def score(said: set[str], tool: Tool, tools: Sequence[Tool]) -> float:
    """How well words fit a tool; a word that fits several tools counts less, and its name must be met."""
    name = set(name_stems(tool))
    telling = name - _NEUTRAL
    if not (said & telling) and len(said & set(stems_of(tool.description))) < 2:
        return 0.0
    total = 0.0
    for word in said:
        weight = 3.0 if word in name else 1.5 if word in _about(tool) else 0.5 if word in vocabulary(tool) else 0.0
        total += (
            weight
            / (1 + sum(word in vocabulary(other) for other in tools if other is not tool))
            * (0.3 if word in _NEUTRAL else 1)
        )
    return total + (2.0 if telling and telling <= said else 0.0)


def vocabulary(tool: Tool) -> frozenset[str]:
    """The stems of everything that is said about a tool."""
    return _vocabulary(tool.name, tool.description, _words_of(tool.parameters))


def _about(tool: Tool) -> frozenset[str]:
    return _vocabulary(tool.name, tool.description, "")


@lru_cache(maxsize=4096)
def _vocabulary(name: str, description: str, parameters: str) -> frozenset[str]:
    return frozenset([*stems_of(name), *stems_of(description), *stems_of(parameters)])


def _words_of(schema: Mapping[str, Any]) -> str:
    """Names, descriptions and choices in a schema as one text."""
    parts: list[str] = []
    for name, part in schema.items():
        if isinstance(part, Mapping):
            parts += [name, str(part.get("description") or ""), " ".join(map(str, part.get("enum") or ()))]
            parts.append(_words_of(part.get("properties") or {}))
    return " ".join(parts)


def _said(clause: Sequence[Token]) -> set[str]:
    return {word for token in clause if token.kind in ("word", "value") for word in stems_of(token.text)}
