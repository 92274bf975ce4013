"""A call as planned and what became of it: what `call`, `writes` and `steps` hand to each other."""

from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nodes.asking import Request
from nodes.failures import classify, in_short
from nodes.places import Places, fingerprint
from nodes.typed_args import problems
from state.errors import BudgetSpent, shorten
from state.plan import Step, canonical
from state.result import Failure, Made, Status, failure
from tools.bounded import asked
from tools.tool import Tool

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
        await asked(tool.refuse, deepcopy(dict(args)), seconds=tool.timeout)
    except Exception as error:
        return failure(classify(error), in_short(error))
    return None


def failed(planned: Call, error: Exception, attempts: int) -> Outcome:
    """A call that raised; a spent budget is no failure of the call and goes on up."""
    if isinstance(error, BudgetSpent):
        raise error
    reason, lacks = failure(classify(error), in_short(error)), getattr(error, "argument", "")
    return Outcome("failed", planned.args, failure=reason, attempts=attempts, lacks=lacks)


def error_in(output: Any) -> str:
    """The message of an output that is only an error, as many services answer instead of failing."""
    if isinstance(output, Mapping) and output.get("error") and set(output) <= {"error", "code", "status", "message"}:
        return shorten(canonical(output["error"]) if not isinstance(output["error"], str) else output["error"], 300)
    return ""
