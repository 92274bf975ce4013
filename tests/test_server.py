"""The LangGraph dev server with the patterns on it, driven by its SDK: no key, blocking-call detector on."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client

import graphs
from tests.support.dev_server import dev_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running server, started as a newcomer would; its log must name no blocking call."""
    with dev_server(tmp_path_factory.mktemp("server")) as url:
        yield url


@pytest.fixture
async def client(server: str) -> AsyncIterator[Any]:
    one = get_client(url=server)
    yield one
    await one.aclose()


async def patterns(client: Any) -> list[Any]:
    """All that is served, but for what the tests of the page need on a server that runs already (docs/scale.md)."""
    return [one for one in await client.assistants.search(limit=100) if one["graph_id"] != "stranger"]


async def test_the_server_lists_the_patterns_with_what_they_do(client: Any) -> None:
    found = {one["graph_id"]: one for one in await patterns(client)}
    assert found.keys() == set(graphs.names())
    assert all(one["description"] for one in found.values())


async def test_input_and_context_schemas_carry_help_texts(client: Any) -> None:
    for one in await patterns(client):
        schemas = await client.assistants.get_schemas(one["assistant_id"])
        assert set(schemas["input_schema"]["properties"]) == {"task"}
        context = schemas["context_schema"]["properties"]
        assert all(field.get("description") for field in context.values()), context
        assert context["check_after"]["enum"] == ["plan", "step", "critical"]
        graph = await client.assistants.get_graph(one["assistant_id"])
        nodes = {node["id"]: node.get("metadata") or {} for node in graph["nodes"]}
        assert nodes["intake"]["description"] and nodes["conclude"]["description"]
        assert context["planner_prompt"]["langgraph_type"] == "prompt"
        assert all(name in nodes for name in context["answerer"]["langgraph_nodes"])


@pytest.mark.parametrize("pattern", graphs.names())
async def test_each_pattern_runs_and_streams_its_events(client: Any, pattern: str) -> None:
    thread = await client.threads.create()
    events: list[str] = []
    task = {"task": "add 17 and 25, then multiply it by 3"}
    steps = [{"id": "s1", "tool": "calculator", "args": {"expression": "(17 + 25) * 3"}}]
    context = {"plan": {"goal": "a number", "steps": steps}} if pattern == "workflow" else None
    async for part in client.runs.stream(
        thread["thread_id"], pattern, input=task, context=context, stream_mode=["custom", "updates", "values"],
        durability="sync",
    ):  # fmt: skip
        assert part.event != "error", part.data
        if part.event == "custom":
            events.append(part.data["event"])
    state = await client.threads.get_state(thread["thread_id"])
    report = state["values"]["report"]
    if pattern in ("plan_and_solve", "reflection"):  # thinking in words takes a model
        assert report["stop"]["kind"] == "failure"
        return
    assert "126" in str(report["answer"]) and "126" in state["values"]["messages"][-1]["content"]
    assert "offline planner, no language model" in report["models"].values()
    first = "thought" if pattern in ("react", "combined") else "plan"
    assert {"request", first, "step_started", "step_done", "stop"} <= set(events)


async def test_a_write_waits_for_approval_and_runs_once_it_is_given(client: Any, tmp_path: Path) -> None:
    thread = (await client.threads.create())["thread_id"]
    context = {"root": str(tmp_path)}
    task = {"task": 'write "hello" to hello.txt'}
    await client.runs.wait(thread, "plan_and_execute", input=task, context=context, durability="sync")
    shown = await client.threads.get(thread)
    assert shown["status"] == "interrupted"
    state = await client.threads.get_state(thread)
    asked = [one for part in state["tasks"] for one in part["interrupts"]]
    assert [one["value"]["action_requests"][0]["name"] for one in asked] == ["write_file"]
    assert state["values"]["report"]["stop"]["reason"] == "needs_approval"
    assert not (tmp_path / "hello.txt").exists()
    answer = {asked[0]["id"]: {"decisions": [{"type": "approve"}]}}
    await client.runs.wait(thread, "plan_and_execute", command={"resume": answer}, context=context, durability="sync")
    state = await client.threads.get_state(thread)
    assert state["values"]["report"]["stop"]["reason"] == "done"
    assert (tmp_path / "hello.txt").read_text().strip() == "hello"


async def test_a_run_can_be_forked_from_an_earlier_checkpoint_with_another_decision(
    client: Any, tmp_path: Path
) -> None:
    thread = (await client.threads.create())["thread_id"]
    context = {"root": str(tmp_path)}
    task = {"task": 'write "hello" to hello.txt'}
    await client.runs.wait(thread, "one_shot", input=task, context=context, durability="sync")
    waiting = await client.threads.get_state(thread)
    asked = [one for part in waiting["tasks"] for one in part["interrupts"]]
    reject = {asked[0]["id"]: {"decisions": [{"type": "reject", "message": "not now"}]}}
    await client.runs.wait(thread, "one_shot", command={"resume": reject}, context=context, durability="sync")
    state = await client.threads.get_state(thread)
    assert (state["values"]["report"]["stop"]["reason"], (tmp_path / "hello.txt").exists()) == ("rejected", False)
    history = await client.threads.get_history(thread, limit=50)
    before = next(one for one in history if one["next"] == ["execute"] and not one["values"]["results"])
    await client.runs.wait(
        thread,
        "one_shot",
        input=None,
        checkpoint=before["checkpoint"],
        context=context | {"writes": "allow"},
        durability="sync",
    )
    again = await client.threads.get_state(thread)
    assert again["values"]["report"]["stop"]["reason"] == "needs_approval"  # what was frozen stays: writes still ask


async def test_a_running_task_can_be_cancelled(client: Any, tmp_path: Path) -> None:
    thread = (await client.threads.create())["thread_id"]
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()  # a mail server that never says a word
    listener.settimeout(20)
    smtp = f"smtp://127.0.0.1:{listener.getsockname()[1]}"
    task = {"task": 'mail "y" to a@example.org with the subject "x"'}
    context = {"root": str(tmp_path), "smtp": smtp, "writes": "allow"}
    run = await client.runs.create(thread, "one_shot", input=task, context=context, durability="sync")
    accepted, _ = await asyncio.to_thread(listener.accept)
    await client.runs.cancel(thread, run["run_id"], wait=True)
    assert (await client.runs.get(thread, run["run_id"]))["status"] == "interrupted"
    accepted.close()
    listener.close()


async def test_a_wrong_setting_or_an_empty_task_fails_with_one_line(client: Any) -> None:
    for given, context, said in (
        ({"task": " "}, {}, "the task is empty"),
        ({"task": "2 + 2"}, {"limits": {"steps": "many"}}, "limits.steps"),
        ({"task": "2 + 2"}, {"writes": "perhaps"}, "writes"),
    ):
        thread = (await client.threads.create())["thread_id"]
        result = await client.runs.wait(thread, "one_shot", input=given, context=context, raise_error=False)
        assert said in str(result), result
