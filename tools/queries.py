"""A query in plain words as terms of SQLite's full text search, quoted so that no query is ever syntax."""

import re

from tools.text import CJK, spaced

_WORD = re.compile(r"\w+")
_MAX_TERMS = 40
_COMMON = frozenset(
    _WORD.findall(
        "a an and are as at be by did do does for from how in is it its of on or that the their this to was were"
        " what when where which who whom whose why will with"
    )
)


def terms(query: str) -> list[str]:
    """The quoted terms to look for: words without the commonest, and every pair of neighbouring CJK characters."""
    found: list[str] = []
    for word in _WORD.findall(query):
        for run in re.split(f"((?:{CJK.pattern})+)", word):
            found += _pairs(run) if CJK.match(run) else [run.lower()] if run else []
    rare = [term for term in found if term not in _COMMON] or found
    return [f'"{spaced(term).strip()}"' for term in dict.fromkeys(rare)][:_MAX_TERMS]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(max(1, len(run) - 1))]
