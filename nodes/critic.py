"""Reviews a draft: checks by code first, then a model's critique on named dimensions with a typed verdict.

Where a check by code failed no model is asked: the draft has to be mended whatever one would say.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict, create_model
from typing_extensions import TypedDict

from nodes.ask import ask
from nodes.draft_checks import code_checks
from nodes.drafter import finding_text, given, remembered
from nodes.gradings import Score
from nodes.prompts.critic import critic_messages
from nodes.run import Run, open_run
from nodes.troubles import trouble_with
from state.blank import says_nothing
from state.channels import Drafts, Events, Plans, Results
from state.context import Context
from state.draft import Draft, Found, Reply
from state.errors import BudgetSpent, ModelFailed
from state.request import Request
from state.result import Check
from state.stop import Stop
from state.usage import Usage
from state.verdict import PASS_MARK, Graded, Outcome, Verdict, better

CODE = "code"
"""The dimension of what code found out."""
CONTRADICTS = ": the verdict contradicts itself"
UNAIDED = (
    "nothing but the model that wrote the draft could judge it: name another model for the role checker, give "
    "conditions (accept), tests or an answer_schema, or allow self_critique"
)


class FoundDraft(BaseModel):
    """One thing to improve."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    dimension: str
    """One of the dimensions."""
    text: str
    """What is wrong, where, and what would be right."""
    again: str = ""
    """The id of the earlier finding, if it is the same one."""


class CritiqueInput(TypedDict):
    """What the critic reads."""

    request: Request
    plans: Plans
    results: Results
    drafts: Drafts
    best: Graded | None
    usage: Usage


class CritiqueUpdate(TypedDict):
    """What the critic writes: the draft with its review, and the best of those that were reviewed."""

    drafts: Drafts
    verdict: Verdict | None
    best: Graded | None
    trouble: Stop | None
    usage: Usage
    events: Events


async def critique(state: CritiqueInput, runtime: Runtime[Context]) -> CritiqueUpdate:
    """The review of the last draft."""
    run, last = open_run(state, runtime), state["drafts"][-1]
    checks = await code_checks(last["number"], last["answer"], state["results"], run)
    findings, trouble = _by_code(checks, state["drafts"]), None
    if findings:
        verdict = _verdict("failed", checks, [finding_text(one) for one in findings])
    elif not _is_aided(run):
        verdict = _verdict("unverified", checks, [UNAIDED])
    else:
        try:
            verdict, findings = await _by_model(checks, state, run)
        except BudgetSpent as error:
            verdict, trouble = _verdict("unverified", checks, [str(error)]), trouble_with("reviewing", error)
    return _reviewed(last, verdict, findings, state, run, trouble)


async def check_draft(state: CritiqueInput, runtime: Runtime[Context]) -> CritiqueUpdate:
    """The review of the last draft by code alone; what no check speaks of stands as it was given."""
    run, last = open_run(state, runtime), state["drafts"][-1]
    checks = await code_checks(last["number"], last["answer"], state["results"], run)
    findings = _by_code(checks, state["drafts"])
    undecided = [f"{one['condition']}: {one['evidence']}" for one in checks if one["outcome"] == "unverified"]
    outcome: Outcome = "failed" if findings else "unverified" if undecided else "passed"
    verdict = _verdict(outcome, checks, [finding_text(one) for one in findings] or undecided)
    return _reviewed(last, verdict, findings, state, run)


def _reviewed(
    last: Draft, verdict: Verdict, findings: list[Found], state: CritiqueInput, run: Run, trouble: Stop | None = None
) -> CritiqueUpdate:
    """The draft with its review, which is the best if none before it was better."""
    replies = _held_to(last["replies"], findings)
    reviewed: Draft = {**last, "replies": replies, "verdict": verdict, "findings": findings}
    run.event("critique", reason=verdict["outcome"], evidence=[verdict["scores"], *verdict["problems"][:5]])
    now: Graded = {"answer": last["answer"], "answered_by": "model", "sources": {}, "verdict": verdict}
    return {
        "drafts": [reviewed], "verdict": verdict, "best": better(state["best"], now), "trouble": trouble,
        "usage": run.meter.usage(), "events": run.events,
    }  # fmt: skip


def _is_aided(run: Run) -> bool:
    """Whether anything but the drafter's own model judges."""
    context = run.context
    by_code = bool(context.accept or context.tests or context.answer_schema)
    return by_code or context.self_critique or context.models_of("checker") != context.models_of("answerer")


def _by_code(checks: list[Check], drafts: list[Draft]) -> list[Found]:
    """A finding for every check that failed; the same check keeps its id."""
    failed = [check for check in checks if check["outcome"] == "failed"]
    known = {found["text"].partition(" -> ")[0]: found["id"] for one in drafts for found in one["findings"]}
    free = _free(drafts)
    return [
        {"id": known.get(check["condition"]) or f"f{next(free)}", "dimension": CODE,
         "text": f"{check['condition']} -> {check['evidence']}", "by": "code"}
        for check in failed
    ]  # fmt: skip


def _free(drafts: list[Draft]) -> Iterator[int]:
    """Numbers for findings that were not there before."""
    return count(len({found["id"] for one in drafts for found in one["findings"]}) + 1)


async def _by_model(checks: list[Check], state: CritiqueInput, run: Run) -> tuple[Verdict, list[Found]]:
    last, names = state["drafts"][-1], run.context.dimensions
    passed = [check["condition"] for check in checks if check["outcome"] == "passed"]
    messages = critic_messages(
        given(run), last["answer"], passed, remembered(state["drafts"]), run.language,
        dimensions=names,
    )  # fmt: skip
    try:
        said: Any = await ask(messages, critique_form(tuple(names)), name="critique", role="checker", run=run)
    except ModelFailed as error:
        return _verdict("unverified", checks, [f"the draft was not reviewed: {error}"]), []
    findings = _found(said.findings, state["drafts"])
    undecided = [f"{one['condition']}: {one['evidence']}" for one in checks if one["outcome"] == "unverified"]
    outcome: Outcome = "failed" if said.verdict == "improve" else "unverified" if undecided else "passed"
    problems = [finding_text(one) for one in findings] or undecided
    return {**_verdict(outcome, checks, problems), "scores": said.scores.model_dump()}, findings


def _found(findings: list[FoundDraft], drafts: list[Draft]) -> list[Found]:
    """Findings with their ids: that of an earlier one that was named, or that says the same."""
    known = {found["id"] for one in drafts for found in one["findings"]}
    texts = {(found["dimension"], _plain(found["text"])): found["id"] for one in drafts for found in one["findings"]}
    free, out = _free(drafts), dict[str, Found]()
    for one in findings:
        name = one.again if one.again in known else texts.get((one.dimension, _plain(one.text)), "")
        name = name or f"f{next(free)}"
        out[name] = {"id": name, "dimension": one.dimension, "text": one.text, "by": "model"}
    return list(out.values())


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _held_to(replies: list[Reply], findings: list[Found]) -> list[Reply]:
    """What was said to be fixed and was found again is not fixed."""
    again = {found["id"] for found in findings}
    return [
        {**one, "done": "not_fixed"} if one["done"] == "fixed" and one["finding"] in again else one for one in replies
    ]


def _verdict(outcome: Outcome, checks: list[Check], problems: list[str]) -> Verdict:
    return {"outcome": outcome, "checks": checks, "scores": {}, "problems": problems}


def critique_form(dimensions: tuple[str, ...]) -> type[BaseModel]:
    """The form of a critique on these dimensions; one that contradicts itself is refused."""

    class Form(BaseModel):
        """The critique of a draft."""

        model_config = ConfigDict(extra="forbid")

        verdict: Literal["nothing_to_improve", "improve"]
        findings: list[FoundDraft]

        def model_post_init(self, context: Any, /) -> None:
            """Raises `ValueError` where verdict, scores and findings do not go together."""
            if wrong := _contradiction(self, dimensions):
                raise ValueError(wrong)

    scores = create_model("Scores", __config__=ConfigDict(extra="forbid"), **{one: (Score, ...) for one in dimensions})  # type: ignore[call-overload]
    return create_model("Critique", __base__=Form, __doc__="The critique of a draft.", scores=(scores, ...))


def _contradiction(said: Any, dimensions: tuple[str, ...]) -> str:
    low = [name for name, score in said.scores.model_dump().items() if score < PASS_MARK]
    if unknown := [one.dimension for one in said.findings if one.dimension not in dimensions]:
        return f"a finding has the dimension {unknown[0]!r}, right would be one of {list(dimensions)}"
    if any(says_nothing(one.text) for one in said.findings):
        return "a finding has an empty text; right would be what is wrong, where, and what would be right"
    if said.verdict == "improve":
        return "" if said.findings else f"verdict is improve, and there is no finding{CONTRADICTS}"
    reason = f"{low[0]} is under {PASS_MARK}" if low else "there are findings" if said.findings else ""
    return f"verdict is nothing_to_improve, and {reason}{CONTRADICTS}" if reason else ""
