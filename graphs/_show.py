"""A kept run to be read: its end, the plan as it ran, its versions, times and cost, and where it can be forked."""

import asyncio
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from graphs._exchanges import exchange_lines
from graphs._fork import Point, fork_points
from graphs._leg import Job, kept_graph
from graphs._options import settings_of
from graphs._partial import partial_report
from graphs._saved import home_of, valid_thread
from graphs._summary import open_questions, summary
from graphs._told import drafts, turns
from graphs._watch import Watch
from graphs._words import as_json, count, one_line, visible
from nodes.replay import read_lines
from state.errors import InputError
from state.events import Event
from state.plan import Plan, needs
from state.report import Report
from state.result import Result, why
from state.usage import RoleUsage


@dataclass(frozen=True)
class Kept:
    """What a thread holds of its last request."""

    job: Job
    report: Report
    events: list[Event]
    started: float
    points: list[Point]

    @property
    def watch(self) -> Watch:
        """The plan and what became of each step."""
        results = {result["step"]: result for result in self.report["results"]}
        return Watch(plans=self.report["plans"], results=results)


def show(thread: str, plan: int | None, events: bool, prompts: bool, as_lines_of_json: bool, more: list[str]) -> None:
    """Prints a run, or the one part of it that was asked for."""
    overrides = settings_of(more=more)
    kept = asyncio.run(read_kept(Job("", valid_thread(thread), {}, home_of(overrides)), overrides))
    if events:
        _print(map(_json_line, kept.events) if as_lines_of_json else (_event(event, kept) for event in kept.events))
    elif prompts:
        _print(_prompts(kept, as_lines_of_json))
    elif plan is not None:
        version = _version(kept, plan)
        _print([as_json(version, indent=2)] if as_lines_of_json else _plan(version))
    elif as_lines_of_json:
        _print([as_json(_everything(kept), indent=2)])
    else:
        _print(_whole(kept))


async def read_kept(job: Job, overrides: dict[str, Any]) -> Kept:
    """A kept run, with a report even where it was cut off before it had one."""
    async with kept_graph(job, overrides) as graph:
        snapshot = await graph.aget_state(job.config)
        points = await fork_points(graph, job.config)
    values = snapshot.values
    job.watch.recall(values)
    report = values.get("report")
    if report is None or (snapshot.next and not snapshot.interrupts):
        report = partial_report(job, values, "it was cut off; `resume` goes on with it")
    request = values.get("request") or {"id": "", "started": 0.0}
    mine = [point for point in points if point.values["request"]["id"] == request["id"]]
    return Kept(job, report, values.get("events") or [], request["started"], mine)


def _whole(kept: Kept) -> Iterable[str]:
    report = kept.report
    yield f"run {visible(kept.job.thread)}: {one_line(report['task'], 500)}"
    yield from ["", summary(report)]
    yield from open_questions(report["open_requests"])
    for plan in (plan for plan in report["plans"] if plan["steps"]):
        yield from ["", *_plan(plan)]
    for head, lines in (("turns:", turns(report)), ("drafts:", drafts(report))):
        yield from ["", head, *lines] if lines else []
    for head, lines in (("steps:", list(_steps(kept))), ("times:", list(_times(kept)))):
        yield from ["", head, *lines] if lines else []
    yield from ["", "cost by role:", *_costs(report["usage"]["roles"])]
    if kept.points:
        yield from ["", "can be forked --at:", *(f"  {visible(p.name)}  {visible(p.what)}" for p in kept.points)]


def _plan(plan: Plan) -> Iterable[str]:
    """A version with its reason and how it differs from the one before."""
    yield f"plan {plan['version']} by {plan['by']}: {one_line(plan['reason'] or plan['goal'])}"
    change = plan["change"]
    lists = (("kept", change["kept"]), ("changed", change["changed"]), ("added", change["added"]))
    changes = [f"{name}: {', '.join(ids)}" for name, ids in (*lists, ("dropped", change["dropped"])) if ids]
    if plan["version"] > 1:
        yield f"  {visible('; '.join(changes))}"
    for step in plan["steps"]:
        after = f" (after {', '.join(needs(step))})" if needs(step) else ""
        mark = " [write]" if step["effect"] == "write" else ""
        yield f"  {visible(step['id'])}: {visible(step['tool'])} {one_line(as_json(step['args']), 200)}{after}{mark}"


def _steps(kept: Kept) -> Iterable[str]:
    for row in kept.watch.rows():
        waits = f"after {', '.join(row.waits)}" if row.waits else one_line(row.note, 200)
        yield f"  {visible(row.step)} {visible(row.tool)}: {row.state}{f' ({waits})' if waits else ''}"


def _times(kept: Kept) -> Iterable[str]:
    for result in sorted(kept.report["results"], key=lambda result: result["started"]):
        if result["attempts"]:
            yield f"  {_at(result['started'], kept)} {_took(result)}"


def _took(result: Result) -> str:
    tries = f", {count(result['attempts'], 'try').replace('trys', 'tries')}" if result["attempts"] > 1 else ""
    took = f"{result['ended'] - result['started']:.1f} s"
    cause = f": {one_line(why(result), 200)}" if why(result) else ""
    return f"{visible(result['step'])} {result['status']} after {took}{tries}{cause}"


def _at(moment: float, kept: Kept) -> str:
    return f"[{moment - kept.started:6.1f}s]"


def _costs(roles: dict[str, RoleUsage]) -> Iterable[str]:
    for role, used in roles.items():
        known = {"tokens in": used["tokens_in"], "out": used["tokens_out"], "cost": used["money"]}
        said = [f"{name} {'unknown' if value is None else f'{value:,.6g}'}" for name, value in known.items()]
        yield f"  {role}: {count(used['calls'], 'call')}, {', '.join(said)}"
    if not roles:
        yield "  no model was asked"


def _version(kept: Kept, number: int) -> Plan:
    found = next((plan for plan in kept.report["plans"] if plan["version"] == number), None)
    if found is None:
        known = ", ".join(str(plan["version"]) for plan in kept.report["plans"]) or "none"
        raise InputError(f"there is no plan {number} in this run; there are: {known}")
    return found


def _event(event: Event, kept: Kept) -> str:
    step = f" {visible(event['step'])}" if event["step"] else ""
    reason = f": {one_line(event['reason'], 500)}" if event["reason"] else ""
    onward = f" -> {one_line(event['next'])}" if event["next"] else ""
    return f"{_at(event['time'], kept)} {event['event']}{step}{reason}{onward}"


def _prompts(kept: Kept, as_lines_of_json: bool) -> Iterable[str]:
    file = kept.job.context.record
    if not file:
        raise InputError("this run was not recorded (setting record)")
    mine = (entry for entry in read_lines(file) if entry["run"] == kept.report["request"])
    for entry in mine:
        yield from [_json_line(entry)] if as_lines_of_json else exchange_lines(entry)


def _everything(kept: Kept) -> dict[str, Any]:
    points = [{"at": point.name, "what": point.what} for point in kept.points]
    return {"thread": kept.job.thread, "report": kept.report, "events": kept.events, "fork_points": points}


def _json_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")
