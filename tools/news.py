"""News of the last three months by the GDELT project (api.gdeltproject.org; no key, a request every five seconds).

FORETHOUGHT_NEWS_URL is another address of the service.
"""

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from state.errors import ToolFailed, shorten
from tools.online import Service, ask, reachable
from tools.settings import ToolSettings
from tools.tool import Tool, read


class Article(TypedDict):
    """An article; seen is when GDELT found it, as 2030-05-31T12:00Z."""

    title: str
    link: str
    source: str
    seen: str
    language: str


def tools(settings: ToolSettings) -> list[Tool]:
    """The news tool."""
    service = Service("GDELT", settings.news_url, "FORETHOUGHT_NEWS_URL")

    async def news_search(
        query: str, within: Literal["day", "week", "month"] = "week", limit: Annotated[int, Field(ge=1, le=25)] = 5
    ) -> list[Article]:
        """Searches the world's news for words and gives titles and links, those that fit best first."""
        if len(query.strip()) < 3:
            raise ToolFailed(
                f"query {query!r} is too short: GDELT takes words of 3 letters or more", "invalid_arguments"
            )
        params = {"query": query.strip(), "mode": "artlist", "format": "json", "sort": "hybridrel",
                  "timespan": f"1{within}", "maxrecords": limit}  # fmt: skip
        found = (await ask(service, "/api/v2/doc/doc", params=params)).get("articles")
        articles = [_article(one) for one in found if isinstance(one, dict)] if isinstance(found, list) else []
        if not articles:
            raise ToolFailed(f"no news of {shorten(query)!r} in the last {within}; try other words", "not_found")
        return articles[:limit]

    return [read(news_search, untrusted=True, probe=partial(reachable, service))]


def _article(one: dict[str, Any]) -> Article:
    seen = str(one.get("seendate") or "")  # 20300531T120000Z
    when = f"{seen[:4]}-{seen[4:6]}-{seen[6:8]}T{seen[9:11]}:{seen[11:13]}Z" if len(seen) == 16 else seen
    return {
        "title": " ".join(str(one.get("title") or "").split()), "link": str(one.get("url") or ""),
        "source": str(one.get("domain") or ""), "seen": when, "language": str(one.get("language") or ""),
    }  # fmt: skip
