"""Failures of models: how long is waited, what is tried again, what is shortened, and what ends the run."""

import json
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage, SystemMessage

import graphs
from nodes.prompts.fence import fence, read_fences
from nodes.shortening import shortened
from nodes.wire.waiting import asked_wait
from tests.support.model_server import ModelServer
from tests.support.plans import plan, step
from tests.support.script import failure
from tools.tool import read

SIMPLE = plan(step("a", "look", {"name": "x"}))
NOW = 1_800_000_000.0


def look(name: str) -> str:
    """Looks something up."""
    return f"result of {name}"


@pytest.fixture
def server(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, home: Path) -> ModelServer:
    for name, value in model_server.environment.items():
        monkeypatch.setenv(name, value)
    return model_server


async def run(pattern: str = "one_shot", tool: Any = look, **context: Any) -> Any:
    return await graphs.load(pattern).ainvoke({"task": "look"}, context={"tools": [read(tool)], **context})


WAITS = [
    ({"Retry-After": "20"}, "", 20.0),
    ({"retry-after": "0.5"}, "", 0.5),
    ({"retry-after-ms": "1500", "retry-after": "2"}, "", 1.5),
    ({"Retry-After": formatdate(NOW + 90, usegmt=True)}, "", 90.0),
    ({"Retry-After": formatdate(NOW - 90, usegmt=True)}, "", 0.0),
    ({"Retry-After": "soon"}, "", None),
    ({"Retry-After": "-5"}, "", None),
    ({"Retry-After": "nan"}, "", None),
    ({"Retry-After": "inf"}, "", None),
    ({"x-ratelimit-reset-requests": "1m30s"}, "", 90.0),
    ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-remaining-tokens": "0"}, "",
     360.0),
    ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, "", None),
    ({"x-ratelimit-reset-tokens": "250ms"}, "", 0.25),
    ({"X-RateLimit-Reset": str(int(NOW + 30))}, "", 30.0),
    ({"X-RateLimit-Reset": str(int((NOW + 30) * 1000))}, "", 30.0),
    ({"ratelimit-reset": "12"}, "", 12.0),
    ({}, "Rate limit reached. Please try again in 1.242s. Visit ...", 1.242),
    ({}, "Please retry after 20 seconds", 20.0),
    ({}, "Please try again in 250ms", 0.25),
    ({}, "please wait 2 minutes", 120.0),
    ({}, '{"retryDelay": "34s"}', 34.0),
    ({"Retry-After": "7"}, "try again in 20s", 7.0),
    ({}, "slow down", None),
    ({}, "", None),
]  # fmt: skip


@pytest.mark.parametrize(("headers", "text", "seconds"), WAITS)
def test_what_a_server_asks_to_wait_is_read_in_every_form(
    headers: dict[str, str], text: str, seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: NOW)
    found = asked_wait(headers, text)
    assert found is None if seconds is None else found == pytest.approx(seconds, abs=1)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-reset"]), st.text()), st.text())
def test_no_header_and_no_text_breaks_the_reading(headers: dict[str, str], text: str) -> None:
    wait = asked_wait(headers, text)
    assert wait is None or wait >= 0


async def test_a_wait_that_a_server_asks_for_is_kept(server: ModelServer) -> None:
    server.reply(failure(429, headers={"retry-after-ms": "300"}), SIMPLE)
    began = time.monotonic()
    report = (await run())["report"]
    assert report["stop"]["reason"] == "done" and report["usage"]["retries"] == 1
    assert time.monotonic() - began >= 0.3


@pytest.mark.parametrize("headers", [{"Retry-After": "3600"}, {"Retry-After": formatdate(NOW + 10**8, usegmt=True)}])
async def test_nobody_waits_an_hour(server: ModelServer, headers: dict[str, str]) -> None:
    server.reply(failure(429, headers=headers))
    began = time.monotonic()
    report = (await run())["report"]
    assert report["stop"]["reason"] == "model_failed" and "429" in report["stop"]["message"]
    assert time.monotonic() - began < 5


async def test_a_wait_beyond_the_deadline_of_the_run_is_not_begun(server: ModelServer) -> None:
    server.reply(failure(429, headers={"Retry-After": "20"}))
    began = time.monotonic()
    report = (await run(limits={"seconds": 10}))["report"]
    assert report["stop"]["reason"] == "model_failed"
    assert time.monotonic() - began < 5


async def test_a_call_that_reaches_the_deadline_ends_the_run_by_its_name(server: ModelServer) -> None:
    server.reply(SIMPLE, delay=3.0)
    report = (await run(limits={"seconds": 0.3}))["report"]
    assert report["stop"]["reason"] == "seconds"


async def test_a_slow_answer_is_tried_again(server: ModelServer) -> None:
    server.reply(SIMPLE, delay=3.0)
    server.reply(SIMPLE)
    report = (await run(model_timeout=0.3))["report"]
    assert report["stop"]["reason"] == "done" and report["usage"]["retries"] == 1


async def test_a_cap_holds_for_all_retries_of_a_run_together(server: ModelServer) -> None:
    server.reply(failure(503), SIMPLE, failure(503))
    report = (await run("plan_and_execute", limits={"all_retries": 1, "retries": 5}))["report"]
    assert report["usage"]["retries"] == 1
    assert report["answered_by"] == "code"


async def test_steps_and_models_share_the_cap(server: ModelServer) -> None:
    tries: list[str] = []

    def flaky(name: str) -> str:
        """Looks something up."""
        tries.append(name)
        raise ConnectionError("reset")

    server.reply(failure(503), plan(step("a", "flaky", {"name": "x"})))
    report = (await run(tool=flaky, limits={"all_retries": 2, "retries": 5}))["report"]
    assert len(tries) == 2 and report["usage"]["retries"] == 2


@pytest.mark.parametrize("code", ["context_length_exceeded", "string_above_max_length"])
async def test_a_request_that_is_too_long_is_shortened_once_and_said(server: ModelServer, code: str) -> None:
    long = "many words " * 600

    def tell(name: str) -> str:
        """Tells a lot."""
        return long

    server.reply(plan(step("a", "tell", {"name": "x"})), failure(400, "x", code=code), "the answer")
    out = await run("plan_and_execute", tool=tell, output_cap=10_000)
    assert out["report"]["answer"] == "the answer"
    before, after = (read_fences(body["messages"][1]["content"]) for body in server.requests[1:])
    assert before["task"] == after["task"] == "look"
    assert "shortened" in str(after["results"]) and len(str(after["results"])) < len(str(before["results"])) * 0.7
    [event] = [event for event in out["events"] if event["event"] == "request_shortened"]
    assert event["evidence"][0] == "answerer" and event["evidence"][1].startswith("results: ")


async def test_a_request_that_stays_too_long_is_not_shortened_twice(server: ModelServer) -> None:
    def tell(name: str) -> str:
        """Tells a lot."""
        return "many words " * 600

    too_long = failure(400, "x", code="context_length_exceeded")
    server.reply(plan(step("a", "tell", {"name": "x"})), too_long, too_long)
    report = (await run("plan_and_execute", tool=tell, output_cap=10_000))["report"]
    assert report["answered_by"] == "code"


async def test_a_request_in_which_nothing_may_be_cut_fails_by_name(server: ModelServer) -> None:
    server.reply(failure(400, "maximum context length is 10 tokens"))
    report = (await run())["report"]
    assert report["stop"]["reason"] == "model_failed" and "maximum context length" in report["stop"]["message"]


JSON = st.recursive(st.text(max_size=400) | st.integers() | st.none(), lambda inner: st.lists(inner, max_size=5)
                    | st.dictionaries(st.text(max_size=9), inner, max_size=5), max_leaves=20)  # fmt: skip


@settings(deadline=None)
@given(JSON, JSON, st.text(max_size=50))
def test_what_is_left_of_a_request_can_be_read_and_is_shorter(big: Any, small: Any, task: str) -> None:
    asked = "\n".join([fence("task", task), fence("results", big), fence("answer", small)])
    messages = [SystemMessage(f"rules\n{fence('tools', [task])}"), HumanMessage(asked)]
    less = shortened(messages)
    if less is None:
        return
    left = read_fences(str(less.messages[1].content))
    assert (left["task"], set(left)) == (task, {"task", "results", "answer"})
    assert less.messages[0].content == messages[0].content
    assert len(json.dumps(left)) <= len(json.dumps({"task": task, "results": big, "answer": small})) + 200


async def test_a_refusal_is_not_argued_with(server: ModelServer) -> None:
    server.reply("", extra={"refusal": "I can't help with that."})
    report = (await run(model="scripted, another"))["report"]
    assert report["stop"]["reason"] == "model_failed" and "I can't help with that." in report["stop"]["message"]
    assert len(server.requests) == 1


async def test_a_format_failure_names_the_schemas_own_field(server: ModelServer) -> None:
    wrong = {"goal": "x", "steps": [{"id": "a", "tool": "look", "args": 5}]}
    server.reply(wrong, wrong, wrong)
    report = (await run())["report"]
    assert report["stop"]["reason"] == "unusable_reply" and "steps.0.args" in report["stop"]["message"]
    told = [body["messages"][-1]["content"] for body in server.requests[1:]]
    assert len(told) == 2 and all("steps.0.args" in text for text in told)
    assert report["counts"].get("replans", 0) == 0
