"""The ids of steps that undo others, and which steps have been undone."""

import re
from collections.abc import Mapping

from state.result import Result

UNDO = "undo_"


def undo_id(step: str, nth: int) -> str:
    """The id of the step that undoes a write; a step may have made several."""
    return f"{UNDO}{step}" + (f"-{nth}" if nth > 1 else "")


def is_undo(step: str) -> bool:
    """Whether a step undoes another."""
    return step.startswith(UNDO)


def undone_by(step: str, results: Mapping[str, Result]) -> list[str]:
    """The steps that have undone writes of this one."""
    own = re.compile(rf"{UNDO}{re.escape(step)}(-\d+)?")
    return [name for name, result in results.items() if own.fullmatch(name) and result["status"] == "done"]
