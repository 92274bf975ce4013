"""Runs a plan as data flow: a step starts the moment its inputs are there.

Every step's task is called up front in plan order and waits for its own inputs, since LangGraph knows a task by its
name and the order of calls: calling tasks as their parents finish would hand one step another's result on resume.
All tasks have one name, since every checkpoint holds every name that there was; whose result it is, the record says.
Leaves out: how one tool is run (`nodes/call.py`) and what the results are worth (`nodes/checker.py`).
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from nodes.ahead import Ahead, take_over
from nodes.board import Board, may_write
from nodes.downstream import no_longer_count
from nodes.plan_request import plan_to_agree
from nodes.run import Run, open_run
from nodes.steps import run_step
from nodes.tasks import start_step, start_task
from state.channels import Approvals, Asks, Counts, Events, Plans, Results
from state.context import Context
from state.plan import Step, needs, step_hash
from state.request import Request
from state.result import Result, why
from state.usage import Usage

OPEN = ("waiting", "unknown", "not_run")
"""Statuses that another round may change."""


class ExecuteInput(TypedDict):
    """What the executor reads."""

    request: Request
    plans: Plans
    results: Results
    approvals: Approvals
    counts: Counts
    usage: Usage


class ExecuteUpdate(TypedDict):
    """What the executor writes; `asks` holds the plan that a person must agree to first."""

    results: Results
    asks: Asks
    usage: Usage
    counts: Counts
    events: Events


async def execute(state: ExecuteInput, runtime: Runtime[Context]) -> ExecuteUpdate:
    """Runs the steps that are due, as many at once as their inputs and the concurrency limit allow."""
    run = open_run(state, runtime)
    if (held := plan_to_agree(state, run)) is not None:
        return {"results": {}, "asks": [held], "usage": run.meter.usage(), "counts": {}, "events": []}
    ahead = take_over(run)
    run.untrusted = state["plans"][-1]["untrusted"]
    steps = state["plans"][-1]["steps"]
    due = due_steps(steps, state["results"], run.context.reach)
    board = Board(state["results"], state["request"]["inputs"], run.context.home_folder(), steps, state["plans"][:-1])
    if any(may_write(step, run.tools) for step in due):
        for step in steps:  # those of earlier rounds keep their place in the line of writes
            board.line_up(step, run.tools)
    results = await run_steps(whole(due), board, state["approvals"], run, ahead)
    results |= _read_again(steps, {**state["results"], **results})
    counts = {"iterations": 1}
    return {"results": results, "asks": [], "usage": run.meter.usage(), "counts": counts, "events": run.events}


def due_steps(steps: list[Step], results: Mapping[str, Result], check_after: str) -> list[Step]:
    """Of the steps of a plan, those to run before the checker looks: all open, the next, or up to a critical one."""
    left = [step for step in steps if is_open(step, results)]
    if check_after == "step":
        waiting = {step["id"] for step in left}
        return list(islice((step for step in left if waiting.isdisjoint(needs(step))), 1)) or left[:1]
    if check_after == "critical":
        cut = next((n for n, step in enumerate(left) if step["critical"]), len(left))
        return left[: cut + 1]
    return left


def is_open(step: Step, results: Mapping[str, Result]) -> bool:
    """Whether a step still has to run."""
    return step["id"] not in results or results[step["id"]]["status"] in OPEN


def _read_again(steps: list[Step], results: dict[str, Result]) -> dict[str, Result]:
    """Evidence that had changed takes the place of the old; what was built on the old no longer counts."""
    fresh = {name: record for result in results.values() for name, record in result["fresh"].items()}
    return fresh | no_longer_count(steps, results, set(fresh), "which has changed")


async def whole(steps: list[Step]) -> AsyncIterator[Step]:
    """A finished plan as the stream of steps that the executor takes."""
    for step in steps:
        yield step


async def run_steps(
    source: AsyncIterator[Step], board: Board, answers: Mapping[str, Any], run: Run, ahead: Ahead | None = None
) -> dict[str, Result]:
    """Calls a task for every step as it comes, then waits for all of them; some have begun `ahead` of that."""
    futures: dict[str, asyncio.Future[Result]] = {}
    try:
        async for step in source:
            futures[step["id"]] = _start(step, board, answers, run, ahead)
            futures[step["id"]].add_done_callback(partial(_log, step["id"], run))  # when it ends, not in its turn
            board.expect(step, futures[step["id"]])
        return {name: await _settle(name, future, run) for name, future in futures.items()}
    finally:
        if ahead:
            await ahead.stop()


def _start(
    step: Step, board: Board, answers: Mapping[str, Any], run: Run, ahead: Ahead | None
) -> asyncio.Future[Result]:
    """The step's task; the kept result of another plan's step is not taken for its own."""
    board.line_up(step, run.tools)
    started, own = run.live, step_hash(step)
    begun = ahead.task_of(step["id"], own) if ahead else None

    async def body() -> Result:
        started.add(step["id"])
        return (await begun if begun else None) or await run_step(step, board, answers, run)

    kept = start_step(body)

    async def mine() -> Result:
        result = await kept
        if (result["step"], result["hash"]) == (step["id"], own):
            return result
        return await start_task(f"{step['id']}:{own}", body)

    return asyncio.ensure_future(mine())


def _log(name: str, run: Run, future: asyncio.Future[Result]) -> None:
    if not future.cancelled() and future.exception() is None:
        result = future.result()
        run.event(f"step_{result['status']}", step=name, reason=why(result), evidence=[result["tool"]])


async def _settle(name: str, future: asyncio.Future[Result], run: Run) -> Result:
    """A result; what an earlier process ran before it was killed is counted here."""
    result = await future
    if name not in run.live and result["attempts"]:
        run.meter.saw_tool_calls(result["attempts"])
        run.meter.saw_model(result["usage"], plan=run.plan_version)
    return result
