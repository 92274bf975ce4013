"""Stems of English words."""

from functools import cache

import snowballstemmer  # type: ignore[import-untyped]

_stemmer = snowballstemmer.stemmer("english")


@cache
def stem(word: str) -> str:
    """The stem of an English word; other writing is left as it is."""
    return str(_stemmer.stemWord(word.lower())) if word.isascii() else word
