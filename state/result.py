"""What became of a step: its status, output, failure and cost."""

from typing import Any, Literal

from typing_extensions import TypedDict

Status = Literal["done", "degraded", "failed", "blocked", "skipped", "waiting", "unknown", "not_run"]
"""degraded: the fallback's output stands in; waiting: a person must approve; unknown: a write whose outcome nobody knows."""

FailureKind = Literal["input", "tool", "plan", "result"]
FailureClass = Literal[
    "missing_input",
    "invalid_arguments",
    "transient",
    "rate_limit",
    "timeout",
    "auth",
    "not_found",
    "permanent",
    "unknown_outcome",
    "policy",
    "rejected",
    "unusable_reply",
    "bad_reference",
    "upstream",
    "budget",
    "cancelled",
    "acceptance",
]

KIND: dict[FailureClass, FailureKind] = {
    "missing_input": "input",
    "invalid_arguments": "plan",
    "bad_reference": "plan",
    "policy": "plan",
    "upstream": "plan",
    "rejected": "input",
    "acceptance": "result",
} | dict.fromkeys(
    (
        "transient", "rate_limit", "timeout", "auth", "not_found", "permanent",
        "unknown_outcome", "unusable_reply", "budget", "cancelled",
    ),
    "tool",
)  # fmt: skip
"""The four kinds of failure, each with its own way on: input -> ask; tool -> retry or fall back; plan -> replan; result -> revise."""

RETRYABLE: frozenset[FailureClass] = frozenset({"transient", "rate_limit", "timeout"})
FINISHED: frozenset[Status] = frozenset({"done", "degraded"})


class Failure(TypedDict):
    """Why something failed, in a form that a replanner can act on."""

    kind: FailureKind
    cls: FailureClass
    message: str


class Check(TypedDict):
    """One acceptance condition and how it came out."""

    condition: str
    outcome: Literal["passed", "failed", "unverified"]
    evidence: str
    by: Literal["code", "model"]


class Part(TypedDict):
    """One item of a map step."""

    index: int
    status: Status
    output: Any
    failure: Failure | None


class Spend(TypedDict):
    """What a step used; times in seconds, money in the currency of the price table, None where unknown."""

    model_calls: int
    tool_calls: int
    tokens_in: int | None
    tokens_out: int | None
    money: float | None


class Result(TypedDict):
    """The record of one step as it ran; `started` and `ended` are seconds since the epoch."""

    step: str
    hash: str
    plan_version: int
    tool: str
    args: dict[str, Any]
    effect: Literal["read", "write"]
    status: Status
    output: Any
    artefact: str | None
    failure: Failure | None
    checks: list[Check]
    parts: list[Part]
    attempts: int
    started: float
    ended: float
    slow: bool
    note: str
    request: dict[str, Any] | None
    spend: Spend


def failure(cls: FailureClass, message: str) -> Failure:
    """Builds a failure record; its kind follows from its class."""
    return {"kind": KIND[cls], "cls": cls, "message": message}


def nothing_spent() -> Spend:
    """A spend of zero."""
    return {"model_calls": 0, "tool_calls": 0, "tokens_in": 0, "tokens_out": 0, "money": 0.0}
