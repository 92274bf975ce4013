"""A page of the web as text. Every redirect is checked like the first address, and nothing but text is taken.

It connects by itself, not through a proxy: a proxy would look the name up again and could end elsewhere.
Leaves out: pages that are drawn by scripts, PDF, cookies and logins.
"""

import asyncio
import re
from urllib.request import getproxies

import httpx
from anyio import to_thread
from bs4.exceptions import ParserRejectedMarkup
from typing_extensions import TypedDict

from state.errors import ToolFailed, shorten
from tools.charsets import decoded
from tools.exchange import REDIRECTS, sent
from tools.hosts import addresses
from tools.html import title_and_text
from tools.online import CAP, Advice, answered, client, plainly, up_to

_SECONDS = 25.0
_ACCEPT = "text/html, text/plain, application/json, */*;q=0.5"
_HTML = ("text/html", "application/xhtml+xml")
_TEXT = re.compile(r"text/.+|application/(.+\+)?(json|xml|yaml)|application/(x-)?(ndjson|yaml|javascript|toml)")
_LOOKS_LIKE_HTML = re.compile(rb"\s*(<\?xml[^>]*>\s*)?<(!doctype html|html|head|body)\b", re.I)
_ADVICE: Advice = {
    "auth": "it wants a login or keeps programs out, so use another source",
    "rate_limit": "wait, or use another source",
    "invalid_arguments": "check the address",
    "timeout": "try again later, or use another source",
    "transient": "try again later, or use another source",
    "not_found": "check the address, or search for the page",
    "permanent": "check the address, or use another source",
    "unusable_reply": "use another source",
}


class Page(TypedDict):
    """A page; url is where it was found after all redirects, title may be empty."""

    url: str
    title: str
    text: str


async def fetched(url: str, private_hosts: tuple[str, ...]) -> Page:
    """The page at an address; raises `ToolFailed` for what is no page, too large, or not to be reached."""
    with plainly(f"url {shorten(url)!r}", _ADVICE):
        place = _read(url)
        async with asyncio.timeout(_SECONDS):
            for _ in range(REDIRECTS + 1):
                found = await _hop(place, private_hosts)
                if not isinstance(found, httpx.URL):
                    return found
                place = found
    raise ToolFailed(f"{place.host} redirects more than {REDIRECTS} times; {_ADVICE['permanent']}")


def _read(url: str) -> httpx.URL:
    try:
        return httpx.URL(url.strip())
    except httpx.InvalidURL as error:
        wrong = f"url {shorten(url)!r} is no address: {shorten(str(error))}"
        raise ToolFailed(
            f"{wrong}; right would be for example: https://example.org/page", "invalid_arguments"
        ) from error


async def _hop(url: httpx.URL, private_hosts: tuple[str, ...]) -> httpx.URL | Page:
    """The page, or where it went to. Each hop has a client of its own, so no cookie meets another host."""
    where = f"{url.host}{shorten(url.path, 60)}"
    usable = await addresses(url, private_hosts)
    with plainly(where, {**_ADVICE, "transient": _way_out()}):
        async with await client(proxies=False) as http:
            reply = await sent(http, "GET", url, usable, {"Accept": _ACCEPT})
            try:
                if reply.has_redirect_location:
                    return url.join(reply.headers["location"])
                if not reply.is_success:
                    raise answered(where, reply, "", _ADVICE)
                media = _media(where, reply)
                data = await up_to(CAP, reply)
            finally:
                await reply.aclose()
    if len(data) > CAP:
        raise ToolFailed(f"{where} is larger than {CAP // 10**6} MB; {_ADVICE['unusable_reply']}")
    return await to_thread.run_sync(_page, url, media, reply.charset_encoding, data, abandon_on_cancel=True)


def _way_out() -> str:
    by_proxy = {"http", "https", "all"} & getproxies().keys()
    return (
        "fetch_page does not use the proxy that is set here, so use another source"
        if by_proxy
        else _ADVICE["transient"]
    )


def _media(where: str, reply: httpx.Response) -> str:
    """The media type of what is text; it may be empty."""
    media: str = reply.headers.get("content-type", "").split(";")[0].strip().lower()
    if media and media not in _HTML and not _TEXT.fullmatch(media):
        raise ToolFailed(f"{where} is {shorten(media, 60)}, not text; {_ADVICE['unusable_reply']}")
    return media


def _page(url: httpx.URL, media: str, charset: str | None, data: bytes) -> Page:
    text = decoded(data, charset)
    if "\0" in text:
        raise ToolFailed(f"{url.host}{shorten(url.path, 60)} is binary, not text; {_ADVICE['unusable_reply']}")
    title = ""
    if media in _HTML or (not media and _LOOKS_LIKE_HTML.match(data)):
        title, text = _of_html(url, text)
    if not text.strip():
        raise ToolFailed(f"{url.host} gave a page without text; {_ADVICE['unusable_reply']}", "unusable_reply")
    return {"url": str(url), "title": title, "text": text}


def _of_html(url: httpx.URL, html: str) -> tuple[str, str]:
    try:
        title, text = title_and_text(html)
    except (ParserRejectedMarkup, RecursionError) as error:
        why = f"{url.host} gave HTML that can't be read: {shorten(str(error))}"
        raise ToolFailed(f"{why}; {_ADVICE['unusable_reply']}", "unusable_reply") from error
    return title, re.sub(r"\n{3,}", "\n\n", text).strip()
