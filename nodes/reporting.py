"""Writes the report: the same form for every pattern and every end."""

from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from nodes.asking import open_requests
from nodes.calls import UNMADE
from nodes.estimate import estimate
from nodes.frame import essence
from nodes.models import label
from nodes.people import told_people
from nodes.recording import note
from nodes.run import Run, open_run
from nodes.trust import in_words
from nodes.undoing import UNDO, offers
from nodes.views import missing
from state.channels import Approvals, Asks, Counts, Events, Plans, Reflections, Results
from state.context import ROLES, Context
from state.report import Report, count_checks
from state.request import Request
from state.result import Result, why
from state.stop import Stop, StopReason, stop
from state.usage import Usage
from state.value import Review
from state.verdict import Verdict


class ReportInput(TypedDict):
    """What the report is made of."""

    request: Request
    plans: Plans
    results: Results
    approvals: Approvals
    asks: Asks
    reflections: Reflections
    counts: Counts
    usage: Usage
    verdict: Verdict | None
    trouble: Stop | None
    stop: Stop | None
    answer: Any
    answered_by: str
    sources: dict[str, list[str]]
    reviewed: Review | None


class ReportUpdate(TypedDict):
    """What `conclude` writes."""

    report: Report
    stop: Stop | None
    usage: Usage
    events: Events


async def conclude(state: ReportInput, runtime: Runtime[Context]) -> ReportUpdate:
    """The last node of every pattern."""
    run = open_run(state, runtime)
    settled = _with_trouble(state)
    undo = await offers(state["results"], state["approvals"], _ended(settled), run)
    update = write_report(settled, run, undo)
    await note(run, end=essence(update["report"]))
    if run.telemetry and not any(name.startswith(UNDO) for name in state["results"]):  # undoing comes after the end
        run.telemetry.run_ended(run, update["report"])
    return update


def _with_trouble(state: ReportInput) -> ReportInput:
    """A run whose answer did not come out as asked is no success."""
    ended, trouble = state["stop"], state["trouble"]
    if trouble and (ended is None or ended["kind"] == "success"):
        return {**state, "stop": trouble}
    return state


def _ended(state: ReportInput) -> Stop:
    return state["stop"] or stop(StopReason.NO_PROGRESS, "the run ended without a reason; please report this")


def write_report(state: ReportInput, run: Run, undo: list[dict[str, Any]] | None = None) -> ReportUpdate:
    """The report of a run as it stands; `undo` are the offers to undo what it wrote."""
    ended = _ended(state)
    results = list(state["results"].values())
    request = state["request"]
    report: Report = {
        "request": request["id"],
        "pattern": request["pattern"],
        "task": request["task"],
        "answer": state["answer"],
        "answered_by": state["answered_by"],
        "sources": state["sources"],
        "stop": ended,
        "plans": state["plans"],
        "results": results,
        "verdict": state["verdict"],
        "reflections": state["reflections"],
        "checks": count_checks(results),
        "missing": [] if ended["reason"] == StopReason.PLANNED else missing(state["plans"], state["results"]),
        "writes": [_written(result, state) for result in results if _may_have_written(result)],
        "risks": [*_untrusted(state), *_reviewed(state), *_risks(results)],
        "open_requests": open_requests(state),
        "people": told_people(state["approvals"]),
        "undo": undo or [],
        "estimate": estimate(state["plans"][-1], run) if run.context.dry_run and state["plans"] else None,
        "usage": {**run.meter.usage(), "steps": {r["step"]: r["usage"] for r in results if r["usage"]["calls"]}},
        "counts": dict(state["counts"]),
        "models": _models(run),
        "notes": _notes(run, state["usage"]),
    }
    return {"report": report, "stop": ended, "usage": run.meter.usage(), "events": run.events}


def _written(result: Result, state: ReportInput) -> str:
    undone = state["results"].get(f"{UNDO}{result['step']}")
    more = [result["note"], f"undone by step {undone['step']}" if undone and undone["status"] == "done" else ""]
    return ", ".join([f"{result['step']}: {result['tool']} {result['status']}", *filter(None, more)])


def _may_have_written(result: Result) -> bool:
    ran = result["status"] in ("done", "degraded", "unknown") and result["note"] != UNMADE
    return result["effect"] == "write" and (ran or bool(result["attempts"]))


def _untrusted(state: ReportInput) -> list[str]:
    flows = state["plans"][-1]["untrusted"] if state["plans"] else {}
    return [f"step {name}: {in_words(flow)}" for name, flow in flows.items()]


def _reviewed(state: ReportInput) -> list[str]:
    """What a review found about the last version of the plan, where nothing was planned anew for it."""
    found = state["reviewed"]
    return [f"plan: {found['finding']}"] if found and found["version"] == state["plans"][-1]["version"] else []


def _risks(results: list[Result]) -> list[str]:
    """What a reader should know before believing the answer."""
    risks: list[str] = []
    for result in results:
        if result["slow"]:
            risks.append(f"step {result['step']} took {result['ended'] - result['started']:.1f} s")
        if result["status"] == "degraded":
            risks.append(f"step {result['step']}: {result['note']}")
        if result["status"] == "unknown":
            risks.append(f"step {result['step']}: pending_reconcile, {why(result)}")
        risks += [
            f"step {result['step']}: unverified: {c['condition']}"
            for c in result["checks"]
            if c["outcome"] == "unverified"
        ]
    return risks


def _models(run: Run) -> dict[str, str]:
    return {role: label(role, run.context) for role in ROLES}


def _notes(run: Run, usage: Mapping[str, Any]) -> list[str]:
    notes: list[str] = []
    if run.context.shadow:
        notes.append("shadow mode: writes were decided and logged, none was made")
    if run.context.volatile_writes:
        notes.append("writes may run without a journal: nothing guards them against running twice")
    if usage["unknown_tokens"]:
        notes.append(f"{usage['unknown_tokens']} model calls did not say how many tokens they used")
    if usage["unknown_money"]:
        notes.append(f"the cost of {usage['unknown_money']} model calls is unknown: no price is set for the model")
    return notes
