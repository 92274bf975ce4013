"""Recording: what was asked and answered in a run, without keys, and served back as long as the run is the same."""

import json
from pathlib import Path
from typing import Any

import pytest

import graphs
from nodes.replay import difference
from state.errors import InputError
from state.masking import without_keys
from tests.support.model_server import ModelServer
from tests.support.plans import PLANNING, plan, replies_after_plan, step
from tests.support.script import failure
from tools.tool import ToolEnv, read

SIMPLE = plan(step("a", "look", {"name": "x"}))


def look(name: str) -> str:
    """Looks something up."""
    return f"result of {name}"


async def shorten(text: str, env: ToolEnv) -> str:
    """Makes a text short."""
    return await env.ask("Make it short.", text)


@pytest.fixture
def server(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, home: Path) -> ModelServer:
    for name, value in model_server.environment.items():
        monkeypatch.setenv(name, value)
    return model_server


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "run.jsonl"


async def run(pattern: str = "plan_and_execute", task: str = "look", **context: Any) -> Any:
    context = {"tools": [read(look), read(shorten)], **context}
    return (await graphs.load(pattern).ainvoke({"task": task}, context=context))["report"]


def lines(file: Path) -> list[dict[str, Any]]:
    entries = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [entry for entry in entries if "request" in entry]


@pytest.mark.parametrize("pattern", PLANNING)
async def test_a_recorded_run_is_served_back_without_a_server(server: ModelServer, file: Path, pattern: str) -> None:
    server.reply("{", failure(503), SIMPLE, *replies_after_plan(pattern, "the answer"))
    recorded = await run(pattern, record=str(file))
    asked = len(server.requests)
    again = await run(pattern, model=f"replay:{file}")
    assert len(server.requests) == asked
    assert (again["answer"], again["stop"], again["plans"]) == (recorded["answer"], recorded["stop"], recorded["plans"])
    assert again["usage"]["tokens"] == recorded["usage"]["tokens"] and again["usage"]["retries"] == 1


@pytest.mark.parametrize("rung", ["tool_call", "prompt"])
async def test_a_run_on_a_lower_way_is_served_back_too(server: ModelServer, file: Path, rung: str) -> None:
    no = [failure(400, "response_format is not supported"), failure(400, "tools are not supported")]
    replies = [no[0], SIMPLE] if rung == "tool_call" else [*no, failure(400, "no JSON mode"), json.dumps(SIMPLE)]
    server.reply(*replies, "the answer")
    first = await run(record=str(file))
    assert (await run(model=f"replay:{file}"))["answer"] == first["answer"] == "the answer"
    server.reply(json.dumps(SIMPLE) if rung == "prompt" else SIMPLE, "the answer")
    await run(record=str(file))  # the way is remembered now
    assert (await run(model=f"replay:{file}"))["answer"] == "the answer"


async def test_steps_that_ask_side_by_side_get_each_its_own_reply(server: ModelServer, file: Path) -> None:
    steps = [step(f"s{n}", "shorten", {"text": f"text {n}"}) for n in range(6)]
    from tests.support.script import Reply

    server.reply(plan(*steps), *[Reply(f"short {n}", when=f"text {n}") for n in range(6)], "the answer")
    first = await run(record=str(file))
    again = await run(model=f"replay:{file}")
    assert [r["output"] for r in again["results"]] == [r["output"] for r in first["results"]]


async def test_the_first_request_that_differs_fails_and_says_how(server: ModelServer, file: Path) -> None:
    server.reply(SIMPLE, "the answer")
    await run(record=str(file))
    report = await run(task="look again", model=f"replay:{file}")
    assert report["stop"]["reason"] == "model_failed"
    assert "messages[1].content" in report["stop"]["message"] and "look again" in report["stop"]["message"]


async def test_a_request_after_the_last_one_fails(server: ModelServer, file: Path) -> None:
    server.reply(SIMPLE)
    await run("one_shot", record=str(file))
    report = await run("plan_and_execute", model=f"replay:{file}")
    assert report["answered_by"] == "code"


async def test_a_recording_says_who_asked_what_and_what_came(server: ModelServer, file: Path) -> None:
    server.reply(failure(401, "bad key"))
    await run(record=str(file))
    server.reply(SIMPLE, "the answer")
    report = await run(record=str(file))
    failed, planner, answerer = lines(file)
    assert failed["error"]["class"] == "auth" and failed["error"]["status"] == 401
    assert (planner["role"], planner["model"], planner["rung"]) == ("planner", "scripted", "json_schema")
    assert planner["run"] == answerer["run"] == report["request"] != failed["run"]
    assert answerer["reply"]["data"]["content"] == "the answer" and answerer["seconds"] >= 0
    assert (await run(model=f"replay:{file}"))["answer"] == "the answer"  # the last run of the file


async def test_keys_do_not_get_into_a_recording(
    server: ModelServer, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "hush-hush-123")
    server.reply(SIMPLE, "the key test-key is hush-hush-123 and sk-abcdefghijklmnopqrstuvwx")
    task = "use hush-hush-123 at http://me:pass@host/"
    await run(task=task, record=str(file))
    text = file.read_text()
    assert not any(secret in text for secret in ("test-key", "hush-hush-123", "sk-abc", "me:pass"))
    assert (await run(task=task, model=f"replay:{file}"))["answered_by"] == "model"


@pytest.mark.parametrize("text", ["task-oriented-planning-agents", "https://host/path", "risk-averse"])
def test_words_that_only_look_like_a_key_stay(text: str) -> None:
    assert without_keys(text) == text


@pytest.mark.parametrize("content", [None, "", "{", "[]", "{}"])
async def test_what_is_no_recording_is_one_line(home: Path, file: Path, content: str | None) -> None:
    file.parent.mkdir()
    if content is not None:
        file.write_text(content)
    with pytest.raises(InputError, match="replay"):
        await run(model=f"replay:{file}")


async def test_a_recording_that_can_not_be_written_is_found_before_anything_is_asked(
    server: ModelServer, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="record"):
        await run(record=str(tmp_path))


async def test_the_offline_planner_can_be_recorded_too(home: Path, file: Path) -> None:
    first = await run("one_shot", task="add 2 and 3", tools=None, model="offline", record=str(file))
    assert (await run("one_shot", task="add 2 and 3", tools=None, model=f"replay:{file}"))["answer"] == first["answer"]


DIFFERENCES = [
    ({"a": 1}, {"a": 2}, "a: recorded '1', now '2'"),
    ({"a": [1, {"b": "xy"}]}, {"a": [1, {"b": "xz"}]}, "a[1].b, character 1: recorded 'xy', now 'xz'"),
    ({"a": [1]}, {"a": [1, 2]}, "a has 2 items instead of 1"),
    ({"a": 1}, {}, "a: recorded '1', now 'None'"),
    ({"messages": [1], "a": 1}, {"messages": [2], "a": 2}, "messages[0]: recorded '1', now '2'"),
]


@pytest.mark.parametrize(("recorded", "asked", "said"), DIFFERENCES)
def test_a_difference_is_named_by_its_place_and_both_sides(recorded: Any, asked: Any, said: str) -> None:
    assert difference(recorded, asked) == said
