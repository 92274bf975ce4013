"""Checks what ran: code first, then a yes / no per criterion in words, then scores where a pattern asks for them.

A checker that could not run leaves "unverified", never "passed".
"""

from typing import Any

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from nodes.ask import ask
from nodes.conflicts import open_conflicts
from nodes.downstream import no_longer_count
from nodes.gradings import CheckDraft, GradeDraft, JudgeDraft
from nodes.prompts.checker import grade_messages, judge_messages
from nodes.questions import ask_about
from nodes.run import Run, open_run
from nodes.views import result_views
from state.channels import Approvals, Events, Plans, Results, Thoughts
from state.context import Context
from state.errors import BudgetSpent, ModelFailed, shorten
from state.plan import Step
from state.request import Request
from state.result import FINISHED, Check, Result, failure, why
from state.thought import broken
from state.usage import Usage
from state.verdict import DIMENSIONS, Graded, Outcome, Verdict, better


class CheckInput(TypedDict):
    """What the checker reads."""

    request: Request
    plans: Plans
    results: Results
    approvals: Approvals
    answer: Any
    usage: Usage


class GradeInput(CheckInput):
    """What `grade` reads besides."""

    answered_by: str
    sources: dict[str, list[str]]
    best: Graded | None
    thoughts: Thoughts


class CheckUpdate(TypedDict):
    """What `check` writes."""

    results: Results
    verdict: Verdict | None
    usage: Usage
    events: Events


class GradeUpdate(TypedDict):
    """What `grade` writes."""

    verdict: Verdict | None
    best: Graded | None
    usage: Usage
    events: Events


async def check(state: CheckInput, runtime: Runtime[Context]) -> CheckUpdate:
    """Judges criteria in words that code could not decide, then sums up what all checks came to."""
    run = open_run(state, runtime)
    judged = await _judge(state, run)
    verdict = _by_code({**state["results"], **judged}, state)
    run.event("verdict", reason=verdict["outcome"], evidence=verdict["problems"][:5])
    return {"results": judged, "verdict": verdict, "usage": run.meter.usage(), "events": run.events}


async def grade(state: GradeInput, runtime: Runtime[Context]) -> GradeUpdate:
    """Grades the answer; where code already knows that steps failed, no model is asked."""
    run = open_run(state, runtime)
    verdict = _by_code(state["results"], state)
    if verdict["outcome"] != "failed":
        verdict = await _grade(state, verdict, run)
    run.event("verdict", reason=verdict["outcome"], evidence=[verdict["scores"], *verdict["problems"][:5]])
    return {"verdict": verdict, "best": _best(state, verdict), "usage": run.meter.usage(), "events": run.events}


async def grade_turns(state: GradeInput, runtime: Runtime[Context]) -> GradeUpdate:
    """As `grade`, where calls that failed on the way to the answer were only observations."""
    finished = {name: one for name, one in state["results"].items() if one["status"] in FINISHED}
    return await grade({**state, "results": finished}, runtime)


def _best(state: GradeInput, verdict: Verdict) -> Graded | None:
    """The best answer so far; an attempt that came to no answer can't be it."""
    if state["answer"] is None:
        return state["best"]
    now: Graded = {
        "answer": state["answer"], "answered_by": state["answered_by"], "sources": state["sources"],
        "verdict": verdict,
    }  # fmt: skip
    return better(state["best"], now)


def _by_code(results: dict[str, Result], state: CheckInput) -> Verdict:
    """The verdict on the current plan that code reaches alone."""
    current = _current_steps(state)
    verdict = sum_up([result for name, result in results.items() if name in current])
    if disputed := open_conflicts(state["plans"], results):
        problems = [*verdict["problems"], *(f"evidence in conflict: {one}" for one in disputed)]
        return {**verdict, "outcome": "failed", "problems": problems}
    return verdict


def _current_steps(state: CheckInput) -> dict[str, Step]:
    return {step["id"]: step for step in state["plans"][-1]["steps"]} if state["plans"] else {}


def sum_up(results: list[Result]) -> Verdict:
    """What checks and statuses of results come to."""
    checks = [check for result in results for check in result["checks"]]
    bad = [result for result in results if result["status"] in ("failed", "blocked", "unknown", "not_run")]
    problems = [f"step {result['step']} {result['status']}: {why(result)}" for result in bad]
    open_checks = any(check["outcome"] == "unverified" for check in checks)
    outcome: Outcome = "failed" if problems else "unverified" if open_checks else "passed"
    return {"outcome": outcome, "checks": checks, "scores": {}, "problems": problems}


async def _judge(state: CheckInput, run: Run) -> dict[str, Result]:
    """The results whose criteria were judged now, with their checks."""
    steps = _current_steps(state)
    due = [result for name, result in state["results"].items() if _has_open_criteria(steps.get(name), result)]
    asked = [(result, criterion) for result in due for criterion in steps[result["step"]]["criteria"]]
    if not asked:
        return {}
    judged: dict[str, Result] = {}
    for (result, _), verdict in zip(asked, await _decided(state, asked, run), strict=True):
        record = judged.setdefault(result["step"], {**result, "checks": list(result["checks"])})
        record["checks"].append(verdict)
        if verdict["outcome"] == "failed":
            record["status"] = "failed"
            record["failure"] = failure("acceptance", f"not accepted: {verdict['condition']} ({verdict['evidence']})")
    for name, record in judged.items():
        if record["status"] == "failed" and steps[name]["on_failure"] == "ask":
            record["output"] = ask_about(record, record["output"], run.tools[record["tool"]], state["approvals"], run)
    return judged | _built_on(judged, list(steps.values()), state["results"])


def _built_on(judged: dict[str, Result], steps: list[Step], results: Results) -> dict[str, Result]:
    """What rests on a refused result is blocked; what rests on one that a person is asked about runs again after."""
    refused = {name for name, record in judged.items() if record["status"] == "failed"}
    asked = {name for name, record in judged.items() if record["status"] == "waiting"}
    held = no_longer_count(steps, results, asked, "about which a person is asked")
    again: dict[str, Any] = {"status": "not_run", "failure": None}
    late: dict[str, Any] = {name: {**record, **again, "note": why(record)} for name, record in held.items()}
    return late | no_longer_count(steps, results, refused, "whose result was not accepted")


def _has_open_criteria(step: Step | None, result: Result) -> bool:
    if step is None or result["status"] not in FINISHED:
        return False
    return bool(step["criteria"]) and not any(check["condition"] in step["criteria"] for check in result["checks"])


async def _decided(state: CheckInput, asked: list[tuple[Result, str]], run: Run) -> list[Check]:
    """One check for every criterion asked, in order; unverified where the model did not answer."""
    shown = [{"criterion": text, "evidence": result["output"]} for result, text in asked]
    try:
        messages = judge_messages(state["request"]["task"], shown, run.language)
        draft = await ask(messages, JudgeDraft, name="judge", role="checker", run=run)
        answers = {check.criterion: check for check in draft.checks}
        silent = "the checker did not decide it"
    except (ModelFailed, BudgetSpent) as error:
        answers, silent = {}, f"the checker could not run: {error}"
    return [_check(text, answers.get(text), silent) for _, text in asked]


def _check(criterion: str, draft: CheckDraft | None, silent: str = "") -> Check:
    if draft is None:
        return {"condition": criterion, "outcome": "unverified", "evidence": silent, "by": "model"}
    return {"condition": criterion, "outcome": draft.outcome, "evidence": shorten(draft.evidence, 300), "by": "model"}


async def _grade(state: GradeInput, so_far: Verdict, run: Run) -> Verdict:
    request, views = state["request"], result_views(state["plans"], state["results"])
    messages = grade_messages(
        request["task"], request["constraints"], state["answer"], views, run.language, broken(state["thoughts"])
    )
    try:
        draft = await ask(messages, GradeDraft, name="grade", role="checker", run=run)
    except (ModelFailed, BudgetSpent) as error:
        return {**so_far, "outcome": "unverified", "problems": [f"the answer was not graded: {error}"]}
    checks = [*so_far["checks"], *(_check(check.criterion, check) for check in draft.checks)]
    scores = {name: getattr(draft, name) for name in DIMENSIONS}
    if draft.accepted or draft.is_open():
        return {**_accepted(checks), "scores": scores}
    return {
        "outcome": "failed", "checks": checks, "scores": scores,
        "problems": [*draft.named(), *_said(checks, "failed")],
    }  # fmt: skip


def _accepted(checks: list[Check]) -> Verdict:
    """An accepted answer is as good as its points: one that could not be decided leaves it unverified."""
    undecided = [f"not verified: {said}" for said in _said(checks, "unverified")]
    outcome: Outcome = "unverified" if undecided else "passed"
    return {"outcome": outcome, "checks": checks, "scores": {}, "problems": undecided}


def _said(checks: list[Check], outcome: Outcome) -> list[str]:
    return [f"{check['condition']}: {check['evidence']}" for check in checks if check["outcome"] == outcome]
