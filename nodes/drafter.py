"""Drafts an answer, and refines it by what a critique found (Self-Refine, Madaan et al. 2023, arXiv:2303.17651).

Leaves out: what is wrong with a draft (`nodes/critic.py`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict, Field, create_model
from typing_extensions import TypedDict

from nodes.ask import ask, ask_text
from nodes.draft_checks import plan_begun, with_tests
from nodes.prompts.drafter import draft_messages, refine_messages
from nodes.run import Run, open_run
from nodes.troubles import invalid, trouble_with
from nodes.views import bounded
from state.blank import EMPTY, is_blank
from state.channels import Counts, Drafts, Events, Plans, Results
from state.context import Context
from state.draft import Draft, Found, Reply
from state.errors import BudgetSpent, ModelFailed
from state.request import Request
from state.stop import Stop, StopReason, stop
from state.usage import Usage

Messages = Callable[[list[tuple[str, Any]], str], list[BaseMessage]]
"""A prompt: (the task and what goes with it, the language) -> messages."""
MEMORY = 6000
"""Characters of earlier findings that a prompt holds in all, so that it does not grow with the rounds."""


class ReplyDraft(BaseModel):
    """What is said to one finding."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    finding: str
    """Its id."""
    done: Literal["fixed", "refused"]
    """fixed: the new draft mends it; refused: it is wrong, or mending it would make the answer worse."""
    because: str
    """What was changed, or why it is refused."""


class DraftInput(TypedDict):
    """What the drafter reads."""

    request: Request
    plans: Plans
    results: Results
    drafts: Drafts
    usage: Usage


class DraftUpdate(TypedDict, total=False):
    """What the drafter writes; the plan grows by a step that tests the draft, if there are tests."""

    drafts: Drafts
    plans: Plans
    answer: Any
    answered_by: str
    counts: Counts
    trouble: Stop | None
    usage: Usage
    events: Events


def drafting(messages_of: Messages, *, reasoned: bool = False) -> Any:
    """A node that writes a whole draft in one call; it knows the task, and which attempt this is."""

    async def draft(state: DraftInput, runtime: Runtime[Context]) -> DraftUpdate:
        """Writes a whole answer in one call."""
        run = open_run(state, runtime)
        update: DraftUpdate = {}
        try:
            again = [("attempt", len(state["drafts"]) + 1)] if state["drafts"] else []
            messages = messages_of([*given(run), *again], run.language)
            update = _drafted(await _said(messages, run, reasoned=reasoned), [], state, run)
        except (BudgetSpent, ModelFailed) as error:
            update = {"trouble": trouble_with("drafting", error), "plans": plan_begun(state["plans"], run)}
        counts: Counts = {"attempts": 1} if state["drafts"] else {}
        return {**update, "counts": counts, "usage": run.meter.usage(), "events": run.events}

    return draft


draft = drafting(draft_messages)
"""The first draft."""


async def _said(messages: list[BaseMessage], run: Run, *, reasoned: bool) -> Any:
    """The answer; reasoning that came before it is an event and no part of it."""
    schema = run.context.answer_schema
    if schema is None and not reasoned:
        return await ask_text(messages, role="answerer", run=run)
    said: Any = await ask(
        messages, _form(schema, [], Reasoned if reasoned else BaseModel), name="draft", role="answerer", run=run
    )
    if reasoned:
        run.event("thought", reason=said.reasoning, next="finish")
    return said.answer


async def refine(state: DraftInput, runtime: Runtime[Context]) -> DraftUpdate:
    """The next draft, with an answer to every finding; one that changes nothing ends the run."""
    run, last = open_run(state, runtime), state["drafts"][-1]
    update: DraftUpdate = {}
    try:
        before = remembered(state["drafts"])
        messages = refine_messages(given(run), last["answer"], list(last["findings"]), before, run.language)
        form = _form(run.context.answer_schema, [found["id"] for found in last["findings"]])
        said: Any = await ask(messages, form, name="refine", role="answerer", run=run)
        replies: list[Reply] = [one.model_dump() for one in said.replies]
        update = _unchanged(replies, run) if same(said.answer, last) else _drafted(said.answer, replies, state, run)
    except (BudgetSpent, ModelFailed) as error:
        update["trouble"] = trouble_with("refining", error)
    return {**update, "counts": {"reflections": 1}, "usage": run.meter.usage(), "events": run.events}


def given(run: Run) -> list[tuple[str, Any]]:
    """The task and what goes with it, as every prompt of a reflection shows it."""
    request: Mapping[str, Any] = run.request
    names = ("earlier", "task", "constraints", "inputs")
    return [
        *((name, request[name]) for name in names),
        ("conditions", run.context.accept),
        ("tests", run.context.tests),
    ]


def remembered(drafts: Sequence[Draft]) -> dict[str, Any]:
    """What was found before the last draft, each with the last that was said to it; the oldest only counted."""
    told: dict[str, Any] = {}
    last: Draft = {**drafts[-1], "findings": []}
    for one in (*drafts[:-1], last):
        for reply in one["replies"]:
            told[reply["finding"]] = {**told.pop(reply["finding"], {}), "said": reply["done"], "why": reply["because"]}
        for found in one["findings"]:
            told[found["id"]] = {**told.pop(found["id"], {}), "draft": one["number"], "text": found["text"]}
    return bounded(told, MEMORY)


def same(answer: Any, before: Draft) -> bool:
    """Whether a draft is that before it but for white space at its ends and the ends of lines."""
    old = before["answer"]
    if isinstance(answer, str) and isinstance(old, str):
        return _lines(answer) == _lines(old)
    return bool(answer == old)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def _drafted(answer: Any, replies: list[Reply], state: DraftInput, run: Run) -> DraftUpdate:
    number = len(state["drafts"]) + 1
    plans, findings = with_tests(number, answer, state, run)
    written: Draft = {"number": number, "answer": answer, "replies": replies, "verdict": None, "findings": []}
    run.event("draft", reason=f"draft {number}", evidence=[f"{one['finding']}: {one['done']}" for one in replies])
    update: DraftUpdate = {"drafts": [written], "answer": answer, "answered_by": "model", "trouble": None}
    return {**update, "trouble": invalid(findings)} if findings else {**update, "plans": plans}


def _unchanged(replies: list[Reply], run: Run) -> DraftUpdate:
    refused = [f"{one['finding']} refused: {one['because']}" for one in replies if one["done"] == "refused"]
    claimed = [f"{one['finding']} said to be fixed" for one in replies if one["done"] == "fixed"]
    run.event("draft_unchanged", evidence=[*refused, *claimed])
    message = "the new draft is the one before; nothing was changed"
    return {"trouble": stop(StopReason.NO_PROGRESS, message, [*refused, *claimed])}


class Reasoned(BaseModel):
    """What comes before an answer: fields are written in their order, and a reason that follows explains nothing."""

    reasoning: str


def _form(schema: dict[str, Any] | None, ids: list[str], after: type[BaseModel] = BaseModel) -> type[BaseModel]:
    """The form of a draft: `after` other fields, and with an answer to every finding where there are any."""

    class Form(after):  # type: ignore[misc, valid-type]
        """The whole answer."""

        model_config = ConfigDict(extra="forbid")

        answer: Any = Field(json_schema_extra=lambda field: field.update(schema or {"type": "string"}))

        def model_post_init(self, context: Any, /) -> None:
            """Raises `ValueError` where there is no answer, or none to a finding."""
            if is_blank(self.answer, schema):
                raise ValueError(EMPTY)
            if wrong := _unanswered(getattr(self, "replies", []), ids):
                raise ValueError(wrong)

    more: dict[str, Any] = {"replies": (list[ReplyDraft], ...)} if ids else {}
    words = "The whole answer, and what is said to each finding." if ids else "The whole answer."
    return create_model("Draft", __base__=Form, __doc__=words, **more)


def _unanswered(replies: list[ReplyDraft], ids: list[str]) -> str:
    answered = [one.finding for one in replies]
    if sorted(answered) != sorted(ids):
        return f"replies answers {answered or 'nothing'}; right would be one reply for each of {ids}"
    bare = [one.finding for one in replies if one.done == "refused" and not one.because.strip()]
    return f"{bare[0]} is refused without a reason; say why in because" if bare else ""


def finding_text(found: Found) -> str:
    """A finding in one line."""
    return f"{found['id']} ({found['dimension']}): {found['text']}"
