"""What servers really answer, through a real server on loopback: recorded cases, and the kinds that they stand for."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer

from nodes.wire.endpoint import Endpoint
from state.errors import ModelFailed
from tests.support.wire import Case, ask, body_of, fault, of_pieces, serve, wire_cases

RECORDED = wire_cases()
missing = pytest.mark.skipif(not RECORDED, reason="FORETHOUGHT_CASES names no folder with wire cases")


@pytest.fixture
def http(loopback: HTTPServer) -> Iterator[HTTPServer]:
    yield loopback
    loopback.clear()


def chunk(*, finish: str | None = None, **delta: Any) -> str:
    return "data: " + json.dumps({"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def called(*pieces: dict[str, Any], finish: str | None = None) -> str:
    return chunk(tool_calls=list(pieces), finish=finish)


def piece(name: str | None = None, arguments: Any = None, **more: Any) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {"function": function, **more}


def stream(*lines: str, status: int = 200) -> Case:
    return {"status": status, "headers": {"content-type": "text/event-stream"}, "sse": list(lines)}


def whole(message: Any = None, *, finish: str | None = "stop", **more: Any) -> Case:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"status": 200, "body": {"id": "x", "choices": [choice], **more}}


DONE = "data: [DONE]"
END = chunk(finish="stop")
HI = [chunk(role="assistant", content="H"), chunk(content="i")]
A, B = ["f", {"a": 1}], ["f", {"b": 2}]
OK: dict[str, tuple[Case, dict[str, Any]]] = {
    "no empty lines between events": (
        {"status": 200, "headers": {"content-type": "text/event-stream"}, "raw_body": "\n".join([*HI, END, DONE])},
        {"content": "Hi"},
    ),
    "line breaks of every kind and a byte order mark": (
        {
            "status": 200,
            "headers": {"content-type": "text/event-stream"},
            "raw_body": "\ufeff" + "\r\n\r\n".join([*HI, END]) + "\r\r" + DONE + "\n\n",
        },
        {"content": "Hi"},
    ),
    "data without a space, events with names and ids, signs of life": (
        stream(
            ": ping", "id: 1\nevent: message", HI[0].replace("data: ", "data:"), "data: ping", "data:", HI[1], END, DONE
        ),
        {"content": "Hi"},
    ),
    "one event over several data lines": (
        stream('data: {"choices": [{"delta":\ndata: {"content": "Hi"}, "finish_reason": "stop"}]}', DONE),
        {"content": "Hi"},
    ),
    "a stream although none was asked for": ({**stream(*HI, END, DONE), "headers": {}}, {"content": "Hi"}),
    "no end mark but a finish reason": (stream(*HI, END), {"content": "Hi"}),
    "an end mark but no finish reason": (stream(*HI, DONE), {"content": "Hi"}),
    "JSON lines": (
        {"status": 200, "raw_body": "\n".join(line.removeprefix("data: ") for line in [*HI, END])},
        {"content": "Hi"},
    ),
    "a last record that repeats the whole": (
        stream(*HI, END, "data: " + json.dumps(whole({"role": "assistant", "content": "Hi"})["body"]), DONE),
        {"content": "Hi"},
    ),
    "characters cut in two by the network": (stream(chunk(content="你好 🎉"), END, DONE), {"content": "你好 🎉"}),
    "a line separator inside a text": (stream(chunk(content="a\u2028b"), END, DONE), {"content": "a\u2028b"}),
    "finish reasons that are empty texts": (stream(chunk(content="Hi", finish=""), END, DONE), {"content": "Hi"}),
    "only the first of several choices": (
        stream(HI[0], 'data: {"choices": [{"index": 1, "delta": {"content": "X"}}]}', HI[1], END, DONE),
        {"content": "Hi"},
    ),
    "reasoning beside the text": (
        stream(chunk(reasoning_content="h"), chunk(reasoning="m", reasoning_content="m"), *HI, END, DONE),
        {"content": "Hi", "reasoning": "hm"},
    ),
    "reasoning as details": (
        stream(chunk(reasoning_details=[{"type": "reasoning.text", "text": "hm"}]), *HI, END, DONE),
        {"content": "Hi", "reasoning": "hm"},
    ),
    "think tags": (whole({"content": "<think>hm</think>Hi"}), {"content": "Hi", "reasoning": "hm"}),
    "content as parts": (
        whole({"content": [{"type": "text", "text": "H"}, {"type": "output_text", "text": "i"}]}),
        {"content": "Hi"},
    ),
    "a text completion": (
        {"status": 200, "body": {"choices": [{"text": "Hi", "finish_reason": "stop"}]}},
        {"content": "Hi"},
    ),
    "arguments as an object": (whole({"tool_calls": [piece("f", {"a": 1})]}), {"tool_calls": [A]}),
    "arguments encoded twice": (whole({"tool_calls": [piece("f", '"{\\"a\\": 1}"')]}), {"tool_calls": [A]}),
    "no arguments": (whole({"tool_calls": [piece("f", "")]}), {"tool_calls": [["f", {}]]}),
    "null arguments": (whole({"tool_calls": [piece("f", None)]}), {"tool_calls": [["f", {}]]}),
    "a call without its wrapping": (whole({"tool_calls": [{"name": "f", "arguments": {"a": 1}}]}), {"tool_calls": [A]}),
    "two whole calls with one id": (
        whole({"tool_calls": [piece("f", '{"a": 1}', id="c"), piece("f", '{"b": 2}', id="c")]}),
        {"tool_calls": [A, B]},
    ),
    "two whole calls with one index": (
        whole({"tool_calls": [piece("f", '{"a": 1}', index=0), piece("f", '{"b": 2}', index=0)]}),
        {"tool_calls": [A, B]},
    ),
    "an old function call in pieces": (
        stream(
            chunk(function_call={"name": "f", "arguments": ""}),
            chunk(function_call={"arguments": '{"a":'}),
            chunk(function_call={"arguments": "1}"}),
            END,
            DONE,
        ),
        {"tool_calls": [A]},
    ),
    "two calls in pieces that alternate": (
        stream(
            called(piece("f", "", index=0, id="a"), piece("f", "", index=1, id="b")),
            called(piece(None, '{"a"', index=0)),
            called(piece(None, '{"b"', index=1)),
            called(piece(None, ": 1}", index=0)),
            called(piece(None, ": 2}", index=1)),
            END,
            DONE,
        ),
        {"tool_calls": [A, B]},
    ),
    "one index for two calls": (
        stream(
            called(piece("f", '{"a": 1}', index=0, id="a")), called(piece("f", '{"b": 2}', index=0, id="b")), END, DONE
        ),
        {"tool_calls": [A, B]},
    ),
    "one index and no id for two calls": (
        stream(called(piece("f", '{"a": 1}', index=0)), called(piece("f", '{"b": 2}', index=0)), END, DONE),
        {"tool_calls": [A, B]},
    ),
    "no index, the id only at first": (
        stream(
            called(piece("f", '{"a"', id="a")),
            called(piece(None, ": 1}")),
            called(piece("f", '{"b"', id="b")),
            called(piece(None, ": 2}")),
            END,
            DONE,
        ),
        {"tool_calls": [A, B]},
    ),
    "the id in every piece": (
        stream(called(piece("f", '{"a"', id="a")), called(piece(None, ": 1}", id="a")), END, DONE),
        {"tool_calls": [A]},
    ),
    "a new id in every piece": (
        stream(
            called(piece("f", "", index=0, id="1")),
            called(piece("f", '{"a"', index=0, id="2")),
            called(piece(None, ": 1}", index=0, id="3")),
            END,
            DONE,
        ),
        {"tool_calls": [A]},
    ),
    "empty ids and names in later pieces": (
        stream(called(piece("f", "", index=0, id="a")), called(piece("", '{"a": 1}', index=0, id="")), END, DONE),
        {"tool_calls": [A]},
    ),
    "a name in two pieces": (
        stream(
            called(piece("get_", "", index=0, id="a")),
            called(piece("it", "", index=0)),
            called(piece(None, '{"a": 1}', index=0)),
            END,
            DONE,
        ),
        {"tool_calls": [["get_it", {"a": 1}]]},
    ),
    "arguments that are sent again as a whole": (
        stream(
            called(piece("f", '{"a"', index=0, id="a")),
            called(piece(None, ": 1}", index=0)),
            called(piece(None, '{"a": 1}', index=0)),
            END,
            DONE,
        ),
        {"tool_calls": [A]},
    ),
    "arguments that grow": (
        stream(called(piece("f", '{"a"', index=0, id="a")), called(piece(None, '{"a": 1}', index=0)), END, DONE),
        {"tool_calls": [A]},
    ),
    "arguments that only look as if they grew": (
        stream(
            called(piece("f", '{"a":', index=0, id="a")),
            called(piece(None, '{"a":1}', index=0)),
            called(piece(None, "}", index=0)),
            END,
            DONE,
        ),
        {"tool_calls": [["f", {"a": {"a": 1}}]]},
    ),
}
TRUNCATED = {"outcome": "error", "error": "truncated"}
AGAIN = {"outcome": "error", "error": "bad_response", "retryable": True}
POLICY = {"outcome": "error", "error": "refusal", "retryable": False}


def refused(status: int, error: Any, **headers: str) -> Case:
    return {
        "status": status,
        "headers": {key.replace("_", "-"): value for key, value in headers.items()},
        "body": error,
    }


def erring(name: str, *, retryable: bool) -> dict[str, Any]:
    return {"outcome": "error", "error": name, "retryable": retryable}


REFUSED: dict[str, tuple[Case, dict[str, Any]]] = {
    "a stream that stops in the text": (stream(*HI), AGAIN),
    "a stream that stops in a call": (stream(called(piece("f", '{"a": ', index=0, id="a"))), AGAIN),
    "a stream that stops in a call and is marked as ended": (
        stream(called(piece("f", '{"a": "Par', index=0, id="a")), DONE),
        TRUNCATED,
    ),
    "a stream without a word": (stream(DONE), AGAIN),
    "a stream with only usage": (stream('data: {"choices": [], "usage": {"prompt_tokens": 1}}', DONE), AGAIN),
    "an error in the middle of a stream": (
        stream(HI[0], 'data: {"error": {"message": "Internal server error", "code": 500}}'),
        erring("server_error", retryable=True),
    ),
    "an error event": (
        stream(HI[0], 'event: error\ndata: {"error": {"message": "overloaded", "type": "overloaded_error"}}'),
        erring("server_error", retryable=True),
    ),
    "a broken record": (stream(HI[0], 'data: {"choices": [', DONE), AGAIN),
    "a finish reason that means failure": (stream(HI[0], chunk(finish="error")), AGAIN),
    "an error in a reply of status 200": (
        {"status": 200, "body": {"error": {"message": "Rate limit exceeded", "code": 429}}},
        erring("rate_limited", retryable=True),
    ),
    "an error of vLLM": (
        {"status": 400, "body": {"object": "error", "message": "max context length is 4096 tokens", "code": 400}},
        erring("context_length", retryable=False),
    ),
    "no body": ({"status": 200, "raw_body": ""}, AGAIN),
    "a web page of status 200": ({"status": 200, "raw_body": "<!doctype html><title>Log in</title>"}, AGAIN),
    "half of a body": ({"status": 200, "raw_body": '{"choices": [{"message": {"content": "H'}, AGAIN),
    "a choice that is null": ({"status": 200, "body": {"choices": [None]}}, AGAIN),
    "null content": (whole({"content": None}), TRUNCATED),
    "nothing but reasoning": (whole({"content": "", "reasoning_content": "hm"}), TRUNCATED),
    "empty at the token limit": (whole({"content": ""}, finish="length"), TRUNCATED),
    "a call without arguments at the token limit": (
        whole({"tool_calls": [piece("f", "")]}, finish="length"),
        TRUNCATED,
    ),
    "a content filter": (whole({"content": ""}, finish="content_filter"), POLICY),
    "a content filter after a few words": (stream(*HI, chunk(finish="content_filter"), DONE), POLICY),
    "a refusal in pieces": (
        stream(chunk(refusal="I "), chunk(refusal="can't"), END, DONE),
        {**POLICY, "message": "I can't"},
    ),
    "401": (refused(401, {"error": {"message": "Incorrect API key"}}), erring("auth", retryable=False)),
    "a wrong key with status 400": (
        refused(400, [{"error": {"message": "API key not valid."}}]),
        erring("auth", retryable=False),
    ),
    "no money": (
        refused(429, {"error": {"code": "insufficient_quota", "message": "x"}}),
        erring("quota", retryable=False),
    ),
    "402": (refused(402, {"error": {"message": "Insufficient Balance"}}), erring("quota", retryable=False)),
    "404": (refused(404, {"error": {"message": "The model `x` does not exist"}}), erring("not_found", retryable=False)),
    "a missing model with status 400": (
        refused(400, {"error": {"code": "model_not_found", "message": "x"}}),
        erring("not_found", retryable=False),
    ),
    "429": (refused(429, {"error": {"message": "slow down"}}, retry_after="1"), erring("rate_limited", retryable=True)),
    "429 in plain text": (
        {"status": 429, "headers": {}, "raw_body": "slow down"},
        erring("rate_limited", retryable=True),
    ),
    "throttling with status 400": (
        refused(400, {"code": "Throttling.RateQuota", "message": "Requests rate limit exceeded"}),
        erring("rate_limited", retryable=True),
    ),
    "529": (
        refused(529, {"type": "error", "error": {"type": "overloaded_error"}}),
        erring("server_error", retryable=True),
    ),
    "503 while a model is loading": (refused(503, {"error": "loading model"}), erring("server_error", retryable=True)),
    "a server that says that asking again is no use": (
        refused(500, {"error": {"message": "x"}}, x_should_retry="false"),
        erring("server_error", retryable=False),
    ),
    "too long, OpenAI": (
        refused(400, {"error": {"code": "context_length_exceeded", "message": "x"}}),
        erring("context_length", retryable=False),
    ),
    "too long, llama.cpp with status 500": (
        refused(500, {"error": {"message": "the request exceeds the available context size"}}),
        erring("context_length", retryable=False),
    ),
    "too long, Qwen": (
        refused(400, {"code": "InvalidParameter", "message": "Range of input length should be [1, 6000]"}),
        erring("context_length", retryable=False),
    ),
    "413": (
        {"status": 413, "headers": {}, "raw_body": "<h1>413 Too large</h1>"},
        erring("context_length", retryable=False),
    ),
    "a policy, Azure": (
        refused(400, {"error": {"code": "content_filter", "message": "Azure's content management policy"}}),
        POLICY,
    ),
    "a policy, Qwen": (refused(400, {"code": "data_inspection_failed", "message": "x"}), POLICY),
    "a wrong value": (
        refused(400, {"error": {"message": "Invalid value for 'max_tokens'", "param": "x"}}),
        erring("bad_request", retryable=False),
    ),
    "422 of FastAPI": (
        refused(422, {"detail": [{"loc": ["body"], "msg": "field required"}]}),
        erring("bad_request", retryable=False),
    ),
    "a redirect": (
        {"status": 308, "headers": {"location": "http://x/v1"}, "raw_body": ""},
        erring("not_found", retryable=False),
    ),
}
KINDS = {**{name: (case, {"outcome": "ok", **expect}) for name, (case, expect) in OK.items()}, **REFUSED}
ALL = {**{case["id"]: (case["response"], case["expect"]) for case in RECORDED}, **KINDS}


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["id"])
@missing
async def test_a_recorded_case_is_met_whole_and_watched(case: Case, http: HTTPServer) -> None:
    url = serve(http, case["response"])
    assert fault(case["expect"], await ask(url, stream=case["streaming"])) == ""
    assert fault(case["expect"], await ask(url, stream=not case["streaming"])) == ""


@pytest.mark.parametrize("name", KINDS)
async def test_a_kind_of_answer_is_met_whole_and_watched(name: str, http: HTTPServer) -> None:
    response, expect = KINDS[name]
    url = serve(http, response)
    outcome = await ask(url, stream=False)
    assert fault(expect, outcome) == ""
    assert (await ask(url, stream=True)).seen() == outcome.seen()


@pytest.mark.parametrize("name", [name for name, (response, _) in ALL.items() if "sse" in response])
async def test_a_stream_that_comes_byte_by_byte_gives_the_same(name: str, http: HTTPServer) -> None:
    response, expect = ALL[name]
    outcome = await ask(serve(http, response, size=1), stream=True)
    assert fault(expect, outcome) == ""
    if not outcome.error and outcome.reading and not outcome.reading.reasoning:
        assert outcome.watched == str(outcome.message and outcome.message.content)


@pytest.mark.parametrize("name", [name for name, (response, _) in ALL.items() if response["status"] == 200])
def test_a_stream_cut_in_two_at_any_byte_gives_the_same(name: str) -> None:
    data = body_of(ALL[name][0])
    at_once = of_pieces(data).seen()
    assert [at for at in range(1, len(data)) if of_pieces(data[:at], data[at:]).seen() != at_once] == []


@pytest.mark.parametrize("name", [name for name, (response, _) in ALL.items() if "sse" in response])
def test_a_stream_that_ends_at_any_byte_is_no_answer_before_its_end(name: str) -> None:
    data = body_of(ALL[name][0])
    if (full := of_pieces(data)).error or full.message is None:
        return
    # from the finish reason on there is nothing more to come but its own marks
    end = next((data.find(mark) for mark in (b'"finish_reason": "', b"[DONE]") if mark in data), len(data))
    early = [at for at in range(0, end, 7) if of_pieces(data[:at]).error is None]
    assert early == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
CALL = st.fixed_dictionaries(
    {},
    optional={"index": JSON, "id": JSON, "function": JSON | st.fixed_dictionaries({"name": JSON, "arguments": JSON})},
)
DELTA = st.fixed_dictionaries(
    {},
    optional={
        "content": JSON,
        "tool_calls": JSON | st.lists(CALL, max_size=3),
        "function_call": JSON,
        "reasoning": JSON,
        "refusal": JSON,
    },
)
CHOICE = st.fixed_dictionaries(
    {}, optional={"index": JSON, "delta": JSON | DELTA, "message": JSON | DELTA, "finish_reason": JSON, "text": JSON}
)
RECORD = st.fixed_dictionaries(
    {},
    optional={"choices": JSON | st.lists(CHOICE, max_size=2), "usage": JSON, "error": JSON, "x_groq": JSON, "id": JSON},
)


@settings(deadline=None)
@given(st.lists(JSON | RECORD, min_size=1, max_size=4), st.booleans())
def test_whatever_json_a_server_sends_is_an_answer_or_a_failure_with_a_class(records: list[Any], done: bool) -> None:
    lines = [f"data: {json.dumps(record)}\n\n" for record in records] + [f"{DONE}\n\n"] * done
    of_pieces("".join(lines).encode())
    of_pieces(json.dumps(records[0]).encode())


@settings(deadline=None)
@given(st.binary(max_size=60), st.integers(0, 60))
def test_whatever_bytes_a_server_sends_are_an_answer_or_a_failure_with_a_class(data: bytes, at: int) -> None:
    assert of_pieces(data[:at], data[at:]).seen() == of_pieces(data).seen()
    of_pieces(b"data: " + data)


async def test_usage_is_asked_for_where_somebody_watches(http: HTTPServer) -> None:
    usage = {
        "prompt_tokens": 7,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 5},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    url = serve(http, stream(*HI, END, "data: " + json.dumps({"choices": [], "usage": usage}), DONE))
    outcome = await ask(url, stream=True)
    sent = http.log[-1][0].get_json()
    assert (sent["stream"], sent["stream_options"]) == (True, {"include_usage": True})
    assert outcome.message and outcome.message.usage_metadata == {
        "input_tokens": 7,
        "output_tokens": 3,
        "total_tokens": 10,
        "input_token_details": {"cache_read": 5},
        "output_token_details": {"reasoning": 2},
    }


USAGES = [
    ({"prompt_tokens": 7, "completion_tokens": 3}, (7, 3, None)),
    ({"prompt_tokens": 7, "total_tokens": 10}, (7, 3, None)),
    ({"input_tokens": 7, "output_tokens": 3}, (7, 3, None)),
    ({"prompt_tokens": "7", "completion_tokens": 3.0, "prompt_tokens_details": None}, (7, 3, None)),
    ({"prompt_tokens": 7, "completion_tokens": 3, "prompt_cache_hit_tokens": 4}, (7, 3, 4)),
    ({"prompt_tokens": 7, "completion_tokens": 3, "cached_tokens": 4}, (7, 3, 4)),
    ({"total_tokens": 10}, None),
    ({"prompt_tokens": None, "completion_tokens": 3}, None),
    ({"prompt_tokens": -1, "completion_tokens": 3}, None),
    ({}, None),
    (None, None),
]


@pytest.mark.parametrize(("usage", "expected"), USAGES)
def test_usage_is_read_in_every_form_and_never_made_up(usage: Any, expected: Any) -> None:
    outcome = of_pieces(json.dumps(whole({"content": "Hi"}, usage=usage)["body"]).encode())
    assert outcome.message
    found = outcome.message.usage_metadata
    cached = (found or {}).get("input_token_details", {}).get("cache_read")
    assert (found and (found["input_tokens"], found["output_tokens"], cached)) == expected


async def test_a_parameter_that_a_server_does_not_know_is_left_out_from_then_on(http: HTTPServer) -> None:
    seen: list[Any] = []
    answers: Iterator[Any] = itertools.chain(
        [(400, "Unsupported parameter: 'temperature'"), (400, "use max_completion_tokens instead of max_tokens")],
        itertools.repeat((200, "")),
    )

    def answer(request: Any) -> Any:
        from werkzeug import Response

        seen.append(request.get_json())
        status, said = next(answers)
        body = whole({"content": "Hi"})["body"] if status == 200 else {"error": {"message": said}}
        return Response(json.dumps(body), status=status, mimetype="application/json")

    http.expect_request("/picky/chat/completions").respond_with_handler(answer)
    model = Endpoint(model_name="m", base_url=http.url_for("/picky"))
    for _ in range(2):
        assert (await model.ainvoke("hi", temperature=0, max_tokens=5)).content == "Hi"
    keys = [sorted(set(body) - {"model", "messages"}) for body in seen]
    assert keys == [["max_tokens", "temperature"], ["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]
    assert model.left_out == ("temperature", "max_tokens: max_completion_tokens")


async def test_reasoning_of_a_turn_that_called_a_tool_goes_back_with_it(http: HTTPServer) -> None:
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    url = serve(http, whole({"content": "Hi"}))
    calls = [{"name": "f", "args": {"a": "你"}, "id": "c"}]
    turn = AIMessage("", tool_calls=calls, additional_kwargs={"reasoning_content": "hm"})
    plain = AIMessage("so", additional_kwargs={"reasoning_content": "hm"})
    history = [HumanMessage("hi"), turn, ToolMessage("1", tool_call_id="c"), plain, HumanMessage("and?")]
    await Endpoint(model_name="m", base_url=url).ainvoke(history)
    sent = http.log[-1][0].get_json()["messages"]
    assert sent[1]["reasoning_content"] == "hm" and "你" in sent[1]["tool_calls"][0]["function"]["arguments"]
    assert "reasoning_content" not in sent[3]


@pytest.mark.parametrize("base", ["", "/", "/chat/completions"])
async def test_an_address_is_taken_in_every_usual_form(base: str, http: HTTPServer) -> None:
    url = serve(http, whole({"content": "Hi"}))
    assert (await Endpoint(model_name="m", base_url=url + base).ainvoke("hi")).content == "Hi"


async def test_a_key_is_sent_as_bearer_and_no_key_not_at_all(http: HTTPServer) -> None:
    url = serve(http, whole({"content": "Hi"}))
    await Endpoint(model_name="m", base_url=url, api_key="k").ainvoke("hi")
    await Endpoint(model_name="m", base_url=url).ainvoke("hi")
    assert [entry[0].headers.get("Authorization") for entry in http.log[-2:]] == ["Bearer k", None]


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "http://x:port/v1", "ftp://127.0.0.1/v1", "nothing"])
async def test_an_address_where_nobody_is_is_an_error_in_one_line(url: str) -> None:
    with pytest.raises(ModelFailed, match="connection") as caught:
        await Endpoint(model_name="m", base_url=url).ainvoke("hi")
    assert caught.value.failure == ("transient" if ":9" in url else "bad_request")
    assert "\n" not in str(caught.value)
