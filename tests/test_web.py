import asyncio
import gzip
import json
import logging
import socket
import ssl
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
import trustme
from hypothesis import HealthCheck, given
from hypothesis import settings as runs
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from state.context import make_context
from state.errors import ToolFailed
from tools.catalogue import catalogue
from tools.charsets import decoded
from tools.hosts import public
from tools.pages import REDIRECTS
from tools.settings import ToolSettings, tool_settings
from tools.tool import ToolEnv
from tools.web import tools
from tools.web_results import reduced

KEY = "k3y-of-serper"
REPLY = {
    "searchParameters": {"q": "jeff bezos", "gl": "us", "hl": "en", "type": "search", "engine": "google"},
    "answerBox": {"title": "Jeff Bezos / Age", "answer": "61 years", "snippet": "He was born\nin 1964.",
                  "snippetHighlighted": ["1964"], "link": "https://example.org/age"},
    "knowledgeGraph": {
        "title": "Jeff Bezos", "type": "American entrepreneur", "imageUrl": "https://example.org/i.png",
        "description": "Founder of Amazon.", "descriptionSource": "Wikipedia",
        "descriptionLink": "https://en.wikipedia.org/wiki/Jeff_Bezos",
        "attributes": {"Born": "12 January 1964", "Net worth": "many dollars"},
    },
    "organic": [
        {"title": f"Title {n}", "link": f"https://example.org/{n}", "snippet": f"Text {n}", "position": n}
        for n in range(1, 10)
    ],
    "peopleAlsoAsk": [{"question": "Why?", "snippet": "Because.", "title": "Why", "link": "https://example.org/why"}],
    "relatedSearches": [{"query": "amazon"}],
    "credits": 1,
}  # fmt: skip


@pytest.fixture
def server(loopback: HTTPServer) -> Iterator[HTTPServer]:
    yield loopback
    loopback.clear()


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("SERPER_API_KEY", KEY)
    return KEY


def base(server: HTTPServer) -> str:
    return server.url_for("").rstrip("/")


def settings(server: HTTPServer | None = None, *private_hosts: str) -> ToolSettings:
    """The settings of a run that may read from the server of the tests, and from nowhere else in private networks."""
    own = [f"127.0.0.1:{server.port}"] if server else []
    return ToolSettings(
        private_hosts=(*own, *private_hosts), search_url=base(server) if server else "http://serper.test"
    )


async def search(server: HTTPServer, query: str = "jeff bezos", **more: Any) -> Any:
    return await tools(settings(server))[0].run({"query": query, **more}, ToolEnv())


async def search_failed(server: HTTPServer, query: str = "jeff bezos", **more: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        await search(server, query, **more)
    assert "\n" not in str(caught.value) and KEY not in str(caught.value)
    return caught.value


async def fetch(url: str, found: ToolSettings) -> Any:
    return await tools(found)[1].run({"url": url}, ToolEnv())


async def fetch_failed(url: str, found: ToolSettings) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        await fetch(url, found)
    assert "\n" not in str(caught.value)
    return caught.value


# Search


async def test_results_come_in_the_order_answer_box_knowledge_graph_and_three_links(
    server: HTTPServer, key: str
) -> None:
    expected = server.expect_request("/search", method="POST", headers={"X-API-KEY": key}, json={"q": "jeff bezos"})
    expected.respond_with_json(REPLY)
    box, graph, *links = await search(server)
    assert box == {"title": "Jeff Bezos / Age", "link": "https://example.org/age", "source": "answer_box",
                   "text": "61 years — He was born in 1964."}  # fmt: skip
    assert graph == {
        "title": "Jeff Bezos", "link": "https://en.wikipedia.org/wiki/Jeff_Bezos", "source": "knowledge_graph",
        "text": "American entrepreneur — Founder of Amazon. — Born: 12 January 1964; Net worth: many dollars",
    }  # fmt: skip
    assert links == [{"title": f"Title {n}", "link": f"https://example.org/{n}", "text": f"Text {n}",
                      "source": "organic"} for n in (1, 2, 3)]  # fmt: skip


async def test_limit_is_the_number_of_links(server: HTTPServer, key: str) -> None:
    server.expect_request("/search").respond_with_json(REPLY)
    assert [found["source"] for found in await search(server, limit=1)] == ["answer_box", "knowledge_graph", "organic"]
    assert (await search_failed(server, limit=0)).failure == "invalid_arguments"


async def test_a_chinese_query_asks_for_chinese_results(server: HTTPServer, key: str) -> None:
    server.expect_request("/search", json={"q": "巴黎 天气", "hl": "zh-cn"}).respond_with_json(REPLY)
    assert await search(server, "巴黎 天气")


async def test_a_highlight_stands_in_for_a_missing_answer(server: HTTPServer) -> None:
    box = {"title": "T", "snippetHighlighted": ["Paris", 3, None]}
    assert reduced({"answerBox": box}, 3)[0]["text"] == "Paris 3"


SLOWLY = runs(deadline=None, suppress_health_check=[HealthCheck.too_slow])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
named = st.dictionaries(
    st.sampled_from(["title", "link", "text", "answer", "snippet", "snippetHighlighted", "attributes", "type", "date"]),
    anything,
)


@SLOWLY
@given(
    reply=st.dictionaries(
        st.sampled_from(["answerBox", "knowledgeGraph", "organic"]), anything | named | st.lists(named, max_size=4)
    )
)
def test_whatever_the_service_sends_only_whole_results_come_out(reply: dict[str, Any]) -> None:
    for found in reduced(reply, 3):
        assert set(found) == {"title", "link", "text", "source"}
        assert all(isinstance(value, str) and "\n" not in value for value in found.values())
        assert found["text"] or found["title"]


async def test_without_a_key_it_says_which_variable_and_where_keys_are(server: HTTPServer) -> None:
    error = await search_failed(server)
    assert error.failure == "auth"
    assert "SERPER_API_KEY is not set; keys are at https://serper.dev/api-keys" in str(error)


def test_without_a_key_search_is_offered_only_when_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "web_search" not in catalogue(None, ToolSettings())
    assert "web_search" in catalogue(["web_search"], ToolSettings())
    assert "fetch_page" in catalogue(None, ToolSettings())
    monkeypatch.setenv("SERPER_API_KEY", KEY)
    assert "web_search" in catalogue(None, ToolSettings())


@pytest.mark.parametrize("wrong", ["a b", "schlüssel", "k\ney"])
async def test_a_key_that_can_be_none_is_refused_without_showing_it(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    monkeypatch.setenv("SERPER_API_KEY", wrong)
    error = await search_failed(server)
    assert error.failure == "auth"
    assert wrong not in str(error) and "holds characters that no key has" in str(error)


async def test_a_key_with_an_end_of_line_is_sent_without_it(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERPER_API_KEY", f" {KEY}\n")
    server.expect_request("/search", headers={"X-API-KEY": KEY}).respond_with_json(REPLY)
    assert await search(server)


@pytest.mark.parametrize("status, message, cls, advice", [
    (403, "Unauthorized.", "auth", "check SERPER_API_KEY; keys are at"),
    (401, f"No such key: {KEY}", "auth", "check SERPER_API_KEY"),
    (400, "Not enough credits", "rate_limit", "wait, or use another tool"),
    (429, "Rate limit exceeded", "rate_limit", "wait, or use another tool"),
    (400, "Missing query parameter", "invalid_arguments", "change the arguments"),
    (404, "Cannot POST /search", "not_found", "check FORETHOUGHT_SEARCH_URL"),
    (500, "Internal Server Error", "transient", "try again later, or use another tool"),
])  # fmt: skip
async def test_a_refusal_has_a_class_and_says_what_to_do(
    server: HTTPServer, key: str, status: int, message: str, cls: str, advice: str
) -> None:
    server.expect_request("/search").respond_with_json({"message": message, "statusCode": status}, status=status)
    error = await search_failed(server)
    assert error.failure == cls
    assert message.removesuffix(".").removesuffix(KEY) in str(error) and advice in str(error)


async def test_the_key_is_in_no_log_and_no_setting(
    server: HTTPServer, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    server.expect_request("/search").respond_with_json({"message": "Unauthorized."}, status=403)
    with caplog.at_level(logging.DEBUG):
        await search_failed(server)
    assert caplog.records and key not in caplog.text
    assert key not in repr(tool_settings(make_context()))


async def test_nothing_found_is_a_failure_that_asks_for_other_words(server: HTTPServer, key: str) -> None:
    server.expect_request("/search").respond_with_json({"searchParameters": {}, "organic": [], "credits": 1})
    error = await search_failed(server, "qqqq")
    assert error.failure == "not_found"
    assert "the web has nothing for 'qqqq'; try other words" in str(error)


async def test_an_empty_query_is_refused_before_anything_is_asked(server: HTTPServer, key: str) -> None:
    assert (await search_failed(server, " ")).failure == "invalid_arguments"


async def test_a_login_page_instead_of_results_is_recognised(server: HTTPServer, key: str) -> None:
    server.expect_request("/search").respond_with_data("<html>Log in</html>", content_type="text/html")
    error = await search_failed(server)
    assert error.failure == "unusable_reply"
    assert "a web page instead of JSON" in str(error) and "check FORETHOUGHT_SEARCH_URL" in str(error)


# Pages

HTML = """<!DOCTYPE html><html><head><title>News &amp; views</title><style>p {color: red}</style>
<script>alert("x")</script></head><body><h1>Prices</h1><p>Tea   costs <b>3 €</b>.</p><ul><li>one<li>two</ul>
</body></html>"""


def serve(
    server: HTTPServer, data: str | bytes, content_type: str | None = "text/html; charset=utf-8", path: str = "/page",
    **headers: str,
) -> str:  # fmt: skip
    """Serves a page; its address."""

    def respond(request: Request) -> Response:
        reply = Response(data, headers=headers)
        if content_type is None:
            del reply.headers["Content-Type"]
        else:
            reply.headers["Content-Type"] = content_type
        return reply

    server.expect_request(path).respond_with_handler(respond)
    return server.url_for(path)


def redirect(server: HTTPServer, path: str, to: str, status: int = 302) -> str:
    server.expect_request(path).respond_with_data("moved", status, {"Location": to})
    return server.url_for(path)


async def test_a_page_is_its_title_and_text(server: HTTPServer) -> None:
    url = serve(server, HTML)
    page = await fetch(f" {url}?q=1#part ", settings(server))
    assert page["url"] == f"{url}?q=1#part"
    assert page["title"] == "News & views"
    assert [line for line in page["text"].splitlines() if line] == ["Prices", "Tea costs 3 €.", "one", "two"]


@pytest.mark.parametrize("text, kind", [
    ('{"a": [1,  2]}', "application/json"), ("# Plain\n\n\n\nas <b>is</b>", "text/plain; charset=utf-8"),
    ("<a>é</a>", "application/rss+xml"), ("a,b\n1,2\n", "text/csv"), ("no type at all", None),
    ('{"type": "x"}', "application/problem+json"),
])  # fmt: skip
async def test_what_is_text_but_no_html_stays_as_it_is(server: HTTPServer, text: str, kind: str | None) -> None:
    page = await fetch(serve(server, text, kind), settings(server))
    assert (page["title"], page["text"]) == ("", text)


async def test_html_without_a_type_is_recognised(server: HTTPServer) -> None:
    assert (await fetch(serve(server, HTML, None), settings(server)))["title"] == "News & views"


@pytest.mark.parametrize(
    "kind", ["image/png", "application/pdf", "image/svg+xml", "application/octet-stream", "video/x"]
)
async def test_what_is_not_text_is_refused_by_its_type(server: HTTPServer, kind: str) -> None:
    error = await fetch_failed(serve(server, b"%PDF-1.7", kind), settings(server))
    assert error.failure == "permanent"
    assert f"is {kind}, not text" in str(error)


async def test_what_is_binary_is_refused_whatever_its_type_says(server: HTTPServer) -> None:
    error = await fetch_failed(serve(server, b"\x89PNG\0\0\1", "text/plain"), settings(server))
    assert error.failure == "permanent" and "is binary" in str(error)


@pytest.mark.parametrize("html", ["", "<html><script>draw()</script></html>"])
async def test_a_page_without_text_is_a_failure(server: HTTPServer, html: str) -> None:
    assert (await fetch_failed(serve(server, html), settings(server))).failure == "unusable_reply"


CHINESE = "<html><head>{}<title>天气</title></head><body><p>巴黎今天多云。</p></body></html>"
META = '<meta charset="{}">'


@pytest.mark.parametrize("data, kind", [
    (CHINESE.encode("utf-8"), "text/html"),
    (CHINESE.encode("gbk"), "text/html; charset=GBK"),
    (CHINESE.encode("big5"), "text/html; charset=big5"),
    (CHINESE.format(META.format("gb2312")).encode("gb2312"), "text/html"),
    (CHINESE.format(META.format("utf-16")).encode("utf-8"), "text/html"),
    (CHINESE.encode("gb2312"), "text/html"),
    (CHINESE.encode("utf-8-sig"), "text/html; charset=latin-1"),
    (CHINESE.encode("utf-16"), "text/html"),
    (CHINESE.encode("utf-8"), "text/html; charset=hex"),
    (CHINESE.encode("utf-8"), 'text/html; charset="no such charset"'),
    (CHINESE.encode("utf-8"), "text/html; charset=us-ascii"),
])  # fmt: skip
async def test_the_characters_are_right_however_the_page_is_written(server: HTTPServer, data: bytes, kind: str) -> None:
    page = await fetch(serve(server, data.replace(b"{}", b""), kind), settings(server))
    assert (page["title"], page["text"]) == ("天气", "巴黎今天多云。")


def test_western_bytes_without_a_name_are_read_as_browsers_do() -> None:
    assert decoded("Un été à “Genève” pour 3 €".encode("cp1252")) == "Un été à “Genève” pour 3 €"
    assert decoded("été €".encode("cp1252"), "iso-8859-1") == "été €"


@SLOWLY
@given(
    st.binary(max_size=60),
    st.sampled_from([None, "utf-8", "gbk", "shift_jis", "punycode", "x", "zip", "a\0b", "utf-16"]),
)
def test_any_bytes_become_text(data: bytes, named: str | None) -> None:
    assert isinstance(decoded(data, named), str)


async def test_redirects_are_followed_to_the_page(server: HTTPServer) -> None:
    url = serve(server, HTML)
    redirect(server, "/b/two", "/page", 308)
    page = await fetch(redirect(server, "/one", "b/two", 301), settings(server))
    assert (page["url"], page["title"]) == (url, "News & views")


@pytest.mark.parametrize("hops", [REDIRECTS, REDIRECTS + 1])
async def test_five_redirects_are_followed_and_no_sixth(server: HTTPServer, hops: int) -> None:
    serve(server, HTML, path="/0")
    for n in range(1, hops + 1):
        redirect(server, f"/{n}", f"/{n - 1}")
    if hops <= REDIRECTS:
        assert (await fetch(server.url_for(f"/{hops}"), settings(server)))["title"]
    else:
        error = await fetch_failed(server.url_for(f"/{hops}"), settings(server))
        assert "redirects more than 5 times" in str(error)


@pytest.mark.parametrize("to, cls", [
    ("http://localhost:{port}/secret", "policy"), ("http://[::1]:{port}/secret", "policy"),
    ("http://127.1:{port}/secret", "policy"), ("http://169.254.169.254/latest/meta-data/", "policy"),
    ("http://10.0.0.1/", "policy"), ("file:///etc/passwd", "invalid_arguments"),
    ("//localhost:{port}/secret", "policy"),
    ("http://u:p@127.0.0.1:{port}/secret", "invalid_arguments"), ("ftp://127.0.0.1:{port}/", "invalid_arguments"),
])  # fmt: skip
async def test_a_redirect_is_checked_like_the_first_address(server: HTTPServer, to: str, cls: str) -> None:
    serve(server, "secret", path="/secret")
    url = redirect(server, "/start", to.format(port=server.port))
    assert (await fetch_failed(url, settings(server))).failure == cls
    assert [request.path for request, _ in server.log] == ["/start"]


async def test_no_cookie_goes_from_one_hop_to_the_next(server: HTTPServer) -> None:
    server.expect_request("/start").respond_with_data("", 302, {"Location": "/page", "Set-Cookie": "session=1; Path=/"})
    serve(server, HTML)
    await fetch(server.url_for("/start"), settings(server))
    assert "Cookie" not in server.log[-1][0].headers


INSIDE = """
    127.0.0.1 127.8.9.1 0.0.0.0 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1
    100.100.100.200 192.0.0.192 168.63.129.16 198.18.0.1 203.0.113.5 224.0.0.1 224.0.1.1 239.255.255.250 240.0.0.1
    255.255.255.255 ::1 :: fe80::1 fe80::1%1 fec0::1 fc00::1 fd00:ec2::254 ff02::1 ff0e::1 2001:db8::1 ::ffff:127.0.0.1
    ::ffff:10.0.0.1 ::ffff:a9fe:a9fe ::7f00:1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 2002:7f00:1::
    2002:a00:1:: 2001:0:7f00:1::
"""


@pytest.mark.parametrize("address", INSIDE.split())
def test_addresses_inside_are_not_public(address: str) -> None:
    assert not public(address)


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.216.34", "172.32.0.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert public(address)


@SLOWLY
@given(st.ip_addresses(v=4))
def test_an_address_is_judged_the_same_however_it_is_wrapped(address: Any) -> None:
    number = int(address)
    assert public(str(ip_address((0xFFFF << 32) | number))) == public(str(address))
    assert public(str(ip_address((0x64FF9B << 96) | number))) == public(str(address))


@pytest.mark.parametrize("host", [
    "127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "127.1", "0", "169.254.169.254",
    "LOCALHOST",
])  # fmt: skip
async def test_addresses_inside_are_refused_however_they_are_written(server: HTTPServer, host: str) -> None:
    serve(server, "secret")
    error = await fetch_failed(f"http://{host}:{server.port}/page", ToolSettings())
    assert error.failure == "policy"
    assert "not on the public internet" in str(error) and "private_hosts=[" in str(error)
    assert server.log == []


@pytest.mark.parametrize("allowed", ["127.0.0.1", "127.0.0.1:{port}", " 127.0.0.1 "])
async def test_a_private_host_is_read_when_a_setting_names_it(server: HTTPServer, allowed: str) -> None:
    url = serve(server, HTML)
    context = make_context(private_hosts=[allowed.format(port=server.port)])
    assert (await fetch(url, tool_settings(context)))["title"]


@pytest.mark.parametrize("allowed", ["127.0.0.1:1", "localhost", "0.0.0.0", "*", ""])
async def test_a_setting_that_names_another_host_allows_nothing(server: HTTPServer, allowed: str) -> None:
    assert (await fetch_failed(serve(server, HTML), ToolSettings(private_hosts=(allowed,)))).failure == "policy"


class Names:
    """A name server whose answer changes: each look-up gives the next list of addresses."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers, self.asked = list(answers), 0

    def __call__(self, host: Any, port: Any, *_: Any, **__: Any) -> list[Any]:
        name = host.decode() if isinstance(host, bytes) else str(host)
        if name.replace(".", "").isdigit() or ":" in name:  # an address needs no look-up
            return [self.entry(name, port)]
        self.asked += 1
        return [self.entry(address, port) for address in self.answers.pop(0)]

    @staticmethod
    def entry(address: str, port: Any) -> Any:
        kind = socket.AF_INET6 if ":" in address else socket.AF_INET
        return kind, socket.SOCK_STREAM, 6, "", (address, int(port), *((0, 0) if ":" in address else ()))


def names(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> Names:
    found = Names(*answers)
    monkeypatch.setattr(socket, "getaddrinfo", found)
    return found


async def test_a_name_is_looked_up_once_and_the_checked_address_is_used(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(server, HTML)
    looked_up = names(monkeypatch, ["127.0.0.1"])
    page = await fetch(f"http://site.test:{server.port}/page", settings(None, "site.test"))
    assert page["url"] == f"http://site.test:{server.port}/page"
    assert looked_up.asked == 1
    assert server.log[-1][0].host == f"site.test:{server.port}"


async def test_a_name_that_turns_private_after_the_check_gains_nothing(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(server, "secret")
    looked_up = names(monkeypatch, ["93.184.216.34"], ["127.0.0.1"])
    tried: list[str] = []

    async def send(self: Any, request: Any, **_: Any) -> Any:
        tried.append(request.url.host)
        raise ConnectionError("the test ends here")

    monkeypatch.setattr("httpx.AsyncClient.send", send)
    with pytest.raises(ConnectionError):
        await fetch(f"http://rebind.test:{server.port}/page", ToolSettings())
    assert (tried, looked_up.asked, server.log) == (["93.184.216.34"], 1, [])


async def test_a_redirect_back_to_the_same_name_is_looked_up_and_checked_again(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    names(monkeypatch, ["127.0.0.1"], ["10.0.0.1"])
    redirect(server, "/start", f"http://other.test:{server.port}/page")
    error = await fetch_failed(f"http://site.test:{server.port}/start", settings(None, "site.test"))
    assert error.failure == "policy" and "other.test is at 10.0.0.1" in str(error)


async def test_one_private_address_among_public_ones_is_enough_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    names(monkeypatch, ["93.184.216.34", "::ffff:10.0.0.7"])
    assert (await fetch_failed("http://mixed.test/", ToolSettings())).failure == "policy"


async def test_the_next_address_is_tried_when_one_does_not_answer(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(server, HTML)
    names(monkeypatch, ["::1", "127.0.0.1"])
    page = await fetch(f"http://two.test:{server.port}/page", settings(None, "two.test"))
    assert page["title"]


async def test_a_certificate_is_asked_for_by_name_though_the_address_is_fixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("site.test").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    with HTTPServer(host="127.0.0.1", ssl_context=context) as server:
        serve(server, HTML)
        names(monkeypatch, ["127.0.0.1"], ["127.0.0.1"], ["127.0.0.1"])
        known = settings(None, "site.test", "other.test")
        error = await fetch_failed(f"https://site.test:{server.port}/page", known)
        assert error.failure == "permanent" and "no encryption that can be trusted" in str(error)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        assert (await fetch(f"https://site.test:{server.port}/page", known))["title"]
        assert (await fetch_failed(f"https://other.test:{server.port}/page", known)).failure == "permanent"


@pytest.mark.parametrize("error, cls, text", [
    (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "not_found", "there is no host 'site.test'"),
    (socket.gaierror(socket.EAI_AGAIN, "Temporary failure"), "transient", "the network may be down"),
])  # fmt: skip
async def test_a_name_that_can_not_be_looked_up_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch, error: OSError, cls: str, text: str
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", fails)
    failed = await fetch_failed("http://site.test/", ToolSettings())
    assert failed.failure == cls and text in str(failed)


@pytest.mark.parametrize("url", [
    "", "example.org/page", "ftp://example.org/", "file:///etc/passwd", "javascript:alert(1)", "http://",
    "//example.org", "http://host:port/",
    "http://user:pa55@example.org/", "http://example.org:0/", "http://example.org:99999/", "http://①②⑦.⓪.⓪.①/",
    "http://exa\nmple.org/", f"http://{'a' * 70}.org/", "http://..", "data:text/html,hi", "gopher://example.org/",
])  # fmt: skip
async def test_an_address_that_can_not_be_fetched_is_refused_with_what_would_be_right(url: str) -> None:
    error = await fetch_failed(url, ToolSettings())
    assert error.failure in ("invalid_arguments", "not_found")
    assert "pa55" not in str(error)


@pytest.mark.parametrize("status, cls, advice", [
    (401, "auth", "it wants a login or keeps programs out"), (403, "auth", "use another source"),
    (404, "not_found", "check the address, or search for the page"), (410, "not_found", "check the address"),
    (429, "rate_limit", "may work again in 9 s"), (500, "transient", "try again later"),
    (503, "transient", "try again"),
    (451, "permanent", "use another source"), (304, "permanent", "use another source"),
])  # fmt: skip
async def test_a_status_has_a_class_and_an_advice(server: HTTPServer, status: int, cls: str, advice: str) -> None:
    server.expect_request("/page").respond_with_data("no", status, {"Retry-After": "9"})
    error = await fetch_failed(server.url_for("/page"), settings(server))
    assert (error.failure, error.retry_after) == (cls, 9 if status == 429 else None)
    assert f"127.0.0.1/page answered {status}; " in str(error) and advice in str(error)


async def test_a_page_that_is_too_large_is_refused(server: HTTPServer) -> None:
    error = await fetch_failed(serve(server, "x" * 2_100_000, "text/plain"), settings(server))
    assert error.failure == "permanent" and "is larger than 2 MB" in str(error)


async def test_a_page_is_measured_unpacked(server: HTTPServer) -> None:
    small = serve(server, gzip.compress(b"tea"), "text/plain", "/small", **{"Content-Encoding": "gzip"})
    assert (await fetch(small, settings(server)))["text"] == "tea"
    packed = gzip.compress(b"x" * 50_000_000)
    assert len(packed) < 100_000
    url = serve(server, packed, "text/plain", "/large", **{"Content-Encoding": "gzip"})
    assert "is larger than 2 MB" in str(await fetch_failed(url, settings(server)))


async def test_a_page_that_says_gzip_and_is_none_is_no_answer(server: HTTPServer) -> None:
    url = serve(server, b"plain", "text/plain", **{"Content-Encoding": "gzip"})
    assert (await fetch_failed(url, settings(server))).failure == "unusable_reply"


async def test_a_page_that_drips_for_ever_is_given_up(server: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.pages._SECONDS", 0.4)

    def drip(_: Request) -> Response:
        def bytes_() -> Iterator[bytes]:
            for _ in range(15):
                time.sleep(0.1)
                yield b"x"

        return Response(bytes_(), content_type="text/plain")

    server.expect_request("/page").respond_with_handler(drip)
    error = await fetch_failed(server.url_for("/page"), settings(server))
    assert error.failure == "timeout" and "did not answer in time" in str(error)


@asynccontextmanager
async def raw(answer: bytes) -> AsyncIterator[str]:
    """A server that answers one thing, whatever it is asked, and hangs up; its address."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(respond, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


@pytest.mark.parametrize("answer, cls", [
    (b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nshort", "transient"),
    (b"", "transient"), (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "transient"),
    (b"HTTP/1.1 302 Found\r\nLocation: http://host:port/\r\nContent-Length: 0\r\n\r\n", "permanent"),
    (b"HTTP/1.1 302 Found\r\nLocation: \xff\xfe\r\nContent-Length: 0\r\n\r\n", "permanent"),
])  # fmt: skip
async def test_an_answer_that_breaks_the_rules_is_said_in_one_line(answer: bytes, cls: str) -> None:
    async with raw(answer) as url:
        error = await fetch_failed(url, settings(None, "127.0.0.1"))
    assert error.failure == cls


async def test_a_host_that_does_not_answer_says_that_the_proxy_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}/"
        error = await fetch_failed(url, settings(None, "127.0.0.1"))
        assert error.failure == "transient" and "try again later" in str(error)
        monkeypatch.setenv("HTTPS_PROXY", "http://proxy.test")
        error = await fetch_failed(url, settings(None, "127.0.0.1"))
    assert "fetch_page does not use the proxy that is set here" in str(error)


def test_what_comes_from_the_web_is_not_to_be_believed() -> None:
    assert [(tool.name, tool.untrusted, tool.effect) for tool in tools(ToolSettings())] == [
        ("web_search", True, "read"), ("fetch_page", True, "read"),
    ]  # fmt: skip
    assert json.dumps([tool.output_schema for tool in tools(ToolSettings())])
