"""One request to a model: asked of the meter before, booked on it after, tried again where a failure may pass."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from nodes.decisions import retried
from nodes.failures import classify, one_line, retry_after, retrying
from nodes.models import embedder_for, name_of
from nodes.recording import record
from nodes.run import Run
from nodes.shortening import shortened
from nodes.telemetry import model_call
from nodes.wire.hearing import Hearer, heard_by
from nodes.wire.turns import turn
from nodes.wire.vectors import Vectors
from state.errors import BudgetSpent, ForethoughtError, ModelFailed


@dataclass(frozen=True)
class Asker:
    """Who asks: a role in a run, the step for which it asks, and who hears the reply while it comes."""

    role: str
    run: Run
    step: str = ""
    hearer: Hearer | None = None

    @property
    def answers(self) -> bool:
        """Whether this is the call that the last of every budget is kept for."""
        return self.role == "answerer"


async def send(
    model: Any, messages: Sequence[BaseMessage], asker: Asker, *, rung: str = "",
    may_retry: Callable[[BaseException], bool] = lambda _: True,
) -> AIMessage:  # fmt: skip
    """The reply; a request that is too long is shortened by rule and sent once more."""
    sampling = asker.run.context.sampling_of(asker.role)
    bound = model.bind(**sampling) if sampling else model
    try:
        return await _once(bound, messages, asker, rung, may_retry)
    except ModelFailed as error:
        if error.failure != "too_long" or (less := shortened(messages)) is None:
            raise
        asker.run.event("request_shortened", reason=str(error), evidence=[asker.role, *less.what])
        return await _once(bound, less.messages, asker, rung, may_retry)


async def _once(
    model: Any, messages: Sequence[BaseMessage], asker: Asker, rung: str, may_retry: Callable[[BaseException], bool]
) -> AIMessage:
    run = asker.run
    run.meter.before_model(answer=asker.answers)
    try:
        tell = retried(run, f"{asker.role}'s model", asker.step)
        message: Any = await retrying(run.limits.retries, run.meter, may_retry, tell)(
            _attempt, model, messages, asker, rung
        )
    except BaseException as error:
        run.meter.add_failed(asker.role, plan=run.plan_version + (asker.role == "planner"), step=asker.step)
        if isinstance(error, BudgetSpent) or not isinstance(error, Exception):
            raise
        raise _failed(error, model, asker) from error
    run.book(asker.role, message, name_of(model), asker.step)
    if not isinstance(message, AIMessage):
        kind = type(message).__name__
        raise ModelFailed(f"the {asker.role}'s model answered with {kind}, not a message", "permanent")
    return message


async def embed(texts: Sequence[str], run: Run) -> list[list[float]]:
    """Vectors of texts, by the model of the setting `embedder`; raises `ModelFailed` as `send` does."""
    if not texts:
        return []
    model, asker = await embedder_for(run), Asker("embedder", run)
    run.meter.before_model()

    async def attempt() -> Vectors:
        async with turn(model, run.meter.remaining()), asyncio.timeout(run.within(run.context.model_timeout)):
            vectors: Vectors = await model.embed(texts)
            return vectors

    try:
        tell = retried(run, "embedder", "")
        found: Vectors = await retrying(run.limits.retries, run.meter, tell=tell)(attempt)
    except (BudgetSpent, asyncio.CancelledError):
        raise
    except Exception as error:
        raise _failed(error, model, asker) from error
    run.book("embedder", found, model.model_name)
    return found.vectors


async def _attempt(model: Any, messages: Sequence[BaseMessage], asker: Asker, rung: str) -> Any:
    run = asker.run
    left = run.meter.remaining(answer=asker.answers)
    async with turn(model, left), record(run, asker.role, model, messages, rung, asker.step) as kept:
        with model_call(run, asker.role, name_of(model), asker.step, messages, kept):
            async with asyncio.timeout(run.within(run.context.model_timeout, answer=asker.answers)):
                began = run.meter.seconds()
                with heard_by(asker.hearer):
                    kept.reply = await model.ainvoke(list(messages))
                run.meter.took(run.meter.seconds() - began)
        return kept.reply


def _failed(error: Exception, model: Any, asker: Asker) -> Exception:
    if isinstance(error, ForethoughtError) and not isinstance(error, ModelFailed):
        return error
    meter = asker.run.meter
    if meter.remaining(answer=asker.answers) == 0.0:
        return meter.late(answer=asker.answers)
    cls = classify(error)
    todo = "; check LLM_API_KEY and LLM_BASE_URL" if cls == "auth" else ""
    said = f"model {name_of(model)!r} ({asker.role}): {one_line(error)}{todo}"
    return ModelFailed(said, cls, retry_after=retry_after(error))
