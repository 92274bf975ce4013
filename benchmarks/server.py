"""A model server for benchmarks, in a process of its own: the chat-completions protocol, with a time for each call.

Run: `python -m benchmarks.server`; it prints its port. `GET /begin/SECONDS` sets the time of a call and clears the
counts, `GET /counts` gives them. A stream spreads the pieces of a reply evenly, the last at the end of that time.
Tokens are characters / 4. Leaves out everything that no client here sends.
"""

import asyncio
import json
import time
from collections import Counter
from typing import Any

from benchmarks.replies import Said, said_to

_NO_DELTA = {"finish_reason": None}


class Counts:
    """What was asked since the last beginning."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.calls: Counter[str] = Counter()
        self.prompt = self.completion = self.largest = self.shared = 0
        self._prompts: dict[str, str] = {}

    def asked(self, body: Any, said: Said) -> dict[str, int]:
        """Counts a call; gives its usage."""
        prompt = _shown(body)
        known = max((_same(prompt, before) for before in self._prompts.values()), default=0)
        self._prompts[said.who] = prompt
        spent = len(prompt) // 4
        made = (len(said.text) + sum(len(json.dumps(call)) + 4 for call in said.calls)) // 4 + 1
        self.calls[said.who] += 1
        self.prompt += spent
        self.completion += made
        self.shared += known // 4
        self.largest = max(self.largest, spent)
        return {"prompt_tokens": spent, "completion_tokens": made, "total_tokens": spent + made}

    def told(self) -> dict[str, Any]:
        """Everything, for a client."""
        return {
            "calls": sum(self.calls.values()), "by_role": dict(self.calls), "prompt": self.prompt,
            "completion": self.completion, "largest": self.largest, "shared": self.shared,
        }  # fmt: skip


def _shown(body: Any) -> str:
    """Everything that a model reads, what comes first first."""
    offered = [json.dumps(body[name]) for name in ("tools", "response_format") if body.get(name)]
    return "".join([*offered, *(json.dumps(message, ensure_ascii=False) for message in body["messages"])])


def _same(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if one[least:middle] == other[least:middle] else (least, middle - 1)
    return least


counts = Counts()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, request after request."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            line, *fields = head.decode("latin-1").split("\r\n")
            length = next((int(one[15:]) for one in fields if one.lower().startswith("content-length:")), 0)
            await _answer(line.split(" ")[1], await reader.readexactly(length), writer)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def _answer(path: str, content: bytes, writer: asyncio.StreamWriter) -> None:
    global counts
    if path.startswith("/begin/"):
        counts = Counts(float(path.removeprefix("/begin/")))
        return _send(writer, {})
    if path == "/counts":
        return _send(writer, counts.told())
    began = time.perf_counter()
    body = json.loads(content)
    try:
        said = said_to(body)
    except ValueError as error:
        return _send(writer, {"error": {"message": str(error), "type": "benchmark"}}, 400)
    usage = counts.asked(body, said)
    if body.get("stream"):
        return await _stream(writer, said, usage, began)
    await _until(began + counts.seconds)
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None}
    if said.calls:
        message["tool_calls"] = _calls(said)
    _send(writer, {**_frame("chat.completion", [{"index": 0, "message": message, **_end(said)}]), "usage": usage})


async def _stream(writer: asyncio.StreamWriter, said: Said, usage: dict[str, int], began: float) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    for place, piece in enumerate(said.pieces, 1):
        await _until(began + counts.seconds * place / len(said.pieces))
        _event(writer, _frame("chat.completion.chunk", [{"index": 0, "delta": {"content": piece}, **_NO_DELTA}]))
    if said.calls:
        await _until(began + counts.seconds)
        calls = [{"index": place, **call} for place, call in enumerate(_calls(said))]
        _event(writer, _frame("chat.completion.chunk", [{"index": 0, "delta": {"tool_calls": calls}, **_NO_DELTA}]))
    _event(writer, _frame("chat.completion.chunk", [{"index": 0, "delta": {}, **_end(said)}]))
    _event(writer, {**_frame("chat.completion.chunk", []), "usage": usage})
    _chunk(writer, b"data: [DONE]\n\n")
    writer.write(b"0\r\n\r\n")


async def _until(moment: float) -> None:
    if (left := moment - time.perf_counter()) > 0:
        await asyncio.sleep(left)


def _calls(said: Said) -> list[dict[str, Any]]:
    done = sum(counts.calls.values())
    return [
        {"id": f"call_{done}_{n}", "type": "function", "function": {"name": "work", "arguments": json.dumps(call)}}
        for n, call in enumerate(said.calls)
    ]


def _end(said: Said) -> dict[str, str]:
    return {"finish_reason": "tool_calls" if said.calls else "stop"}


def _frame(kind: str, choices: list[Any]) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1700000000, "model": "scripted", "choices": choices}


def _event(writer: asyncio.StreamWriter, record: Any) -> None:
    _chunk(writer, b"data: " + json.dumps(record).encode() + b"\n\n")


def _chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(b"%x\r\n%s\r\n" % (len(data), data))


def _send(writer: asyncio.StreamWriter, record: Any, status: int = 200) -> None:
    data = json.dumps(record).encode()
    head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
    writer.write(head.encode() + data)


async def main() -> None:
    """Serves on loopback until it is ended."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
