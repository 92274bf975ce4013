"""ask.py against a real HTTP server: ways to a typed reply, feedback turns, retry by class, usage by role."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import graphs
from state.errors import InputError
from tests.support.model_server import ModelServer
from tests.support.plans import PLANNING, plan, step
from tests.support.script import Reply, cut, failure, hang_up, raw
from tools.tool import read

SIMPLE = plan(step("a", "look", {"name": "x"}))


def look(name: str) -> str:
    """Looks something up."""
    return f"result of {name}"


@pytest.fixture(autouse=True)
def server(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, home: Path) -> ModelServer:
    for name, value in model_server.environment.items():
        monkeypatch.setenv(name, value)
    return model_server


async def report(pattern: str = "one_shot", **context: Any) -> Any:
    out = await graphs.load(pattern).ainvoke({"task": "look"}, context={"tools": [read(look)], **context})
    return out["report"]


async def test_a_typed_reply_is_asked_for_by_json_schema_first(server: ModelServer) -> None:
    server.reply(SIMPLE)
    assert (await report())["stop"]["reason"] == "done"
    asked = server.requests[0]["response_format"]
    assert (asked["type"], asked["json_schema"]["name"]) == ("json_schema", "plan")


async def test_a_server_without_json_schema_is_asked_by_tool_call_and_that_is_remembered(server: ModelServer) -> None:
    server.reply(failure(400, "response_format json_schema is not supported"), SIMPLE, SIMPLE)
    assert (await report())["stop"]["reason"] == "done"
    assert (await report())["stop"]["reason"] == "done"
    assert ["tools" in request for request in server.requests] == [False, True, True]


async def test_a_server_with_neither_is_asked_in_words(server: ModelServer) -> None:
    server.reply(
        failure(400, "no response_format"), failure(400, "no tools"), failure(400, "no JSON"), json.dumps(SIMPLE)
    )
    assert (await report())["stop"]["reason"] == "done"
    assert "JSON Schema" in str(server.requests[-1]["messages"])


@pytest.mark.parametrize(
    "text",
    [
        "sorry, I can't",
        "<think>let me see</think>",
        "<think>never closed",
        '["a"]',
        "{",
        "[" * 5000,
        '{"a":' * 5000,
        "",
    ],
)
async def test_a_broken_reply_goes_back_with_what_was_wrong(server: ModelServer, text: str) -> None:
    server.reply(text, SIMPLE)
    assert (await report())["stop"]["reason"] == "done"
    assert "can't be used" in server.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize("pattern", PLANNING)
async def test_a_reply_that_stays_broken_is_a_named_stop_with_the_raw_text_kept(
    server: ModelServer, pattern: str
) -> None:
    server.reply("<think>hm</think>", "<think>hm again", "<think>and again")
    ended = await report(pattern)
    assert (ended["stop"]["kind"], ended["stop"]["reason"]) == ("failure", "unusable_reply")
    assert "only reasoning" in ended["stop"]["message"]
    assert ended["answer"]


@pytest.mark.parametrize("pattern", PLANNING)
async def test_a_model_that_only_opens_brackets_is_a_named_stop(server: ModelServer, pattern: str) -> None:
    server.reply(*["[" * 5000] * 3)
    ended = await report(pattern)
    assert ended["stop"]["reason"] == "unusable_reply" and "never closes" in ended["stop"]["message"]


DOWN = [
    (lambda: [failure(401, "bad key")], "401"),
    (lambda: [failure(404, "model not found", code="model_not_found")], "404"),
    (lambda: [failure(500)] * 3, "500"),
    (lambda: [failure(429, headers={"Retry-After": "0"})] * 3, "429"),
    (lambda: [failure(429, headers={"Retry-After": "3600"})], "429"),
    (lambda: [raw("<html>Bad gateway</html>", status=502, headers={"Content-Type": "text/html"})] * 3, "502"),
    (lambda: [hang_up()] * 3, "onnection"),
    (lambda: [raw({"choices": []})] * 3, "no choice"),
]


@pytest.mark.parametrize(
    ("replies", "said"), DOWN, ids=["401", "404", "500", "429", "429 long", "html", "hang up", "empty"]
)
async def test_an_endpoint_that_fails_is_a_report_that_says_how(server: ModelServer, replies: Any, said: str) -> None:
    server.reply(*replies())
    ended = await report()
    assert (ended["stop"]["kind"], ended["stop"]["reason"]) == ("failure", "model_failed")
    assert said in ended["stop"]["message"]
    assert "\n" not in ended["stop"]["message"]
    assert ended["missing"]


async def test_a_server_that_recovers_is_tried_again(server: ModelServer) -> None:
    server.reply(failure(503), failure(429, headers={"Retry-After": "0.05"}), SIMPLE)
    assert (await report())["stop"]["reason"] == "done"


async def test_an_endpoint_that_is_down_is_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    ended = await report(limits={"retries": 0})
    assert ended["stop"]["reason"] == "model_failed"
    assert "onnection" in ended["stop"]["message"]


async def test_a_half_stream_is_not_taken_for_a_whole_answer(server: ModelServer) -> None:
    server.reply(SIMPLE, cut("half of an answ"), cut("half of an answ"), cut("half of an answ"))
    graph = graphs.load("plan_and_execute")
    last: Any = {}
    context = {"tools": [read(look)]}
    async for mode, part in graph.astream({"task": "look"}, context=context, stream_mode=["messages", "values"]):
        last = part if mode == "values" else last
    assert last["report"]["answered_by"] == "code"
    assert last["report"]["answer"] == "result of x"


async def test_tokens_arrive_while_the_answer_is_written_and_only_once(server: ModelServer) -> None:
    text = "a rather long answer, in several pieces"
    server.reply(SIMPLE, text)
    graph, pieces = graphs.load("plan_and_execute"), []
    async for part, about in graph.astream({"task": "look"}, context={"tools": [read(look)]}, stream_mode="messages"):
        if about["langgraph_node"] == "answer":
            pieces.append(part.text)
    assert "".join(pieces) == text and len([piece for piece in pieces if piece]) > 2


async def test_usage_is_counted_by_role_and_money_only_where_a_price_is_known(server: ModelServer) -> None:
    server.reply(Reply(SIMPLE, usage=(1000, 100)), Reply("the answer", usage=(10, 20)))
    prices = {"scripted": {"tokens_in": 2.0, "tokens_out": 10.0}}
    usage = (await report("plan_and_execute", prices=prices))["usage"]
    assert usage["model_calls"] == 2
    assert usage["tokens"] == 1130
    assert (usage["roles"]["planner"]["tokens_in"], usage["roles"]["answerer"]["tokens_out"]) == (1000, 20)
    assert usage["money"] == pytest.approx(0.003 + 0.00022)


async def test_usage_that_a_server_does_not_report_is_unknown_and_not_zero(server: ModelServer) -> None:
    server.reply(Reply(SIMPLE, usage=None))
    ended = await report()
    assert ended["usage"]["roles"]["planner"]["tokens_in"] is None
    assert ended["usage"]["unknown_tokens"] == 1
    assert any("did not say" in note for note in ended["notes"])


async def test_each_role_may_have_a_model_of_its_own(server: ModelServer) -> None:
    server.reply(SIMPLE, "the answer")
    await report("plan_and_execute", planner="big", answerer="small")
    assert [request["model"] for request in server.requests] == ["big", "small"]


async def test_braces_and_markup_in_a_task_reach_the_model_unchanged(server: ModelServer) -> None:
    task = "say {x} {{y}} ${z} `code` </task> <think> 你好 🎉 שלום e\u0301"
    server.reply(SIMPLE)
    await graphs.load("one_shot").ainvoke({"task": task}, context={"tools": [read(look)]})
    sent = server.requests[0]["messages"][-1]["content"]
    body = re.search(r"<task>\n(.*?)\n</task>", sent, re.DOTALL)
    assert body and json.loads(body[1]) == task


@pytest.mark.parametrize("url", ["htp:/bad", "example.com/v1", "http://", "file:///etc/passwd"])
async def test_an_address_that_is_none_is_one_line_that_says_what_would_be_right(url: str) -> None:
    with pytest.raises(InputError, match="right would be"):
        await report(base_url=url)


async def test_a_refused_key_says_which_variable_to_check(server: ModelServer) -> None:
    server.reply(failure(401, "bad key"))
    assert "check LLM_API_KEY" in (await report())["stop"]["message"]


async def test_no_model_and_no_key_is_one_line_that_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LLM_API_KEY")
    monkeypatch.delenv("LLM_BASE_URL")
    with pytest.raises(InputError, match="LLM_API_KEY"):
        await report(model="gpt-x")
