"""What a scripted model says: a list of replies, each used once, none left over and none made up."""

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tests.support.protocol import Body, asked_for, request_faults, text_of

When = str | re.Pattern[str] | Callable[[Body], bool] | None
Call = tuple[str, dict[str, Any] | str]


class Unscripted(AssertionError):
    """The code under test asked more, or asked otherwise, than the test expected."""


@dataclass(frozen=True)
class Reply:
    """One reply of a model.

    `content` is text; or a JSON value, sent in the way the request asks for; or an exception (in-process model
    only); or a function that takes the request and gives one of these.
    """

    content: Any = ""
    when: When = None
    """Text or pattern that must occur in the request's messages, or a function of the request."""
    schema: str | None = None
    """Name of the response format or tool that the request must ask for; also the tool a JSON value is sent to."""
    calls: tuple[Call, ...] = ()
    """Tool calls, as (name, arguments); text as arguments is sent as it is, broken or not."""
    usage: tuple[int, int] | dict[str, Any] | Literal["auto"] | None = "auto"
    """Tokens (in, out), or the whole usage record, or counted from the length, or left out."""
    finish: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    """More fields of the message, such as `reasoning_content` or `refusal`."""
    delay: float = 0.0
    """Seconds before the first byte."""
    pace: float = 0.0
    """Seconds between two pieces of a stream."""
    end: Literal["whole", "drop", "short", "none"] = "whole"
    """drop: the connection breaks halfway; short: the stream ends properly but halfway; none: no byte is sent."""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    """Sent as it is instead of a completion: a JSON value, or text such as HTML."""
    sse: tuple[str, ...] | None = None
    """Lines of a stream, sent as they are; a line without `data:` gets it."""

    def fits(self, body: Body) -> bool:
        """Whether this reply is meant for that request."""
        if self.schema is not None and self.schema not in asked_for(body):
            return False
        if callable(self.when):
            return self.when(body)
        text = "\n".join(map(text_of, body["messages"]))
        if isinstance(self.when, re.Pattern):
            return bool(self.when.search(text))
        return self.when is None or self.when in text

    @property
    def picky(self) -> bool:
        """Whether it is meant for some requests only."""
        return self.when is not None or self.schema is not None


def failure(status: int, message: str = "scripted failure", *, code: str | None = None, **more: Any) -> Reply:
    """An error as an OpenAI-compatible server words it: `failure(429, headers={"Retry-After": "1"})`."""
    body = {"error": {"message": message, "type": "scripted", "param": None, "code": code}}
    return Reply(status=status, body=body, **more)


def raw(body: Any = None, *, status: int = 200, headers: dict[str, str] | None = None, **more: Any) -> Reply:
    """Whatever a server may send: a JSON value, text, or the lines of a stream in `sse`."""
    sse = more.pop("sse", None)
    return Reply(status=status, body=body, headers=headers or {}, sse=None if sse is None else tuple(sse), **more)


def cut(content: Any, *, cleanly: bool = False, **more: Any) -> Reply:
    """A reply that stops halfway: the connection breaks, or with `cleanly` the stream just ends."""
    return Reply(content, end="short" if cleanly else "drop", **more)


def hang_up(**more: Any) -> Reply:
    """The connection is closed before a byte is sent."""
    return Reply(end="none", **more)


class Script:
    """Replies still to be given, what was asked, and what went wrong. Safe to use from several threads."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.requests: list[Body] = []
        self.faults: list[str] = []
        self._left: list[Reply] = []
        self._lock = threading.Lock()

    def reply(self, *replies: Any, **one: Any) -> None:
        """Adds replies, each a `Reply` or its content; or one, with the fields of `Reply` by name."""
        if one:
            replies = (Reply(*replies, **one),)
        with self._lock:
            self._left += [reply if isinstance(reply, Reply) else Reply(reply) for reply in replies]

    def take(self, body: Body) -> Reply:
        """The reply for this request: the first that is meant for it, else the first that is for any."""
        with self._lock:
            self.requests.append(body)
            if wrong := request_faults(body):
                raise self._fault(f"request {len(self.requests)} breaks the protocol: {'; '.join(wrong)}")
            fitting = sorted((r for r in self._left if r.fits(body)), key=lambda r: not r.picky)
            if not fitting:
                raise self._fault(self._nothing_fits(body))
            # by identity: the same reply may stand in the script several times
            del self._left[next(i for i, r in enumerate(self._left) if r is fitting[0])]
        return _settled(fitting[0], body)  # outside the lock: a test's function may wait for another call

    def complain(self, fault: str) -> Unscripted:
        """Notes what must fail the test; the caller may raise what comes back."""
        with self._lock:
            return self._fault(fault)

    def problems(self) -> list[str]:
        """Why the test must fail: calls nobody scripted, broken requests, replies nobody asked for."""
        with self._lock:
            unused = [f"{self.name}: a reply was never asked for: {_show(reply)}" for reply in self._left]
            return [*self.faults, *unused]

    def forget(self) -> None:
        """For a test that expects to be refused: drops the faults so far and the replies that are left."""
        with self._lock:
            self.faults.clear()
            self._left.clear()

    def _fault(self, fault: str) -> Unscripted:
        self.faults.append(f"{self.name}: {fault}")
        return Unscripted(fault)

    def _nothing_fits(self, body: Body) -> str:
        last = text_of(body["messages"][-1])
        left = "; ".join(map(_show, self._left)) or "none"
        asked = f"It ends {last[-200:]!r} and asks for {asked_for(body)}"
        return f"request {len(self.requests)} has no reply. {asked}. Left: {left}"


def _settled(reply: Reply, body: Body) -> Reply:
    if isinstance(reply.content, type) or not callable(reply.content):
        return reply
    return replace(reply, content=reply.content(body))


def message_of(reply: Reply, body: Body) -> Body:
    """The assistant message of a reply, in the way the request asks for."""
    content, calls = reply.content, list(reply.calls)
    if not isinstance(content, str):
        wanted = body.get("response_format") or {}
        text = json.dumps(content, ensure_ascii=False)
        if body.get("tools") and wanted.get("type", "text") == "text":
            calls, content = [(_tool_for(reply, body), text), *calls], None
        else:
            content = text
    message: Body = {"role": "assistant", "content": content or (None if calls else ""), **reply.extra}
    if calls:
        turn = len(body["messages"])  # so that an id is used once in a conversation
        message["tool_calls"] = [_call(f"call_{turn}_{index}", *call) for index, call in enumerate(calls)]
    return message


def usage_of(reply: Reply, body: Body, message: Body) -> Body | None:
    """Token counts: as set, or one for four characters."""
    if reply.usage is None or isinstance(reply.usage, dict):
        return reply.usage
    if reply.usage == "auto":
        used = [max(1, len(json.dumps(item, ensure_ascii=False)) // 4) for item in (body["messages"], message)]
    else:
        used = list(reply.usage)
    return {"prompt_tokens": used[0], "completion_tokens": used[1], "total_tokens": sum(used)}


def _tool_for(reply: Reply, body: Body) -> str:
    names = [tool["function"]["name"] for tool in body["tools"]]
    choice = body.get("tool_choice")
    named = choice["function"]["name"] if isinstance(choice, dict) else None
    if name := reply.schema or named or (names[0] if len(names) == 1 else None):
        return name
    raise Unscripted(f"a JSON value can go to any of the tools {names}: say which by schema=, or use calls=")


def _call(call_id: str, name: str, arguments: dict[str, Any] | str) -> Body:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def _show(reply: Reply) -> str:
    what = reply.body if reply.status != 200 else reply.calls or reply.content
    who = f" when {reply.when!r}" if reply.when else ""
    who += f" for {reply.schema!r}" if reply.schema else ""
    return f"{str(what)[:120]!r}{who}"
