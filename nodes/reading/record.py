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
    """A reply, taken apart. `problem` is empty, or why there is neither text nor a call to use; then `text` is empty.

    `visible` is the text with calls in it that have no mark, which may be data; `raw` is everything as it came.
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
        return (self.finish or "").lower() in CUT

    @property
    def filtered(self) -> bool:
        """Whether a content filter stopped the reply."""
        return (self.finish or "").lower() in FILTERED


CUT = ("length", "max_tokens", "max_output_tokens", "max_length", "token_limit")
"""Finish reasons of various servers that mean the token limit."""
FILTERED = (
    "content_filter",
    "contentfilter",
    "content_filtered",
    "sensitive",
    "safety",
    "prohibited_content",
    "blocklist",
)
"""Finish reasons of various servers that mean: not allowed to say this."""
