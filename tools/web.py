"""The web: search by Google's results through Serper (serper.dev), and a page as text.

web_search needs a key of one's own in SERPER_API_KEY. Without it the tool is not among those that a run has when none
are named; named, it says what to set. FORETHOUGHT_SEARCH_URL is another address of the service, such as a proxy's.
"""

from functools import partial
from typing import Annotated

from pydantic import Field

from state.context import env
from state.errors import ToolFailed, shorten
from tools.online import Service, ask, reachable
from tools.pages import Page, fetched
from tools.settings import ToolSettings
from tools.text import CJK
from tools.tool import Tool, read
from tools.web_results import Found, reduced

KEY = "SERPER_API_KEY"
_KEYS_AT = "https://serper.dev/api-keys"


def tools(settings: ToolSettings) -> list[Tool]:
    """Search, and a page as text."""
    service = Service("Serper", settings.search_url, "FORETHOUGHT_SEARCH_URL", f"check {KEY}; keys are at {_KEYS_AT}")

    async def web_search(query: str, limit: Annotated[int, Field(ge=1, le=10)] = 3) -> list[Found]:
        """Searches the web: Google's direct answer and facts first, if there are any, then up to limit links."""
        if not query.strip():
            raise ToolFailed("query is empty; there is nothing to search for", "invalid_arguments")
        body = {"q": query, **({"hl": "zh-cn"} if CJK.search(query) else {})}
        found = reduced(await ask(service, "/search", body=body, secrets={"X-API-KEY": _key()}), limit)
        if not found:
            raise ToolFailed(f"the web has nothing for {shorten(query)!r}; try other words", "not_found")
        return found

    async def fetch_page(url: str) -> Page:
        """Fetches a page of the web as text, from an http or https address."""
        return await fetched(url, settings.private_hosts)

    search = read(web_search, untrusted=True, key_variable=KEY, probe=partial(reachable, service))
    return [search, read(fetch_page, untrusted=True, one_service=False)]


def _key() -> str:
    key = (env(KEY) or "").strip()
    if not key:
        raise ToolFailed(f"web_search needs a key and {KEY} is not set; keys are at {_KEYS_AT}", "auth")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ToolFailed(f"{KEY} holds characters that no key has; copy it again from {_KEYS_AT}", "auth")
    return key
