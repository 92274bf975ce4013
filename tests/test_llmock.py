"""A model server that nobody here wrote, with its faults: PyPI's llmock, and its verdict on us as a client."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import graphs
from tests.support.plans import plan, step
from tests.support.protocol import request_faults
from tools.tool import read

pytestmark = pytest.mark.slow

SIMPLE = json.dumps(plan(step("a", "look", {"name": "x"})))


def look(name: str) -> str:
    """Looks something up."""
    return f"result of {name}"


@pytest.fixture
def mock(llmock: Any, monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[Any]:
    monkeypatch.setenv("LLM_BASE_URL", llmock.base_url())
    monkeypatch.setenv("LLM_API_KEY", "llmock-test-key")
    monkeypatch.setenv("LLM_MODEL_ID", "gpt-4o-mini")
    yield llmock
    for request in llmock.requests:
        assert request.body is None or request_faults(request.body) == []


async def run(mock: Any, pattern: str = "plan_and_execute", *, watched: bool = False, **context: Any) -> Any:
    given: Any = {"tools": [read(look)], **context}
    graph, last = graphs.load(pattern), {}
    modes: Any = ["values", "messages"] if watched else ["values"]
    async for mode, part in graph.astream({"task": "look"}, context=given, stream_mode=modes):
        last = part if mode == "values" else last
    return last["report"]


def plans_and_answers(mock: Any) -> None:
    mock.reply(SIMPLE)
    mock.reply("the answer")


async def test_a_plan_and_an_answer_come_over_the_wire(mock: Any) -> None:
    plans_and_answers(mock)
    report = await run(mock)
    assert (report["stop"]["reason"], report["answer"]) == ("done", "the answer")
    assert report["usage"]["tokens"] > 0
    mock.assert_resilient()


@pytest.mark.parametrize("pattern", [name for name in graphs.names() if name != "workflow"])  # which plans nothing
async def test_every_pattern_ends_in_a_report_with_whatever_it_makes_up(mock: Any, pattern: str) -> None:
    report = await run(mock, pattern)
    assert report["stop"]["reason"] and report["stop"]["message"]


async def test_a_rate_limit_is_waited_for(mock: Any) -> None:
    mock.rate_limit(times=2, retry_after=0.2)
    plans_and_answers(mock)
    assert (await run(mock))["answer"] == "the answer"
    mock.assert_resilient()


@pytest.mark.parametrize("status", [500, 502, 503, 529])
async def test_a_server_error_is_tried_again(mock: Any, status: int) -> None:
    mock.fail(status)
    plans_and_answers(mock)
    assert (await run(mock))["answer"] == "the answer"
    mock.assert_resilient()


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_what_will_not_pass_is_not_tried_again(mock: Any, status: int) -> None:
    mock.fail(status, message="no such model" if status == 404 else "no")
    report = await run(mock)
    assert report["stop"]["reason"] == "model_failed" and str(status) in report["stop"]["message"]
    assert len(mock.requests) == 1


async def test_a_400_leads_down_the_ladder(mock: Any) -> None:
    mock.fail(400, message="response_format is not supported")
    mock.call_tool("plan", json.loads(SIMPLE))
    mock.reply("the answer")
    assert (await run(mock))["answer"] == "the answer"


async def test_a_request_that_is_too_long_is_one_report(mock: Any) -> None:
    mock.context_overflow()
    report = await run(mock)
    assert report["stop"]["reason"] == "model_failed" and "context" in report["stop"]["message"]


@pytest.mark.parametrize("fault", ["disconnect", "truncate", "corrupt"])
async def test_a_broken_stream_is_never_an_answer_and_is_tried_again(mock: Any, fault: str) -> None:
    mock.reply(SIMPLE, times=2)  # the broken stream takes one
    mock.reply("the answer")
    getattr(mock, fault)(after_chunks=1)
    report = await run(mock, watched=True)
    assert (report["answer"], report["usage"]["retries"]) == ("the answer", 1)


async def test_a_slow_server_is_bounded(mock: Any) -> None:
    mock.delay(3.0, times=None)
    report = await run(mock, model_timeout=0.2, limits={"retries": 0})
    assert report["stop"]["reason"] == "model_failed" and "timeout" in report["stop"]["message"].lower()


async def test_a_stream_that_stalls_is_bounded(mock: Any) -> None:
    mock.stall(seconds=3.0, times=None)
    report = await run(mock, watched=True, model_timeout=0.3, limits={"retries": 0})
    assert report["stop"]["reason"] == "model_failed"


@pytest.mark.parametrize("kind", ["malformed_arguments", "unknown_tool"])
async def test_a_broken_call_is_sent_back_and_never_run(mock: Any, kind: str) -> None:
    mock.fail(400, message="response_format is not supported")
    mock.call_tool("plan", json.loads(SIMPLE), times=2)
    mock.break_tool_call(kind)
    mock.reply("the answer")
    report = await run(mock)
    assert report["stop"]["reason"] == "done"
