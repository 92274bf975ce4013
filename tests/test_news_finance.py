from collections.abc import Iterator
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from state.errors import ToolFailed
from tools.catalogue import catalogue
from tools.settings import ToolSettings
from tools.tool import ToolEnv

ARTICLE = {
    "url": "https://news.example.org/a", "url_mobile": "", "title": "Rain \n in Paris", "seendate": "20300531T121500Z",
    "socialimage": "", "domain": "news.example.org", "language": "English", "sourcecountry": "France",
}  # fmt: skip
QUOTE = {
    "Global Quote": {
        "01. symbol": "IBM", "02. open": "236.0", "03. high": "238.0", "04. low": "235.1", "05. price": "237.5000",
        "06. volume": "3456789", "07. latest trading day": "2030-05-31", "08. previous close": "236.0000",
        "09. change": "1.5000", "10. change percent": "0.6356%",
    }
}  # fmt: skip


@pytest.fixture
def server(loopback: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[HTTPServer]:
    monkeypatch.setenv("ALPHAVANTAGE_API_KEY", "k3y")
    yield loopback
    loopback.clear()


async def run(server: HTTPServer, name: str, **args: Any) -> Any:
    url = server.url_for("").rstrip("/")
    return await catalogue([name], ToolSettings(news_url=url, finance_url=url))[name].run(args, ToolEnv())


async def failed(server: HTTPServer, name: str, **args: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        await run(server, name, **args)
    assert "k3y" not in str(caught.value)
    return caught.value


async def test_news_come_with_title_link_and_time(server: HTTPServer) -> None:
    asked = {"query": "paris rain", "mode": "artlist", "format": "json", "sort": "hybridrel", "timespan": "1day",
             "maxrecords": "2"}  # fmt: skip
    server.expect_request("/api/v2/doc/doc", query_string=asked).respond_with_json({"articles": [ARTICLE] * 3})
    found = await run(server, "news_search", query=" paris rain ", within="day", limit=2)
    assert found == [
        {"title": "Rain in Paris", "link": "https://news.example.org/a", "source": "news.example.org",
         "seen": "2030-05-31T12:15Z", "language": "English"}
    ] * 2  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "cls"),
    [("{}", "not_found"), ('{"articles": []}', "not_found"), ("Your query was too short", "unusable_reply")],
)
async def test_no_news_is_said_and_an_answer_in_words_is_none(server: HTTPServer, reply: str, cls: str) -> None:
    server.expect_request("/api/v2/doc/doc").respond_with_data(reply, content_type="application/json")
    assert (await failed(server, "news_search", query="paris")).failure == cls
    assert (await failed(server, "news_search", query=" a ")).failure == "invalid_arguments"


async def test_a_quote_is_in_numbers(server: HTTPServer) -> None:
    asked = {"function": "GLOBAL_QUOTE", "symbol": "IBM", "apikey": "k3y"}
    server.expect_request("/query", query_string=asked).respond_with_json(QUOTE)
    assert await run(server, "stock_quote", symbol=" ibm ") == {
        "symbol": "IBM", "price": 237.5, "day": "2030-05-31", "previous": 236.0, "change": 1.5, "volume": 3456789,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "cls"),
    [
        ({"Global Quote": {}}, "not_found"),
        ({"Error Message": "Invalid API call"}, "invalid_arguments"),
        ({"Information": "the key k3y may ask 25 times a day"}, "rate_limit"),
        ({"Note": "5 calls a minute"}, "rate_limit"),
        ({"Global Quote": {"01. symbol": "IBM"}}, "unusable_reply"),
    ],
)
async def test_what_is_no_quote_has_its_class(server: HTTPServer, reply: Any, cls: str) -> None:
    server.expect_request("/query").respond_with_json(reply)
    assert (await failed(server, "stock_quote", symbol="IBM")).failure == cls


async def test_a_quote_needs_a_key_and_a_symbol(server: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await failed(server, "stock_quote", symbol="a b")).failure == "invalid_arguments"
    monkeypatch.delenv("ALPHAVANTAGE_API_KEY")
    assert (await failed(server, "stock_quote", symbol="IBM")).failure == "auth"
