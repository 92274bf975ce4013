"""Every failure and what was decided about it, as an event: retry, fallback, replan, ask, stop, go on."""

from collections.abc import Callable
from typing import Literal

from nodes.failures import classify, one_line
from nodes.run import Run
from state.errors import ToolFailed
from state.result import KIND, FailureClass

Decision = Literal["retry", "fallback", "replan", "ask", "stop", "go on"]


def decided(
    run: Run, decision: Decision, who: str, cls: FailureClass, message: str, *, step: str = "", more: str = ""
) -> None:
    """Logs a failure of a tool or of a role's model; its evidence is who failed, the kind, the class, and more."""
    evidence = [who, KIND[cls], cls, *([more] if more else [])]
    run.event("failure", step=step, reason=message, evidence=evidence, next=decision)


def retried(run: Run, who: str, step: str = "") -> Callable[[BaseException, float], None]:
    """What `retrying` tells before it waits and tries again."""

    def tell(error: BaseException, wait: float) -> None:
        message = str(error) if isinstance(error, ToolFailed) else one_line(error)
        decided(run, "retry", who, classify(error), message, step=step, more=f"after {wait:.1f} s")

    return tell
