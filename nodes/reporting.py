"""Writes the report: the same form for every pattern and every end."""

from collections.abc import Iterator, Mapping
from typing import Any

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from nodes.ahead import stop_ahead
from nodes.asking import open_requests
from nodes.estimate import estimate
from nodes.frame import essence
from nodes.learning import settle_lessons
from nodes.models import label
from nodes.people import told_people
from nodes.recording import note
from nodes.risks import risks
from nodes.run import Run, open_run
from nodes.undoing import offers
from nodes.undone import is_undo, undone_by
from nodes.unused import unused
from nodes.views import missing
from state.channels import (
    Approvals,
    Asks,
    Counts,
    Drafts,
    Events,
    Lessons,
    Messages,
    Plans,
    Reflections,
    Results,
    Thoughts,
)  # fmt: skip
from state.context import ROLES, Context
from state.lesson import ended_lessons
from state.messages import Message
from state.report import Report, count_checks
from state.request import Request
from state.result import UNMADE, Result
from state.stop import Stop, StopReason, stop
from state.usage import Usage
from state.value import Review
from state.verdict import Verdict
from tools.artefacts import as_json


class ReportInput(TypedDict):
    """What the report is made of."""

    request: Request
    plans: Plans
    results: Results
    approvals: Approvals
    asks: Asks
    reflections: Reflections
    thoughts: Thoughts
    drafts: Drafts
    lessons: Lessons
    events: Events
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
    messages: Messages
    stop: Stop | None
    usage: Usage
    events: Events


async def conclude(state: ReportInput, runtime: Runtime[Context]) -> ReportUpdate:
    """The last node of every pattern."""
    run = open_run(state, runtime)
    await stop_ahead(run)
    settled = _with_trouble(state)
    if settled is not state:  # what was told as the end is not it
        run.event("stop", reason=f"{_ended(settled)['reason']}: {_ended(settled)['message']}")
    learned = await settle_lessons(settled, run, _ended(settled))
    undo, not_offered = await offers(state["results"], state["approvals"], _ended(settled), run)
    update = write_report(settled, run, undo)
    update["report"]["lessons"] += learned
    update["report"]["notes"] += not_offered
    await note(run, end=essence(update["report"]))
    if run.telemetry and not any(map(is_undo, state["results"])):  # undoing comes after the end
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
        "chosen": request.get("chosen"),
        "task": request["task"],
        "answer": state["answer"],
        "answered_by": state["answered_by"],
        "sources": state["sources"],
        "stop": ended,
        "plans": state["plans"],
        "results": results,
        "verdict": state["verdict"],
        "reflections": state["reflections"],
        "thoughts": state["thoughts"],
        "drafts": state["drafts"],
        "lessons": ended_lessons(state["lessons"].values(), ended),
        "checks": count_checks(results, state["verdict"]),
        "missing": _missing(state, ended),
        "writes": [_written(result, state) for result in results if _may_have_written(result)],
        "risks": risks(state),
        "open_requests": [*open_requests(state), *(undo or [] if run.resumable else [])],
        "people": told_people(state["approvals"]),
        "undo": undo or [],
        "estimate": estimate(state["plans"][-1], run) if run.context.dry_run and state["plans"] else None,
        "usage": {**run.meter.usage(), "steps": {r["step"]: r["usage"] for r in results if r["usage"]["calls"]}},
        "counts": dict(state["counts"]),
        "models": _models(run),
        "notes": [*_notes(run, state["usage"]), *_by_code(state), *_undone(state), *_ruled_out(state, ended)],
    }
    return {
        "report": report, "messages": [as_message(report)], "stop": ended, "usage": run.meter.usage(),
        "events": run.events,
    }  # fmt: skip


def as_message(report: Report) -> Message:
    """The report as a chat shows it: the answer, and where the run did not succeed why it ended and what is missing."""
    ended, answer = report["stop"], report["answer"]
    lines = [] if answer is None else [answer if isinstance(answer, str) else as_json(answer)]
    if ended["kind"] != "success":
        lines += [f"{ended['reason']}: {ended['message']}", *(f"- {line}" for line in report["missing"])]
    return {"type": "ai", "content": "\n".join(lines), "id": f"{report['request']}-report"}


def _missing(state: ReportInput, ended: Stop) -> list[str]:
    """What the run was to give and did not; where no step is missing, what it was that ended it."""
    if ended["reason"] == StopReason.PLANNED:
        return []
    lacking = missing(state["plans"], state["results"])
    return lacking or ([f"the task: {ended['message']}"] if ended["kind"] in ("failure", "budget") else [])


def _undone(state: ReportInput) -> list[str]:
    """What the answer still tells of, and is so no more."""
    results = state["results"]
    undos = {name: result for name, result in results.items() if is_undo(name)}
    undone = [name for name in results if name not in undos and undone_by(name, undos)] if undos else []
    return [f"undone after the answer was given: {', '.join(undone)}; what the answer says of it is past"] * bool(
        undone
    )


def _written(result: Result, state: ReportInput) -> str:
    undone = ", ".join(undone_by(result["step"], state["results"]))
    more = [result["note"], f"undone by step {undone}" if undone else ""]
    return ", ".join([f"{result['step']}: {result['tool']} {result['status']}", *filter(None, more)])


def _may_have_written(result: Result) -> bool:
    """A write that failed, and made nothing, left no effect: else it would be unknown."""
    happened = ("done", "degraded", "unknown")
    made = bool(result.get("made")) or any(part["status"] in happened for part in result["parts"])
    return result["effect"] == "write" and result["note"] != UNMADE and (made or result["status"] in happened)


def _models(run: Run) -> dict[str, str]:
    return {role: label(role, run.context) for role in ROLES}


def _notes(run: Run, usage: Mapping[str, Any]) -> list[str]:
    dropped = run.request.get("dropped")
    notes = [*(dropped["said"] if dropped else []), *unused(run.request)]
    if run.context.shadow:
        notes.append("shadow mode: writes were decided and logged, none was made")
    if run.context.volatile_writes:
        notes.append("writes may run without a journal: nothing guards them against running twice")
    if usage["unknown_tokens"]:
        notes.append(f"{_calls(usage['unknown_tokens'])} did not say how many tokens they used")
    if usage["unknown_money"]:
        notes.append(f"the cost of {_calls(usage['unknown_money'])} is unknown: no price is set for the model")
    return notes


def _by_code(state: ReportInput) -> list[str]:
    """Why a model did not give the answer that it was asked for."""
    found = [event["reason"] for event in state["events"] if event["event"] == "answer_by_code"]
    return [f"the answer is made by code from the results, as no model could give it: {found[-1]}"] if found else []


def _ruled_out(state: ReportInput, ended: Stop) -> Iterator[str]:
    """What a model asked for and a rule forbids, where the run did not end for that."""
    said = dict.fromkeys(event["reason"] for event in state["events"] if event["event"] == "ruled_out")
    known = (ended["message"], *ended["evidence"])
    return (f"asked for, not allowed and not run: {why}" for why in said if not any(why in text for text in known))


def _calls(number: int) -> str:
    return "1 model call" if number == 1 else f"{number} model calls"
