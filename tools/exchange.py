"""One request to an address that somebody named: checked host by host, capped, and its failures by class.

A read follows redirects, each checked like the first address, and takes no secret to another host. A write follows
none; where its answer leaves open whether it happened, the failure says so. Connects by itself, through no proxy.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from state.errors import ToolFailed, shorten
from state.json_text import from_json
from tools.charsets import decoded
from tools.hosts import addresses
from tools.online import CAP, Advice, answered, client, plainly, up_to

REDIRECTS = 5
_SECONDS = 25.0
_READS = ("GET", "HEAD")
_BEFORE_IT_LEFT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL, httpx.UnsupportedProtocol)
_MOVED = (301, 302, 307, 308)
_ADVICE: Advice = {
    "auth": "check the key",
    "rate_limit": "wait, or use another tool",
    "invalid_arguments": "change the arguments",
    "timeout": "try again later",
    "transient": "try again later",
    "not_found": "check the address",
    "permanent": "check the address",
    "unusable_reply": "ask for less, or use another tool",
}


@dataclass(frozen=True)
class Request:
    """What is asked; secrets are headers or parameters that never stand in a message."""

    method: str
    url: str
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    secret_headers: Mapping[str, str] = field(default_factory=dict)
    secret_params: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """The answer to a request that succeeded; JSON is read, text is text."""

    status: int
    url: str
    media: str
    content: Any


async def exchanged(request: Request, private_hosts: tuple[str, ...]) -> Reply:
    """The answer; raises `ToolFailed`, which of a write says whether it may have happened all the same."""
    try:
        with plainly(f"url {shorten(request.url)!r}", _ADVICE):
            async with asyncio.timeout(_SECONDS):
                return await _followed(request, httpx.URL(request.url), private_hosts)
    except ToolFailed as error:
        cause = error.__cause__
        on_the_way = isinstance(cause, httpx.HTTPError | TimeoutError) and not isinstance(cause, _BEFORE_IT_LEFT)
        if request.method not in _READS and on_the_way:
            error.nothing_happened = False
        raise


async def _followed(request: Request, url: httpx.URL, private_hosts: tuple[str, ...]) -> Reply:
    first = url
    for hop in range(REDIRECTS + 1):
        at_home = (url.scheme, url.host, url.port) == (first.scheme, first.host, first.port)
        params = {**request.params, **request.secret_params} if hop == 0 else {}
        found = await _hop(request, url.copy_merge_params(params) if params else url, at_home, private_hosts)
        if isinstance(found, Reply):
            return found
        url = found
    raise ToolFailed(f"{url.host} redirects more than {REDIRECTS} times; {_ADVICE['permanent']}")


async def _hop(request: Request, url: httpx.URL, at_home: bool, private_hosts: tuple[str, ...]) -> httpx.URL | Reply:
    where = f"{url.host}{shorten(url.path, 60)}"
    usable = await addresses(url, private_hosts)
    headers = {**request.headers, **(request.secret_headers if at_home else {})}
    with plainly(where, _ADVICE):
        async with await client(proxies=False) as http:
            reply = await sent(http, request.method, url, usable, headers, request.body)
            try:
                if reply.has_redirect_location and (request.method in _READS or reply.status_code in _MOVED):
                    return _moved(request, where, url, reply)
                data = await up_to(CAP, reply)
            finally:
                await reply.aclose()
    return _judged(request, where, url, reply, data)


async def sent(
    http: httpx.AsyncClient,
    method: str,
    url: httpx.URL,
    usable: list[str],
    headers: Mapping[str, str],
    body: Any = None,
) -> httpx.Response:
    """Asks one of the checked addresses; server and certificate are still asked for by the host's name."""
    name = url.raw_host.decode("ascii")
    for left, address in enumerate(usable[:4], 1 - len(usable[:4])):
        request = http.build_request(
            method, url.copy_with(host=address), headers={**headers, "Host": url.netloc.decode("ascii")}, json=body,
            extensions={"sni_hostname": name},
        )  # fmt: skip
        try:
            return await http.send(request, stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            if left == 0:
                raise
    raise ToolFailed(f"{name} has no address; check the address", "not_found")


def _moved(request: Request, where: str, url: httpx.URL, reply: httpx.Response) -> httpx.URL:
    target = url.join(reply.headers["location"])
    if request.method in _READS:
        return target
    kept = reply.status_code in (307, 308)  # the others may come after the work was done
    raise ToolFailed(f"{where} moved to {target.host}{shorten(target.path, 60)}; a write follows no redirect",
                     "permanent", nothing_happened=kept)  # fmt: skip


def _judged(request: Request, where: str, url: httpx.URL, reply: httpx.Response, data: bytes) -> Reply:
    text = decoded(data[:CAP], reply.charset_encoding)
    secrets = [*request.secret_headers.values(), *request.secret_params.values()]
    for secret in filter(None, secrets):
        text = text.replace(secret, "…")
    if reply.is_error:
        error = answered(where, reply, shorten(text, 200), _ADVICE)
        error.nothing_happened = request.method in _READS or (reply.status_code < 500 and reply.status_code != 408)
        raise error
    media = reply.headers.get("content-type", "").split(";")[0].strip().lower()
    content = _content(where, media, data, text) if request.method in _READS else _of_write(media, data, text)
    return Reply(reply.status_code, str(url.copy_with(query=None)), media, content)


def _content(where: str, media: str, data: bytes, text: str) -> Any:
    if len(data) > CAP:
        raise ToolFailed(f"{where} is larger than {CAP // 10**6} MB; ask for less")
    if b"\0" in data:
        raise ToolFailed(f"{where} is binary ({media or 'of no named type'}), not text or JSON", "permanent")
    return _read(media, text)


def _of_write(media: str, data: bytes, text: str) -> Any:
    """It has happened, so nothing in its answer makes it a failure."""
    return None if len(data) > CAP or b"\0" in data else _read(media, text)


def _read(media: str, text: str) -> Any:
    if not (media.endswith("json") or (not media and text.lstrip()[:1] in "[{")):
        return text
    try:
        return from_json(text) if text.strip() else None
    except ValueError:
        return text
