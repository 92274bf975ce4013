"""Plans and replans: asks for a plan, checks it, feeds findings back, and gives up by name.

A failed replan keeps the old plan and counts as one.
"""

from collections.abc import Awaitable, Callable
from functools import partial

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from nodes.ahead import Ahead, may_begin
from nodes.ask import ask
from nodes.briefing import progress, reason_of, review_in
from nodes.contract import due, ignored
from nodes.health import offered
from nodes.lessons import recall
from nodes.missing import (
    ASKED_BEFORE,
    answered_inputs,
    contradiction,
    missing_questions,
    said_by_people,
    told_once,
)
from nodes.notations import evidence
from nodes.plan_check import Finding
from nodes.progress import back_off, changes_nothing
from nodes.prompts.planner import plan_messages
from nodes.run import Run, open_run
from nodes.shortlist import missing_tool, shortlist
from nodes.troubles import given_up, invalid, say_ruled_out, trouble_with
from nodes.trust import in_words
from nodes.value import value_of
from nodes.versions import next_version, refused
from state.channels import Approvals, Asks, Counts, Events, Lessons, Plans, Reflections, Results
from state.context import Context
from state.errors import BudgetSpent, ModelFailed
from state.plan import Plan, PlanDraft
from state.plan_form import plan_form
from state.request import Request
from state.stop import Stop, StopReason, stop
from state.usage import Usage
from state.value import Review
from tools.catalogue import Catalogue, describe

Written = tuple[Plan | None, Stop | None, Asks]
"""A plan, or why there is none, or what a person must be asked first."""
Drafting = Callable[["PlanInput", Run, Catalogue, list[str], int], Awaitable[PlanDraft]]
"""Asks for a draft: of these tools, with what was wrong with the last one; the number says how many are left out."""
Writing = Callable[["PlanInput", Run], Awaitable[Written]]


class PlanInput(TypedDict):
    """What the planner reads."""

    request: Request
    plans: Plans
    results: Results
    reflections: Reflections
    lessons: Lessons
    reviewed: Review | None
    approvals: Approvals
    asks: Asks
    usage: Usage


class PlanUpdate(TypedDict):
    """What the planner writes; `trouble` proposes a stop, which `decide` takes up, `asks` is what only a person knows.

    What a person has answered stands in the request as an input from now on.
    """

    request: Request
    plans: Plans
    asks: Asks
    lessons: Lessons
    trouble: Stop | None
    reviewed: Review | None
    counts: Counts
    usage: Usage
    events: Events


async def plan(state: PlanInput, runtime: Runtime[Context]) -> PlanUpdate:
    """The first plan."""
    return await _plan(state, open_run(state, runtime))


async def plan_with_evidence(state: PlanInput, runtime: Runtime[Context]) -> PlanUpdate:
    """The one plan of ReWOO, with references to evidence in its own notation."""
    return await _plan(state, open_run(state, runtime), evidence_notation=True)


async def replan(state: PlanInput, runtime: Runtime[Context]) -> PlanUpdate:
    """The next version of the plan: what is finished stays, what is left is planned anew."""
    return await _plan(state, open_run(state, runtime))


async def _plan(state: PlanInput, run: Run, *, evidence_notation: bool = False) -> PlanUpdate:
    """A plan, of which the first steps may run when it is whole; the executor takes them over."""
    drafting = partial(draft_plan, evidence_notation=evidence_notation)
    if not may_begin(run):
        return await write_plan(state, run, checked(drafting))
    run.ahead = ahead = Ahead(run, state["plans"], state["results"], state["approvals"])
    ahead.read = evidence if evidence_notation else ahead.read
    try:
        update = await write_plan(state, run, checked(drafting))
        await ahead.settle(update["plans"][-1] if update["plans"] else None)
    except BaseException:
        await ahead.stop()
        raise
    return update


async def write_plan(state: PlanInput, run: Run, writing: Writing) -> PlanUpdate:
    """What a node that writes a plan says, however it comes to one."""
    again = bool(state["plans"])
    written: Plan | None = None
    asks: Asks = []
    run.request = {**run.request, "inputs": run.request["inputs"] | answered_inputs(state["approvals"])}
    try:
        await recall(state, run, "planner")
        written, trouble, asks = await writing(state, run)
    except (BudgetSpent, ModelFailed) as error:
        trouble = trouble_with("planning", error)
    if written:
        run.plan_version = written["version"]
        run.event("plan", reason=written["reason"], evidence=[step["id"] for step in written["steps"]])
        for name, flow in written["untrusted"].items():
            run.event("untrusted_write", step=name, reason=in_words(flow))
    elif trouble:
        run.event("plan_failed", reason=trouble["message"], evidence=list(trouble["evidence"]))
    return {
        "request": run.request,
        "plans": [written] if written else [],
        "asks": asks,
        "lessons": run.lessons,
        "trouble": trouble,
        "reviewed": {**state["reviewed"], "due": False} if state["reviewed"] else None,
        "counts": {"replans": 1} if again and not asks else {},
        "usage": run.meter.usage(),
        "events": run.events,
    }


def checked(draft: Drafting) -> Writing:
    """A way to a plan without findings by asking for drafts."""
    return partial(_checked, drafting=draft)


async def _checked(state: PlanInput, run: Run, *, drafting: Drafting) -> Written:
    """A plan without findings, or why there is none; findings go back to the planner a limited number of times."""
    tools = await offered(run)
    last = state["plans"][-1] if state["plans"] else None
    findings: list[Finding] = []
    for left in reversed(range(run.limits.plan_feedback + 1)):
        shown = await shortlist(tools, run, last, findings)
        left_out = len(tools) - len(shown)
        messages = [found["message"] for found in findings]
        draft = await drafting(state, run, shown, messages, left_out)
        said = contradiction(draft, state["approvals"], run)
        if said and left:
            findings = said
            _reject(findings, run)
            continue
        if said or (not draft.steps and (draft.impossible or draft.questions)):
            findings, ended = _unplanned(draft, shown, tools, findings, state, run, ends=not left)
            if ended:
                return ended
            continue
        reason = reason_of(state) if last else "first plan"
        written, steps, findings = next_version(
            draft, state["plans"], state["results"], run, tools, reason=reason, by="planner"
        )
        findings = findings or await refused(steps, tools)
        findings += ignored(due(state["reflections"], last), last, steps)
        if draft.steps and not steps:
            repeats = "the new plan only repeats finished steps; nothing would change"
            return None, stop(StopReason.NO_PROGRESS, repeats, [step.id for step in draft.steps]), []
        if not findings:
            if still := changes_nothing(steps, state["plans"], state["results"]):
                told = [f"review: {finding}"] if (finding := review_in(state)) else []
                return None, {**still, "evidence": [*still["evidence"], *told]}, []
            await back_off(steps, state["plans"], state["results"], run)
            return _valued(written, state, run), None, []
        _reject(findings, run)
    return None, invalid(findings), []


def _unplanned(
    draft: PlanDraft, shown: Catalogue, tools: Catalogue, findings: list[Finding], state: PlanInput, run: Run, *,
    ends: bool,
) -> tuple[list[Finding], Written | None]:  # fmt: skip
    """What a planner that gives up or asks is told next, or what that comes to; steps beside it count for nothing."""
    trouble, asks = missing_questions(draft.questions, state["approvals"], run)
    why = draft.impossible or ASKED_BEFORE
    more = missing_tool(why, shown, tools, findings) if draft.impossible else told_once(findings)
    if more and not (asks or trouble or ends):
        return more, None
    ended = given_up("; ".join([why, *tools.away.values()]), findings)
    return findings, (None, None if asks else trouble or ended, asks)


def _reject(findings: list[Finding], run: Run) -> None:
    codes = [found["code"] for found in findings]
    run.event("plan_rejected", reason=findings[0]["message"], evidence=codes, next="planner")
    say_ruled_out(findings, run)
    if run.ahead:
        run.ahead.reject(findings)


async def draft_plan(
    state: PlanInput, run: Run, tools: Catalogue, findings: list[str], left_out: int, *,
    evidence_notation: bool = False, attempt: int = 1,
) -> PlanDraft:  # fmt: skip
    """One draft of a plan, as a model gives it."""
    if run.ahead:
        run.ahead.offers(tools)
    messages = plan_messages(
        run.request["task"], run.request["constraints"], run.request["inputs"],
        [describe(tool) for tool in tools.values()], run.language,
        evidence_notation=evidence_notation, earlier=run.request["earlier"], progress=progress(state),
        people=said_by_people(state["approvals"], state["asks"]), findings=findings, left_out=left_out,
        learned=run.lessons.values(), attempt=attempt,
    )  # fmt: skip
    draft = await ask(messages, plan_form(tuple(tools)), name="plan", role="planner", run=run, hearer=run.ahead)
    return evidence(draft) if evidence_notation else draft


def _valued(written: Plan, state: PlanInput, run: Run) -> Plan:
    return {**written, "value": value_of(written, state["results"], run)}
