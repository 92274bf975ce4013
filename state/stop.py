"""Why a run ended: one enum for every pattern."""

from enum import StrEnum
from typing import Literal

from typing_extensions import TypedDict

from state.masking import without_keys
from state.plain import clean_text

StopKind = Literal["success", "failure", "budget", "pause"]


class StopReason(StrEnum):
    """Each reason with its kind and the exit code of the command."""

    kind: StopKind
    exit_code: int

    def __new__(cls, value: str, kind: StopKind, exit_code: int) -> "StopReason":
        """Carries kind and exit code on the member."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.kind, member.exit_code = kind, exit_code
        return member

    DONE = "done", "success", 0
    PLANNED = "planned", "success", 0
    CANNOT_BE_DONE = "cannot_be_done", "failure", 10
    PLAN_INVALID = "plan_invalid", "failure", 11
    PLAN_EMPTY = "plan_empty", "failure", 12
    UNUSABLE_REPLY = "unusable_reply", "failure", 13
    MODEL_FAILED = "model_failed", "failure", 14
    STEPS_FAILED = "steps_failed", "failure", 15
    NOT_ACCEPTED = "not_accepted", "failure", 16
    NO_PROGRESS = "no_progress", "failure", 17
    REJECTED = "rejected", "failure", 18
    BLOCKED = "blocked", "failure", 19
    UNVERIFIED = "unverified", "failure", 20
    FAILURES = "failures", "budget", 30
    REPLANS = "replans", "budget", 31
    ITERATIONS = "iterations", "budget", 32
    SAME_CALL = "same_call", "budget", 33
    STEPS = "steps", "budget", 34
    REFLECTIONS = "reflections", "budget", 35
    ATTEMPTS = "attempts", "budget", 36
    TOKENS = "tokens", "budget", 37
    MONEY = "money", "budget", 38
    SECONDS = "seconds", "budget", 39
    MODEL_CALLS = "model_calls", "budget", 40
    TOOL_CALLS = "tool_calls", "budget", 41
    QUESTIONS = "questions", "budget", 43
    RECURSION_LIMIT = "recursion_limit", "budget", 44
    NEEDS_APPROVAL = "needs_approval", "pause", 50
    NEEDS_INPUT = "needs_input", "pause", 51
    CONFLICT = "conflicting_evidence", "pause", 52
    PENDING_RECONCILE = "pending_reconcile", "pause", 53
    INTERRUPTED = "interrupted", "pause", 130
    STOP_CONDITION = "stop_condition", "budget", 42


class Stop(TypedDict):
    """A stop with what speaks for it; `evidence` names steps, findings or counts."""

    kind: StopKind
    reason: str
    message: str
    evidence: list[str]


_OWN_CODES: dict[StopKind, int] = {"success": 0, "failure": 21, "budget": 42, "pause": 54}
"""Exit codes of a condition of the user's own, who says of which kind its end is."""


def stop(reason: StopReason, message: str, evidence: list[str] | None = None) -> Stop:
    """Builds a stop record; its kind follows from its reason."""
    told = clean_text(without_keys(message))
    return {"kind": reason.kind, "reason": reason.value, "message": told, "evidence": evidence or []}


def exit_code(ended: Stop) -> int:
    """The exit code of the command for this end."""
    own = ended["reason"] == StopReason.STOP_CONDITION
    return _OWN_CODES[ended["kind"]] if own else limit_reason(ended["reason"]).exit_code


def limit_reason(limit: str) -> StopReason:
    """The reason that goes with a limit's name."""
    return next(reason for reason in StopReason if reason.value == limit)
