"""A model server that takes only one way to ask for a typed reply, and shows it as some real servers do."""

from collections.abc import Callable
from typing import Any

from werkzeug import Request, Response

from tests.support.model_server import ModelServer, as_it_is
from tests.support.protocol import Body
from tests.support.script import Reply, failure, message_of

RUNGS = ("json_schema", "tool_call", "json_mode", "prompt")


def rung_of(body: Body) -> str:
    """How a request asks for its reply; `text` where it asks for none in particular."""
    kind = (body.get("response_format") or {}).get("type")
    if kind:
        return {"json_schema": "json_schema", "json_object": "json_mode"}[kind]
    if body.get("tools"):
        return "tool_call"
    return "prompt" if "JSON Schema" in str(body["messages"][-1]["content"]) else "text"


def refuse(status: int, said: str) -> Callable[[str], Reply]:
    """A server that says no; `{}` is the name of what it does not take."""
    names = {"json_schema": "response_format json_schema", "tool_call": "tools", "json_mode": "json_object"}
    return lambda rung: failure(status, said.format(names.get(rung, rung)))


def ignore(rung: str) -> Reply:
    """A server that drops what it does not know, so that the model talks."""
    return Reply("Sure! First I would look it up, then I would tell you.")


class FussyServer(ModelServer):
    """Takes one rung, and text; `manner` is what happens to every other."""

    offers = "prompt"
    manner: Callable[[str], Reply] = staticmethod(ignore)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.asked: list[str] = []

    def only(self, rung: str, manner: Callable[[str], Reply]) -> None:
        """Sets what it takes."""
        self.offers, self.manner = rung, manner

    def _chat(self, request: Request, body: Body) -> Response:
        rung = rung_of(body)
        self.asked.append(rung)
        if rung in ("text", self.offers):
            return super()._chat(request, body)
        self.requests.append(body)
        reply = self.manner(rung)
        if reply.status != 200:
            return as_it_is(reply)
        return self._whole(request, reply, body, message_of(reply, body))
