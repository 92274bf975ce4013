"""One step of a plan: wait, resolve, call, accept, fall back; and the parts of a map step."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, TypeVar

from nodes.acceptance import accepted
from nodes.board import Board
from nodes.call import call
from nodes.calls import Call, Outcome, Recheck
from nodes.decisions import decided
from nodes.failures import one_line
from nodes.lease import stale
from nodes.parts import run_parts
from nodes.places import Places, fingerprint
from nodes.questions import NOT_ASKED, ask_about, call_or_ask
from nodes.records import blank, keep_output, shown
from nodes.run import Run
from state.clock import now
from state.errors import BudgetSpent, InputError, ReferenceMissing, shorten
from state.plan import Step, digest, needs
from state.result import FINISHED, Check, Failure, Part, Result, Status, failure, why
from state.usage import RoleUsage, added, no_calls
from tools.artefacts import load
from tools.tool import Tool

T = TypeVar("T")
MOST_PARTS = 10_000
"""Items that one step goes over."""
FAULT = "internal fault"
"""How the failure of a step begins that is ours."""


async def run_step(step: Step, board: Board, answers: Mapping[str, Any], run: Run) -> Result:
    """The record of one step; whatever goes wrong is in it, since an exception would stop the others."""
    await board.settled(needs(step) if step["effect"] == "read" else [*board.below(step), *board.before(step)])
    record = blank(step)
    if held := await board.held(step):
        record["status"], record["failure"], record["note"] = held
        return _told(record, run)
    try:
        await _fill(record, step, board, answers, run)
    except ReferenceMissing as error:
        _fail(record, failure("bad_reference", str(error)))
    except BudgetSpent as spent:
        record["status"], record["failure"] = "not_run", failure("budget", f"{spent.limit}: {spent}")
    except InputError as error:  # a resume with other tools than the plan was made with
        _fail(record, failure("not_found", f"the plan needs what this run does not have: {error}"))
    except Exception as error:  # a fault of ours is still a result, or its dependants would wait for ever
        _fail(record, failure("permanent", f"{FAULT}: {one_line(error)}"))
    record["usage"] = _used(step["id"], board, run)
    record["ended"] = now()
    record["slow"] = record["ended"] - record["started"] > run.context.slow_step
    if record["status"] == "failed":
        run.meter.saw_failure()
    return _told(record, run)


def _used(name: str, board: Board, run: Run) -> RoleUsage:
    """What the step's calls of models used, in this round and in those that had to wait."""
    before = board.results.get(name)
    return added(before["usage"] if before else no_calls(), run.meter.of_step(name))


def _told(record: Result, run: Run) -> Result:
    if run.telemetry:
        run.telemetry.step_ended(run, record)
    return record


def _begin(record: Result, run: Run) -> None:
    """The step runs from now on: neither the wait for its inputs nor that for a slot counts as its time."""
    record["started"] = now()
    run.show("step_started", step=record["step"], evidence=[record["tool"]])


def _fail(record: Result, reason: Failure) -> None:
    record["status"], record["failure"] = "failed", reason


async def _fill(record: Result, step: Step, board: Board, answers: Mapping[str, Any], run: Run) -> None:
    """Runs the step and puts what came of it into its record."""
    output: Any = None
    judged: list[Check] = []
    if (before := _fallback_in_question(step, board)) is not None:
        _fail(record, before)
    elif (asked := _result_in_question(step, board)) is not None:
        output, judged = await _take_up(record, asked, run)
    elif step["each"]:
        output = await _map(record, step, board, answers, run)
    else:
        output = await _single(record, step, board, answers, run)
    if record["status"] in FINISHED:
        record["checks"] = [*(await accepted(step["accept"], output, board.given)), *judged]
        if bad := [check for check in record["checks"] if check["outcome"] == "failed"]:
            _fail(record, failure("acceptance", f"not accepted: {bad[0]['condition']} ({bad[0]['evidence']})"))
            if step["on_failure"] == "ask":
                output = ask_about(record, output, run.tools[step["tool"]], answers, run)
    if record["status"] == "failed" and _may_fall_back(step, record):
        output = await _fall_back(record, step, board, answers, run)
    await keep_output(record, output, run)


async def _single(record: Result, step: Step, board: Board, answers: Mapping[str, Any], run: Run) -> Any:
    tool, args = run.tools[step["tool"]], await board.resolve(step["args"])
    lease, key = _lease(record, step, board, run), board.keys.get(step["id"], "")
    planned = Call(step, tool, args, answers, recheck=lease, places=Places(board, step), key=key)
    run.meter.before_step(planned.fingerprint, step=step["id"], had_begun=run.had_begun(step["id"]))
    async with run.slots:
        _begin(record, run)
        outcome = await call_or_ask(planned, run)
    record["call"] = planned.fingerprint
    _take(record, outcome, tool, planned)
    return outcome.output


def _lease(record: Result, step: Step, board: Board, run: Run) -> Recheck:
    """What a write asks at the last moment: whether what it rests on is still so."""

    async def recheck() -> str:
        why_stale, fresh = await stale(step, board, run)
        record["fresh"].update(fresh)
        return why_stale

    return recheck


def _take(record: Result, outcome: Outcome, tool: Tool, planned: Call | None = None) -> None:
    record["status"], record["failure"], record["note"] = outcome.status, outcome.failure, outcome.note
    record["attempts"] += outcome.attempts
    record["args"] = shown(outcome.args)
    same = planned is not None and outcome.args is planned.args
    record["calls"].append(planned.fingerprint if planned and same else fingerprint(tool, outcome.args))
    record["made"] += outcome.made
    if outcome.request:
        record["requests"].append(outcome.request)


async def _map(record: Result, step: Step, board: Board, answers: Mapping[str, Any], run: Run) -> Any:
    """Runs the step once for every item; each part has its own result and its own task."""
    items = await board.resolve(step["each"])
    if not isinstance(items, list):
        raise ReferenceMissing(str(step["each"]), f"`each` needs a list, there is {shorten(items)}")
    if len(items) > MOST_PARTS:
        most = f"a step goes over at most {MOST_PARTS:,}; right would be a tool that takes the list, or a part of it"
        raise ReferenceMissing(str(step["each"]), f"the list has {len(items):,} items, {most}")
    record["call"] = digest([step["tool"], step["args"], items])
    run.meter.before_step(record["call"], step=step["id"], had_begun=run.had_begun(step["id"]))
    _begin(record, run)
    every = [await board.resolve(step["args"], item) async for item in leisurely(items)]
    tool, lease = run.tools[step["tool"]], _lease(record, step, board, run)
    planned = [Call(step, tool, args, answers, part, lease) for part, args in enumerate(every)]
    outcomes = await run_parts(planned, Places(board, step), run)
    await _gather(record, outcomes, tool)
    return [outcome.output for outcome in outcomes]


async def leisurely(items: Sequence[T]) -> AsyncIterator[T]:
    """The items of a long list, with room for other work in between."""
    for number, item in enumerate(items):
        if number % 200 == 199:
            await asyncio.sleep(0)
        yield item


async def _gather(record: Result, outcomes: list[Outcome], tool: Tool) -> None:
    """The step's status from its parts': what is worst for going on wins."""
    async for outcome in leisurely(outcomes):
        part = len(record["parts"])
        _take(record, outcome, tool)
        one: Part = {"index": part, "status": outcome.status, "output": outcome.output, "failure": outcome.failure}
        record["parts"].append(one)
    rank: tuple[Status, ...] = ("unknown", "not_run", "waiting", "failed", "degraded", "done")
    statuses = {outcome.status for outcome in outcomes} or {"done"}
    record["status"] = next(status for status in rank if status in statuses)
    bad = [o.failure for o in outcomes if o.status == record["status"] and o.failure]
    record["failure"] = min(bad, key=lambda reason: reason["cls"] not in NOT_ASKED, default=None)
    record["note"] = f"{sum(o.status in FINISHED for o in outcomes)} of {len(outcomes)} parts done"
    if instead := [outcome.note for outcome in outcomes if outcome.status == "degraded"]:
        record["note"] += f"; {instead[0]}"


def _may_fall_back(step: Step, record: Result) -> bool:
    return step["on_failure"] == "fallback" and not (record["failure"] and record["failure"]["cls"] in NOT_ASKED)


def _fallback_in_question(step: Step, board: Board) -> Failure | None:
    """Why the step had failed, where a person was asked about its fallback: the step itself does not run again."""
    before, tool = board.results.get(step["id"]), (step["fallback"] or {}).get("tool")
    if before is None or before["status"] not in ("waiting", "unknown") or tool in (None, step["tool"]):
        return None
    asked = {ask["action_requests"][0]["name"] for ask in before["requests"]}
    return (before["failure"] or failure("permanent", "it failed before")) if tool in asked else None


def _result_in_question(step: Step, board: Board) -> Result | None:
    """The step as it ran, where a person was asked about its result: it does not run again."""
    before = board.results.get(step["id"])
    waits = before is not None and before["status"] == "waiting"
    return before if waits and before and any(ask.get("about") == "result" for ask in before["requests"]) else None


async def _take_up(record: Result, before: Result, run: Run) -> tuple[Any, list[Check]]:
    """Output and judgements in words of a step that ran in an earlier round."""
    took = before["ended"] - before["started"]  # the time that a person took is not the step's
    fresh = {"started": record["started"] - took, "requests": [], "output": None, "artefact": None, "failure": None}
    record.update({**before, **fresh, "status": "done"})  # type: ignore[typeddict-item]
    output = before["output"]
    if before["artefact"]:
        output = await asyncio.to_thread(load, before["artefact"], run.context.home_folder())
    return output, [check for check in before["checks"] if check["by"] != "code"]


async def _fall_back(record: Result, step: Step, board: Board, answers: Mapping[str, Any], run: Run) -> Any:
    """Lets the step's fallback stand in; the first failure stays in the record."""
    fallback = step["fallback"] or {}
    first, cause = record["failure"], why(record)
    if first:
        instead = fallback.get("tool") or "a value"
        decided(run, "fallback", step["tool"], first["cls"], cause, step=step["id"], more=instead)
    if not fallback.get("tool"):
        record["status"], record["note"] = "degraded", f"the fallback value stands in: {cause}"
        return fallback.get("value")
    args, tool = await board.resolve(fallback.get("args", {})), run.tools[fallback["tool"]]
    if tool.effect == "write":
        await board.settled([*board.below(step), *board.before(step)])
        if undecided := board.undecided(step):
            _fail(record, undecided)
            return None
        record["effect"] = "write"
    places = Places(board, step, tuple(record["made"]), tuple(record["calls"]))
    planned = Call(step, tool, args, answers, recheck=_lease(record, step, board, run), places=places)
    async with run.slots:
        outcome = await call(planned, run)
    _take(record, outcome, tool)
    if outcome.status == "waiting":
        record["failure"] = first
    if outcome.status == "done":
        record["status"], record["failure"] = "degraded", first
        record["note"] = f"the fallback {fallback['tool']} stands in: {cause}"
    return outcome.output
