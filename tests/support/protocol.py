"""What the OpenAI chat-completions protocol asks of a request, as far as it can be checked without a model.

OpenAI's own description is asked too; here is what it can't say: what must hold between messages, and between fields.

Leaves out: the Responses API, audio, images, and limits of size.
"""

import re
from collections.abc import Iterator
from typing import Any

from tests.support.openapi import described_faults

Body = dict[str, Any]
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ROLES = ("system", "developer", "user", "assistant", "tool")


def request_faults(body: Body) -> list[str]:
    """What a strict server would refuse in this request, one sentence each; empty when nothing is wrong."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return ["messages must be a list that is not empty"]
    found = [*_model(body), *_messages(messages), *_calls_and_answers(messages), *_tools(body)]
    return [*found, *_format(body, messages)] or described_faults(body)


def text_of(message: Body) -> str:
    """The words of one message: its text parts, and the calls it makes."""
    content = message.get("content") or ""
    parts = [content] if isinstance(content, str) else [part.get("text", "") for part in content]
    parts += [f"{c['function']['name']} {c['function']['arguments']}" for c in message.get("tool_calls") or []]
    return "\n".join(parts)


def asked_for(body: Body) -> list[str]:
    """Names of the response format and of the tools that this request offers."""
    schema = (body.get("response_format") or {}).get("json_schema") or {}
    names = [schema["name"]] if "name" in schema else []
    return names + [tool["function"]["name"] for tool in body.get("tools") or []]


def _model(body: Body) -> Iterator[str]:
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield f"model must be a name, got {body.get('model')!r}"


def _messages(messages: list[Body]) -> Iterator[str]:
    for index, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        if role not in ROLES:
            yield f"messages[{index}].role must be one of {', '.join(ROLES)}, got {role!r}"
        if content is None and not (role == "assistant" and message.get("tool_calls")):
            yield f"messages[{index}].content of role {role!r} must not be null"
        if not isinstance(content, str | list | None):
            yield f"messages[{index}].content must be text or a list of parts, got {type(content).__name__}"
        if message.get("tool_calls") == []:
            yield f"messages[{index}].tool_calls must be left out when there are none"


def _calls_and_answers(messages: list[Body]) -> Iterator[str]:
    """A tool message answers a call of the assistant message right before it, once, and no call stays open."""
    open_calls: list[str] = []
    for index, message in enumerate([*messages, {"role": "end"}]):
        if message["role"] == "tool":
            call = message.get("tool_call_id")
            if call in open_calls:
                open_calls.remove(call)
            else:
                yield f"messages[{index}] answers the tool call {call!r}, which is not open before it"
            continue
        if open_calls:
            yield f"tool calls {open_calls} are not answered before messages[{index}]"
        open_calls = [call.get("id") for call in message.get("tool_calls") or []]
        yield from _call_forms(index, message.get("tool_calls") or [])


def _call_forms(index: int, calls: list[Body]) -> Iterator[str]:
    if len({call.get("id") for call in calls}) < len(calls):
        yield f"messages[{index}] has two tool calls with one id"
    for call in calls:
        if not isinstance(call.get("function", {}).get("arguments"), str):
            yield f"messages[{index}]: the arguments of a tool call must be text that holds JSON"


def _tools(body: Body) -> Iterator[str]:
    names = [tool.get("function", {}).get("name", "") for tool in body.get("tools") or []]
    if not names:
        for key in {"tool_choice", "parallel_tool_calls"} & set(body):
            yield f"{key} is only allowed with tools"
        if body.get("tools") == []:
            yield "tools must be left out when there are none"
        return
    yield from (f"the tool name {name!r} does not fit {NAME.pattern}" for name in names if not NAME.fullmatch(name))
    if len(set(names)) < len(names):
        yield f"two tools have one name: {names}"
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice.get("function", {}).get("name") not in names:
        yield f"tool_choice {choice} names no tool of {names}"
    for tool in body["tools"]:
        if tool["function"].get("strict"):
            yield from _strict(tool["function"].get("parameters", {}), tool["function"]["name"])


def _format(body: Body, messages: list[Body]) -> Iterator[str]:
    wanted = body.get("response_format") or {}
    if wanted.get("type") == "json_object" and "json" not in " ".join(map(text_of, messages)).lower():
        yield "response_format json_object needs the word JSON in the messages"
    if wanted.get("type") == "json_schema":
        spec = wanted.get("json_schema") or {}
        if not NAME.fullmatch(spec.get("name", "")):
            yield f"response_format.json_schema.name must fit {NAME.pattern}, got {spec.get('name')!r}"
        if spec.get("strict"):
            yield from _strict(spec.get("schema", {}), spec.get("name", ""))


def _strict(schema: Any, where: str) -> Iterator[str]:
    """Strict mode: every object lists all its properties as required and forbids others."""
    if isinstance(schema, list):
        for item in schema:
            yield from _strict(item, where)
    if isinstance(schema, dict):
        yield from _strict_object(schema, where)
        for key, item in schema.items():
            if key not in ("const", "enum", "default", "examples", "required"):
                yield from _strict(item, f"{where}.{key}")


def _strict_object(schema: Body, where: str) -> Iterator[str]:
    if schema.get("type") != "object":
        return
    if schema.get("additionalProperties") is not False:
        yield f"strict schema {where}: an object needs additionalProperties: false"
    if set(schema.get("required", [])) != set(schema.get("properties", {})):
        yield f"strict schema {where}: every property must be required: {sorted(schema.get('properties', {}))}"
