"""Ways to a typed reply: whatever one way a server offers, every pattern runs, and the way is remembered."""

import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from pytest_httpserver import HTTPServer

import graphs
from graphs._doctor import model_finding
from nodes import rungs
from state.context import Context
from tests.support.fussy_server import RUNGS, FussyServer, ignore, refuse
from tests.support.plans import PLANNING, plan, replies_after_plan, step
from tests.support.script import Reply, failure
from tools.tool import read

SIMPLE = plan(step("a", "look", {"name": "x"}))
_places = itertools.count()


def look(name: str) -> str:
    """Looks something up."""
    return f"result of {name}"


@pytest.fixture
def server(loopback: HTTPServer, monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[FussyServer]:
    fussy = FussyServer(loopback, f"fussy{next(_places)}")
    for name, value in fussy.environment.items():
        monkeypatch.setenv(name, value)
    yield fussy
    fussy.close()
    loopback.clear()
    assert fussy.problems() == []


async def report(pattern: str = "one_shot", **context: Any) -> Any:
    out = await graphs.load(pattern).ainvoke({"task": "look"}, context={"tools": [read(look)], **context})
    return out["report"]


def typed(*replies: Any) -> list[Reply]:
    return [reply if isinstance(reply, Reply) else Reply(reply) for reply in replies]


@pytest.mark.parametrize("pattern", PLANNING)
@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("manner", [refuse(400, "{} is not supported"), ignore], ids=["refused", "ignored"])
async def test_every_pattern_runs_where_only_one_way_is_offered(
    server: FussyServer, pattern: str, rung: str, manner: Any
) -> None:
    server.only(rung, manner)
    server.reply(*typed(SIMPLE, *replies_after_plan(pattern)))
    ended = await report(pattern)
    assert ended["stop"]["reason"] == "done"
    firsts = list(dict.fromkeys(way for way in server.asked if way != "text"))
    assert firsts == list(RUNGS[: RUNGS.index(rung) + 1])


REFUSALS = [
    (400, "response_format is not supported"),
    (400, "Unrecognized request argument supplied: {}"),
    (404, "No endpoints found that support {}"),
    (404, "no route"),
    (405, "{}"),
    (415, "{}"),
    (422, "Extra inputs are not permitted: {}"),
    (501, "not implemented: {}"),
    (500, "{} needs --jinja"),
    (503, "this backend has no grammar for {}"),
]


@pytest.mark.parametrize(("status", "said"), REFUSALS)
async def test_a_refusal_in_any_words_leads_to_the_next_way_at_once(
    server: FussyServer, status: int, said: str
) -> None:
    server.only("prompt", refuse(status, said))
    server.reply(json.dumps(SIMPLE))
    assert (await report())["stop"]["reason"] == "done"
    assert server.asked == list(RUNGS)


async def test_a_server_error_for_tools_that_stays_leads_to_the_next_way(server: FussyServer) -> None:
    server.only("json_mode", lambda rung: failure(500 if rung == "tool_call" else 400, "no"))
    server.reply(SIMPLE)
    assert (await report(limits={"retries": 1}))["stop"]["reason"] == "done"
    assert server.asked == ["json_schema", "tool_call", "tool_call", "json_mode"]


@pytest.mark.parametrize(
    ("status", "said"),
    [(401, "bad key"), (404, "the model `x` does not exist"), (400, "maximum context length is 10 tokens"),
     (400, "content management policy"), (402, "Insufficient Balance")],
)  # fmt: skip
async def test_what_is_no_refusal_of_the_way_is_not_tried_in_another_way(
    server: FussyServer, status: int, said: str
) -> None:
    server.only("prompt", refuse(status, said))
    ended = await report()
    assert ended["stop"]["reason"] == "model_failed" and str(status) in ended["stop"]["message"]
    assert server.asked == ["json_schema"]


async def test_prose_that_turns_into_json_when_told_stays_on_its_way(server: FussyServer) -> None:
    server.only("json_schema", ignore)
    server.reply("I would look it up.", SIMPLE, SIMPLE)
    assert (await report())["stop"]["reason"] == "done"
    assert (await report())["stop"]["reason"] == "done"
    assert server.asked == ["json_schema"] * 3


async def test_a_model_that_only_talks_ends_with_its_last_words_kept(server: FussyServer) -> None:
    server.only("none", ignore)
    ended = await report()
    assert ended["stop"]["reason"] == "unusable_reply" and "First I would" in ended["stop"]["evidence"][0]
    assert server.asked == ["json_schema"] * 2 + ["tool_call", "json_mode"] + ["prompt"] * 2


async def test_the_way_that_works_is_remembered_in_the_process_and_in_the_home_folder(
    server: FussyServer, home: Path
) -> None:
    server.only("json_mode", refuse(400, "{} is not supported"))
    server.reply(*typed(SIMPLE, SIMPLE, SIMPLE))
    await report()
    await report()
    assert server.asked == ["json_schema", "tool_call", "json_mode", "json_mode"]
    rungs._works.clear()
    await report()
    assert server.asked[4:] == ["json_mode"]
    [(name, entry)] = json.loads((home / rungs.FILE).read_text()).items()
    assert name == f"{server.url} scripted" and entry["rung"] == "json_mode"


async def test_no_home_folder_is_made_only_to_remember(
    server: FussyServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("FORETHOUGHT_HOME")
    monkeypatch.chdir(tmp_path)
    server.only("tool_call", refuse(400, "{} is not supported"))
    server.reply(SIMPLE)
    await report()
    assert list(tmp_path.rglob(rungs.FILE)) == []
    assert not (tmp_path / ".forethought").exists()


async def test_what_was_remembered_long_ago_is_tried_anew(server: FussyServer, home: Path) -> None:
    old = {f"{server.url} scripted": {"rung": "prompt", "at": time.time() - rungs.LASTS - 1}}
    (home / rungs.FILE).write_text(json.dumps(old))
    server.only("json_schema", ignore)
    server.reply(SIMPLE)
    await report()
    assert server.asked == ["json_schema"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"x": 1}', '{"x": {"rung": 1}}', "null"])
async def test_a_memory_that_can_not_be_read_is_learnt_again(server: FussyServer, home: Path, text: str) -> None:
    (home / rungs.FILE).write_text(text)
    server.only("tool_call", refuse(400, "{} is not supported"))
    server.reply(SIMPLE)
    assert (await report())["stop"]["reason"] == "done"
    assert "tool_call" in (home / rungs.FILE).read_text()


async def test_a_way_that_no_longer_works_is_forgotten_and_the_next_one_learnt(server: FussyServer) -> None:
    server.only("json_schema", ignore)
    server.reply(SIMPLE)
    await report()
    server.only("prompt", refuse(400, "{} is not supported"))
    server.reply(json.dumps(SIMPLE), json.dumps(SIMPLE))
    await report()
    await report()
    assert server.asked == ["json_schema", *RUNGS, "prompt"]


async def test_the_doctor_shows_the_way(server: FussyServer) -> None:
    server.only("tool_call", refuse(400, "{} is not supported"))
    server.reply(SIMPLE)
    await report()
    [finding] = await model_finding(Context())
    assert finding.mark == "ok" and finding.text.endswith("typed replies by tool_call")


async def test_a_tool_choice_that_a_server_takes_only_as_a_word_is_sent_as_a_word(server: FussyServer) -> None:
    def fussy(rung: str) -> Reply:
        said = "Invalid tool_choice type: 'object'. Supported string values: none, auto, required"
        return failure(400, said if isinstance(server.requests[-1].get("tool_choice"), dict) else "not supported")

    server.only("tool_call", fussy)
    server.offers = "nothing"
    taken = FussyServer._chat

    def chat(request: Any, body: Any) -> Any:
        server.offers = "tool_call" if body.get("tool_choice") == "required" else "nothing"
        return taken(server, request, body)

    server._chat = chat  # type: ignore[method-assign]
    server.reply(SIMPLE)
    assert (await report())["stop"]["reason"] == "done"
    assert [body.get("tool_choice") for body in server.requests[1:]] == [
        {"type": "function", "function": {"name": "plan"}}, "required",
    ]  # fmt: skip


@pytest.mark.parametrize("pattern", PLANNING)
async def test_a_model_object_that_can_not_call_tools_runs_every_pattern(pattern: str, home: Path) -> None:
    said = [SIMPLE, *replies_after_plan(pattern)]
    texts = [text if isinstance(text, str) else json.dumps(text) for text in said]
    model = GenericFakeChatModel(messages=iter(AIMessage(text) for text in texts))
    assert (await report(pattern, model=model))["stop"]["reason"] == "done"
