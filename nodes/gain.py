"""What a turn of reasoning brought that was new: entities of its result, and constraints of its thought.

Leaves out: meaning. A new name, number or word in a result is new; the same said in other words counts as well.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from nodes.offline.stopwords import STOP
from state.result import FINISHED, Result
from state.thought import Thought
from tools.artefacts import as_json

_ENTITY = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W\d_][\w'-]*")
_CONSTRAINT = re.compile(
    r"\b(?:must|at (?:most|least)|no more than|no less than|only if|unless|before|after|within|not allowed)\b[^.;\n]*"
    r"|(?:必须|不得|至少|至多|不超过|不少于|除非|之前|之后|以内|只有)[^。；\n]*",
    re.IGNORECASE,
)
_LITTLE = 12
"""Characters of a result that say something only together with what was asked, such as yes, false or 12."""


def gains(thoughts: Iterable[Thought], results: Mapping[str, Result], last: int | None = None) -> list[float]:
    """For each turn whose call came to a result: (new entities + new constraints) / calls that it made.

    A failed turn is not counted: failures have a limit of their own. The first result of a tool is always new.
    With `last` only that many turns are looked at, the last ones.
    """
    counted = [(one, result) for one in thoughts if (result := results.get(one["step"])) and _is_counted(result)]
    first = 0 if last is None else max(0, len(counted) - last)
    return [_gain(counted[:place], *counted[place]) for place in range(first, len(counted))]


def _is_counted(result: Result) -> bool:
    return result["status"] in FINISHED


def _gain(before: list[tuple[Thought, Result]], thought: Thought, result: Result) -> float:
    beside, words = _beside(thought, result), _words(result)
    for other in reversed(before):
        if not (beside or words):
            break
        beside = beside - _beside(*other) if beside else beside
        words = _not_in(words, other[1]) if words else words
    return (len(beside) + len(words)) / max(1, len(result["parts"]))


def _beside(thought: Thought, result: Result) -> set[str]:
    """What a turn brought besides the words of its result: constraints, a tool, a change."""
    limits = {" ".join(said.lower().split()) for said in _CONSTRAINT.findall(thought["text"])}
    if result["effect"] == "write":  # what it changed is new, however short its receipt
        return limits | {f"changed {result['step']}"}
    short = len(as_json(result["output"])) <= _LITTLE
    return limits | {f"tool {result['tool']}", *([result["call"]] if short else [])}


def _words(result: Result) -> set[str]:
    if result["effect"] == "write":
        return set()
    return set(_words_of(as_json(result["output"])))


@lru_cache(maxsize=16)
def _words_of(text: str) -> frozenset[str]:
    """Kept for the last few: the same results are looked at after each turn."""
    return frozenset(word for word in _ENTITY.findall(text.lower()) if word not in STOP)


def _not_in(words: set[str], earlier: Result) -> set[str]:
    """Words that an earlier result had not; taking it apart is dear, and seldom needed once common ones are gone."""
    text = as_json(earlier["output"]).lower()
    return words - _words(earlier) if any(word in text for word in words) else words
