"""What in a request may be an argument: numbers, quotes, addresses, names in capitals, phrases behind a preposition."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nodes.offline.stopwords import STOP
from nodes.offline.tokens import Token
from tools.stems import stem

_PREPOSITIONS = """
    in at for from to of on by with into about as using between via near around called named titled than until
    since during within through is are
"""
PREPOSITIONS = frozenset(_PREPOSITIONS.split())
NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SEPARATORS = {"and", ",", "，", "、", "or"}
_PLAIN = {
    "quote": "quote",
    "url": "url",
    "mail": "mail",
    "path": "path",
    "name": "date",
    "number": "number",
    "value": "value",
}


@dataclass(frozen=True)
class Candidate:
    """A stretch of tokens that may be a value; `lead` is the words in front of it, `tail` the words behind."""

    start: int
    end: int
    kind: str
    value: Any
    lead: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()


def candidates(
    tokens: Sequence[Token], text: str, known: frozenset[str], labels: frozenset[str] = frozenset()
) -> list[Candidate]:
    """The candidates in order, none overlapping.

    `known` are the stems of the tool's own words, which are no values unless they stand in capitals; `labels` are the
    stems of its name and its parameters' names, which are no values at all.
    """
    found: list[Candidate] = []
    at = 0
    while at < len(tokens):
        candidate = _at(tokens, at, text, known, labels)
        if candidate is None:
            at += 1
            continue
        found.append(candidate)
        at = candidate.end
    edges = [(c.start, c.end) for c in found]
    return [_with_context(c, tokens, edges) for c in found]


def _at(tokens: Sequence[Token], at: int, text: str, known: frozenset[str], labels: frozenset[str]) -> Candidate | None:
    token = tokens[at]
    if token.kind in _PLAIN:
        kind = _PLAIN[token.kind]
        if kind == "number" and at + 1 < len(tokens) and tokens[at + 1].means("%"):
            return Candidate(at, at + 2, "percent", token.value)
        if kind == "number" and at and tokens[at - 1].text == "-" and (at < 2 or tokens[at - 2].kind != "number"):
            return Candidate(at, at + 1, "number", f"-{token.value}")
        return Candidate(at, at + 1, kind, token.value)
    if token.kind == "word" and token.text[0] >= "\u3400":
        return _chinese(token, at, known)
    if stem(token.text) not in labels and _is_name(token, at, known):
        end = _end_of_name(tokens, at, known)
        if all(stem(part) in labels for part in NAME_PART.findall(text[token.start : tokens[end - 1].end])):
            return None
        return Candidate(at, end, "caps", text[token.start : tokens[end - 1].end])
    if at and tokens[at - 1].text.lower() in PREPOSITIONS - {"is", "are", "than"} and _may_start(token, known):
        end = _end_of_phrase(tokens, at, known)
        return Candidate(at, end, "phrase", text[token.start : tokens[end - 1].end])
    return None


def _chinese(token: Token, at: int, known: frozenset[str]) -> Candidate | None:
    """What is left of a Chinese word when the tool's own words are taken out."""
    if token.value != token.text:
        return None
    own = {n + k for n in range(len(token.text) - 1) if token.text[n : n + 2] in known for k in (0, 1)}
    runs = "".join(" " if n in own else character for n, character in enumerate(token.text)).split()
    return Candidate(at, at + 1, "caps", runs[0]) if len(runs) == 1 else None


def _is_name(token: Token, at: int, known: frozenset[str]) -> bool:
    if token.kind != "word" or not token.text[0].isupper() or token.text.lower() in STOP:
        return False
    return at > 0 or (stem(token.text) not in known and str(token.value) == token.text.lower() and token.text.isupper())


def _end_of_name(tokens: Sequence[Token], at: int, known: frozenset[str]) -> int:
    end = at + 1
    while end < len(tokens):
        word = tokens[end]
        if word.kind == "word" and word.text[0].isupper() and word.text.lower() not in STOP:
            end += 1
        elif (
            (
                word.text.lower() in ("of", "de", "la", "von")
                and end + 1 < len(tokens)
                and tokens[end + 1].text[0].isupper()
            )
            or (
                word.text == "."
                and len(tokens[end - 1].text) <= 2
                and end + 1 < len(tokens)
                and tokens[end + 1].text[0].isupper()
            )
            or (
                word.text == ","
                and end + 1 < len(tokens)
                and tokens[end + 1].text.isupper()
                and len(tokens[end + 1].text) == 2
            )
        ):
            end += 2
        else:
            break
    return end


def _may_start(token: Token, known: frozenset[str]) -> bool:
    return (
        token.kind == "word"
        and token.text.lower() not in STOP | PREPOSITIONS
        and stem(token.text) not in known
        and not token.text.endswith("ly")
    )


def _end_of_phrase(tokens: Sequence[Token], at: int, known: frozenset[str]) -> int:
    end = at + 1
    while end < len(tokens) and tokens[end].kind == "word" and tokens[end].text.lower() not in PREPOSITIONS | STOP:
        if stem(tokens[end].text) in known or tokens[end].value in ("and", "then"):
            break
        end += 1
    return end


def _lead(front: Sequence[Token]) -> tuple[str, ...]:
    """The words in front, back to the first preposition that parts one phrase from another."""
    words: list[str] = []
    for word in reversed(front):
        if word.text in ",.;，、":
            continue
        words.insert(0, word.text.lower())
        if word.text.lower() in PREPOSITIONS - {"of", "is", "are", "as", "named", "called"}:
            break
    return tuple(words)


def _with_context(candidate: Candidate, tokens: Sequence[Token], edges: list[tuple[int, int]]) -> Candidate:
    floor = max((end for _, end in edges if end <= candidate.start), default=0)
    ceiling = min((start for start, _ in edges if start >= candidate.end), default=len(tokens))
    front = tokens[max(floor, candidate.start - 5) : candidate.start]
    behind = tokens[candidate.end : min(ceiling, candidate.end + 3)]
    lead = _lead(front)
    tail: list[str] = []
    for word in behind:
        if word.kind != "word" or word.text.lower() in PREPOSITIONS | _SEPARATORS:
            break
        tail.append(word.text.lower())
    return Candidate(candidate.start, candidate.end, candidate.kind, candidate.value, lead, tuple(tail))
