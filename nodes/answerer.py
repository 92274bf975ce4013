"""Gives the final answer, always: from a model where one is due and can be asked, else from the results by code."""

import json
from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict, Field, create_model
from typing_extensions import TypedDict

from nodes.ask import ask, ask_text
from nodes.prompts.answerer import answer_messages
from nodes.run import Run, open_run
from nodes.typed_args import misfit
from nodes.views import answering, final_outputs, missing, result_views
from state.blank import EMPTY, is_blank
from state.channels import Events, Plans, Results
from state.context import Context
from state.errors import BudgetSpent, ModelFailed
from state.request import Request
from state.stop import Stop, StopReason, stop
from state.usage import Usage
from state.verdict import Graded, Verdict

Answer = tuple[Any, str, dict[str, list[str]]]
"""The answer, who gave it (model or code), and the steps that each part of it comes from."""


class AnswerInput(TypedDict):
    """What the answerer reads."""

    request: Request
    plans: Plans
    results: Results
    stop: Stop | None
    answer: Any
    answered_by: str
    sources: dict[str, list[str]]
    usage: Usage


class WrapUpInput(AnswerInput):
    """What the answerer reads where answers were graded."""

    verdict: Verdict | None
    best: Graded | None


class AnswerUpdate(TypedDict):
    """What the answerer writes."""

    answer: Any
    answered_by: str
    sources: dict[str, list[str]]
    trouble: Stop | None
    usage: Usage
    events: Events


class WrapUpUpdate(AnswerUpdate):
    """What the answerer writes where answers were graded."""

    verdict: Verdict | None


async def answer(state: AnswerInput, runtime: Runtime[Context]) -> AnswerUpdate:
    """The answer in a model's words; where there is nothing to tell or no model to ask, the answer by code."""
    return await _answer(state, open_run(state, runtime), in_words=True)


async def answer_by_code(state: AnswerInput, runtime: Runtime[Context]) -> AnswerUpdate:
    """The last outputs as they are; a model is asked only if an answer in a schema can't be had otherwise."""
    return await _answer(state, open_run(state, runtime), in_words=False)


async def answer_given(state: AnswerInput, runtime: Runtime[Context]) -> AnswerUpdate:
    """The answer that the reasoning came to; where it came to none, or to one of another form, as `answer`."""
    run, said = open_run(state, runtime), state["answer"]
    schema = run.context.answer_schema
    fits = said is not None and not (schema and misfit(said, schema))
    given = (said, state["answered_by"], state["sources"]) if fits else None
    return await _answer(state, run, in_words=True, given=given)


async def answer_best(state: WrapUpInput, runtime: Runtime[Context]) -> WrapUpUpdate:
    """The best of the graded answers, with its grading; where none was graded, the one there is, else one given now."""
    run, best = open_run(state, runtime), state["best"]
    known: Any = best or (state if state["answer"] is not None else None)
    given = (known["answer"], known["answered_by"], known["sources"]) if known else None
    update = await _answer(state, run, in_words=True, given=given)
    return {**update, "verdict": best["verdict"] if best else state["verdict"]}


async def _answer(state: AnswerInput, run: Run, *, in_words: bool, given: Answer | None = None) -> AnswerUpdate:
    trouble: Stop | None = None
    kept, given = given is not None, given or by_code(state, run)
    if not kept and _is_due(state, run, given, in_words):
        try:
            given = await _by_model(state, run)
        except (ModelFailed, BudgetSpent) as error:
            run.event("answer_by_code", reason=str(error))
    if run.context.answer_schema and (why := misfit(given[0], run.context.answer_schema)):
        trouble = stop(StopReason.NOT_ACCEPTED, f"the answer does not fit its schema: {why}")
    value, by, sources = given
    return {
        "answer": value, "answered_by": by, "sources": sources, "trouble": trouble, "usage": run.meter.usage(),
        "events": run.events,
    }  # fmt: skip


def _is_due(state: AnswerInput, run: Run, given: Answer, in_words: bool) -> bool:
    if (state["stop"] and state["stop"]["kind"] == "pause") or run.context.dry_run or not state["results"]:
        return False
    if run.context.answer_schema:
        return bool(misfit(given[0], run.context.answer_schema))
    return in_words and run.context.models_of("answerer") != ["offline"]  # which has no words of its own


async def _by_model(state: AnswerInput, run: Run) -> Answer:
    views = result_views(state["plans"], state["results"])
    lacking = missing(state["plans"], state["results"])
    schema = run.context.answer_schema
    constraints = run.request["constraints"]
    messages = answer_messages(
        state["request"]["task"], constraints, views, lacking, run.language,
        typed=bool(schema), earlier=state["request"]["earlier"],
    )  # fmt: skip
    if schema is None:
        return await ask_text(messages, role="answerer", run=run), "model", {}
    draft: Any = await ask(messages, answer_form(schema), name="answer", role="answerer", run=run)
    known = {name: [step for step in steps if step in state["results"]] for name, steps in draft.sources.items()}
    return draft.answer, "code" if run.context.models_of("answerer") == ["offline"] else "model", known


def answer_form(schema: dict[str, Any]) -> type[BaseModel]:
    """The form of an answer in a caller's schema, with the sources of its parts; it validates itself."""

    class Form(BaseModel):
        """The answer, and for each of its top-level fields the ids of the steps it comes from."""

        model_config = ConfigDict(extra="forbid")

        answer: Any = Field(json_schema_extra=lambda field: field.update(schema))
        sources: dict[str, list[str]] = Field(default_factory=dict)

        def model_post_init(self, context: Any, /) -> None:
            """Raises `ValueError` where the answer says nothing or does not fit."""
            if why := misfit(self.answer, schema) or EMPTY * is_blank(self.answer, schema):
                raise ValueError(why)

    return create_model("Answer", __base__=Form)


def by_code(state: Mapping[str, Any], run: Run) -> Answer:
    """The best answer without a model: the outputs that nothing else builds on, then what is missing."""
    plans, results, schema = state["plans"], state["results"], run.context.answer_schema
    outputs = answering(plans, results)
    for name, output in reversed(outputs.items()):
        if schema and not misfit(output, schema):
            return output, "code", _all_from(output, name)
    finals = final_outputs(plans[-1], results) if plans else {}
    said, got = map(_text, outputs.values()), (_text(one) for name, one in finals.items() if name not in outputs)
    lacking = [] if run.context.dry_run else missing(plans, results)
    return _told([*said], [*got], lacking, state.get("stop"), run.language), "code", {}


def _all_from(output: Any, step: str) -> dict[str, list[str]]:
    return {str(key): [step] for key in output} if isinstance(output, Mapping) else {"": [step]}


def _told(said: list[str], got: list[str], lacking: list[str], ended: Stop | None, language: str) -> str:
    """What was `said` in the end, else why nothing was; what others were to build on is no answer, and called so."""
    words = _WORDS[language]
    lines = said or [words[0]]
    if ended and ended["kind"] != "success" and not said:
        lines.append(ended["message"])
    if got:
        lines += [words[2], *got]
    if lacking:
        lines += [words[1], *(f"- {line}" for line in lacking)]
    return "\n".join(lines)


_WORDS = {"en": ("No result.", "Missing:", "On the way to it:"), "zh": ("没有结果。", "缺少：", "中间结果：")}


def _text(output: Any) -> str:
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
