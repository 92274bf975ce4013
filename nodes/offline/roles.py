"""How much a candidate is like a parameter: by the words around it, its form, and what its preposition says."""

import re
from collections.abc import Mapping
from typing import Any

from nodes.offline.candidates import Candidate
from nodes.offline.draft import Tool
from nodes.offline.schemas import resolved, type_of
from nodes.offline.stopwords import STOP
from tools.stems import stem

_PREPOSITION = {
    "from": {"source", "from", "origin", "start", "departure", "sender", "depart", "base"},
    "to": {"target", "to", "destination", "end", "recipient", "arrival", "into", "convert", "desired"},
    "into": {"target", "to", "destination", "convert"},
    "in": {"location", "city", "place", "country", "region", "state", "area", "town", "language", "year", "unit",
           "destination"},
    "at": {"location", "place", "time", "venue", "hotel", "restaurant", "address", "temperature"},
    "near": {"location", "place", "city", "address"},
    "on": {"date", "day", "time", "platform"},
    "by": {"author", "artist", "creator", "director", "by", "composer"},
    "named": {"name", "title"}, "called": {"name", "title"}, "titled": {"title", "name"},
    "for": {"name", "patient", "query", "subject", "topic", "city", "location", "duration", "item"},
    "about": {"topic", "query", "subject"},
    "until": {"end"}, "since": {"start"},
}  # fmt: skip
_FORMS = {
    "mail": {"mail", "email", "recipient", "to", "address"},
    "path": {"path", "file", "filename", "folder", "directory", "source", "target", "document"},
    "url": {"url", "link", "address", "site", "page", "website"},
    "date": {"date", "time", "day", "when", "start", "end", "deadline", "departure", "arrival"},
}
_WORD = re.compile(r"[A-Za-z]+|[\u3400-\u9fff]+")


def fits(schema: Mapping[str, Any], candidate: Candidate) -> bool:
    """Whether a candidate can be a value of the parameter at all."""
    kind = type_of(schema)
    if kind in ("number", "integer"):
        whole = "." not in str(candidate.value)
        return candidate.kind in ("number", "percent") and (kind == "number" or whole)
    if kind == "array":
        return fits(resolved(schema.get("items")), candidate)
    if schema.get("enum"):
        return False
    return kind in ("string", "") and candidate.kind not in ("number", "percent", "value")


def likeness(name: str, schema: Mapping[str, Any], candidate: Candidate, tool: Tool) -> float:
    """A score; 2 or more is enough to be sure."""
    names = _stems(name.replace("_", " "))
    own = set(_stems(str(schema.get("description") or ""))) - _others(name, tool)
    lead = [stem(word) for word in candidate.lead if word not in STOP or word in names]
    tail = [stem(word) for word in candidate.tail[:2]]
    inside = [stem(word) for word in _WORD.findall(str(candidate.value))] if candidate.kind == "phrase" else []
    score = 3.0 * bool(set(lead) & set(names)) + 2.0 * bool(set(tail) & set(names))
    score += 1.5 * bool(set(lead) & own) + 2.0 * bool(set(tail) & own)
    score += 2.0 * bool(_forms(candidate) & set(re.split(r"[_\W]+", name.lower())))
    score += _by_preposition(name, candidate)
    return score - 0.5 * len(inside) * (candidate.kind == "phrase") * 0.1


def _by_preposition(name: str, candidate: Candidate) -> float:
    before = next((word for word in reversed(candidate.lead) if word not in ("the", "a", "an", "my")), "")
    words = set(re.split(r"[_\W]+", name.lower()))
    return 2.5 if words & _PREPOSITION.get(before, set()) else 0.0


def _forms(candidate: Candidate) -> set[str]:
    return _FORMS.get(candidate.kind, set())


def _others(name: str, tool: Tool) -> set[str]:
    """Words that are said about the other parameters too, and so tell nothing."""
    others: set[str] = set()
    for other, schema in tool.parameters.items():
        if other != name:
            others |= {*_stems(other.replace("_", " ")), *_stems(str(schema.get("description") or ""))}
    return others


def _stems(text: str) -> list[str]:
    return [stem(word) for word in _WORD.findall(text) if word.lower() not in STOP]
