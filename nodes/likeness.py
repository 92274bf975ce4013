"""How much two texts are alike, by their words: 0 to 1, the same both ways, 1 for a text and itself.

Values don't count: numbers, quoted text, addresses, files and names each become one sign, so that the same wish for
another city is the same wish. Chinese, Japanese and Korean count by pairs of neighbours, with no names known.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from tools.stems import stem
from tools.text import CJK

Alike = Callable[[str, str], float]
_QUOTED = re.compile(r"\"[^\"]{1,200}\"|“[^”]{1,200}”|「[^」]{1,200}」|『[^』]{1,200}』|(?<!\w)'[^']{1,200}'(?!\w)")
_ADDRESS = re.compile(r"\b\w+://\S+|[\w.+-]+@[\w-]+\.\w[\w.]*|(?:[\w.-]*/)*[\w-]+\.[A-Za-z]\w{0,4}\b|(?:/[\w.-]+){2,}")
_NUMBER = re.compile(r"\b(?:0x[0-9a-f]+|(?=\w*\d)[0-9a-f]{8,}|[\w-]*\d[\d.,:%-]*)", re.IGNORECASE | re.ASCII)
_NAME = re.compile(r"(?<=[a-z0-9,;] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")
_WORD = re.compile(r"«\w+»|\w+")
_COMMON = frozenset({
    "a", "an", "and", "are", "be", "for", "from", "in", "is", "it", "of", "on", "or", "please", "that", "the", "this",
    "to", "was", "were", "with", "的", "了", "请",
})  # fmt: skip


def alike(one: str, other: str) -> float:
    """Twice what both have, of all that each has (Dice)."""
    if one == other:
        return float(bool(one.strip()))
    mine, theirs = signs(one), signs(other)
    return 2 * len(mine & theirs) / (len(mine) + len(theirs)) if mine and theirs else 0.0


@lru_cache(maxsize=1024)
def signs(text: str) -> frozenset[str]:
    """The stems of a text's words, with one sign for every kind of value."""
    for pattern, sign in (
        (_QUOTED, " «quoted» "),
        (_ADDRESS, " «place» "),
        (_NUMBER, " «number» "),
        (_NAME, " «name» "),
    ):
        text = pattern.sub(sign, text)
    found: set[str] = set()
    for word in _WORD.findall(text.replace("_", " ")):
        if word.startswith("«"):
            found.add(word)
            continue
        for run in re.split(f"((?:{CJK.pattern})+)", word):
            found |= _pairs(run) if CJK.match(run) else {stem(run)} if run else set()
    return frozenset(found - _COMMON) or frozenset(found)


def _pairs(run: str) -> set[str]:
    return {run[at : at + 2] for at in range(max(1, len(run) - 1))}
