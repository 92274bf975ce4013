"""Search in a folder of .txt, .md and .html files: passages by SQLite's full text index, kept in memory.

The index follows the files by size and time of change. Leaves out: meaning (embeddings), PDF and office formats.
"""

import logging
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated
from weakref import finalize

from bs4.dammit import EncodingDetector
from bs4.exceptions import ParserRejectedMarkup
from pydantic import Field
from typing_extensions import TypedDict

from state.errors import ToolFailed, shorten
from tools.folder import Folder, plainly, real_path
from tools.html import title_and_text
from tools.queries import terms
from tools.settings import ToolSettings
from tools.text import passages, spaced
from tools.tool import Tool, read

log = logging.getLogger(__name__)
KINDS = (".txt", ".md", ".html", ".htm")
_MAX_FILES = 10_000
Stamp = tuple[int, int]


class Passage(TypedDict):
    """A part of a document that fits; score is the share of the query's words that it has, 0 to 1."""

    path: str
    title: str
    text: str
    score: float


def tools(settings: ToolSettings) -> list[Tool]:
    """The search tool over the settings' documents."""

    def search(query: str, limit: Annotated[int, Field(ge=1, le=20)] = 3) -> list[Passage]:
        """Searches the documents and gives the passages that fit best; nothing found is an empty list."""
        wanted = terms(query)
        if not wanted:
            raise ToolFailed(f"query {shorten(query)!r} has no word to look for", "invalid_arguments")
        folders = (settings.documents, settings.home, settings.root)
        return index_of(*(str(real_path(folder)) for folder in folders)).search(wanted, limit)

    return [read(search, untrusted=True)]


@lru_cache(maxsize=8)
def index_of(documents: str, home: str, root: str) -> "Index":
    """The index of a folder, one for the process; paths in results are those that the file tools understand."""
    return Index(Folder(documents, home), Folder(root, home))


class Index:
    """Passages of a folder; safe to use from several threads."""

    def __init__(self, folder: Folder, root: Folder) -> None:
        self._folder, self._root = folder, root
        self._lock = threading.Lock()
        self._files: dict[Path, Stamp] = {}
        self.skipped: dict[str, str] = {}
        """Files that could not be read, with the reason; each is also logged once."""
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        finalize(self, self._db.close)
        self._db.execute("CREATE TABLE passage (id INTEGER PRIMARY KEY, path TEXT, title TEXT, text TEXT)")
        self._db.execute("CREATE INDEX by_path ON passage (path)")
        self._db.execute("CREATE VIRTUAL TABLE words USING fts5(title, text, tokenize = 'porter unicode61')")

    def search(self, wanted: list[str], limit: int) -> list[Passage]:
        """The passages with most of the wanted terms, rarer and more frequent ones first among equals."""
        with self._lock:
            self._refresh()
            hits = Counter(row[0] for term in wanted for row in self._match("rowid", term))
            ranks = dict(self._match("rowid, bm25(words, 3.0, 1.0)", " OR ".join(wanted)))
            best = sorted(hits, key=lambda row: (-hits[row], ranks.get(row, 0.0), row))[:limit]
            return [self._passage(row, hits[row] / len(wanted)) for row in best]

    def _match(self, columns: str, query: str) -> Iterator[tuple[int, float]]:
        return self._db.execute(f"SELECT {columns} FROM words WHERE words MATCH ?", (query,))

    def _passage(self, row: int, score: float) -> Passage:
        found = self._db.execute("SELECT path, title, text FROM passage WHERE id = ?", (row,)).fetchone()
        return {"path": found[0], "title": found[1], "text": found[2], "score": round(score, 3)}

    def _refresh(self) -> None:
        """Reads what is new or changed, forgets what is gone."""
        present = dict(self._present())
        for path in self._files.keys() - present.keys():
            self._forget(path)
        for path, stamp in present.items():
            if self._files.get(path) != stamp:
                self._forget(path)
                self._add(path)
                self._files[path] = stamp
        if not present:
            raise ToolFailed(f"there are no {', '.join(KINDS)} files in the documents folder", "not_found")

    def _present(self) -> Iterator[tuple[Path, Stamp]]:
        count = 0
        with plainly("the documents folder"):
            for path in self._folder.walk(self._folder.folder(".")):
                if path.suffix.lower() in KINDS and (found := self._folder.regular(path)):
                    count += 1
                    yield path, (found.st_mtime_ns, found.st_size)
                if count > _MAX_FILES:
                    raise ToolFailed(f"the documents folder has more than {_MAX_FILES} documents", "permanent")

    def _name(self, path: Path) -> str:
        inside = path.is_relative_to(self._root.root)
        return self._root.name(path) if inside else self._folder.name(path)

    def _forget(self, path: Path) -> None:
        name = self._name(path)
        self._files.pop(path, None)
        self.skipped.pop(name, None)
        self._db.execute("DELETE FROM words WHERE rowid IN (SELECT id FROM passage WHERE path = ?)", (name,))
        self._db.execute("DELETE FROM passage WHERE path = ?", (name,))

    def _add(self, path: Path) -> None:
        name = self._name(path)
        try:
            title, text = content(path.name, self._folder.read(self._folder.name(path)))
        except (ToolFailed, ValueError, RecursionError, ParserRejectedMarkup) as error:
            self.skipped[name] = str(error)
            log.warning("search skips %s: %s", name, error)
            return
        for part in passages(text):
            row = self._db.execute(
                "INSERT INTO passage (path, title, text) VALUES (?, ?, ?)", (name, title, part)
            ).lastrowid
            self._db.execute(
                "INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)", (row, spaced(title), spaced(part))
            )


def content(name: str, data: bytes) -> tuple[str, str]:
    """Title and text of a document; raises `ValueError` for one that is no text."""
    if b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError("it is binary")
    html = name.lower().endswith((".html", ".htm"))
    text = _decoded(data, html)
    text = text.removeprefix("\ufeff")
    return _of_html(text, name) if html and "<" in text else (_heading(text) or Path(name).stem, text)


def _decoded(data: bytes, html: bool) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16")
    declared = EncodingDetector.find_declared_encoding(data, is_html=True) if html else None
    try:
        return data.decode(declared or "utf-8-sig")
    except (UnicodeDecodeError, LookupError) as error:
        raise ValueError(f"it is no {declared or 'UTF-8'} text") from error


def _heading(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return first.lstrip("#").strip() if first.startswith("#") else ""


def _of_html(html: str, name: str) -> tuple[str, str]:
    title, text = title_and_text(html)
    return title or Path(name).stem, text
