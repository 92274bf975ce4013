"""The few tools of a large catalogue that fit a task, by words: of their names, descriptions and arguments.

A task that asks for several things is ranked sentence by sentence, so that the last one gets its tools too. The ranking
is BM25 of SQLite's full text index, in which a name counts most. Leaves out: meaning beyond the stems of words.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from tools.queries import terms
from tools.text import spaced
from tools.tool import Tool

_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_.\-]+")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
_WEIGHTS = "3.0, 1.0, 0.5"
_DEEP = 50


def fitting(tools: Mapping[str, Tool], texts: Sequence[str], most: int) -> list[str]:
    """At most `most` names, best first; where too few fit, the first ones of the catalogue fill up."""
    with closing(Ranking(tools)) as ranking:
        return ranking.best(texts, most)


class Ranking:
    """An index of tools in memory; making it takes some tens of milliseconds for 500 of them."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._names = list(tools)
        self._index = _index(tools)

    def close(self) -> None:
        """Gives the index back."""
        self._index.close()

    def best(self, texts: Sequence[str], most: int) -> list[str]:
        """At most `most` names, best first."""
        best: dict[int, tuple[int, float]] = {}
        for part in _parts(texts):
            for place, (row, score) in enumerate(_ranked(self._index, part)):
                best[row] = min(best.get(row, (_DEEP, 0.0)), (place, score))
        found = [self._names[row] for row in sorted(best, key=best.__getitem__)]
        return list(dict.fromkeys([*found, *self._names]))[:most]


def _parts(texts: Sequence[str]) -> Iterator[str]:
    """Each text as a whole, and its sentences that say something of their own."""
    for text in texts:
        yield text
        sentences = [part for part in _SENTENCE.split(text) if len(terms(part)) > 2]
        yield from sentences if len(sentences) > 1 else []


def _ranked(index: sqlite3.Connection, text: str) -> list[tuple[int, float]]:
    wanted = " OR ".join(terms(text))
    find = f"SELECT rowid, bm25(tool, {_WEIGHTS}) FROM tool WHERE tool MATCH ? ORDER BY 2, 1 LIMIT {_DEEP}"
    return index.execute(find, (wanted,)).fetchall() if wanted else []


def _index(tools: Mapping[str, Tool]) -> sqlite3.Connection:
    index = sqlite3.connect(":memory:")
    index.execute("CREATE VIRTUAL TABLE tool USING fts5(name, description, args, tokenize = 'porter unicode61')")
    index.executemany(
        "INSERT INTO tool (rowid, name, description, args) VALUES (?, ?, ?, ?)",
        [
            (row, words(tool.name), spaced(tool.description), spaced(" ".join(_said(tool.args_schema))))
            for row, tool in enumerate(tools.values())
        ],
    )
    return index


def words(name: str) -> str:
    """A name such as getStock_price in words."""
    return spaced(" ".join(_BORDER.split(name)))


def _said(schema: Any) -> Iterator[str]:
    """Names, descriptions and choices in a schema of arguments."""
    if not isinstance(schema, dict):
        return
    for name, part in (schema.get("properties") or {}).items():
        yield words(name)
        if isinstance(part, dict):
            yield str(part.get("description") or "")
            yield from map(str, part.get("enum") or ())
            yield from _said(part)
            yield from _said(part.get("items"))
