"""What of a request has no place in a tool's arguments; silently dropping it would be a guess."""

import re
from collections.abc import Sequence

from nodes.offline.candidates import PREPOSITIONS, Candidate
from nodes.offline.draft import NotUnderstood
from nodes.offline.stopwords import STOP
from nodes.offline.tokens import Token
from tools.stems import stem

_SMALL_TALK = """
    get find calculate compute show tell give retrieve fetch determine help need want like could would please
    run call use check look search what's estimate provide display list many much long tool know if whose
    respectively along including named called value unit units
"""
_ASKING = frozenset(_SMALL_TALK.split())
_QUIET = ("it", "them", "also", "the", "and", "what", "calc", "poss", "each", "obj", "in", "to", "search")


def nothing_left(
    clause: Sequence[Token], found: list[Candidate], taken: set[int], used: set[int], known: frozenset[str]
) -> None:
    """Every word must be the tool's own, a value, or a small word; raises `NotUnderstood` at any other."""
    covered = set(used)
    for n in taken:
        covered |= set(range(found[n].start, found[n].end))
    for at, token in enumerate(clause):
        unit = at - 1 in covered and clause[at - 1].kind == "number"
        if at not in covered and not unit and not _has_a_place(token, known):
            raise NotUnderstood(f"“{token.text}” has no place in the tool's arguments")


def _has_a_place(token: Token, known: frozenset[str]) -> bool:
    word = token.text.lower()
    small = word in STOP | PREPOSITIONS | _ASKING or token.means(*_QUIET)
    return token.kind == "mark" or small or (token.kind == "word" and _known(word, known))


def _known(word: str, known: frozenset[str]) -> bool:
    parts = re.split(r"[-\s']", word)
    return all(part in STOP or stem(part) in known or part in _ASKING or len(part) < 2 for part in parts) or (
        word[0] > "\u3400" and all(word[at : at + 2] in known for at in range(max(1, len(word) - 1)))
    )
