"""A LangChain chat model in the same process that says what a script holds, by the same rules as the server."""

import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, convert_to_openai_messages
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict, Field

from tests.support.protocol import Body
from tests.support.script import Reply, Script, message_of, usage_of

PIECE = 12


class ScriptedModel(BaseChatModel):
    """Says what its script holds; the script is reached by `reply`, `requests` and `problems`."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    script: Script = Field(default_factory=lambda: Script("scripted_model"), exclude=True)
    model_name: str = "scripted"

    def reply(self, *replies: Any, **one: Any) -> None:
        """Adds replies; see `Script.reply`."""
        self.script.reply(*replies, **one)

    @property
    def requests(self) -> list[Body]:
        """What was asked, in the form of the OpenAI protocol."""
        return self.script.requests

    def problems(self) -> list[str]:
        """Why the test must fail."""
        return self.script.problems()

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | dict[str, Any] | bool | None = None, **kwargs: Any
    ) -> Runnable[Any, AIMessage]:
        """Binds tools in the form of the OpenAI protocol."""
        specs = [convert_to_openai_tool(tool) for tool in tools]
        choice = _choice(tool_choice, [spec["function"]["name"] for spec in specs])
        chosen: dict[str, Any] = {"tool_choice": choice} if choice else {}
        return super().bind(tools=specs, **chosen, **kwargs)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        body, reply = self._take(messages, kwargs)
        time.sleep(reply.delay)
        return _result(body, reply)

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        body, reply = self._take(messages, kwargs)
        await asyncio.sleep(reply.delay)
        return _result(body, reply)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        body, reply = self._take(messages, kwargs)
        time.sleep(reply.delay)
        for chunk in _chunks(_answer(body, reply)):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk
            time.sleep(reply.pace)

    def _take(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> tuple[Body, Reply]:
        asked: Body = {key: kwargs[key] for key in ("tools", "tool_choice", "response_format") if key in kwargs}
        body: Body = {"model": self.model_name, "messages": convert_to_openai_messages(messages), **asked}
        reply = self.script.take(body)
        if isinstance(reply.content, BaseException):
            raise reply.content
        return body, reply


def _choice(choice: str | dict[str, Any] | bool | None, names: list[str]) -> str | dict[str, Any] | None:
    if choice is True or choice == "any":
        return "required"
    if isinstance(choice, str) and choice in names:
        return {"type": "function", "function": {"name": choice}}
    return choice or None


def _answer(body: Body, reply: Reply) -> AIMessage:
    said = message_of(reply, body)
    more = {key: value for key, value in said.items() if key not in ("role", "content", "tool_calls")}
    good, bad = [], []
    for call in said.get("tool_calls", []):
        name, text = call["function"]["name"], call["function"]["arguments"]
        try:
            good.append({"name": name, "args": json.loads(text), "id": call["id"], "type": "tool_call"})
        except ValueError as error:
            bad.append({"name": name, "args": text, "id": call["id"], "error": str(error), "type": "invalid_tool_call"})
    finish = reply.finish or ("tool_calls" if good or bad else "stop")
    return AIMessage(
        content=said["content"] or "",
        tool_calls=good,
        invalid_tool_calls=bad,
        additional_kwargs=more,
        usage_metadata=_usage(body, reply, said),
        response_metadata={"finish_reason": finish, "model_name": body["model"]},
    )


def _usage(body: Body, reply: Reply, said: Body) -> UsageMetadata | None:
    usage = usage_of(reply, body, said)
    if usage is None:
        return None
    spent, made = usage["prompt_tokens"], usage["completion_tokens"]
    return UsageMetadata(input_tokens=spent, output_tokens=made, total_tokens=spent + made)


def _result(body: Body, reply: Reply) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=_answer(body, reply))])


def _chunks(message: AIMessage) -> Iterator[ChatGenerationChunk]:
    text = str(message.content)
    for start in range(0, len(text), PIECE):
        yield ChatGenerationChunk(message=AIMessageChunk(content=text[start : start + PIECE], id=message.id))
    good = [{**call, "args": json.dumps(call["args"], ensure_ascii=False)} for call in message.tool_calls]
    calls = [*good, *message.invalid_tool_calls]
    last = AIMessageChunk(
        content="",
        tool_call_chunks=[
            {"name": call["name"], "args": call["args"], "id": call["id"], "index": index, "type": "tool_call_chunk"}
            for index, call in enumerate(calls)
        ],
        additional_kwargs=message.additional_kwargs,
        usage_metadata=message.usage_metadata,
        response_metadata=message.response_metadata,
    )
    yield ChatGenerationChunk(message=last)
