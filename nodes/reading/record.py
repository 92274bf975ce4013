"""What a reply was read as."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Call:
    """A call that a model asked for; `args` is None, with the problem in a sentence, where they could not be read."""

    name: str
    args: dict[str, Any] | None
    problem: str = ""
    id: str = ""
    raw: str = ""


@dataclass(frozen=True)
class Reading:
    """A reply, taken apart. `problem` is empty, or says in one sentence why there is neither text nor a call to use.

    `visible` is the text before calls written in it were taken out, `raw` is everything as it came.
    """

    text: str
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    finish: str | None = None
    refusal: str = ""
    raw: str = ""
    problem: str = ""
    visible: str = ""

    @property
    def cut(self) -> bool:
        """Whether the server stopped at its token limit."""
        return self.finish in CUT


CUT = ("length", "max_tokens", "MAX_TOKENS", "max_output_tokens")
"""Finish reasons of various servers that mean the token limit."""
