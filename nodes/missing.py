"""What a planner lacks and only a person knows: the questions it names, and what their answers become."""

from collections.abc import Mapping, Sequence
from typing import Any

from nodes.asking import planner_question
from nodes.plan_check import Finding, finding
from nodes.questions import count_asked
from nodes.run import Run
from state.channels import Asks
from state.errors import shorten
from state.plan import PlanDraft, QuestionDraft
from state.stop import Stop, StopReason, stop

ASKED_BEFORE = "a person was asked all of this before"


def missing_questions(
    drafts: Sequence[QuestionDraft], approvals: Mapping[str, Any], run: Run
) -> tuple[Stop | None, Asks]:
    """What has not been asked yet, or why nobody may be asked any more; neither where all of it was asked before."""
    asks = _not_asked(drafts, approvals, run)
    lacks = "; ".join(ask["action_requests"][0]["description"] for ask in asks.values())
    used, allowed = count_asked(approvals), run.limits.questions
    if run.resumable and asks and used + len(asks) > allowed:
        said = f"limit questions reached: {used} of {allowed} answered; still missing: {lacks}"
        return stop(StopReason.QUESTIONS if allowed else StopReason.NEEDS_INPUT, said if allowed else lacks), []
    if asks:
        run.event("questions", reason=lacks, evidence=list(asks), next="a person")
    return None, list(asks.values())


def _not_asked(drafts: Sequence[QuestionDraft], approvals: Mapping[str, Any], run: Run) -> dict[str, dict[str, Any]]:
    asks: dict[str, dict[str, Any]] = {}
    taken = {*run.request["inputs"]}
    for draft in drafts:
        ask = planner_question(run.request["id"], draft, taken)
        if ask["id"] not in approvals and ask["id"] not in asks and draft.question.strip():
            asks[ask["id"]] = ask
            taken.add(ask["input"])
    return asks


def contradiction(draft: PlanDraft, approvals: Mapping[str, Any], run: Run) -> list[Finding]:
    """What is wrong with steps beside a refusal, or beside a question that nobody has been asked yet."""
    asks = [ask["action_requests"][0]["description"] for ask in _not_asked(draft.questions, approvals, run).values()]
    if not draft.steps or not (draft.impossible or asks):
        return []
    says = f"says that the task can't be done ({shorten(draft.impossible)})" if draft.impossible else ""
    says = says or f"asks what only a person knows ({shorten('; '.join(asks))})"
    field = "impossible" if draft.impossible else "questions"
    right = f"leave `{field}` out if the steps do the whole task, else give no steps"
    return [finding("", "contradiction", f"the plan has steps and {says}, and only one of both can hold; {right}")]


def told_once(findings: Sequence[Finding]) -> list[Finding]:
    """What a planner that asks again is told next, once."""
    if any(one["code"] == "asked_before" for one in findings):
        return []
    return [{"step": "", "code": "asked_before", "message": f"{ASKED_BEFORE}; plan with what was said, or give up"}]


def answered_inputs(approvals: Mapping[str, Any]) -> dict[str, Any]:
    """What people have answered to planners, as inputs by name."""
    return {one["input"]: one["value"] for one in approvals.values() if "input" in one and one["type"] == "respond"}


def said_by_people(approvals: Mapping[str, Any], asks: Asks) -> dict[str, Any]:
    """What a planner is told of what people said: answers, words about its plans, and the plan that they are about."""
    answers = [
        {"question": one["question"], "input": one["input"], "answer": one.get("value")}
        for one in approvals.values()
        if "input" in one
    ]
    words = [one["value"] for one in approvals.values() if one["kind"] == "plan" and one["type"] == "respond"]
    refused = [ask["action_requests"][0]["args"]["steps"] for ask in asks if ask["kind"] == "plan"]
    return {"answers": answers, "about_your_plans": words, "your_last_plan": refused[0] if refused else []}
