"""What is there of a JSON value that is still coming, and whether it is whole; its last text or number may still grow.

For showing progress and for starting on steps that are complete; a value that is not whole is never used as if it were.
"""

import re
from dataclasses import dataclass
from typing import Any

import jiter

from nodes.reading.values import read_value, sound

_FENCE_BEGINS = re.compile(r"\s*(?:`{3,}|~{3,})[ \t]*\w*[ \t]*\r?\n")


@dataclass(frozen=True)
class Prefix:
    """A value, and whether the text held all of it."""

    value: Any
    whole: bool


def read_prefix(text: str) -> Prefix:
    """The value so far; raises `ValueError` where the text can't be the beginning of one."""
    try:
        return Prefix(read_value(text), True)
    except ValueError as error:
        begun = _FENCE_BEGINS.sub("", text, count=1).strip()
        if begun[:1] not in ("{", "["):
            raise error from None
    return Prefix(sound(_begun(begun.encode("utf-8", "replace"))), False)


def _begun(text: bytes) -> Any:
    """What has come; jiter alone would also take a fault in the middle for an end, so its strict reader looks first."""
    try:
        jiter.from_json(text, allow_inf_nan=False)
    except ValueError as fault:
        if not str(fault).startswith("EOF while parsing"):
            raise ValueError(f"not the beginning of a JSON value: {fault}") from None
    return jiter.from_json(text, partial_mode="trailing-strings", allow_inf_nan=False)
