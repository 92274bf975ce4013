"""What words mean: English and Chinese phrases become the same concepts, so that one grammar serves both.

Leaves out: what a sentence means. A word that is not here keeps its own text as its meaning.
"""

import re
from dataclasses import replace

from nodes.offline.concepts import LANGUAGES, PHRASES
from nodes.offline.numbers import CHINESE, chinese_number, number_words, scaled
from nodes.offline.tokens import Token, scan
from tools.stems import stem


def meaning(text: str) -> list[Token]:
    """The tokens of a text with their concepts: phrases merged, number words as numbers, Chinese cut into words."""
    cut = [part for token in number_words(scan(text)) for part in _cut(token)]
    return _merge(_percentages(cut))


def _table(han: bool) -> dict[tuple[str, ...], str]:
    table: dict[tuple[str, ...], str] = {}
    names = {concept: text for concept, text in PHRASES.items()} | {f"language {k}": v for k, v in LANGUAGES.items()}
    for concept, text in names.items():
        for phrase in text.split("|"):
            if phrase and (phrase[0] >= "\u3400" and phrase[0] <= "\u9fff") == han:
                key = (phrase,) if han else tuple(map(stem, phrase.split()))
                table.setdefault(key, concept)
    return table


_ENGLISH, _HAN = _table(han=False), _table(han=True)
_LATIN = re.compile(r"[A-Za-z0-9_.-]+/?(?=[\u3400-\u9fff])")
_EXACT = {"square": "square", "cube": "cube", "less": "-", "over": "/", "mean": "average", "its": "it"}
_LONGEST = max(map(len, _ENGLISH))
_LONGEST_HAN = max(len(key[0]) for key in _HAN)


def _cut(token: Token) -> list[Token]:
    """Chinese runs cut into known words and numerals, longest first; a path loses known words in front of it."""
    if token.kind == "path":
        return _path(token)
    if token.kind != "word" or not "\u3400" <= token.text[0] <= "\u9fff":
        return _possessive(token)
    parts, at, unknown = [], 0, 0
    while at < len(token.text):
        size, part = _longest(token, at)
        if part is not None:
            parts += [_word(token, unknown, at), part]
            unknown = at + size
        at += size
    return [part for part in [*parts, _word(token, unknown, at)] if part.text]


def _longest(token: Token, at: int) -> tuple[int, Token | None]:
    numeral = CHINESE.match(token.text, at)
    for size in range(min(_LONGEST_HAN, len(token.text) - at), 0, -1):
        concept = _HAN.get((token.text[at : at + size],))
        if concept and not (numeral and len(numeral[0]) > size):
            return size, replace(_word(token, at, at + size), value=concept)
    if numeral and (digits := chinese_number(numeral[0])):
        return len(numeral[0]), replace(_word(token, at, numeral.end()), kind="number", value=digits)
    if token.text[at] in "万亿千百":
        return 1, replace(_word(token, at, at + 1), value="scale")
    return 1, None


def _word(token: Token, start: int, end: int) -> Token:
    return Token("word", token.text[start:end], token.text[start:end], token.start + start, token.start + end)


def _path(token: Token) -> list[Token]:
    """A path without the Chinese words that stand in front of it with no space: 统计a.txt, 把docs里的*.md."""
    front = _LATIN.match(token.text)
    start = front.end() if front else 0
    at, parts = start, []
    while at < len(token.text) - 1 and token.text[at] >= "\u3400":
        size, part = _longest(token, at)
        if part is None or token.text[at + size : at + size + 1] in (".", ""):
            break
        parts.append(part)
        at += size
    rest = token.text[at:]
    if not parts or (start and rest[0] >= "\u3400"):
        return [token]
    moved = [replace(t, start=t.start + token.start, end=t.end + token.start) for t in scan(token.text[:start])]
    return [*moved, *parts, *_path(Token("path", rest, rest, token.start + at, token.end))]


def _possessive(token: Token) -> list[Token]:
    text = token.text.replace("’", "'")
    if token.kind == "word" and text.lower().endswith("'s") and text.lower() not in ("what's", "it's", "let's"):
        split = len(text) - 2
        return [
            replace(_word(token, 0, split), value=text[:split].lower()),
            replace(_word(token, split, len(text)), value="poss"),
        ]
    return [replace(token, value=text.lower())] if token.kind == "word" else [token]


def _percentages(tokens: list[Token]) -> list[Token]:
    """百分之 5 becomes 5 %, and 3 万 becomes 30000."""
    found: list[Token] = []
    for token in tokens:
        before = found[-1] if found else None
        if token.value == "scale" and before and before.kind == "number":
            found[-1] = scaled(before, token.text)
        elif before and before.value == "百分之" and token.kind == "number":
            found[-1:] = [token, replace(before, value="%")]
        else:
            found.append(token)
    return found


def _merge(tokens: list[Token]) -> list[Token]:
    """English phrases of several words become one token with a concept, longest first."""
    found, at = [], 0
    while at < len(tokens):
        size, concept = _phrase(tokens, at)
        first, last = tokens[at], tokens[at + size - 1]
        if concept:
            text = " ".join(token.text for token in tokens[at : at + size])
            found.append(Token("word", text, concept, first.start, last.end))
        else:
            found.append(first)
        at += size
    return found


def _phrase(tokens: list[Token], at: int) -> tuple[int, str]:
    if tokens[at].kind not in ("word", "mark") or (tokens[at].text[0] >= "\u3400" and tokens[at].text[0] <= "\u9fff"):
        return 1, ""
    for size in range(min(_LONGEST, len(tokens) - at), 0, -1):
        part = tokens[at : at + size]
        if any(token.kind not in ("word", "mark") for token in part):
            continue
        if size == 1 and tokens[at].value in _EXACT:
            break
        if concept := _ENGLISH.get(tuple(stem(str(token.value)) for token in part)):
            return size, concept
    return 1, _EXACT.get(tokens[at].value, "")
