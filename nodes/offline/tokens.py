"""Text to tokens: quotes, addresses, paths, numbers, words and marks, each with its place in the text.

Leaves out: what a word means (`lexicon.py`). Nothing inside quotes is looked at again.
"""

import re
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["quote", "url", "mail", "path", "name", "number", "word", "mark", "value"]
HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_QUOTES = (
    r'"[^"\n]*"', r"“[^”\n]*”", r"‘[^’\n]*’", r"「[^」\n]*」", r"『[^』\n]*』", r"`[^`\n]+`", r"《[^》\n]*》",
    r"(?<!\w)'[^'\n]*(?:(?<=\w)'(?=\w)[^'\n]*)*'(?!\w)",
)  # fmt: skip
_IN_NAME = rf"[\w*~.+{HAN}-]"
_NAME = rf"(?:(?!\.[A-Za-z0-9]{{1,6}}[{HAN}]){_IN_NAME}){{0,100}}"  # it may hold Chinese, but not behind its extension
_SEGMENT = rf"{_IN_NAME}{{1,100}}/"  # lengths are bounded, so that no text takes long
_END = r"\.(?:7z|[A-Za-z][A-Za-z0-9]{0,5})(?![A-Za-z0-9_])"
_FILE = rf"(?:~?\.{{0,2}}/)?(?:{_SEGMENT}){{0,20}}(?=[\w*~+{HAN}-]){_NAME}{_END}"
_FIRST = rf"(?:\.{{1,2}}/|~/|/(?={_SEGMENT})|(?=[\d_.*-]{{0,20}}[A-Za-z{HAN}]){_SEGMENT})"
_UNENDED = r"(?:[\w*.-]{3,100}/){1,20}[A-Za-z*][\w*.-]{2,100}"
_FOLDER = rf"{_FIRST}(?:{_SEGMENT}){{0,20}}(?![A-Za-z0-9])|{_UNENDED}"
_BARE = r"(?:README|LICENSE|CHANGELOG|Makefile|Dockerfile)(?![\w.])"
_DATE = r"\d{4}-\d{1,2}-\d{1,2}(?!\d)|\d{1,2}:\d{2}(?::\d{2})?(?:\s?[aApP]\.?[mM]\b\.?)?|\d+(?:\.\d+){2,}"
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])|\d+(?:\.\d+)?(?:[eE][+-]?\d+(?![\w]))?|(?<!\w)\.\d+"
_SCAN = re.compile(
    "|".join(
        f"(?P<{kind}>{pattern})"
        for kind, pattern in {
            "quote": "|".join(_QUOTES),
            "url": r"https?://[^\s，。；<>\"']+[^\s，。；<>\"'.,;:!?)]",
            "mail": r"[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*",
            "path": f"(?<![A-Za-z0-9_.*])(?:{_FILE}|{_BARE}|{_FOLDER})",
            "name": _DATE,
            "number": _NUMBER,
            "cross": r"(?<=\d)x(?=\d)",
            "word": rf"[{HAN}]+|[^\W\d{HAN}][^\W{HAN}]*(?:['’-][^\W{HAN}]+)*(?:['’](?=\W|$))?",
            "mark": r"\*\*|//|\n|[^\s\w]",
        }.items()
    )
)
_ABBREVIATIONS = ("e.g", "i.e", "a.m", "p.m", "u.s", "u.k", "n.b")


@dataclass(frozen=True)
class Token:
    """One piece of a request; `value` is its meaning: the quoted text, the digits, the concept of a word."""

    kind: Kind
    text: str
    value: Any
    start: int
    end: int

    def means(self, *concepts: str) -> bool:
        """Whether a word or mark has one of these meanings."""
        return self.kind in ("word", "mark") and self.value in concepts


def scan(text: str) -> list[Token]:
    """The tokens of a text in order; words are not yet given a meaning."""
    found: list[Token] = []
    for match in _SCAN.finditer(text):
        kind: Any = "mark" if match.lastgroup == "cross" else match.lastgroup
        found.append(Token(kind, match[0], _value(kind, match[0]), match.start(), match.end()))
    return [_no_abbreviation(token) for token in found]


def _value(kind: Kind, text: str) -> str:
    if kind == "quote":
        return text[1:-1]
    if kind == "number":
        return text.replace(",", "")
    return text.lower() if kind == "word" else text


def _no_abbreviation(token: Token) -> Token:
    if token.kind == "path" and token.text.lower() in _ABBREVIATIONS:
        return Token("word", token.text, token.text.lower(), token.start, token.end)
    return token


def source(text: str, tokens: list[Token]) -> str:
    """The stretch of the request that tokens were read from."""
    return text[tokens[0].start : tokens[-1].end].strip() if tokens else ""
