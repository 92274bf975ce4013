"""Keeps web pages of other sites away from the server: it listens on loopback, where every browser can reach it.

LangGraph's development server takes a request from any page, also one without a preflight: such a page could start
runs and approve writes. Programs that send no Origin (the SDK, curl) are not concerned, nor is the server's own page.
"""

import ipaddress
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

from state.context import env

ORIGINS = "https://smith.langchain.com"
"""Studio, which runs in the browser and talks to a server on loopback."""
_HEADERS = {
    b"content-security-policy": (
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        b"trusted-types 'none'"
    ),
    b"cache-control": b"no-cache",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
}
"""Of everything below /page: no text that got in as markup could load or run anything."""


class Guard:
    """Middleware for the whole server; `FORETHOUGHT_ORIGINS` names the sites that may use it, * all of them."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers 403 for what comes from elsewhere."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
        elif why := refused(headers_of(scope), (scope.get("server") or ("",))[0]):
            await _refuse(scope, receive, send, why)
        else:
            await self.app(scope, receive, _with_headers(scope, send))


def headers_of(scope: Any) -> dict[str, str]:
    """The headers by name in small letters; of several the last."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def refused(headers: Mapping[str, str], address: str) -> str:
    """Why a request may not be served, empty if it may; `address` is the server's own, where the request came in."""
    allowed = [name.strip().rstrip("/") for name in (env("FORETHOUGHT_ORIGINS") or ORIGINS).split(",")]
    if "*" in allowed:
        return ""
    host, origin = headers.get("host", ""), headers.get("origin")
    hosts = {urlsplit(name).netloc for name in allowed}
    if _is_loopback(address) and not _is_loopback(_name(host)) and host not in hosts:
        return f"this server is not {host[:100]!r}; if it is to be reached by that name, say so in FORETHOUGHT_ORIGINS"
    if origin is None:
        return (
            "a page of another site asked" if headers.get("sec-fetch-site") == "cross-site" and _acts(headers) else ""
        )
    asking = _split(origin)
    same = host != "" and asking.netloc == host
    if same or origin in allowed or _is_loopback(asking.hostname or ""):
        return ""
    return f"pages of {origin[:100]!r} may not use this server; whoever runs it can name them in FORETHOUGHT_ORIGINS"


def _acts(headers: Mapping[str, str]) -> bool:
    """Whether it is more than a link that a person followed."""
    return headers.get("sec-fetch-mode") != "navigate" or headers.get("sec-fetch-dest") not in ("document", None)


def _name(host: str) -> str:
    return _split(f"//{host}").hostname or ""


def _split(address: str) -> SplitResult:
    """What is no address is that of nobody."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _is_loopback(name: str) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


async def _refuse(scope: Any, receive: Any, send: Any, why: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    body = json.dumps({"detail": why}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _with_headers(scope: Any, send: Any) -> Any:
    if scope["type"] != "http" or not scope["path"].startswith("/page"):
        return send

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message.get("headers", ())}
            message = {**message, "headers": [*message.get("headers", ()), *_missing(there)]}
        await send(message)

    return sending


def _missing(there: set[bytes]) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in _HEADERS.items() if name not in there]
