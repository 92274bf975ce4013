"""What a run has used so far."""

from typing import Any

from typing_extensions import TypedDict


class RoleUsage(TypedDict):
    """What one role, step or version of the plan used; None as soon as one call did not say.

    `cached` tokens are a part of those in, `reasoning` tokens of those out.
    """

    calls: int
    tokens_in: int | None
    tokens_out: int | None
    cached: int | None
    reasoning: int | None
    money: float | None


class Usage(TypedDict):
    """What the run used; `seconds` is time of work, without the time that people took to answer.

    The calls of models are also told apart by role and by version of the plan; what a step used is in its result.
    `largest` is the most tokens, money and seconds that one call of a model took.
    """

    model_calls: int
    tool_calls: int
    retries: int
    tokens: int
    money: float
    seconds: float
    unknown_tokens: int
    unknown_money: int
    roles: dict[str, RoleUsage]
    plans: dict[str, RoleUsage]
    largest: dict[str, float]


class ReportedUsage(Usage):
    """What the report says: also what each step used that asked a model."""

    steps: dict[str, RoleUsage]


def no_usage() -> Usage:
    """The usage of a run that has not begun."""
    return {
        "model_calls": 0, "tool_calls": 0, "retries": 0, "tokens": 0, "money": 0.0, "seconds": 0.0,
        "unknown_tokens": 0, "unknown_money": 0, "roles": {}, "plans": {}, "largest": {},
    }  # fmt: skip


def no_calls() -> RoleUsage:
    """The usage of nothing yet."""
    return {"calls": 0, "tokens_in": 0, "tokens_out": 0, "cached": 0, "reasoning": 0, "money": 0.0}


def added(one: RoleUsage, more: RoleUsage) -> RoleUsage:
    """Both together."""
    both: Any = {name: plus(one[name], more[name]) for name in one}  # type: ignore[literal-required]
    return both  # type: ignore[no-any-return]


def plus(a: float | None, b: float | None) -> float | None:
    """A sum in which unknown stays unknown."""
    return None if a is None or b is None else a + b
