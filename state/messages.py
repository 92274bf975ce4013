"""A thread as a conversation: tasks and reports as chat messages, so that a chat UI shows a run.

Messages are plain JSON in the form that LangChain streams them in. Leaves out: images and tool calls.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langchain_core.messages import BaseMessage, convert_to_messages
from typing_extensions import TypedDict

from state.errors import InputError, shorten

_RIGHT = 'right would be {"role": "user", "content": "what to do"}'


class Message(TypedDict):
    """One message; `human` is a person's, `ai` a report of ours."""

    type: Literal["human", "ai", "system", "tool"]
    content: str
    id: str


def converse(state: list[Message], writes: Sequence[Any]) -> list[Message]:
    """Appends messages; one whose id is there already takes its place."""
    out = {message["id"]: message for message in state}
    for write in writes:
        for given in write if isinstance(write, list) else [write]:
            message = as_message(given, f"m{len(out) + 1}")
            out[message["id"]] = message
    return list(out.values())


def as_message(given: Any, identity: str) -> Message:
    """A message in the form of our own; raises `InputError` for what is none."""
    try:
        [message] = convert_to_messages([given])
    except (ValueError, TypeError, NotImplementedError, KeyError) as error:
        raise InputError(f"{shorten(given)} is no message; {_RIGHT}") from error
    kind: Any = message.type if message.type in ("human", "ai", "system", "tool") else "human"
    return {"type": kind, "content": _text(message), "id": message.id or identity}


def _text(message: BaseMessage) -> str:
    """Its text; other parts, such as images, are refused rather than lost."""
    for part in message.content if isinstance(message.content, list) else []:
        if isinstance(part, Mapping) and part.get("type") != "text":
            raise InputError(f"a message holds {shorten(part)}; only text is read, files go into inputs")
    return str(message.text)


def task_in(messages: Sequence[Message]) -> str | None:
    """What the last message asks for; None where it is not a person's."""
    return messages[-1]["content"] if messages and messages[-1]["type"] == "human" else None
