"""Undo: a run that failed after writes lists what was done and offers to undo it, last first, on approval, each once.

Each undo is a write of its own: the compensation that the tool declares, through the same call path and journal.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable
from typing import Any

from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Send
from typing_extensions import TypedDict

from nodes.asking import Request as Ask
from nodes.asking import decision, undo_request
from nodes.board import Board
from nodes.drafting import new_steps
from nodes.failures import in_short
from nodes.recording import remembered
from nodes.run import Run, open_run, resumable
from nodes.steps import run_step
from nodes.typed_args import problems
from nodes.undone import is_undo, undo_id
from state.channels import Approvals, Events, Plans, Results
from state.context import Context
from state.errors import SetupError, ToolFailed, offer, shorten
from state.plain import plain
from state.plan import PlanDraft, StepDraft, digest
from state.report import Report
from state.request import Request
from state.result import Result, why
from state.stop import Stop
from state.usage import Usage
from tools.bounded import asked
from tools.journal import Entry
from tools.tool import Tool

_LEAST = 1.0
"""Seconds to say how a write is undone, also where the run has none left."""


class UndoInput(TypedDict):
    """What undoing reads."""

    request: Request
    plans: Plans
    results: Results
    approvals: Approvals
    report: Report | None
    usage: Usage


class UndoUpdate(TypedDict):
    """What undoing writes."""

    results: Results
    usage: Usage
    events: Events


async def offers(results: Results, approvals: Approvals, ended: Stop, run: Run) -> tuple[list[Ask], list[str]]:
    """What may be undone, the last write first, and why what is missing there can't be.

    Both are empty unless the run failed after writes whose tools have a `compensate`.
    """
    found = await remembered(run, "undo", lambda: _offers(results, approvals, ended, run)) or []
    return [one for one in found if not isinstance(one, str)], [one for one in found if isinstance(one, str)]


async def _offers(results: Results, approvals: Approvals, ended: Stop, run: Run) -> list[Ask | str]:
    made = {one["key"] for name, result in results.items() if not is_undo(name) for one in result.get("made", ())}
    if ended["kind"] not in ("failure", "budget") or not made:
        return []
    try:
        entries = await asyncio.to_thread(run.journal.entries, run.request["id"])
    except SetupError:
        return []
    nth: Counter[str] = Counter()
    due: list[Awaitable[Ask | str | None]] = []
    for entry in entries:
        nth[entry["step"]] += 1
        if entry["key"] in made:
            due.append(_offer(entry, undo_id(entry["step"], nth[entry["step"]]), run))
    found = reversed(await asyncio.gather(*due))
    return [one for one in found if isinstance(one, str) or (one and not decision(approvals, one))]


async def _offer(entry: Entry, name: str, run: Run) -> Ask | str | None:
    """The request for one undo, or why the tool can't say how; None where it does not claim to."""
    tool = run.tools.get(entry["tool"])
    if entry["state"] != "done" or not tool or not tool.compensate:
        return None
    seconds = min(tool.timeout, max(_LEAST, run.within(tool.timeout)))
    try:
        said = plain(await asked(tool.compensate, entry["args"], entry["output"], seconds=seconds))
        by, args = _compensation(said, run)
    except Exception as error:  # a tool's own fault; the write stays listed, undone by hand
        run.event("undo_unknown", step=entry["step"], reason=in_short(error))
        return f"step {entry['step']}: no undo of {entry['tool']} is offered, its compensate failed: {in_short(error)}"
    return undo_request(run, name, entry, by, args)


def _compensation(said: Any, run: Run) -> tuple[Tool, dict[str, Any]]:
    """The call that undoes a write, as its tool says it; raises `ToolFailed` for what can't be one."""
    match said:
        case [str(name), dict(args)]:
            known = run.tools.get(name)
        case _:
            raise ToolFailed(f"it gave {shorten(said)}; right would be a tool and its arguments")
    if known is None:
        raise ToolFailed(f"it names {name!r}, which is not in use; {offer(name, run.tools)}")
    if wrong := problems(args, known.args_schema, {}):
        raise ToolFailed(f"{name} can't be called so: {'; '.join(wrong[:3])}")
    return known, args


async def after_conclude(state: UndoInput) -> Any:
    """To a person for each undo that may be offered, last write first; else to the end."""
    asks = state["report"]["undo"] if state["report"] and resumable() else []
    return [Send("offer_undo", {"ask": ask, "request": state["request"]}) for ask in asks] or END


async def undo(state: UndoInput, runtime: Runtime[Context]) -> UndoUpdate:
    """Makes the undos that a person approved, one after the other, in the order they were offered."""
    run = open_run(state, runtime)
    run.meter.lifted = True
    asks = state["report"]["undo"] if state["report"] else []
    board = Board(state["results"], state["request"]["inputs"], run.context.home_folder())
    version = state["plans"][-1]["version"] if asks else 0
    for step in (step for plan in state["plans"] for step in plan["steps"]):
        board.line_up({**step, "version": version}, run.tools)  # an undo is not one of the plan's own equal writes
    made: dict[str, Result] = {}
    for ask in asks:
        answer = decision(state["approvals"], ask)
        if answer and answer["type"] != "reject":
            result = await _undone(ask, board, state, run)
            made[result["step"]] = result
            run.event(f"undo_{result['status']}", step=result["step"], reason=why(result))
    return {"results": made, "usage": run.meter.usage(), "events": run.events}


async def _undone(ask: Ask, board: Board, state: UndoInput, run: Run) -> Result:
    action = ask["action_requests"][0]
    draft = StepDraft(id=ask["step"], tool=action["name"], args=action["args"])
    version = state["plans"][-1]["version"]
    [step] = new_steps(PlanDraft(steps=[draft]), version, {}, run.tools)
    board.line_up(step, run.tools)
    undoes = ask.get("undoes")
    if undoes:
        board.keys[step["id"]] = digest([run.request["id"], "undo", undoes["key"], undoes["claimed"]])
    result = board.results[step["id"]] = await run_step(step, board, state["approvals"], run)
    if undoes and result["status"] == "done":
        try:
            await asyncio.to_thread(run.journal.undone, undoes["key"], undoes["claimed"])
        except SetupError as error:
            result["note"] = f"undone, but the journal could not note it: {error}"
    return result
