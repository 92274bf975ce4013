"""Traces and metrics as they arrive at a real OTLP/HTTP collector endpoint on loopback."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import graphs
from nodes import telemetry
from state.errors import InputError, ToolFailed
from tests.support.collector import Collector, attributes
from tests.support.plans import plan, replies_after_plan, step
from tests.support.script import Reply
from tests.support.scripted_model import ScriptedModel
from tools.tool import ToolEnv, read, write

SECRET = "the moon is made of cheese"


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """A collector that OTEL_EXPORTER_OTLP_ENDPOINT names."""
    running = Collector()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", running.url)
    telemetry.stop()
    yield running
    telemetry.stop()
    running.close()


def look(item: str) -> str:
    """Looks."""
    return f"{item}: {SECRET}"


def fails(item: str) -> str:
    """Fails."""
    raise ToolFailed(f"{SECRET} is not there", "not_found")


async def run(model: ScriptedModel, tools: list[Any], pattern: str = "one_shot", **context: Any) -> dict[str, Any]:
    settings = {"model": model, "tools": tools, "limits": {"retries": 0}, **context}
    out = await graphs.load(pattern).ainvoke({"task": f"find out whether {SECRET}"}, context=settings)
    telemetry.stop()
    return dict(out["report"])


async def test_a_run_is_a_tree_of_plan_versions_steps_and_calls(
    scripted_model: ScriptedModel, home: Path, collector: Collector
) -> None:
    scripted_model.reply(plan(step("s", "look", {"item": "x"})), *replies_after_plan("plan_and_execute"))
    await run(scripted_model, [read(look)], "plan_and_execute")
    calls = {"chat scripted": {}, "step s": {"execute_tool look": {}}}
    assert collector.tree() == {"invoke_agent plan_and_execute": {"plan 1": calls}}


async def test_each_version_of_the_plan_has_its_own_steps(
    scripted_model: ScriptedModel, home: Path, collector: Collector
) -> None:
    first, second = plan(step("f", "fails", {"item": "x"})), plan(step("s", "look", {"item": "x"}))
    scripted_model.reply(first, second, *replies_after_plan("plan_and_execute"))
    await run(scripted_model, [read(look), read(fails)], "plan_and_execute")
    [tree] = collector.tree().values()
    assert [name for name in tree["plan 1"] if name != "chat scripted"] == ["step f"]
    assert [name for name in tree["plan 2"] if name != "chat scripted"] == ["step s"]
    assert collector.named("step f").status.code == 2
    assert attributes(collector.named("execute_tool fails"))["error.type"] == "not_found"


async def test_the_trace_is_found_by_the_id_of_the_run_and_says_how_it_ended(
    scripted_model: ScriptedModel, home: Path, collector: Collector
) -> None:
    scripted_model.reply(Reply(plan(step("s", "look", {"item": "x"})), usage=(30, 7)))
    report = await run(scripted_model, [read(look)])
    assert {span.trace_id.hex() for span in collector.spans} == {report["request"]}
    root = collector.named("invoke_agent one_shot")
    said = attributes(root)
    assert (said["forethought.stop.reason"], said["forethought.usage.tokens"]) == ("done", 37)
    chat = attributes(collector.named("chat scripted"))
    assert (chat["gen_ai.usage.input_tokens"], chat["gen_ai.usage.output_tokens"]) == (30, 7)
    assert collector.resources[0]["service.name"] == "forethought"
    for span in collector.spans:
        assert root.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano


async def test_metrics_count_runs_steps_calls_and_tokens_by_what_became_of_them(
    scripted_model: ScriptedModel, home: Path, collector: Collector
) -> None:
    written = plan(step("s", "look", {"item": "x"}), step("f", "fails", {"item": "x"}))
    scripted_model.reply(Reply(written, usage=(30, 7)))
    await run(scripted_model, [read(look), read(fails)])
    runs = {"pattern": "one_shot", "reason": "steps_failed", "kind": "failure", "value": 1}
    assert collector.points("forethought.runs") == [runs]
    statuses = {point["status"]: point["value"] for point in collector.points("forethought.steps")}
    assert statuses == {"done": 1, "failed": 1}
    outcomes = {point["outcome"]: point["value"] for point in collector.points("forethought.tool.calls")}
    assert outcomes == {"done": 1, "not_found": 1}
    assert [point["outcome"] for point in collector.points("forethought.model.calls")] == ["done"]
    [failed] = collector.points("forethought.failures")
    assert (failed["class"], failed["decision"]) == ("not_found", "stop")
    tokens = {p["gen_ai.token.type"]: p["value"] for p in collector.points("gen_ai.client.token.usage")}
    assert tokens == {"input": 1, "output": 1}
    for name in ("run", "step", "tool", "model"):
        assert collector.points(f"forethought.{name}.duration")


async def test_the_health_of_a_tool_is_a_metric(
    scripted_model: ScriptedModel, home: Path, collector: Collector
) -> None:
    def down() -> str:
        """Is down."""
        raise ConnectionError("refused")

    scripted_model.reply(plan(step("d", "down")))
    await run(scripted_model, [read(down)], breaker=1)
    assert collector.points("forethought.tool.healthy") == [{"tool": "down", "value": 0}]


@pytest.mark.parametrize("allowed", [False, True])
async def test_content_is_sent_only_where_a_setting_allows_it(
    scripted_model: ScriptedModel, home: Path, collector: Collector, allowed: bool
) -> None:
    written = plan(step("s", "look", {"item": SECRET}), step("f", "fails", {"item": SECRET}))
    scripted_model.reply(written, *replies_after_plan("plan_and_execute", SECRET))
    await run(
        scripted_model, [read(look), read(fails)], "plan_and_execute", telemetry_content=allowed,
        limits={"replans": 0, "retries": 0},
    )  # fmt: skip
    assert (SECRET.encode() in collector.raw) is allowed


async def test_a_model_that_a_tool_asks_is_called_within_that_tool(
    scripted_model: ScriptedModel, home: Path, collector: Collector
) -> None:
    async def reads(env: ToolEnv) -> str:
        """Reads by a model."""
        assert env.ask is not None
        return await env.ask("read", "text")

    scripted_model.reply(plan(step("r", "reads")), "read")
    await run(scripted_model, [read(reads)])
    inner = [span for span in collector.spans if span.parent_span_id == collector.named("execute_tool reads").span_id]
    assert [attributes(span)["forethought.role"] for span in inner] == ["executor"]


async def test_a_run_that_waited_for_a_person_stays_one_trace(
    scripted_model: ScriptedModel, home: Path, collector: Collector
) -> None:
    thread: Any = {"configurable": {"thread_id": "t"}}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    settings = {"model": scripted_model, "tools": [write(look)]}
    scripted_model.reply(plan(step("s", "look", {"item": "x"})))
    out = await graph.ainvoke({"task": "do it"}, thread, context=settings)
    telemetry.stop()  # as another process would
    answer = {one.id: {"decisions": [{"type": "approve"}]} for one in out["__interrupt__"]}
    await graph.ainvoke(Command(resume=answer), thread, context=settings)
    telemetry.stop()
    calls = {"chat scripted": {}, "step s": {"execute_tool look": {}}}
    assert collector.tree() == {"invoke_agent one_shot": {"plan 1": calls}}


async def test_a_run_without_a_plan_keeps_the_calls_of_its_planner(
    scripted_model: ScriptedModel, home: Path, collector: Collector
) -> None:
    scripted_model.reply(*[plan(step("s", "nothing"))] * 3)
    await run(scripted_model, [read(look)])
    [tree] = collector.tree().values()
    assert list(tree) == ["plan 1"] and collector.named("plan 1").status.code == 2


async def test_nothing_is_set_up_or_sent_unless_it_is_asked_for(
    scripted_model: ScriptedModel, home: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted_model.reply(*[plan(step("s", "look", {"item": "x"}))] * 3)
    await run(scripted_model, [read(look)], telemetry=False)
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    await run(scripted_model, [read(look)])
    monkeypatch.delenv("OTEL_SDK_DISABLED")
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT")
    await run(scripted_model, [read(look)])
    assert (collector.raw, telemetry._signals.cache_info().currsize) == (b"", 0)


def test_a_run_without_telemetry_imports_nothing_for_it() -> None:
    code = (
        "import sys, graphs; graphs.load('one_shot', context={'model': 'offline', 'tools': ['calculator']})"
        ".invoke({'task': 'what is 1 + 1'}); "
        "print([name for name in sys.modules if name.startswith(('nodes.telemetry_out', 'opentelemetry.exporter'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50, check=False)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr


async def test_telemetry_without_its_packages_is_refused_in_one_line(
    scripted_model: ScriptedModel, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nodes.telemetry_out", None)
    telemetry.stop()
    with pytest.raises(InputError, match="needs the extra otel"):
        await run(scripted_model, [read(look)], telemetry=True)


async def test_only_one_signal_is_sent_where_the_other_is_set_to_none(
    scripted_model: ScriptedModel, home: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_on")
    scripted_model.reply(plan(step("s", "look", {"item": "x"})))
    await run(scripted_model, [read(look)])
    assert collector.spans and not collector.metrics


async def test_a_sampler_takes_or_leaves_a_run_as_a_whole(
    scripted_model: ScriptedModel, home: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.5")
    kept: dict[str, int] = {}
    for _ in range(12):
        scripted_model.reply(plan(step("s", "look", {"item": "x"})))
        report = await run(scripted_model, [read(look)])
        kept[report["request"]] = sum(span.trace_id.hex() == report["request"] for span in collector.spans)
    assert set(kept.values()) <= {0, 5}


async def test_a_wrong_variable_is_named_in_one_line(
    scripted_model: ScriptedModel, home: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "-1")
    with pytest.raises(InputError, match="check the variables OTEL_"):
        await run(scripted_model, [read(look)])


@pytest.mark.slow
def test_the_command_sends_what_it_has_before_it_ends(home: Path, collector: Collector) -> None:
    command = [sys.executable, "-m", "graphs.cli", "run", "what is 17 * 23", "--model", "offline"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stderr
    [tree] = collector.tree().values()
    assert "step s1" in tree["plan 1"]
    assert [point["reason"] for point in collector.points("forethought.runs")] == ["done"]


async def test_a_collector_that_is_down_holds_up_no_run(
    scripted_model: ScriptedModel, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    scripted_model.reply(plan(step("s", "look", {"item": "x"})))
    report = await run(scripted_model, [read(look)])
    assert report["stop"]["reason"] == "done"
