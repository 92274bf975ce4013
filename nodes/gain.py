"""What a turn of reasoning brought that was new: entities of its result, and constraints of its thought.

Leaves out: meaning. A new name, number or word in a result is new; the same said in other words counts as well.
"""

import re
from collections.abc import Iterable, Mapping

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


def gains(thoughts: Iterable[Thought], results: Mapping[str, Result]) -> list[float]:
    """For each turn whose call came to a result: (new entities + new constraints) / calls that it made.

    A failed turn is not counted: failures have a limit of their own. The first result of a tool is always new.
    """
    seen: set[str] = set()
    found: list[float] = []
    for thought in thoughts:
        result = results.get(thought["step"])
        if result and result["status"] in FINISHED:
            new = _brought(thought, result) - seen
            seen |= new
            found.append(len(new) / max(1, len(result["parts"])))
    return found


def _brought(thought: Thought, result: Result) -> set[str]:
    limits = {" ".join(said.lower().split()) for said in _CONSTRAINT.findall(thought["text"])}
    if result["effect"] == "write":  # what it changed is new, however short its receipt
        return limits | {result["step"]}
    text = as_json(result["output"])
    asked = {f"tool {result['tool']}", *([result["call"]] if len(text) <= _LITTLE else [])}
    return limits | asked | {word for word in _ENTITY.findall(text.lower()) if word not in STOP}
