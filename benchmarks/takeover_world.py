"""What the runs of the take-over touch outside: a model that always plans the same, look-ups, and orders that count.

One loopback server in the process of the benchmark. It keeps every call with its times, so that what was done twice
shows; an order lies there from the middle of its call on, so that a kill can fall before and after it.
"""

import asyncio
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.support.dev_server import free_port

LOOKS = ("a1", "a2", "a3", "b1", "b2", "b3")
"""Two chains of three look-ups; the order waits for both."""


@dataclass
class Asked:
    """One call: which run, what of it (a look-up, plan, answer, order), and when; ended is 0 while it is open."""

    run: str
    what: str
    began: float
    ended: float = 0.0


@dataclass
class World:
    """The server's address and all that it was asked."""

    url: str
    seconds: float
    calls: list[Asked] = field(default_factory=list)
    orders: list[str] = field(default_factory=list)

    def of(self, run: str, what: str) -> list[Asked]:
        """The calls of a run for one thing."""
        return [call for call in self.calls if (call.run, call.what) == (run, what)]

    def open_orders(self) -> list[str]:
        """The runs whose order is being taken."""
        return [call.run for call in self.calls if call.what == "order" and not call.ended]

    async def asked(self, run: str, what: str, order: bool = False) -> None:
        """Notes a call, which takes its time: half to one and a half of `seconds`, always the same for the same."""
        call, half = Asked(run, what, time.time()), self.seconds * (0.25 + crc32(f"{run} {what}".encode()) / 2**33)
        self.calls.append(call)
        await asyncio.sleep(half)
        if order:
            self.orders.append(run)
        await asyncio.sleep(half)
        call.ended = time.time()


@contextmanager
def world(seconds: float) -> Iterator[World]:
    """A running world where every call takes so long."""
    port = free_port()
    made = World(f"http://127.0.0.1:{port}", seconds)
    server = uvicorn.Server(uvicorn.Config(_app(made), port=port, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield made
    finally:
        server.should_exit = True
        thread.join(10)


def _app(made: World) -> Starlette:
    async def look(request: Request) -> JSONResponse:
        run, name = request.path_params["run"], request.path_params["name"]
        await made.asked(run, name)
        return JSONResponse({"found": name})

    async def order(request: Request) -> JSONResponse:
        await made.asked(request.path_params["run"], "order", order=True)
        return JSONResponse({"ordered": request.path_params["run"]})

    async def ordered(request: Request) -> JSONResponse:
        return JSONResponse({"count": made.orders.count(request.path_params["run"])})

    async def chat(request: Request) -> JSONResponse:
        body = await request.json()
        run = re.findall(r"run-\d+-\d+", json.dumps(body["messages"]))[0]
        typed = "response_format" in body
        await made.asked(run, "plan" if typed else "answer")
        return JSONResponse(_completion(json.dumps(plan_of(run)) if typed else f"{run} is ordered"))

    routes = [
        Route("/look/{run}/{name}", look),
        Route("/order/{run}", order, methods=["POST"]),
        Route("/order/{run}", ordered),
        Route("/v1/chat/completions", chat, methods=["POST"]),
    ]
    return Starlette(routes=routes)


def plan_of(run: str) -> dict[str, Any]:
    """The plan of every run."""
    looks = [
        {"id": name, "tool": "look", "args": {"run": run, "name": name}, "after": [before] if before else []}
        for before, name in zip((None, "a1", "a2", None, "b1", "b2"), LOOKS, strict=True)
    ]
    return {
        "goal": run,
        "steps": [*looks, {"id": "order", "tool": "order", "args": {"run": run}, "after": ["a3", "b3"]}],
    }


def _completion(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "1", "object": "chat.completion", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }  # fmt: skip
