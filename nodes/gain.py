"""What a turn of reasoning brought that was new: entities of its result, and constraints of its thought.

Leaves out: meaning. A new name, number or word in a result is new; the same said in other words counts as well.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import chain

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


def gains(thoughts: Iterable[Thought], results: Mapping[str, Result], gained: "Gained | None" = None) -> list[float]:
    """For each turn whose call came to a result: (new entities + new constraints) / calls that it made.

    A failed turn is not counted: failures have a limit of their own. The first result of a tool is always new.
    `gained` knows of the turns before.
    """
    found = ((thought, results.get(thought["step"])) for thought in thoughts)
    return (gained or Gained()).of([(one, result) for one, result in found if result and result["status"] in FINISHED])


class Gained:
    """What the turns of a run have brought: each is looked at once, when it is there."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._turns: list[tuple[Thought, Result]] = []
        self._beside: set[str] = set()
        self._words: set[str] = set()
        self._gains: list[float] = []

    def of(self, turns: list[tuple[Thought, Result]]) -> list[float]:
        """The gain of each; where one that was looked at is no longer what it was, all are looked at again."""
        if _records(turns[: len(self._turns)]) != _records(self._turns):
            self._forget()
        for turn in turns[len(self._turns) :]:
            self._add(*turn)
        self._turns = turns
        return [*self._gains]

    def _add(self, thought: Thought, result: Result) -> None:
        beside, words = _beside(thought, result), _words(result)
        new = len(beside - self._beside) + len(words - self._words)
        self._gains.append(new / max(1, len(result["parts"])))
        self._beside |= beside
        self._words |= words


def _records(turns: Iterable[tuple[Thought, Result]]) -> list[int]:
    """By which the same turns are known, since a record is never changed in place."""
    return [*map(id, chain.from_iterable(turns))]


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
    return {word for word in _ENTITY.findall(as_json(result["output"]).lower()) if word not in STOP}
