"""When tools are tried, taken out and brought back, and the events about it: `tool_out` and `tool_back`.

A tool that is out is refused at once and hidden from the planner. When its rest is over its probe decides, or where
it has none the next call; others wait for what that shows. Leaves out: the counting (`tools/health.py`).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from nodes.calls import Call
from nodes.failures import classify, in_short
from nodes.recording import remembered
from nodes.run import Run
from state.errors import BudgetSpent, ToolFailed
from state.result import FailureClass
from tools.catalogue import Catalogue
from tools.health import ANSWERED, Breaker, breaker_of, health, probe, saw_answer, saw_failure
from tools.tool import Tool

_POLL = 0.05


class ToolOut(ToolFailed):
    """The call was not made, since the tool is taken out."""

    may_retry = False


async def offered(run: Run) -> Catalogue:
    """The tools to plan with: all but those that are out; those that are due and have a probe are asked."""
    if not run.context.breaker:
        return run.tools
    due = [tool for tool in run.tools.values() if tool.probe and health(tool) == "due" and not run.replay]
    await asyncio.gather(*[_ask(tool, run) for tool in due])
    away = await remembered(run, "tools out", lambda: _away(run)) or {}
    return Catalogue((tool for tool in run.tools.values() if tool.name not in away), away)


def _away(run: Run) -> dict[str, str]:
    return {tool.name: why for tool in run.tools.values() if (why := out(tool, run))}


async def _ask(tool: Tool, run: Run) -> None:
    breaker = breaker_of(tool)
    if breaker and breaker.lock.acquire(blocking=False):  # else a call is trying it at this moment
        try:
            await _probed(tool, run)
        finally:
            breaker.lock.release()


def out(tool: Tool, run: Run) -> str:
    """Why a call of a tool would be refused at this moment, or an empty text."""
    breaker = breaker_of(tool) if run.context.breaker and not run.replay else None
    return breaker.words(tool.name) if breaker and breaker.health() == "out" else ""


@asynccontextmanager
async def watched(planned: Call, run: Run) -> AsyncIterator[None]:
    """Around one try of a tool: refused with `ToolOut` while it is out; what comes of it counts."""
    tool, step = planned.tool, planned.step["id"]
    async with _turn(tool, run, step):
        try:
            yield
        except BudgetSpent:
            raise
        except Exception as error:
            _failed(tool, run, classify(error), in_short(error), step)
            raise
        _answered(tool, run, step)


@asynccontextmanager
async def _turn(tool: Tool, run: Run, step: str) -> AsyncIterator[None]:
    """Lets everybody through to a tool that is in, and one at a time to one that is due."""
    breaker = breaker_of(tool) if run.context.breaker else None
    if breaker is None or not await _held(breaker):
        if why := out(tool, run):
            raise ToolOut(why, "transient")
        yield
        return
    try:
        if not await _probed(tool, run, step):
            raise ToolOut(breaker.words(tool.name), "transient")
        yield
    finally:
        breaker.lock.release()


async def _held(breaker: Breaker) -> bool:
    """Waits while another call tries the tool; True when it is this call's turn to try it, with the lock held."""
    while breaker.health() == "due":
        if breaker.lock.acquire(blocking=False):
            return True
        await asyncio.sleep(_POLL)
    return False


async def _probed(tool: Tool, run: Run, step: str = "") -> bool:
    """Asks the probe; a tool that has none is neither brought back nor taken out by it."""
    if tool.probe is None:
        return True
    if why := await probe(tool):
        _failed(tool, run, "transient", f"probe: {why}", step)
        return False
    _answered(tool, run, step)
    return True


def _failed(tool: Tool, run: Run, cls: FailureClass, message: str, step: str) -> None:
    seconds = run.context.breaker_seconds
    if cls in ANSWERED:
        _answered(tool, run, step)
    elif taken := saw_failure(tool, cls, message, run.context.breaker, seconds):
        evidence = [tool.name, cls, taken.failures]
        run.event("tool_out", step=step, reason=taken.why, evidence=evidence, next=f"tried again in {seconds:g} s")


def _answered(tool: Tool, run: Run, step: str) -> None:
    if saw_answer(tool):
        run.event("tool_back", step=step, reason=f"{tool.name} answers again", evidence=[tool.name])
