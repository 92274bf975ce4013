"""A call as planned and what became of it: what `call`, `writes` and `steps` hand to each other."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nodes.asking import Request
from nodes.failures import classify, one_line
from state.errors import BudgetSpent, ToolFailed
from state.plan import Step, digest
from state.result import Failure, Status, failure
from tools.tool import Tool

Recheck = Callable[[], Awaitable[str]]
"""Asked right before a write: why it must not run on what was read earlier, or an empty text."""


@dataclass(frozen=True)
class Call:
    """One call as planned, with resolved arguments; `earlier` are the fingerprints of the writes before it."""

    step: Step
    tool: Tool
    args: dict[str, Any]
    answers: Mapping[str, Any]
    earlier: tuple[str, ...] = ()
    part: int | None = None
    recheck: Recheck | None = None

    @property
    def fingerprint(self) -> str:
        """The same for every call of this tool with these arguments."""
        return digest([self.tool.name, self.args])


@dataclass(frozen=True)
class Outcome:
    """What became of a call; `request` is what a person must answer first."""

    status: Status
    args: dict[str, Any]
    output: Any = None
    failure: Failure | None = None
    attempts: int = 0
    note: str = ""
    request: Request | None = None


def failed(planned: Call, error: Exception, attempts: int) -> Outcome:
    """A call that raised; a spent budget is no failure of the call and goes on up."""
    if isinstance(error, BudgetSpent):
        raise error
    message = str(error) if isinstance(error, ToolFailed) else one_line(error)
    return Outcome("failed", planned.args, failure=failure(classify(error), message), attempts=attempts)
