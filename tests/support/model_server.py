"""A real HTTP server on loopback that speaks the OpenAI chat-completions protocol and says what a script holds."""

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.support.protocol import Body, request_faults
from tests.support.script import Reply, Script, Unscripted, failure, message_of, usage_of

PIECE = 12  # characters in one chunk of a stream


class ModelServer(Script):
    """A script behind a real server; `url` is the base URL to give to a client."""

    def __init__(self, http: HTTPServer, name: str) -> None:
        super().__init__("model_server")
        self.url = http.url_for(f"/{name}/v1")
        self.models = ["scripted"]
        self.headers: list[dict[str, str]] = []
        """Headers of each chat request, beside `requests`."""
        self.vector: Callable[[str], list[float]] | None = None
        """Gives the vector of a text at /embeddings, which is no path of this server while it is None."""
        self.embedded: list[Body] = []
        """The requests for vectors."""
        self._closed = threading.Event()
        http.expect_request(re.compile(f"/{name}/.*")).respond_with_handler(self._answer)

    @property
    def environment(self) -> dict[str, str]:
        """Variables that name this server, for `monkeypatch.setenv` or a subprocess."""
        return {"LLM_BASE_URL": self.url, "LLM_API_KEY": "test-key", "LLM_MODEL_ID": self.models[0]}

    def close(self) -> None:
        """Ends every delay that is still running."""
        self._closed.set()

    def _answer(self, request: Request) -> Response:
        path = request.path.split("/v1", 1)[-1]
        if (request.method, path) == ("GET", "/models"):
            return _json({"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]})
        if (request.method, path) == ("POST", "/embeddings") and self.vector:
            return self._vectors(json.loads(request.get_data()), self.vector)
        if (request.method, path) != ("POST", "/chat/completions"):
            self.complain(f"{request.method} {path} is not a path of this server")
            return _error(404, f"no such path: {request.method} {path}")
        self.headers.append(dict(request.headers))
        try:
            return self._chat(request, json.loads(request.get_data()))
        except Unscripted as fault:
            return _error(500, f"unscripted: {fault}")
        except Exception as error:  # a fault in a test's own function must show in the test
            return _error(500, f"unscripted: {self.complain(f'{type(error).__name__}: {error}')}")

    def _vectors(self, body: Body, vector: Callable[[str], list[float]]) -> Response:
        """In another order than asked, as the protocol allows: `index` says which is which."""
        self.embedded.append(body)
        data = [
            {"object": "embedding", "index": at, "embedding": vector(text)} for at, text in enumerate(body["input"])
        ]
        spent = sum(len(text) for text in body["input"])
        used = {"prompt_tokens": spent, "total_tokens": spent}
        return _json({"object": "list", "model": body["model"], "data": data[::-1], "usage": used})

    def _chat(self, request: Request, body: Body) -> Response:
        try:
            reply = self.take(body)
        except Unscripted as fault:
            return _error(400 if request_faults(body) else 500, f"unscripted: {fault}")
        self._closed.wait(reply.delay)
        if reply.end == "none":
            return Response(_nothing(request))
        if reply.sse is not None:
            return _sse([line if line.startswith((":", "data:")) else f"data: {line}" for line in reply.sse], reply)
        if reply.body is not None or reply.status != 200:
            return as_it_is(reply)
        message = message_of(reply, body)
        if body.get("stream"):
            lines = list(_stream(reply, body, message))
            return Response(self._pieces(request, reply, lines), mimetype="text/event-stream", headers=reply.headers)
        return self._whole(request, reply, body, message)

    def _whole(self, request: Request, reply: Reply, body: Body, message: Body) -> Response:
        choice = {"index": 0, "message": message, "finish_reason": _finish(reply, message), "logprobs": None}
        record = _frame(body, "chat.completion", [choice])
        if usage := usage_of(reply, body, message):
            record["usage"] = usage
        text = json.dumps(record, ensure_ascii=False).encode()
        if reply.end == "whole":
            return Response(text, mimetype="application/json", headers=reply.headers)
        length = len(text) if reply.end == "drop" else len(text) // 2
        headers = {**reply.headers, "Content-Length": str(length)}
        return Response(_half(request, text, reply), mimetype="application/json", headers=headers)

    def _pieces(self, request: Request, reply: Reply, lines: list[str]) -> Iterator[bytes]:
        """The stream; the client sees each piece when it is made."""
        last = len(lines) if reply.end == "whole" else max(1, (len(lines) - 1) // 2)
        for line in lines[:last]:
            yield f"{line}\n\n".encode()
            self._closed.wait(reply.pace)
        if reply.end == "drop":
            _break(request)


def _stream(reply: Reply, body: Body, message: Body) -> Iterator[str]:
    """The lines of one streamed completion, as OpenAI sends them."""
    usage = usage_of(reply, body, message)
    wants_usage = (body.get("stream_options") or {}).get("include_usage") and usage is not None
    for delta in _deltas(message):
        yield _line(_frame(body, "chat.completion.chunk", [{"index": 0, "delta": delta, "finish_reason": None}]))
    end = {"index": 0, "delta": {}, "finish_reason": _finish(reply, message)}
    yield _line(_frame(body, "chat.completion.chunk", [end]))
    if wants_usage:
        yield _line({**_frame(body, "chat.completion.chunk", []), "usage": usage})
    yield "data: [DONE]"


def _deltas(message: Body) -> Iterator[Body]:
    more = {key: value for key, value in message.items() if key not in ("role", "content", "tool_calls")}
    yield {"role": "assistant", "content": "", **more}
    for piece in _cut_up(message["content"] or ""):
        yield {"content": piece}
    for index, call in enumerate(message.get("tool_calls", [])):
        function = {"name": call["function"]["name"], "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": function}]}
        for piece in _cut_up(call["function"]["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _cut_up(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def _finish(reply: Reply, message: Body) -> str:
    return reply.finish or ("tool_calls" if message.get("tool_calls") else "stop")


def _frame(body: Body, kind: str, choices: list[Body]) -> Body:
    return {"id": "chatcmpl-1", "object": kind, "created": 1700000000, "model": body["model"], "choices": choices}


def _line(record: Body) -> str:
    return f"data: {json.dumps(record, ensure_ascii=False)}"


def _sse(lines: list[str], reply: Reply) -> Response:
    text = "".join(f"{line}\n\n" for line in lines)
    return Response(text, status=reply.status, mimetype="text/event-stream", headers=reply.headers)


def as_it_is(reply: Reply) -> Response:
    """A reply that is no completion."""
    if isinstance(reply.body, str):
        kind = "text/html" if reply.body.lstrip().startswith("<") else "text/plain"
        return Response(reply.body, status=reply.status, mimetype=kind, headers=reply.headers)
    return _json(reply.body, reply.status, reply.headers)


def _json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(json.dumps(value), status=status, mimetype="application/json", headers=headers)


def _error(status: int, message: str) -> Response:
    # the header keeps clients from asking again, which would only repeat the complaint
    answer = failure(status, message)
    return _json(answer.body, status, {"x-should-retry": "false"})


def _nothing(request: Request) -> Iterator[bytes]:
    _break(request)
    yield b""


def _half(request: Request, text: bytes, reply: Reply) -> Iterator[bytes]:
    yield text[: len(text) // 2]
    if reply.end == "drop":
        _break(request)


def _break(request: Request) -> None:
    """Breaks the connection the way a dying server does; the error only ends the handler, without a word."""
    request.environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
    raise ConnectionAbortedError("scripted")
