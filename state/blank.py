"""What says nothing: an answer of spaces, of signs that nobody sees, or of empty parts."""

import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator

EMPTY = "the answer is empty; give what answers the task"
_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"}
_FILLERS = set("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs by their class that show as nothing."""


def says_nothing(text: str) -> bool:
    """Whether a text shows nothing."""
    return all(unicodedata.category(sign) in _UNSEEN or sign in _FILLERS for sign in text)


def _or_none(text: str | None) -> str | None:
    return None if text is None or says_nothing(text) else text


Reason = Annotated[str | None, AfterValidator(_or_none)]
"""A text of a model; one that says nothing is none."""


def is_blank(answer: Any, schema: Mapping[str, Any] | None = None) -> bool:
    """Whether an answer says nothing; an empty list or mapping may be what a schema asks for."""
    if isinstance(answer, str):
        return says_nothing(answer)
    if schema is not None or isinstance(answer, bool | int | float):
        return False
    parts = answer.values() if isinstance(answer, Mapping) else answer if isinstance(answer, list | tuple) else ()
    return all(map(is_blank, parts))
