"""Ways to a typed reply, best first: each endpoint is asked in the best way that it takes, and that is remembered.

A rung is left when the server refuses it, or when it is ignored: prose comes where JSON was asked for.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import BaseModel

from nodes.failures import status_of
from nodes.prompts.feedback import schema_in_words
from nodes.reading import Reading
from nodes.replay import ReplayModel
from nodes.rungs import Place, forget, place_of, recall, remember
from nodes.sending import Asker, send
from state.errors import ModelFailed
from state.json_text import from_json

RUNGS = ("json_schema", "tool_call", "json_mode", "prompt")
_FEATURE = re.compile(r"tool|function|response.?format|json|schema|grammar|structured|guided|strict", re.I)
_PATIENCE = 2
"""How often prose may come on the first rung; on a later one, once."""


@dataclass(frozen=True)
class Form:
    """What a typed reply must look like."""

    name: str
    schema: type[BaseModel]

    def described(self) -> dict[str, Any]:
        """The JSON Schema, which the one who gets it may change."""
        described: dict[str, Any] = from_json(_json_schema(self.schema))
        return described


@lru_cache(maxsize=64)
def _json_schema(schema: type[BaseModel]) -> str:
    """Made once for each form: pydantic takes longer over it than everything else here takes for a call."""
    return json.dumps(schema.model_json_schema(), ensure_ascii=False)


@dataclass
class Ladder:
    """One typed question on its way down the rungs."""

    model: BaseChatModel
    asker: Asker
    form: Form
    place: Place
    rungs: Sequence[str]
    proven: bool
    prose: int = 0
    left: list[str] = field(default_factory=list)

    @classmethod
    async def of(cls, model: BaseChatModel, asker: Asker, form: Form) -> "Ladder":
        """Begins at the rung that worked here before, else at the best."""
        place = place_of(model)
        rungs = _rungs(model)
        known = await recall(place, asker.run.context)
        if isinstance(model, ReplayModel):
            known = model.next_rung()
        start = rungs.index(known) if known in rungs else 0
        proven = known in rungs and not isinstance(model, ReplayModel)
        return cls(model, asker, form, place, rungs[start:], proven)

    async def reply(self, turns: Sequence[BaseMessage]) -> AIMessage:
        """One reply, on the first rung that is not refused."""
        while True:
            rung = self.rungs[0]
            try:
                bound, more = _bound(self.model, rung, self.form, self.asker.run.language)
                return await send(bound, [*turns, *more], self.asker, rung=rung, may_retry=lambda e: not _is_named(e))
            except (ModelFailed, NotImplementedError) as error:
                if len(self.rungs) == 1 or not _refuses(error, rung):
                    raise
                await self._down(f"refused: {error}")

    async def held(self, value: dict[str, Any]) -> dict[str, Any]:
        """Notes that JSON came on this rung; gives the value back."""
        if not self.proven:
            self.proven = True
            await remember(self.place, self.rungs[0], self.asker.run.context)
        return value

    async def is_ignored(self, reading: Reading) -> bool:
        """Whether prose has come so often that the next rung is to be tried; then it is there."""
        if self.proven or len(self.rungs) == 1 or not _is_prose(reading):
            return False
        self.prose += 1
        patient = self.prose < (1 if self.left else _PATIENCE)
        if isinstance(self.model, ReplayModel):
            patient = self.model.next_rung() in (None, self.rungs[0])
        if patient:
            return False
        self.prose = 0
        await self._down("ignored: prose came instead of JSON")
        return True

    async def _down(self, why: str) -> None:
        rung, *self.rungs = self.rungs
        self.left.append(rung)
        if self.proven:
            await forget(self.place, self.asker.run.context)
        self.proven = False
        self.asker.run.event("rung_refused", reason=f"{rung} {why}", evidence=[self.asker.role], next=self.rungs[0])


def _rungs(model: BaseChatModel) -> tuple[str, ...]:
    """An endpoint has all; another model those that LangChain has a word for."""
    if hasattr(model, "openai_api_base") or getattr(model, "speaks_openai", False):
        return RUNGS
    can_bind = type(model).bind_tools is not BaseChatModel.bind_tools
    return ("tool_call", "prompt") if can_bind else ("prompt",)


def _bound(model: BaseChatModel, rung: str, form: Form, language: str) -> tuple[Any, list[BaseMessage]]:
    described = form.described()
    if rung == "json_schema":
        wanted = {"name": form.name, "schema": described, "strict": False}
        return model.bind(response_format={"type": "json_schema", "json_schema": wanted}), []
    if rung == "tool_call":
        function = {"name": form.name, "description": form.schema.__doc__ or form.name, "parameters": described}
        return model.bind_tools([{"type": "function", "function": function}], tool_choice=form.name), []
    in_words: list[BaseMessage] = [HumanMessage(schema_in_words(described, language))]
    if rung == "json_mode":
        return model.bind(response_format={"type": "json_object"}), in_words
    return model, in_words


def _is_named(error: BaseException) -> bool:
    """Whether a server error names the feature that was asked for: asking again would not help."""
    return (status_of(error) or 0) >= 500 and bool(_FEATURE.search(str(error)))


def _refuses(error: Exception, rung: str) -> bool:
    """Whether it is the rung that the server does not take."""
    if not isinstance(error, ModelFailed):
        return True
    cause = error.__cause__ or error
    status, named = status_of(cause), bool(_FEATURE.search(str(cause)))
    if error.failure == "not_found":
        return named or (status == 404 and "model" not in str(cause).lower())
    if error.failure in ("bad_request", "permanent"):
        return status in (400, 404, 405, 415, 422, 501)
    return status is not None and status >= 500 and (named or (status == 500 and rung == "tool_call"))


def _is_prose(reading: Reading) -> bool:
    """Words and no sign of JSON; a reply that is only thought, or broken JSON, is not a rung ignored."""
    text = reading.text.strip()
    is_json = "{" in reading.raw or text.startswith("[") or _is_json(text)
    return bool(text) and not reading.calls and not is_json


def _is_json(text: str) -> bool:
    try:
        from_json(text)
    except ValueError:
        return False
    return True
