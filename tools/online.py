"""One exchange over HTTP, and every way it fails as a `ToolFailed` of one line that says what to do.

Leaves out: trying again, which is the call path's, and cookies.
"""

import asyncio
import os
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any

import httpx
from anyio import to_thread

from state.errors import ToolFailed, shorten
from state.json_text import from_json
from state.result import FailureClass
from tools.unpacking import unpacked

CAP = 2_000_000
"""Bytes, unpacked, that an answer may have."""
_ERROR_CAP = 20_000
_SECONDS = 20.0
_CLASSES: dict[int, FailureClass] = {
    400: "invalid_arguments", 401: "auth", 403: "auth", 404: "not_found", 407: "auth", 408: "timeout",
    410: "not_found", 414: "invalid_arguments", 422: "invalid_arguments", 425: "transient", 429: "rate_limit",
}  # fmt: skip
_QUOTA = re.compile(r"limit exceeded|quota|(not enough|out of|insufficient) credit|too many requests", re.I)
_PERIODS = (("minute", 60.0), ("hour", 3600.0), ("", 86400.0))
Advice = Mapping[FailureClass, str]


@dataclass(frozen=True)
class Service:
    """A service that answers in JSON; the variables are named in messages, so that people know what to set."""

    name: str
    url: str
    url_variable: str
    key_advice: str = "a proxy or firewall may stand in between"

    @property
    def advice(self) -> Advice:
        """What to do about each class of failure."""
        return {
            "auth": self.key_advice,
            "rate_limit": "wait, or use another tool",
            "invalid_arguments": "change the arguments",
            "timeout": "try again later, or use another tool",
            "transient": "try again later, or use another tool",
            "not_found": f"check {self.url_variable}",
            "permanent": f"check {self.url_variable}",
            "unusable_reply": f"a proxy or a login page may stand in between; check {self.url_variable}",
        }


async def ask(
    service: Service, path: str, *, params: Any = None, body: Any = None, secrets: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The service's answer as JSON. With a body it is a POST; secrets go as headers and never into a message."""
    url = service.url.rstrip("/") + path
    with plainly(service.name, service.advice):
        async with asyncio.timeout(_SECONDS), await client() as http:
            request = http.build_request(
                "GET" if body is None else "POST", url, params=params, json=body, headers=dict(secrets or {})
            )
            reply = await http.send(request, stream=True)
            try:
                data = await up_to(CAP if reply.is_success else _ERROR_CAP, reply)
            finally:
                await reply.aclose()
    return _judged(service, reply, data, list((secrets or {}).values()))


async def reachable(*services: Service) -> str:
    """Why one of these services does not answer, or an empty text; any answer but a server's own error will do."""
    for service in services:
        async with asyncio.timeout(_SECONDS), await client() as http:
            with plainly(service.name, service.advice):
                reply = await http.head(service.url)
        if reply.status_code >= 500:
            return f"{service.name} answered {reply.status_code}"
    return ""


async def client(*, proxies: bool = True) -> httpx.AsyncClient:
    """A client for one exchange. It follows no redirect; `proxies`: take the way that HTTPS_PROXY and such name."""
    tls = await to_thread.run_sync(_tls, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    headers = {"User-Agent": "forethought", "Accept-Encoding": "gzip, deflate"}
    timeout = httpx.Timeout(15, connect=8)
    try:
        return httpx.AsyncClient(verify=tls, trust_env=proxies, headers=headers, timeout=timeout)
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        why = f"the proxy that is set here can't be used: {shorten(str(error))}"
        raise ToolFailed(f"{why}; check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY") from error


@lru_cache(maxsize=4)
def _tls(file: str | None, folder: str | None) -> ssl.SSLContext:
    """Reading the authorities takes tens of milliseconds; the arguments are the variables that change them."""
    return httpx.create_ssl_context()


async def up_to(most: int, reply: httpx.Response) -> bytes:
    """The body, or its first part if it is larger: then there are more than `most` bytes."""
    return b"".join([piece async for piece in unpacked(reply, most)])


@contextmanager
def plainly(where: str, advice: Advice) -> Iterator[None]:
    """Says in one line what kept the exchange from happening."""
    try:
        yield
    except (TimeoutError, httpx.TimeoutException) as error:
        raise ToolFailed(f"{where} did not answer in time; {advice['timeout']}", "timeout") from error
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise ToolFailed(f"{where} has no valid address: {shorten(str(error))}; {advice['permanent']}") from error
    except httpx.HTTPError as error:
        why, cls = _why(error)
        raise ToolFailed(f"{where} {why}; {advice[cls]}", cls) from error


def answered(where: str, reply: httpx.Response, said: str, advice: Advice) -> ToolFailed:
    """The failure that a status means; what the server said of it is quoted and counts too."""
    quota = bool(_QUOTA.search(said))
    cls = "rate_limit" if quota else _CLASSES.get(reply.status_code) or _by_hundred(reply.status_code)
    what = f"{where} answered {reply.status_code}" + (f" ({shorten(said)})" if said else "")
    if cls != "rate_limit":
        return ToolFailed(f"{what}; {advice[cls]}", cls)
    wait = _retry_after(reply) or (next(s for word, s in _PERIODS if word in said.lower()) if quota else None)
    text = advice[cls] if wait is None else f"{advice[cls]}; it may work again in {_spoken(wait)}"
    return ToolFailed(f"{what}; {text}", cls, retry_after=wait)


def _by_hundred(status: int) -> FailureClass:
    return "transient" if status >= 500 else "permanent"


def _spoken(seconds: float) -> str:
    return next(
        (f"{seconds / unit:.3g} {name}" for unit, name in ((3600, "h"), (60, "min")) if seconds >= unit), ""
    ) or (f"{seconds:.3g} s")


def _retry_after(reply: httpx.Response) -> float | None:
    """Seconds from now; the header holds seconds or a date (RFC 9110, 10.2.3)."""
    text = reply.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def _judged(service: Service, reply: httpx.Response, data: bytes, secrets: list[str]) -> dict[str, Any]:
    text = data.decode("utf-8", "replace")
    try:
        found = from_json(text)
    except ValueError:
        found = None
    said = _said(found, secrets)
    if not reply.is_success or (isinstance(found, dict) and found.get("error") is True):
        raise answered(service.name, reply, said, service.advice)
    if len(data) > CAP:
        raise ToolFailed(f"{service.name} answered with more than {CAP // 10**6} MB; ask for less")
    if not isinstance(found, dict):
        form = "a web page" if text.lstrip().startswith("<") else "something else"
        message = f"{service.name} answered with {form} instead of JSON; {service.advice['unusable_reply']}"
        raise ToolFailed(message, "unusable_reply")
    return found


def _said(found: Any, secrets: list[str]) -> str:
    """What a service says about its failure, with nothing secret in it."""
    values = [found.get(key) for key in ("reason", "message", "error")] if isinstance(found, dict) else []
    said = next((value for value in values if isinstance(value, str)), "").strip().rstrip(".")
    for secret in secrets:
        said = said.replace(secret, "…")
    return said


def _why(error: httpx.HTTPError) -> tuple[str, FailureClass]:
    chain: list[BaseException] = [error]
    while (before := chain[-1].__cause__ or chain[-1].__context__) and before not in chain:
        chain.append(before)
    if any(isinstance(one, httpx.InvalidURL) for one in chain):
        return "redirects to what is no address", "permanent"
    if any(isinstance(one, ssl.SSLError) for one in chain):
        return f"has no encryption that can be trusted: {shorten(str(error))}", "permanent"
    if any(isinstance(one, socket.gaierror) for one in chain):
        return "was not found, the network may be down", "transient"
    if isinstance(error, httpx.ProxyError):
        return f"can't be reached through the proxy: {shorten(str(error))}", "transient"
    if isinstance(error, httpx.DecodingError):
        return "answered with what can't be unpacked", "unusable_reply"
    return f"can't be reached: {shorten(str(error)) or type(error).__name__}", "transient"
