"""What a run has used so far."""

from typing_extensions import TypedDict


class RoleUsage(TypedDict):
    """What one role used; tokens and money are None as soon as one call did not say."""

    calls: int
    tokens_in: int | None
    tokens_out: int | None
    cached: int | None
    money: float | None


class Usage(TypedDict):
    """What the run used; `seconds` is time of work, without the time that people took to answer."""

    model_calls: int
    tool_calls: int
    tokens: int
    money: float
    seconds: float
    unknown_tokens: int
    unknown_money: int
    roles: dict[str, RoleUsage]


def no_usage() -> Usage:
    """The usage of a run that has not begun."""
    return {
        "model_calls": 0, "tool_calls": 0, "tokens": 0, "money": 0.0, "seconds": 0.0,
        "unknown_tokens": 0, "unknown_money": 0, "roles": {},
    }  # fmt: skip


def plus(a: float | None, b: float | None) -> float | None:
    """A sum in which unknown stays unknown."""
    return None if a is None or b is None else a + b
