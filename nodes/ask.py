"""The only place that talks to a model: role -> model, typed replies, one feedback turn, retry by class, usage.

Leaves out, until the fourth issue: repairing broken JSON, tool calls written in text, fallback models.
"""

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import BaseModel, ValidationError

from nodes.failures import classify, one_line, retry_after, retrying, status_of
from nodes.models import model_for, name_of
from nodes.prompts.feedback import rejected, schema_in_words
from nodes.run import Run
from state.errors import BudgetSpent, ForethoughtError, ModelFailed, shorten
from state.plain import clean_text

T = TypeVar("T", bound=BaseModel)
RUNGS = ("json_schema", "tool_call", "prompt")
"""Ways to a typed reply, best first; the one that works is remembered by endpoint and model for the process."""
_FEEDBACK = 1
_THINK = re.compile(r"<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"\s*```\w*\n(.*?)\n?```\s*", re.DOTALL)
_works: dict[tuple[str, str], str] = {}


async def ask(messages: Sequence[BaseMessage], schema: type[T], *, name: str, role: str, run: Run) -> T:
    """Asks for a reply that fits a schema; raises `ModelFailed` with the raw text when none comes."""
    model = await model_for(role, run.context)
    turns = list(messages)
    for attempt in range(_FEEDBACK + 1):
        message = await _typed(model, turns, schema, name, role, run)
        try:
            return schema.model_validate(_value(message, name))
        except ValueError as error:
            finding, raw = _finding(error), _raw(message)
            run.event("reply_rejected", reason=finding, evidence=[role, shorten(raw, 300)])
        if attempt < _FEEDBACK:
            turns = [*messages, rejected(raw, finding, run.language)]
    raise ModelFailed(f"the {role}'s reply can't be used: {finding}", "unusable_reply", raw=raw)


async def ask_text(messages: Sequence[BaseMessage], *, role: str, run: Run) -> str:
    """Asks for a text; an empty one is asked for once more, then `ModelFailed`."""
    model = await model_for(role, run.context)
    for _ in range(_FEEDBACK + 1):
        message = await _send(model, messages, role, run)
        if text := clean_text(_answer_text(message)).strip():
            return text
    raise ModelFailed(f"the {role} gave no text: {_why_empty(message)}", "unusable_reply", raw=_raw(message))


async def _typed(
    model: BaseChatModel, turns: list[BaseMessage], schema: type[BaseModel], name: str, role: str, run: Run
) -> AIMessage:
    """One reply on the best rung that this endpoint takes."""
    place = (str(getattr(model, "openai_api_base", "")), name_of(model))
    rungs = _rungs(model)
    start = rungs.index(_works[place]) if _works.get(place) in rungs else 0
    for rung in rungs[start:]:
        bound, extra = _bind(model, rung, schema, name, run.language)
        try:
            reply = await _send(bound, [*turns, *extra], role, run)
        except ModelFailed as error:
            if rung == rungs[-1] or status_of(error.__cause__ or error) not in (400, 404, 422, 501):
                raise
            if "model" in str(error).lower() and status_of(error.__cause__ or error) == 404:
                raise
            run.event("rung_refused", reason=f"{rung}: {error}", next=rungs[rungs.index(rung) + 1])
            continue
        _works[place] = rung
        return reply
    raise AssertionError("the last rung either returns or raises")


def _rungs(model: BaseChatModel) -> tuple[str, ...]:
    if hasattr(model, "openai_api_base"):
        return RUNGS
    can_bind = type(model).bind_tools is not BaseChatModel.bind_tools
    return ("tool_call",) if can_bind else ("prompt",)


def _bind(
    model: BaseChatModel, rung: str, schema: type[BaseModel], name: str, language: str
) -> tuple[Any, list[BaseMessage]]:
    described = schema.model_json_schema()
    if rung == "json_schema":
        wanted = {"name": name, "schema": described, "strict": False}
        return model.bind(response_format={"type": "json_schema", "json_schema": wanted}), []
    if rung == "tool_call":
        function = {"name": name, "description": schema.__doc__ or name, "parameters": described}
        return model.bind_tools([{"type": "function", "function": function}], tool_choice=name), []
    return model, [HumanMessage(schema_in_words(described, language))]


async def _send(model: Any, messages: Sequence[BaseMessage], role: str, run: Run) -> AIMessage:
    """One call: asked of the meter before, booked on it after; failures that may pass are tried again."""
    run.meter.before_model()
    try:
        async for attempt in retrying(run.limits.retries, run.meter.remaining):
            with attempt:
                async with asyncio.timeout(run.within(run.context.model_timeout)):
                    message = await model.ainvoke(list(messages))
    except (BudgetSpent, asyncio.CancelledError):
        raise
    except Exception as error:
        raise _failed(error, role, run) from error
    run.book(role, message, name_of(getattr(model, "bound", model)))
    if not isinstance(message, AIMessage):
        raise ModelFailed(f"the {role}'s model answered with {type(message).__name__}, not a message", "permanent")
    return message


def _failed(error: Exception, role: str, run: Run) -> Exception:
    if isinstance(error, ForethoughtError):
        return error
    if run.meter.remaining() == 0.0:
        return BudgetSpent("seconds", run.meter.seconds(), run.limits.seconds or 0.0)
    where = run.context.model_of(role)
    named = where if isinstance(where, str) else name_of(where)
    return ModelFailed(f"model {named!r} ({role}): {one_line(error)}", classify(error), retry_after=retry_after(error))


def _value(message: AIMessage, name: str) -> Any:
    """The JSON object of a reply; raises `ValueError` where there is none."""
    for call in message.tool_calls:
        if call["name"] == name:
            return call["args"]
    for bad in message.invalid_tool_calls:
        raise ValueError(f"the arguments of {bad.get('name')} are no JSON: {bad.get('error')}")
    text = _answer_text(message).strip()
    if not text:
        raise ValueError(_why_empty(message))
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1]
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not a JSON object: {error.msg} at character {error.pos}") from error


def _answer_text(message: AIMessage) -> str:
    """The text without reasoning; a think tag that never closes leaves nothing."""
    text = _THINK.sub("", str(message.text))
    return text.split("<think>", 1)[0]


def _why_empty(message: AIMessage) -> str:
    if refusal := message.additional_kwargs.get("refusal"):
        return f"the model refused: {shorten(refusal)}"
    reason = message.response_metadata.get("finish_reason")
    if reason in ("length", "content_filter"):
        return f"the reply ended early (finish_reason {reason})"
    return "only reasoning, no answer" if "<think>" in str(message.text) else "the reply is empty"


def _raw(message: AIMessage) -> str:
    calls: list[Any] = [call["args"] for call in message.tool_calls]
    calls += [call.get("args") for call in message.invalid_tool_calls]
    return str(message.text) or (json.dumps(calls, ensure_ascii=False, default=str) if calls else "")


def _finding(error: ValueError) -> str:
    """What was wrong, in one sentence with the schema's own field names."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"])) or "the reply"
    return f"{where}: {first['msg']} (got {shorten(first['input'])})"
