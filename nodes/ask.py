"""The only place that talks to a model: role -> models, typed replies, feedback, the next model where one fails.

A reply is read by `nodes/reading`, asked for by a rung of `nodes/ladder.py`, sent by `nodes/sending.py`.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from pydantic import BaseModel, ValidationError

from nodes.ladder import Form, Ladder
from nodes.models import models_for, name_of
from nodes.prompts.changes import changed
from nodes.prompts.feedback import rejected
from nodes.reading import Reading, read_message, value_of
from nodes.run import Run
from nodes.sending import Asker, send
from nodes.wire.hearing import Hearer
from state.blank import says_nothing
from state.errors import ModelFailed, shorten
from state.plain import clean_text, plain

T = TypeVar("T")
Typed = TypeVar("Typed", bound=BaseModel)
FEEDBACK = 2
"""How often a model is told what was wrong with its reply."""


async def ask(
    messages: Sequence[BaseMessage], schema: type[Typed], *, name: str, role: str, run: Run,
    hearer: Hearer | None = None,
) -> Typed:  # fmt: skip
    """Asks for a reply that fits a schema; raises `ModelFailed` with the raw text when none comes."""
    turns = changed(messages, run.context.prompt_of(role))
    return await _first(Asker(role, run, hearer=hearer), lambda model, asker: _typed(model, turns, schema, name, asker))


async def ask_text(messages: Sequence[BaseMessage], *, role: str, run: Run, step: str = "") -> str:
    """Asks for a text; raises `ModelFailed` when only empty ones come."""
    turns = changed(messages, run.context.prompt_of(role))
    return await _first(Asker(role, run, step), lambda model, asker: _text(model, turns, asker))


async def _first(asker: Asker, use: Callable[[BaseChatModel, Asker], Awaitable[T]]) -> T:
    """What the first model of a role gives that gives anything."""
    models = await models_for(asker.role, asker.run)
    for model, following in zip(models, [*models[1:], None], strict=True):
        try:
            return await use(model, asker)
        except ModelFailed as error:
            if following is None or error.failure == "content_policy":
                raise
            asker.run.event("next_model", reason=str(error), evidence=[asker.role], next=name_of(following))
    raise AssertionError("a role has at least one model")


async def _typed(
    model: BaseChatModel, messages: Sequence[BaseMessage], schema: type[Typed], name: str, asker: Asker
) -> Typed:
    """Asks, tells what was wrong, asks again; where the way of asking is ignored, asks in another way."""
    ladder = await Ladder.of(model, asker, Form(name, schema))
    turns, told = list(messages), 0
    while True:
        reading = _allowed(read_message(await ladder.reply(turns)), asker.role)
        try:
            value = schema.model_validate(plain(await ladder.held(value_of(reading, name))))
        except ValueError as error:
            finding = _finding(error)
        else:
            return value
        asker.run.event("reply_rejected", reason=finding, evidence=[asker.role, shorten(reading.raw, 300)])
        if await ladder.is_ignored(reading):
            turns = list(messages)
            continue
        if told == FEEDBACK:
            raise ModelFailed(f"the {asker.role}'s reply can't be used: {finding}", "unusable_reply", raw=reading.raw)
        told += 1
        turns = [*messages, rejected(reading.raw, finding, asker.run.language)]


async def _text(model: BaseChatModel, messages: Sequence[BaseMessage], asker: Asker) -> str:
    for _ in range(FEEDBACK):
        reading = _allowed(read_message(await send(model, messages, asker)), asker.role)
        if not says_nothing(text := clean_text(reading.text).strip()):
            return text
    why = reading.problem or "the reply holds no text"
    raise ModelFailed(f"the {asker.role} gave no text: {why}", "unusable_reply", raw=reading.raw)


def _allowed(reading: Reading, role: str) -> Reading:
    """The reading, unless the model refused or was not allowed to speak: asking again would change nothing."""
    if reading.refusal:
        raise ModelFailed(f"the {role}'s model refused: {shorten(reading.refusal)}", "content_policy", raw=reading.raw)
    if reading.filtered:
        why = f"a content filter stopped the {role}'s model (finish_reason {reading.finish})"
        raise ModelFailed(why, "content_policy", raw=reading.raw)
    return reading


def _finding(error: ValueError) -> str:
    """What was wrong, in one sentence with the schema's own field names."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"])) or "the reply"
    return f"{where}: {first['msg']} (got {shorten(first['input'])})"
