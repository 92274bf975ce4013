"""P12: one input and one report, whichever way a pattern is called, wherever it runs, whatever keeps its threads."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from graphs import load, names
from graphs._bridge import Pattern
from state.report import Report
from tests.support.model_server import ModelServer
from tests.support.runs import PATTERNS, THREAD, after_planning, grade, plan, results, step
from tests.support.script import Reply
from tools.tool import read

TASK = {"task": "How much is (2 + 3) * 4?"}
CONTEXT = {"tools": ["calculator"]}
KEYS = set(Report.__annotations__)


def script(pattern: str) -> list[Reply]:
    steps = [step("E1", "calculator", expression="2 + 3"), step("E2", "calculator", expression="${steps.E1} * 4")]
    return [plan(*steps), *after_planning(pattern, "20")]


def comparable(report: Report) -> dict[str, Any]:
    """A report without what differs from run to run: ids and times."""
    found = {key: value for key, value in report.items() if key not in ("request", "usage")}
    found["results"] = [{k: v for k, v in one.items() if k not in ("started", "ended")} for one in report["results"]]
    found["usage"] = {key: value for key, value in report["usage"].items() if key not in ("seconds", "largest")}
    return found


class Parent(TypedDict, total=False):
    task: str
    report: Report
    said: str


def as_node(pattern: Pattern) -> Any:
    """Somebody's sync graph with the pattern between two plain nodes."""
    parent: StateGraph[Any, Any, Any, Any] = StateGraph(Parent)
    parent.add_node("before", lambda state: {"task": f"{state['task']}"})
    parent.add_node("ours", pattern)
    parent.add_node("after", lambda state: {"said": state["report"]["answer"]})
    parent.add_edge(START, "before")
    parent.add_edge("before", "ours")
    parent.add_edge("ours", "after")
    parent.add_edge("after", END)
    return parent.compile()


def by_stream(graph: Pattern) -> Report:
    *_, last = graph.stream(TASK, stream_mode="values")
    report: Report = last["report"]
    return report


async def by_astream(graph: Pattern) -> Report:
    last: dict[str, Any] = {}
    async for part in graph.astream(TASK, stream_mode="values"):
        last = part
    report: Report = last["report"]
    return report


SYNC: dict[str, Callable[[Pattern], Report]] = {
    "invoke": lambda graph: graph.invoke(TASK)["report"],
    "stream": by_stream,
    "batch": lambda graph: graph.batch([TASK])[0]["report"],
    "in a sync parent": lambda graph: as_node(graph).invoke(TASK)["report"],
}


def test_there_are_four_patterns_and_the_tests_know_them_all() -> None:
    assert set(PATTERNS) <= set(names())


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_script_gets_the_same_report_from_invoke_stream_batch_and_a_sync_parent(
    pattern: str, model_server: ModelServer
) -> None:
    model_server.reply(*script(pattern) * len(SYNC))
    reports = [way(load(pattern, context=CONTEXT)) for way in SYNC.values()]
    assert set(reports[0]) == KEYS
    assert all(comparable(report) == comparable(reports[0]) for report in reports)
    assert reports[0]["answer"] == "20" and reports[0]["stop"]["reason"] == "done"


@pytest.mark.parametrize("pattern", PATTERNS)
async def test_a_running_loop_gets_the_same_report_from_async_and_sync_calls(
    pattern: str, model_server: ModelServer
) -> None:
    model_server.reply(*script(pattern) * (len(SYNC) + 4))
    graph = load(pattern, context=CONTEXT)
    reports = [
        (await graph.ainvoke(TASK))["report"], await by_astream(graph), (await graph.abatch([TASK]))[0]["report"],
        (await as_node(graph).ainvoke(TASK))["report"], *[way(graph) for way in SYNC.values()],
    ]  # fmt: skip
    assert set(reports[0]) == KEYS
    assert all(comparable(report) == comparable(reports[0]) for report in reports)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_asyncio_run_may_be_called_again_and_again(pattern: str, model_server: ModelServer) -> None:
    model_server.reply(*script(pattern) * 2)
    graph = load(pattern, context=CONTEXT)
    reports = [asyncio.run(graph.ainvoke(TASK))["report"] for _ in range(2)]
    assert comparable(reports[0]) == comparable(reports[1])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_batch_keeps_the_order_of_its_tasks(pattern: str, model_server: ModelServer) -> None:
    def planned(body: dict[str, Any]) -> Any:
        number = body["messages"][1]["content"].split("number ")[1][0]
        return {"steps": [step("E1", "calculator", expression=number)]}

    def said(body: dict[str, Any]) -> str:
        return "it is " + body["messages"][1]["content"].split("number ")[1][0]

    for _ in range(3):
        model_server.reply(Reply(planned, schema="plan"))
        if pattern != "one_shot":
            model_server.reply(Reply(said, when="Role: answerer"))
        if pattern == "self_reflection":
            model_server.reply(grade())
    done = load(pattern, context=CONTEXT).batch([{"task": f"Say number {n}."} for n in (1, 2, 3)])
    assert [results(one["report"])["E1"]["output"] for one in done] == [1, 2, 3]
    assert ["123"[n] in one["report"]["answer"] for n, one in enumerate(done)] == [True] * 3


@pytest.fixture(params=["memory", "sqlite", "async sqlite"])
async def saver(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    path = str(tmp_path / "threads.db")
    if request.param == "memory":
        yield InMemorySaver()
    elif request.param == "sqlite":
        connection = sqlite3.connect(path, check_same_thread=False)
        yield SqliteSaver(connection)
        connection.close()
    else:
        async with AsyncSqliteSaver.from_conn_string(path) as found:
            yield found


@pytest.mark.parametrize("pattern", PATTERNS)
async def test_each_saver_keeps_the_report_with_the_thread_and_a_second_task_starts_afresh(
    pattern: str, saver: BaseCheckpointSaver[Any], model_server: ModelServer
) -> None:
    model_server.reply(*script(pattern) * 2)
    graph = load(pattern, context=CONTEXT, checkpointer=saver)
    first = (await graph.ainvoke(TASK, THREAD))["report"]
    assert (await graph.aget_state(THREAD)).values["report"] == first
    second = (await graph.ainvoke(TASK, THREAD))["report"]
    assert first["usage"]["model_calls"] == second["usage"]["model_calls"]
    told = {"usage": None}  # a follow-up's prompts name the earlier request
    assert comparable(first) | told == comparable(second) | told and first["request"] != second["request"]
    assert set(second) == KEYS


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_report_can_be_written_as_json_and_read_back(pattern: str, model_server: ModelServer) -> None:
    model_server.reply(*script(pattern))
    report = load(pattern, context=CONTEXT).invoke(TASK)["report"]
    assert json.loads(json.dumps(report)) == report


@pytest.mark.parametrize("pattern", PATTERNS)
def test_inputs_and_constraints_reach_the_planner_and_the_steps(pattern: str, model_server: ModelServer) -> None:
    def price(net: float, rates: dict[str, float]) -> float:
        """Adds the tax."""
        return net * (1 + rates["vat"])

    model_server.reply(
        plan(step("E1", "price", net="${steps.inputs.net}", rates="${steps.inputs.rates}")),
        *after_planning(pattern, "120"),
    )
    given = {
        "task": "What is the price?", "constraints": ["in euro"], "inputs": {"net": 100, "rates": {"vat": 0.2}},
    }  # fmt: skip
    report = load(pattern, context={"tools": [read(price)]}).invoke(given)["report"]
    assert results(report)["E1"]["output"] == 120.0
    assert report["plans"][0]["constraints"] == ["in euro"]
    asked = model_server.requests[0]["messages"][1]["content"]
    assert "in euro" in asked and '"net": 100' in asked
