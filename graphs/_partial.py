"""The report of a run that a signal ended, or of one that was cut off: what is finished, running, missing."""

import time
from typing import TYPE_CHECKING, Any

from nodes.meter import Meter
from nodes.records import blank
from nodes.reporting import write_report
from nodes.run import Run, settle
from state.context import Context, make_context
from state.plan import Step
from state.report import Report
from state.request import FROZEN, Request
from state.result import Result
from state.stop import StopReason, stop
from state.usage import no_usage
from tools.catalogue import Catalogue

if TYPE_CHECKING:
    from graphs._leg import Job
    from graphs._watch import Watch

_NOTHING: dict[str, Any] = {
    "plans": [], "results": {}, "approvals": {}, "asks": [], "reflections": [], "thoughts": [], "drafts": [],
    "lessons": {},
    "counts": {}, "verdict": None, "trouble": None, "answer": None, "answered_by": "", "sources": {},
    "reviewed": None,
}  # fmt: skip


def partial_report(job: "Job", kept: dict[str, Any], why: str) -> Report:
    """What the thread holds, with what was seen since: LangGraph shows a round's results only when it is over."""
    watch, context = job.watch, make_context(**job.settings)
    request: Request = kept.get("request") or _request(job, context)
    before = kept.get("results") or {}
    seen = {**before, **watch.results, **_running(watch)}
    usage = kept.get("usage") or no_usage()
    usage = {**usage, "seconds": max(usage["seconds"], time.time() - watch.began)}
    context = settle(context, request["settings"])
    meter = Meter(usage, context.limits)
    meter.saw_tool_calls(sum(result["attempts"] for name, result in seen.items() if name not in before))
    for event in watch.called:  # by a node that did not come to its end
        [role, used, plan] = event["evidence"]
        meter.saw_model(used, role=role, plan=plan)
    ended = stop(StopReason.INTERRUPTED, why, list(watch.running))
    state = {**_NOTHING, **kept, "request": request, "usage": meter.usage(), "stop": ended, "results": seen}
    state["plans"] = kept.get("plans") or watch.plans
    run = Run(request, context, meter, Catalogue(), lambda _: None)
    return write_report(state, run)["report"]  # type: ignore[arg-type]


def _running(watch: "Watch") -> dict[str, Result]:
    """Steps that were under way; what became of a write is looked up or asked for on resume."""
    steps = watch.steps()
    found: dict[str, Result] = {}
    for name in watch.running:
        if name in steps:
            asked = "; whether it happened is found out on resume" if steps[name]["effect"] == "write" else ""
            found[name] = _broken_off(steps[name], watch.running[name], f"interrupted while it was running{asked}")
    return found


def _broken_off(step: Step, began: float, note: str) -> Result:
    return {**blank(step), "started": began, "ended": time.time(), "note": note}


def _request(job: "Job", context: Context) -> Request:
    """Stands in when not even the intake has come to its end."""
    return {
        "id": "", "task": job.watch.task, "inputs": {}, "pattern": job.pattern, "language": "en", "constraints": {},
        "settings": context.model_dump(mode="json", include=set(FROZEN)), "started": job.watch.began,
        "earlier": [],
    }  # fmt: skip
