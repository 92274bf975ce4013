"""What a turn of reasoning brought that was new: entities of its result, and constraints of its thought.

Leaves out: meaning. A new name, number or word in a result is new; the same said in other words counts as well.
"""

import re
from collections.abc import Iterable, Mapping

from nodes.offline.stopwords import STOP
from state.result import FINISHED, Result
from state.thought import Thought
from tools.artefacts import as_json

_ENTITY = re.compile(r"\d+(?:[.,:/-]\d+)*|[A-Za-z][\w'-]{2,}|[\u3400-\u9fff]{2,}")
_CONSTRAINT = re.compile(
    r"\b(?:must|at (?:most|least)|no more than|no less than|only if|unless|before|after|within|not allowed)\b[^.;\n]*"
    r"|(?:必须|不得|至少|至多|不超过|不少于|除非|之前|之后|以内|只有)[^。；\n]*",
    re.IGNORECASE,
)


def gains(thoughts: Iterable[Thought], results: Mapping[str, Result]) -> list[float]:
    """For each turn that has run: (new entities + new constraints) / turns so far."""
    seen: set[str] = set()
    found: list[float] = []
    for thought in thoughts:
        if thought["step"] in results:
            new = _brought(thought, results[thought["step"]]) - seen
            seen |= new
            found.append(len(new) / (len(found) + 1))
    return found


def _brought(thought: Thought, result: Result) -> set[str]:
    limits = {" ".join(said.lower().split()) for said in _CONSTRAINT.findall(thought["text"])}
    if result["status"] not in FINISHED:
        return limits
    if result["effect"] == "write":  # what it changed is new, however short its receipt
        return limits | {result["step"]}
    words = (word.lower() for word in _ENTITY.findall(as_json(result["output"])))
    return limits | {word for word in words if word not in STOP}
