"""The test infrastructure itself: what it says, what it refuses, and that it fails a test that it must fail."""

import asyncio
import os
import re
import smtplib
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from email.message import EmailMessage
from pathlib import Path
from typing import Any, Literal

import httpx
import openai
import psycopg
import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.messages.ai import add_ai_message_chunks
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, SecretStr
from pytest_socket import SocketConnectBlockedError

from tests.support import postgres as servers
from tests.support.mail_server import MailServer
from tests.support.model_server import ModelServer
from tests.support.postgres import Postgres
from tests.support.protocol import request_faults
from tests.support.script import Reply, cut, failure, hang_up, raw
from tests.support.scripted_model import ScriptedModel

USER = {"role": "user", "content": "hi"}


class Sum(BaseModel):
    """A sum."""

    value: int


@tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def client(server: ModelServer, **settings: Any) -> ChatOpenAI:
    defaults: dict[str, Any] = {"model": "scripted", "max_retries": 0, "timeout": 10}
    return ChatOpenAI(base_url=server.url, api_key=SecretStr("k"), **{**defaults, **settings})


def post(server: ModelServer, **body: Any) -> httpx.Response:
    return httpx.post(f"{server.url}/chat/completions", json={"model": "m", "messages": [USER], **body}, timeout=10)


# --- what it says


def test_text_and_usage_arrive(model_server: ModelServer) -> None:
    model_server.reply("héllo 你好", usage=(7, 3))
    reply = client(model_server).invoke("hi")
    assert reply.content == "héllo 你好"
    used = reply.usage_metadata
    assert used and (used["input_tokens"], used["output_tokens"]) == (7, 3)
    assert model_server.requests[0]["messages"] == [{"content": "hi", "role": "user"}]
    assert model_server.headers[0]["Authorization"] == "Bearer k"


@pytest.mark.parametrize("method", ["json_schema", "function_calling", "json_mode"])
def test_a_json_value_is_sent_in_the_way_that_was_asked(
    model_server: ModelServer, method: Literal["json_schema", "function_calling", "json_mode"]
) -> None:
    model_server.reply({"value": 42})
    assert client(model_server).with_structured_output(Sum, method=method).invoke("give json") == Sum(value=42)


@pytest.mark.parametrize("usage", [(11, 5), None])
async def test_a_stream_gives_pieces_and_usage(model_server: ModelServer, usage: tuple[int, int] | None) -> None:
    model_server.reply("a longer text that needs several pieces", usage=usage)
    pieces = [piece async for piece in client(model_server, stream_usage=True).astream("hi")]
    assert "".join(str(piece.content) for piece in pieces) == "a longer text that needs several pieces"
    assert len([piece for piece in pieces if piece.content]) == 4
    counted = [piece.usage_metadata for piece in pieces if piece.usage_metadata]
    assert [(one["input_tokens"], one["output_tokens"]) for one in counted] == ([usage] if usage else [])


async def test_tool_calls_arrive_whole_and_streamed(model_server: ModelServer) -> None:
    reply = Reply("let me see", calls=(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})))
    model_server.reply(reply, reply)
    bound = client(model_server).bind_tools([add])
    whole = await bound.ainvoke("hi")
    chunks = [chunk async for chunk in bound.astream("hi") if isinstance(chunk, AIMessageChunk)]
    streamed = add_ai_message_chunks(AIMessageChunk(content=""), *chunks)
    assert whole.tool_calls == streamed.tool_calls
    assert [call["args"] for call in whole.tool_calls] == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    assert len({call["id"] for call in whole.tool_calls}) == 2


def test_a_conversation_with_tool_answers_is_taken(model_server: ModelServer) -> None:
    model_server.reply({"a": 1, "b": 2}, "3")
    bound = client(model_server).bind_tools([add])
    call = bound.invoke("1 + 2")
    answer = ToolMessage("3", tool_call_id=call.tool_calls[0]["id"])
    assert bound.invoke([HumanMessage("1 + 2"), call, answer]).content == "3"


def test_parallel_calls_get_the_reply_meant_for_them(model_server: ModelServer) -> None:
    model_server.reply("any", Reply("A", when="alpha"), Reply("B", when=re.compile("be+ta")))
    model_server.reply("C", when=lambda body: body.get("temperature") == 0.5)

    def ask(text: str) -> str:
        return str(client(model_server, temperature=0.5 if text == "gamma" else None).invoke(text).content)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, ["beeeta", "alpha", "gamma", "else"])) == ["B", "A", "C", "any"]


def test_a_reply_can_be_meant_for_a_schema(model_server: ModelServer) -> None:
    model_server.reply("for anything", Reply({"value": 1}, schema="Sum"))
    assert client(model_server).with_structured_output(Sum).invoke("x") == Sum(value=1)
    assert client(model_server).invoke("x").content == "for anything"


def test_a_reply_can_be_made_of_the_request(model_server: ModelServer) -> None:
    model_server.reply(lambda body: body["messages"][-1]["content"].upper())
    assert client(model_server).invoke("echo").content == "ECHO"


def test_calls_overlap_on_the_server(model_server: ModelServer) -> None:
    meet = threading.Barrier(2, timeout=5)
    model_server.reply(*[lambda body: f"met {meet.wait() >= 0}"] * 2)

    async def both() -> list[Any]:
        model = client(model_server)
        return [reply.content for reply in await asyncio.gather(model.ainvoke("a"), model.ainvoke("b"))]

    assert asyncio.run(both()) == ["met True", "met True"]


# --- what goes wrong on purpose


def test_errors_arrive_with_status_headers_and_body(model_server: ModelServer) -> None:
    model_server.reply(failure(429, "slow down", headers={"Retry-After": "2"}))
    model_server.reply(failure(401), failure(404), failure(500), raw("<html>Bad Gateway</html>", status=502))
    with pytest.raises(openai.RateLimitError, match="slow down") as limited:
        client(model_server).invoke("hi")
    assert limited.value.response.headers["retry-after"] == "2"
    for expected in (openai.AuthenticationError, openai.NotFoundError, openai.InternalServerError):
        with pytest.raises(expected):
            client(model_server).invoke("hi")
    with pytest.raises(openai.InternalServerError) as gateway:
        client(model_server).invoke("hi")
    assert gateway.value.response.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize("reply", [cut("a text of some length, cut in half"), hang_up()])
def test_a_broken_connection_is_an_error_to_the_client(model_server: ModelServer, reply: Reply) -> None:
    model_server.reply(reply, reply)
    with pytest.raises((openai.APIConnectionError, httpx.RemoteProtocolError)):
        list(client(model_server).stream("hi"))
    with pytest.raises(openai.APIConnectionError):
        client(model_server).invoke("hi")


def test_a_stream_may_end_early_without_an_error(model_server: ModelServer) -> None:
    model_server.reply(cut("a text of some length, cut in half", cleanly=True))
    response = post(model_server, stream=True)
    assert response.status_code == 200
    assert "a text of so" in response.text and "[DONE]" not in response.text and '"stop"' not in response.text


def test_a_delay_is_felt_and_ends_with_the_test(model_server: ModelServer) -> None:
    model_server.reply("late", delay=0.3)
    model_server.reply("never", delay=60)
    begun = time.monotonic()
    assert client(model_server).invoke("hi").content == "late"
    assert time.monotonic() - begun >= 0.3
    with pytest.raises(openai.APITimeoutError):
        client(model_server, timeout=0.2).invoke("hi")


def test_a_stream_is_sent_as_it_is_made(model_server: ModelServer) -> None:
    model_server.reply("twelve chars" * 5, pace=0.1)
    times = [time.monotonic() for piece in client(model_server).stream("hi") if piece.content]
    assert times[-1] - times[0] >= 0.3


def test_whatever_a_server_may_send(model_server: ModelServer) -> None:
    model_server.reply(raw({"choices": []}), raw(sse=[": ping", '{"choices": []}', "data: [DONE]"]))
    assert post(model_server).json() == {"choices": []}
    assert post(model_server, stream=True).text == ': ping\n\ndata: {"choices": []}\n\ndata: [DONE]\n\n'


def test_models_are_listed(model_server: ModelServer) -> None:
    model_server.models = ["one", "two"]
    with openai.OpenAI(base_url=model_server.url, api_key="k") as endpoint:
        assert [model.id for model in endpoint.models.list()] == ["one", "two"]


# --- what fails the test


def test_an_extra_call_and_an_unused_reply_are_problems(model_server: ModelServer) -> None:
    model_server.reply("for nobody", when="no such words")
    with pytest.raises(openai.InternalServerError, match="has no reply"):
        client(model_server, max_retries=2).invoke("hi")
    extra, unused = model_server.problems()
    assert "request 1 has no reply" in extra and "never asked for" in unused
    model_server.forget()


def test_a_path_that_is_not_served_is_a_problem(model_server: ModelServer) -> None:
    assert httpx.post(f"{model_server.url}/responses", json={}).status_code == 404
    assert model_server.problems() == ["model_server: POST /responses is not a path of this server"]
    model_server.forget()


def test_a_fault_in_a_tests_own_function_is_a_problem(model_server: ModelServer) -> None:
    model_server.reply(lambda body: body["no such key"])
    assert post(model_server).status_code == 500
    assert "KeyError" in model_server.problems()[0]
    model_server.forget()


CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
SPEC = {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}
ASKS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
ANSWER = {"role": "tool", "content": "3", "tool_call_id": "c1"}
OPEN = {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"], "additionalProperties": False}
STRICT = {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": OPEN}}


@pytest.mark.parametrize(
    ("body", "finding"),
    [
        ({"messages": []}, "not empty"),
        ({"messages": [USER], "model": ""}, "model must be a name"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "role must be one of"),
        ({"messages": [{"role": "user", "content": None}]}, "must not be null"),
        ({"messages": [USER, ANSWER]}, "not open before it"),
        ({"messages": [USER, ASKS]}, "not answered"),
        ({"messages": [USER, ASKS, USER, ANSWER]}, "not answered"),
        ({"messages": [USER, ASKS, ANSWER, ANSWER]}, "not open before it"),
        ({"messages": [USER, {**ASKS, "tool_calls": [CALL, CALL]}, ANSWER, ANSWER]}, "one id"),
        ({"messages": [USER], "tool_choice": "auto"}, "only allowed with tools"),
        ({"messages": [USER], "parallel_tool_calls": False}, "only allowed with tools"),
        ({"messages": [USER], "tools": []}, "left out"),
        ({"messages": [USER], "tools": [SPEC, SPEC]}, "one name"),
        ({"messages": [USER], "tools": [SPEC], "tool_choice": {"function": {"name": "sub"}}}, "names no tool"),
        ({"messages": [USER], "response_format": {"type": "json_object"}}, "the word JSON"),
        ({"messages": [USER], "response_format": STRICT}, "every property must be required"),
    ],
)
def test_what_a_strict_server_refuses(body: dict[str, Any], finding: str) -> None:
    assert any(finding in fault for fault in request_faults({"model": "m", **body}))


def test_a_broken_request_is_refused_and_is_a_problem(model_server: ModelServer) -> None:
    response = post(model_server, messages=[USER, ANSWER])
    assert response.status_code == 400
    assert "not open before it" in response.json()["error"]["message"]
    assert "breaks the protocol" in model_server.problems()[0]
    model_server.forget()


def test_a_good_conversation_has_no_fault() -> None:
    body = {"model": "m", "messages": [USER, ASKS, ANSWER, USER], "tools": [SPEC], "tool_choice": "auto"}
    assert request_faults(body) == []


def test_problems_fail_the_test_that_caused_them(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import httpx

        def test_extra_call(model_server):
            body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
            httpx.post(f"{model_server.url}/chat/completions", json=body)

        def test_unused(scripted_model):
            scripted_model.reply("never asked for")

        def test_fine(model_server, scripted_model, mail_server, home):
            pass
        """
    )
    root = Path(__file__).parent.parent
    inner = pytester.runpytest_subprocess(
        "-p", "tests.conftest", "-p", "no:cacheprovider", "-o", f"pythonpath={root}", "--import-mode=importlib"
    )
    inner.assert_outcomes(passed=3, errors=2)
    inner.stdout.fnmatch_lines(["*request 1 has no reply*", "*never asked for*"])


# --- the model in the same process


async def test_the_scripted_model_answers_in_every_way(scripted_model: ScriptedModel) -> None:
    scripted_model.reply("text", {"value": 42}, {"a": 1, "b": 2}, "a streamed text of some length")
    scripted_model.reply(TimeoutError("slow"))
    assert scripted_model.invoke("hi").content == "text"
    assert await scripted_model.with_structured_output(Sum).ainvoke("hi") == Sum(value=42)
    called = await scripted_model.bind_tools([add]).ainvoke("hi")
    assert called.tool_calls[0]["args"] == {"a": 1, "b": 2}
    pieces = [piece async for piece in scripted_model.astream("hi")]
    assert "".join(str(piece.content) for piece in pieces) == "a streamed text of some length"
    assert pieces[-1].usage_metadata or any(piece.usage_metadata for piece in pieces)
    with pytest.raises(TimeoutError, match="slow"):
        await scripted_model.ainvoke("hi")
    assert [len(request.get("tools", [])) for request in scripted_model.requests] == [0, 1, 1, 0, 0]


def test_the_scripted_model_keeps_broken_arguments_apart(scripted_model: ScriptedModel) -> None:
    scripted_model.reply(calls=(("add", '{"a": 1, "b"'),))
    reply = scripted_model.bind_tools([add]).invoke("hi")
    assert reply.tool_calls == [] and reply.invalid_tool_calls[0]["args"] == '{"a": 1, "b"'


def test_the_scripted_model_refuses_what_nobody_scripted(scripted_model: ScriptedModel) -> None:
    with pytest.raises(AssertionError, match="has no reply"):
        scripted_model.invoke("hi")
    with pytest.raises(AssertionError, match="not open before it"):
        scripted_model.invoke([HumanMessage("hi"), ToolMessage("3", tool_call_id="c1")])
    assert len(scripted_model.problems()) == 2
    scripted_model.script.forget()


# --- mail, folders, network


def send(server: MailServer) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@example.org", "b@example.org", "Grüße 你好"
    mail.set_content("body")
    address = httpx.URL(server.url)
    with smtplib.SMTP(address.host, address.port or 25, timeout=5) as smtp:
        smtp.send_message(mail)


def test_mail_is_kept(mail_server: MailServer) -> None:
    send(mail_server)
    (mail,) = mail_server.messages
    assert (mail.sender, mail.recipients, mail.message["Subject"]) == ("a@example.org", ["b@example.org"], "Grüße 你好")
    assert mail.message.get_content().strip() == "body"


def test_mail_is_refused_deferred_and_cut_off(mail_server: MailServer) -> None:
    mail_server.refuse()
    mail_server.refuse(at="rcpt", answer="550 no such user")
    mail_server.defer()
    mail_server.drop()
    mail_server.drop(delivered=False)
    with pytest.raises(smtplib.SMTPDataError) as refused:
        send(mail_server)
    with pytest.raises(smtplib.SMTPRecipientsRefused):
        send(mail_server)
    with pytest.raises(smtplib.SMTPDataError) as deferred:
        send(mail_server)
    assert (refused.value.smtp_code, deferred.value.smtp_code, len(mail_server.messages)) == (550, 451, 0)
    for taken in (1, 1):
        with pytest.raises((smtplib.SMTPServerDisconnected, ConnectionError)):
            send(mail_server)
        assert len(mail_server.messages) == taken
    send(mail_server)
    assert len(mail_server.messages) == 2


def test_home_is_an_empty_folder_of_the_test(home: Path) -> None:
    assert os.environ["FORETHOUGHT_HOME"] == str(home) and list(home.iterdir()) == []


def test_nothing_of_the_machine_reaches_a_test() -> None:
    foreign = ("LLM_", "OPENAI_", "LANGSMITH_", "SMTP_URL", "FORETHOUGHT_HOME")
    assert [name for name in os.environ if name.startswith(foreign)] == []


def test_only_loopback_is_reachable() -> None:
    with socket.socket() as out, pytest.raises(SocketConnectBlockedError):
        out.connect(("192.0.2.1", 80))


@pytest.mark.slow
def test_every_test_has_a_database_of_its_own_on_a_real_postgresql(postgres: Postgres) -> None:
    names = []
    for url in (postgres.new_database(), postgres.new_database()):
        with psycopg.connect(url) as connection:
            row = connection.execute("SELECT current_database(), version()").fetchone()
        assert row and row[1].startswith("PostgreSQL ")
        names.append(row[0])
    assert len(set(names)) == 2


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_without_postgresql_a_test_is_skipped_on_a_desk_and_fails_in_ci(
    monkeypatch: pytest.MonkeyPatch, ci: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setattr(servers, "binaries", lambda: None)
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="PostgreSQL is not installed"), servers.running():
        pass
