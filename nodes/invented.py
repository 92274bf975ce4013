"""Numbers in an answer that stand neither in the task nor in any result: nobody knows where they come from."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from state.result import FINISHED, Result
from tools.artefacts import as_json

_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?!\w)")
_LISTED = re.compile(r"^\s*\d+[.)、]\s", re.MULTILINE)


def invented_numbers(answer: Any, known: Iterable[Any], results: Mapping[str, Result]) -> list[str]:
    """The numbers of an answer that were never seen, as they stand in it; single digits count as words."""
    finished = [result for result in results.values() if result["status"] in FINISHED]
    if any(result["artefact"] for result in finished):
        return []  # what is not in state can't be looked through here
    said = dict.fromkeys(_NUMBER.findall(_LISTED.sub("", as_json(answer))))
    left = [number for number in said if len(number) > 1]
    for value in [*([result["output"], result["args"]] for result in reversed(finished)), *known]:
        if not left:  # most answers end with what the last steps gave
            return []
        seen = {_value(number) for number in re.findall(r"-?\d[\d,]*(?:\.\d+)?", as_json(value))}
        left = [number for number in left if not _known(number, seen)]
    return left


def _value(number: str) -> float:
    return abs(float(number.replace(",", "").rstrip(".") or 0))


def _known(number: str, seen: set[float]) -> bool:
    """Whether a number was seen, exactly, rounded to the digits that it is given with, or as a share."""
    value, digits = _value(number), len(number.partition(".")[2])
    return any(value in (one, round(one, digits), round(one * 100, digits)) for one in seen)
