"""From what kept a node from its work to the stop that it proposes; `decide` takes it up."""

from nodes.contract import IGNORED
from nodes.plan_check import Finding
from nodes.repeats import REPEATS
from nodes.run import Run
from state.errors import BudgetSpent, ModelFailed
from state.stop import Stop, StopReason, limit_reason, stop

BLANK = "blank_answer"
RULES = {"forbidden_tool", "untrusted_write", "constraint", "refused"}
"""Findings that say no to what a plan is about, not to how it is written."""


def trouble_with(doing: str, error: BudgetSpent | ModelFailed) -> Stop:
    """The stop that a spent budget or a model that failed leads to."""
    if isinstance(error, BudgetSpent):
        return stop(limit_reason(error.limit), f"while {doing}: {error}")
    reason = StopReason.UNUSABLE_REPLY if error.failure == "unusable_reply" else StopReason.MODEL_FAILED
    return stop(reason, str(error), [error.raw[:300]] if error.raw else [])


def say_ruled_out(findings: list[Finding], run: Run) -> None:
    """Logs what a rule forbids of a plan or a turn that goes back: what comes in its place would hide it."""
    for found in findings:
        if found["code"] in RULES:
            run.event("ruled_out", step=found["step"], reason=found["message"], evidence=[found["code"]])


def given_up(why: str, findings: list[Finding]) -> Stop:
    """The planner knows no way: where only a rule stands in the way of the last plan, that is the reason."""
    codes = {finding["code"] for finding in findings}
    ruled = codes == {"too_many_steps"} or codes <= RULES
    return invalid(findings) if codes and ruled else stop(StopReason.CANNOT_BE_DONE, why)


def invalid(findings: list[Finding]) -> Stop:
    """The stop where findings stay after they went back as often as they may."""
    codes = {finding["code"] for finding in findings}
    messages = [finding["message"] for finding in findings]
    if codes == {"empty_plan"}:
        return stop(StopReason.PLAN_EMPTY, "the planner gave no steps and no reason", messages)
    if codes == {"too_many_steps"}:
        return stop(StopReason.STEPS, messages[0], messages)
    if codes == {IGNORED}:
        return stop(StopReason.NO_PROGRESS, f"no new evidence: {messages[0]}", messages)
    if codes == {BLANK}:
        return stop(StopReason.UNUSABLE_REPLY, messages[0], messages)
    if codes == {REPEATS}:
        return stop(StopReason.NO_PROGRESS, messages[0], messages)
    if codes <= RULES:
        return stop(StopReason.BLOCKED, f"the plan needs what is not allowed: {messages[0]}", messages)
    return stop(StopReason.PLAN_INVALID, f"no runnable plan: {messages[0]}", messages)
