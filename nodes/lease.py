"""Before a write, the evidence it rests on is read again through its own tool; if it changed, the write is stale.

A lease is the plan version, a fingerprint of each result, and an age: a result that a write refers to is read again
when it is older than `Context.lease`, one that the step names in `rests_on` always.
"""

from nodes.acceptance import accepted
from nodes.board import Board
from nodes.call import call
from nodes.calls import Call
from nodes.recording import remembered
from nodes.records import keep_output
from nodes.run import Run
from state.clock import now
from state.errors import shorten
from state.plan import RESERVED, Step, digest, needs
from state.result import Result, failure


async def stale(step: Step, board: Board, run: Run) -> tuple[str, dict[str, Result]]:
    """Why a write must not run on what was read before, and the evidence as it is now; empty while the lease holds."""
    for name in await remembered(run, f"lease of {step['id']}", lambda: _evidence(step, board, run)) or []:
        before, source = board.results[name], board.steps[name]
        planned = Call(source, run.tools[source["tool"]], await board.resolve(source["args"]), {})
        outcome = await call(planned, run)
        if outcome.status != "done":
            said = outcome.failure["message"] if outcome.failure else outcome.status
            return f"step {name!r}, on which it rests, can't be read again: {said}", {}
        if digest(outcome.output) != before["digest"]:
            changed = f"step {name!r}, on which it rests, has changed: it is now {shorten(outcome.output)}"
            return changed, {name: await _fresh(source, before, outcome.output, board, run)}
    return "", {}


def _evidence(step: Step, board: Board, run: Run) -> list[str]:
    named = [name for name in step["rests_on"] if name not in RESERVED]
    aged = [name for name in needs(step) if _may_be_read_again(name, board, run)]
    return [name for name in dict.fromkeys([*named, *aged]) if name in board.steps and board.results[name]["digest"]]


def _may_be_read_again(name: str, board: Board, run: Run) -> bool:
    """Whether a result is a plain read that is older than the lease, or of an unknown age: the clock was set back."""
    result, step = board.results[name], board.steps.get(name)
    if step is None or step["each"] or result["status"] != "done" or step["effect"] != "read":
        return False
    lease, age = run.context.lease, now() - result["ended"]
    return lease is not None and not 0 <= age <= lease and not run.tools[step["tool"]].uses_model


async def _fresh(step: Step, before: Result, output: object, board: Board, run: Run) -> Result:
    """The evidence's record as it is now, accepted or not by the step's own conditions."""
    checks = await accepted(step["accept"], output, board.given)
    bad = [check for check in checks if check["outcome"] == "failed"]
    moment = now()
    record: Result = {
        **before,
        "checks": checks,
        "started": moment,
        "ended": moment,
        "note": "read again before a write",
    }
    record["attempts"] += 1
    if bad:
        record["status"], record["failure"] = "failed", failure("acceptance", f"not accepted: {bad[0]['condition']}")
    await keep_output(record, output, run)
    return record
