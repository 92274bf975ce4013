"""The server's own API, asked on behalf of whoever opened the page, with that person's rights.

Inside the process where that streams, else where the request came in: LangGraph's server has a transport of its own
for this, the one of httpx gives a stream when it is over.
"""

from dataclasses import dataclass
from typing import Any

import httpx
from fastapi import Request
from langgraph_sdk._shared.utilities import get_asgi_transport
from langgraph_sdk.client import LangGraphClient

_THEIR_RIGHTS = ("authorization", "x-api-key", "cookie")
ACTIVE = ("running", "pending")


def api_of(request: Request) -> LangGraphClient:
    """A client of the server that serves this request."""
    passed = {name: request.headers[name] for name in _THEIR_RIGHTS if name in request.headers}
    inside, (host, port) = get_asgi_transport(), request.scope.get("server") or ("", None)
    if inside is not httpx.ASGITransport or not port:
        transport: httpx.AsyncBaseTransport = inside(request.app)
        return LangGraphClient(
            httpx.AsyncClient(transport=transport, base_url="http://api", headers=passed, timeout=300)
        )
    base = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    # nobody closes this client, so it keeps no connection
    alone = httpx.AsyncHTTPTransport(limits=httpx.Limits(max_keepalive_connections=0))
    return LangGraphClient(httpx.AsyncClient(transport=alone, base_url=base, headers=passed, timeout=300))


@dataclass(frozen=True)
class Thread:
    """What the server knows of a thread now; `runs` are the newest first."""

    thread: dict[str, Any]
    state: dict[str, Any]
    runs: list[dict[str, Any]]

    @property
    def active(self) -> dict[str, Any] | None:
        """The run that goes on, else the one that is next."""
        found = [run for status in ACTIVE for run in reversed(self.runs) if run["status"] == status]
        return found[0] if found else None

    @property
    def values(self) -> dict[str, Any]:
        """The channels of the graph; nothing for a thread that is none of ours."""
        return ours(self.state.get("values"))


async def read_thread(api: LangGraphClient, thread: str) -> Thread:
    """Reads a thread; raises the SDK's `NotFoundError`."""
    runs: Any = await api.runs.list(thread, limit=20)
    state: Any = await api.threads.get_state(thread)
    return Thread(dict(await api.threads.get(thread)), state, runs)


def ours(values: Any) -> dict[str, Any]:
    """The values of a thread if a pattern wrote them; a server may serve other graphs too."""
    request = values.get("request") if isinstance(values, dict) else None
    return values if isinstance(request, dict) and "task" in request else {}
