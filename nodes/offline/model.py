"""The chat-model face of the offline planner: reads role and fences of a prompt, answers in the schema bound."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from nodes.offline.answers import answer, carried_out, drafted, judgement, reflection, typed_answer, unsolvable
from nodes.offline.features import features
from nodes.offline.requests import HOW_TO_NAME_A_MODEL, OFFLINE, plan
from nodes.offline.turns import turn
from nodes.prompts.fence import read_fences


class OfflineModel(BaseChatModel):
    """Deterministic, stateless, without a network and without a language model."""

    model_name: str = "offline"

    @property
    def _llm_type(self) -> str:
        return "offline"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Keeps the tools' schemas for the reply."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], tool_choice=tool_choice, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        reply = respond(messages, kwargs.get("tools") or [])
        return ChatResult(generations=[ChatGeneration(message=reply)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, None, **kwargs)


def respond(messages: Sequence[BaseMessage], tools: Sequence[dict[str, Any]]) -> AIMessage:
    """The reply to one prompt: a call of the tool that is bound, else text."""
    text = "\n".join(message.text for message in messages)
    fences = read_fences(text)
    role = text.split("\n", 1)[0].removeprefix("Role:").strip()
    bound = tools[0]["function"] if tools else None
    value = _value(role, text, fences, (bound or {}).get("parameters") or {}, typed=bound is not None)
    if bound is None or isinstance(value, str):
        return _message(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    call = {"name": bound["name"], "args": value, "id": "offline-1", "type": "tool_call"}
    return _message("", [call])


def _value(role: str, text: str, fences: dict[str, Any], schema: dict[str, Any], *, typed: bool) -> Any:
    """What a role answers; a text where no schema is asked for."""
    known: dict[str, Callable[[], Any]] = {
        "planner": lambda: plan(fences),
        "outliner": unsolvable,
        "chooser": lambda: features(fences),
        "reasoner": lambda: turn(fences),
        **dict.fromkeys(("drafter", "direct", "thinker"), drafted),
        "refiner": drafted,
        "checker": lambda: judgement(fences, schema),
        "critic": lambda: judgement(fences, schema),
        "reflector": lambda: reflection(schema),
        "answerer": lambda: typed_answer(fences, schema) if typed else answer(fences),
        "executor": lambda: carried_out(_instruction(text), fences),
    }
    return known[role]() if role in known else f"{OFFLINE}: there is no role {role!r} here. {HOW_TO_NAME_A_MODEL}"


def _instruction(text: str) -> str:
    """An executor's prompt without its first paragraph, which is the same for every instruction."""
    return text.split("\n", 2)[-1]


def _message(text: str, calls: Sequence[Any] = ()) -> AIMessage:
    """A reply that has used no tokens, which is known and not merely unreported."""
    return AIMessage(
        content=text, tool_calls=list(calls), usage_metadata={"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    )
