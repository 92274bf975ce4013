"""Recorded answers of real servers, served again over HTTP in pieces of any size, and what is made of them."""

import itertools
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tracers._streaming import _StreamingCallbackHandler
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from nodes.ask import _allowed
from nodes.failures import LONGEST_WAIT
from nodes.reading import Reading, read_message
from nodes.wire.assembly import Assembly
from nodes.wire.endpoint import Endpoint
from nodes.wire.feed import Feed
from state.errors import ModelFailed
from state.result import RETRYABLE
from tests.support.protocol import request_faults

CASES = Path(os.environ.get("FORETHOUGHT_CASES") or "not named")
Case = dict[str, Any]
CLASSES = {
    "bad_response": {"transient"}, "server_error": {"transient"}, "bad_request": {"bad_request"},
    "rate_limited": {"rate_limit"}, "refusal": {"content_policy"}, "content_filter": {"content_policy"},
    "truncated": {"transient", "unusable_reply"}, "empty": {"transient", "unusable_reply"}, "auth": {"auth"},
    "context_length": {"too_long"}, "not_found": {"not_found"}, "timeout": {"timeout"},
}  # fmt: skip
"""What the classes of the cases are called here."""
_places = itertools.count()


def wire_cases() -> list[Case]:
    """All cases, in order of name; none where the folder is absent."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted((CASES / "wire").glob("*.json"))]


def body_of(response: Case) -> bytes:
    """The bytes of an answer."""
    if "sse" in response:
        return "".join(f"{line}\n\n" for line in response["sse"]).encode()
    return (response["raw_body"] if "raw_body" in response else json.dumps(response["body"])).encode()


def serve(http: HTTPServer, response: Case, size: int | None = None) -> str:
    """The base URL at which an answer is served, in pieces of a size or whole."""
    name, data = f"/wire{next(_places)}/v1", body_of(response)
    pieces = [data[at : at + size] for at in range(0, len(data), size)] if size else [data]

    def answer(request: Request) -> Response:
        assert request_faults(request.get_json()) == []
        headers = response.get("headers") or {}
        if not any(key.lower() == "content-type" for key in headers):
            headers = {**headers, "content-type": "application/json"}
        return Response(iter(pieces), status=response["status"], headers=headers)

    http.expect_request(f"{name}/chat/completions").respond_with_handler(answer)
    return str(http.url_for(name))


class Watcher(AsyncCallbackHandler, _StreamingCallbackHandler):
    """Somebody who watches the tokens, as LangGraph's messages mode does."""

    def __init__(self) -> None:
        self.text = ""

    def tap_output_aiter(self, run_id: Any, output: Any) -> Any:
        return output

    def tap_output_iter(self, run_id: Any, output: Iterator[Any]) -> Iterator[Any]:
        return output

    async def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        self.text += token


@dataclass
class Outcome:
    """What was made of an answer."""

    reading: Reading | None = None
    message: AIMessage | None = None
    error: ModelFailed | None = None
    watched: str = ""

    def seen(self) -> tuple[Any, ...]:
        """Everything that must be the same however the bytes came."""
        if self.error:
            return ("error", self.error.failure, str(self.error))
        assert self.message
        return (self.reading, self.message.usage_metadata, self.message.response_metadata)


async def ask(url: str, *, stream: bool) -> Outcome:
    """One request."""
    watcher = Watcher()
    config: Any = {"callbacks": [watcher] if stream else []}
    try:
        message = await Endpoint(model_name="m", base_url=url).ainvoke([HumanMessage("hi")], config=config)
        outcome = judged(message)
    except ModelFailed as error:
        outcome = Outcome(error=error)
    outcome.watched = watcher.text
    return outcome


def judged(message: AIMessage) -> Outcome:
    """A message as `nodes/ask.py` takes it: one in which there is nothing to use is an error."""
    try:
        reading = _allowed(read_message(message), "planner")
        if reading.problem:
            raise ModelFailed(reading.problem, "unusable_reply")
        broken = [call.problem for call in reading.calls if call.args is None]
        if broken:
            raise ModelFailed(broken[0], "unusable_reply")
    except ModelFailed as error:
        return Outcome(message=message, error=error)
    return Outcome(reading, message)


def of_pieces(*pieces: bytes) -> Outcome:
    """What bytes in pieces are made of, without a server."""
    assembly, feed = Assembly(), Feed()
    try:
        for piece in pieces:
            for record in feed.push(piece):
                assembly.add(record)
        for record in feed.close():
            assembly.add(record)
        return judged(assembly.message(feed.done))
    except ModelFailed as error:
        return Outcome(error=error)


def fault(expect: Case, outcome: Outcome) -> str:
    """Why an outcome is not what a case asks for; empty where it is."""
    error = outcome.error
    if expect["outcome"] == "error":
        return _error_fault(expect, error)
    if error:
        return "" if "error" in expect.get("alt", "") else f"was refused: {error}"
    assert outcome.reading and outcome.message
    calls = [[call.name, call.args] for call in outcome.reading.calls]
    wrong = {"content": outcome.reading.text, "tool_calls": calls, "reasoning": outcome.reading.reasoning}
    faults = [f"{key} is {got!r}" for key, got in wrong.items() if key in expect and got != expect[key]]
    if expect.get("usage") == "unknown" and outcome.message.usage_metadata is not None:
        faults.append("usage is known")
    return "; ".join(faults)


def _error_fault(expect: Case, error: ModelFailed | None) -> str:
    if error is None:
        return "was taken as an answer"
    classes = CLASSES.get(expect["error"], {error.failure})
    may_wait = error.retry_after is None or error.retry_after <= LONGEST_WAIT
    retryable = error.failure in RETRYABLE and getattr(error, "may_retry", True) and may_wait
    if error.failure not in classes:
        return f"is {error.failure}, not {expect['error']}"
    if "retryable" in expect and retryable != expect["retryable"]:
        return f"retryable is {retryable}"
    said = expect.get("message", "")
    return "" if said in str(error) and "<html" not in str(error).lower() else f"says {error}"
