"""Numbers in words become digits: English by `text2num`, Chinese by `cn2an`."""

import re
import warnings
from dataclasses import replace

from text_to_num import find_numbers  # type: ignore[import-untyped]

from nodes.offline.tokens import Token

CHINESE = re.compile(r"(?:[零〇一二三四五六七八九十百千万亿两]+)(?:点[零〇一二三四五六七八九]+)?")
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_NOT_ONE = {"each", "every", "this", "that", "which", "any", "no", "some", "another", "other", "the"}


class _Word:
    """A token in the form that text2num reads."""

    def __init__(self, token: Token) -> None:
        self._token = token

    def text(self) -> str:
        return self._token.text.lower() if self._token.kind == "word" else "|"

    def nt_separated(self, previous: "_Word") -> bool:
        return self._token.kind != "word" or previous._token.kind != "word"

    def not_a_number_part(self) -> bool:
        return self._token.kind != "word"


def number_words(tokens: list[Token]) -> list[Token]:
    """Tokens with English number words replaced by number tokens; ordinals and the pronoun "one" stay words."""
    tokens = _scaled_words(tokens)
    found = list(tokens)
    for hit in reversed(find_numbers([_Word(token) for token in tokens], "en", threshold=0.0)):
        part = tokens[hit.start : hit.end]
        if hit.is_ordinal or any(token.kind != "word" for token in part) or _pronoun(tokens, hit.start, hit.end):
            continue
        start = hit.start - 1 if _article(tokens, hit.start) else hit.start
        first, last = tokens[start], part[-1]
        text = " ".join(token.text for token in tokens[start : hit.end])
        found[start : hit.end] = [Token("number", text, hit.text.lstrip("+"), first.start, last.end)]
    return found


def _scaled_words(tokens: list[Token]) -> list[Token]:
    """2 million and 3.5 billion: digits with a scale in words."""
    found: list[Token] = []
    for token in tokens:
        before = found[-1] if found else None
        digits = _SCALES.get(token.text.lower()) if token.kind == "word" else None
        if digits and before and before.kind == "number" and "e" not in before.value.lower():
            found[-1] = replace(
                before, value=_shifted(before.value, digits), text=f"{before.text} {token.text}", end=token.end
            )
        else:
            found.append(token)
    return found


def chinese_number(text: str) -> str | None:
    """The digits of a Chinese numeral, or None."""
    import cn2an  # type: ignore[import-untyped]  # half a second: only when there is one

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            value = cn2an.cn2an(text, "smart")
    except (ValueError, TypeError, KeyError, IndexError, UserWarning):
        return None
    return f"{value:g}" if isinstance(value, float) and "." not in str(value) else str(value)


def scaled(token: Token, scale: str) -> Token:
    """A number token times 10,000 or 100,000,000, as in 3万 and 2亿."""
    digits = {"万": 4, "亿": 8, "千": 3, "百": 2}[scale]
    return replace(token, value=_shifted(token.value, digits), text=token.text + scale, end=token.end + 1)


def _shifted(number: str, digits: int) -> str:
    whole, _, part = number.partition(".")
    shifted = (whole + part.ljust(digits, "0")[:digits]).lstrip("0") or "0"
    rest = part[digits:]
    return f"{shifted}.{rest}" if rest else shifted


def _pronoun(tokens: list[Token], start: int, end: int) -> bool:
    if end - start != 1 or tokens[start].text.lower() != "one":
        return False
    before = tokens[start - 1].text.lower() if start else ""
    after = tokens[end].text.lower() if end < len(tokens) else ""
    return before in _NOT_ONE or after == "of"


def _article(tokens: list[Token], start: int) -> bool:
    return (
        start > 0
        and tokens[start - 1].text.lower() == "a"
        and tokens[start].text.lower() in ("hundred", "thousand", "million")
    )
