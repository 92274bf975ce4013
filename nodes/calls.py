"""A call as planned and what became of it: what `call`, `writes` and `steps` hand to each other."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nodes.asking import Request
from nodes.failures import classify, one_line
from nodes.places import Places, fingerprint
from nodes.typed_args import problems
from state.errors import BudgetSpent, ToolFailed
from state.plan import Step
from state.result import Failure, Made, Status, failure
from tools.tool import Tool

_LEAVE = 0.5
"""Seconds that cancelled work gets to end."""
Recheck = Callable[[], Awaitable[str]]
"""Asked right before a write: why it must not run on what was read earlier, or an empty text."""


@dataclass(frozen=True)
class Call:
    """One call as planned, with resolved arguments.

    `places` are those of other writes; a read, and a call outside a plan, needs none.
    """

    step: Step
    tool: Tool
    args: dict[str, Any]
    answers: Mapping[str, Any]
    part: int | None = None
    recheck: Recheck | None = None
    places: Places | None = None
    key: str = ""
    """The key in the journal of a write that has one of its own: an undo."""

    @cached_property
    def fingerprint(self) -> str:
        """The same for every call of this tool with these arguments."""
        return fingerprint(self.tool, self.args)

    @cached_property
    def misfits(self) -> list[str]:
        """What is wrong with the arguments by the tool's schema; looked at again where a person has changed them."""
        return problems(self.args, self.tool.args_schema, {})

    async def nth(self) -> int:
        """Which of several equal writes this is, from 1."""
        return await self.places.nth(self.tool, self.args) if self.places else 1

    @property
    def own_args(self) -> dict[str, Any]:
        """The arguments as the tool may keep or change them: results of other steps may be in them."""
        return deepcopy(self.args)


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
    made: list[Made] = field(default_factory=list)
    lacks: str = ""
    """The argument that the tool says is missing."""


async def refusal(tool: Tool, args: Mapping[str, Any]) -> Failure | None:
    """What the tool has against these arguments before anything is done with them."""
    if tool.refuse is None:
        return None
    try:
        await asyncio.to_thread(tool.refuse, deepcopy(dict(args)))
    except Exception as error:
        return failure(classify(error), one_line(error) if not isinstance(error, ToolFailed) else str(error))
    return None


def failed(planned: Call, error: Exception, attempts: int) -> Outcome:
    """A call that raised; a spent budget is no failure of the call and goes on up."""
    if isinstance(error, BudgetSpent):
        raise error
    message = str(error) if isinstance(error, ToolFailed) else one_line(error)
    reason, lacks = failure(classify(error), message), getattr(error, "argument", "")
    return Outcome("failed", planned.args, failure=reason, attempts=attempts, lacks=lacks)


async def bounded(work: Awaitable[Any], seconds: float) -> Any:
    """What a tool's work gives in time; work that does not let itself be cancelled is left behind.

    What it raises stays a failure of that tool, also a cancellation of its own or a SystemExit.
    """
    task = asyncio.ensure_future(_contained(work))
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # nobody asks one that is left
    try:
        await asyncio.wait({task}, timeout=seconds)
        if task.done():
            return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=_LEAVE)
    raise TimeoutError


async def _contained(work: Awaitable[Any]) -> Any:
    try:
        return await work
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():  # it is the run that is cancelled, or the time-out
            raise
        raise ToolFailed("the tool cancelled itself", "cancelled", nothing_happened=False) from error
    except Exception:
        raise
    except BaseException as error:
        raise ToolFailed(one_line(error), nothing_happened=False) from error
