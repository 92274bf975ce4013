"""A page of search results in few words: the answer box, then the knowledge graph, then the first links."""

from collections.abc import Iterator
from typing import Any, Literal

from typing_extensions import TypedDict


class Found(TypedDict):
    """One result; the link of a direct answer may be empty."""

    title: str
    link: str
    text: str
    source: Literal["answer_box", "knowledge_graph", "organic"]


def reduced(reply: dict[str, Any], limit: int) -> list[Found]:
    """The results worth reading, in the order of their worth; whatever is not as expected is left out."""
    found = [_answer(_dict(reply.get("answerBox"))), _graph(_dict(reply.get("knowledgeGraph")))]
    organic = reply.get("organic")
    links = [_link(_dict(item)) for item in organic] if isinstance(organic, list) else []
    kept = [result for result in links if result["link"] and (result["title"] or result["text"])]
    return [result for result in found if result["text"]] + kept[:limit]


def _answer(box: dict[str, Any]) -> Found:
    highlighted = box.get("snippetHighlighted")
    marked = _joined(" ", *highlighted) if isinstance(highlighted, list) else ""
    parts = _joined(" — ", box.get("answer"), box.get("snippet"))
    return {"title": _text(box.get("title")), "link": _text(box.get("link")), "text": parts or marked,
            "source": "answer_box"}  # fmt: skip


def _graph(graph: dict[str, Any]) -> Found:
    facts = (f"{key}: {_text(value)}" for key, value in _dict(graph.get("attributes")).items() if _text(value))
    text = _joined(" — ", graph.get("type"), graph.get("description"), "; ".join(facts))
    link = _text(graph.get("website")) or _text(graph.get("descriptionLink"))
    return {"title": _text(graph.get("title")), "link": link, "text": text, "source": "knowledge_graph"}


def _link(item: dict[str, Any]) -> Found:
    return {"title": _text(item.get("title")), "link": _text(item.get("link")),
            "text": _joined(" — ", item.get("date"), item.get("snippet")), "source": "organic"}  # fmt: skip


def _joined(between: str, *values: Any) -> str:
    return between.join(dict.fromkeys(_words(*values)))


def _words(*values: Any) -> Iterator[str]:
    yield from filter(None, map(_text, values))


def _text(value: Any) -> str:
    """Text on one line; numbers are text too."""
    plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split()) if plain else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
