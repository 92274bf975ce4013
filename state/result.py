"""What became of a step: its status, output, failure and cost."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from state.asked import Asked
from state.masking import without_keys
from state.plain import clean_text
from state.usage import RoleUsage

Status = Literal["done", "degraded", "failed", "blocked", "skipped", "waiting", "unknown", "not_run"]
"""degraded: a fallback stands in; waiting: a person must approve; unknown: nobody knows what became of a write."""

FailureKind = Literal["input", "tool", "plan", "result"]
FailureClass = Literal[
    "missing_input",
    "invalid_arguments",
    "transient",
    "rate_limit",
    "timeout",
    "auth",
    "not_found",
    "bad_request",
    "too_long",
    "content_policy",
    "permanent",
    "unknown_outcome",
    "policy",
    "rejected",
    "unusable_reply",
    "bad_reference",
    "stale",
    "upstream",
    "budget",
    "cancelled",
    "acceptance",
]

KIND: dict[FailureClass, FailureKind] = {
    "missing_input": "input", "rejected": "input",
    "invalid_arguments": "plan", "bad_reference": "plan", "policy": "plan", "upstream": "plan", "stale": "plan",
    "acceptance": "result",
    "transient": "tool", "rate_limit": "tool", "timeout": "tool", "auth": "tool", "not_found": "tool",
    "bad_request": "tool", "too_long": "tool", "content_policy": "tool",
    "permanent": "tool", "unknown_outcome": "tool", "unusable_reply": "tool", "budget": "tool", "cancelled": "tool",
}  # fmt: skip
"""The kinds of failure and their ways on: input: ask; tool: retry or fall back; plan: replan; result: revise."""

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
    by: Literal["code", "model", "person"]


UNMADE = "a person's word stands as the result, the call was not made"
"""The note of a call that a person answered instead."""


class Made(TypedDict):
    """A write that was made, or found made or begun: `call` is its fingerprint, `key` its key in the journal.

    `nth` says which of the equal writes of its request it is.
    """

    call: str
    nth: int
    key: str


class Part(TypedDict):
    """One item of a map step."""

    index: int
    status: Status
    output: Any
    failure: Failure | None


class Result(TypedDict):
    """The record of one step as it ran; `started` and `ended` are seconds since the epoch.

    `args` are the resolved arguments as shown (long texts shortened); `call` is the fingerprint of tool and full
    arguments, `calls` those of the calls that were really made: one, or one for each part of a map step.
    `made` holds the writes among them that were made, or whose outcome is unknown; results from before have none.
    `digest` is the fingerprint of the whole output; `fresh` holds evidence that was read again and had changed.
    `requests` are what a person must answer before the step can go on; `usage` is what its calls of models used.
    """

    step: str
    hash: str
    plan_version: int
    tool: str
    args: dict[str, Any]
    call: str
    calls: list[str]
    made: NotRequired[list[Made]]
    effect: Literal["read", "write"]
    status: Status
    output: Any
    artefact: str | None
    digest: str
    failure: Failure | None
    checks: list[Check]
    parts: list[Part]
    attempts: int
    started: float
    ended: float
    slow: bool
    note: str
    requests: list[Asked]
    fresh: dict[str, Any]
    usage: RoleUsage


def failure(cls: FailureClass, message: str) -> Failure:
    """Builds a failure record, without secrets in it; its kind follows from its class."""
    return {"kind": KIND[cls], "cls": cls, "message": clean_text(without_keys(message))}


def why(result: Result) -> str:
    """What there is to say about how a step came out."""
    return result["failure"]["message"] if result["failure"] else result["note"]


def is_finished(step: str, results: Mapping[str, Result]) -> bool:
    """Whether a step has a result that others may build on."""
    return step in results and results[step]["status"] in FINISHED
