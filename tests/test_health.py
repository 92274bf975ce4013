"""A tool that fails in a row is taken out of the catalogue and comes back, shown with a real server that goes down."""

import asyncio
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

import graphs
from tests.support.plans import by_step, plan, replies_after_plan, step
from tests.support.script import Reply
from tests.support.scripted_model import ScriptedModel
from tools import health
from tools.catalogue import catalogue
from tools.settings import ToolSettings
from tools.tool import Tool, read, write

SOON = 0.15


class Service:
    """A real HTTP server that can be stopped and started again on its port."""

    def __init__(self) -> None:
        self.status, self.calls, self._server = 200, list[str](), None
        self.port = 0
        self.up()

    def up(self) -> None:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                service.calls.append(self.path)
                self.send_response(service.status)
                self.end_headers()
                self.wfile.write(b"fresh")

            def log_message(self, *args: Any) -> None:
                pass

        self._server: Any = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_port
        threading.Thread(target=partial(self._server.serve_forever, 0.01), daemon=True).start()

    def down(self) -> None:
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    async def get(self, path: str) -> str:
        async with httpx.AsyncClient(timeout=2) as client:
            reply = await client.get(f"http://127.0.0.1:{self.port}/{path}")
        reply.raise_for_status()
        return reply.text

    async def ask(self, item: str = "x") -> str:
        """Asks the service."""
        return await self.get(item)

    async def probe(self) -> None:
        await self.get("health")


@pytest.fixture
def service() -> Iterator[Service]:
    running = Service()
    yield running
    running.down()


def asks(count: int) -> Any:
    """A plan that asks the service one time after the other."""
    after = [[f"s{n - 1}"] if n else [] for n in range(count)]
    return plan(*(step(f"s{n}", "ask", {"item": f"i{n}"}, after=after[n]) for n in range(count)))


def each_on_its_own(count: int) -> Any:
    """A plan of steps that don't wait for each other."""
    return plan(*(step(f"s{n}", "ask", {"item": f"i{n}"}) for n in range(count)))


async def run(model: ScriptedModel, tools: list[Any], pattern: str = "one_shot", **context: Any) -> dict[str, Any]:
    """The final state of a run with one step at a time, so that failures come in a row."""
    settings = {"model": model, "tools": tools, "concurrency": 1, "limits": {"retries": 0, "failures": 50}, **context}
    return dict(await graphs.load(pattern).ainvoke({"task": "do it"}, context=settings))


def seen(out: dict[str, Any], *names: str) -> list[str]:
    return [event["event"] for event in out["events"] if event["event"] in names]


async def test_a_service_that_is_down_is_asked_no_more_after_failures_in_a_row(
    scripted_model: ScriptedModel, home: Path, service: Service
) -> None:
    service.down()
    scripted_model.reply(each_on_its_own(6))
    out = await run(scripted_model, [read(service.ask)], breaker=3)
    failed = by_step(out["report"])
    assert [failed[f"s{n}"]["attempts"] for n in range(6)] == [1, 1, 1, 0, 0, 0]
    assert "taken out after 3 failures in a row" in failed["s4"]["failure"]["message"]
    assert failed["s4"]["failure"]["cls"] == "transient"
    [event] = [event for event in out["events"] if event["event"] == "tool_out"]
    assert event["evidence"] == ["ask", "transient", 3] and event["step"] == "s2"


async def test_the_planner_no_longer_sees_a_tool_that_is_out(
    scripted_model: ScriptedModel, home: Path, service: Service
) -> None:
    def other() -> str:
        """Another way."""
        return "found"

    service.down()
    scripted_model.reply(asks(1), plan(step("o", "other")), *replies_after_plan("plan_and_execute"))
    out = await run(scripted_model, [read(service.ask), read(other)], "plan_and_execute", breaker=1)
    first, second = (str(body["messages"]) for body in scripted_model.requests[:2])
    assert '"ask"' in first and '"name": "ask"' not in second
    assert out["report"]["stop"]["reason"] == "done"


async def test_a_planner_that_names_a_tool_that_is_out_is_told_so_and_for_how_long(
    scripted_model: ScriptedModel, home: Path, service: Service
) -> None:
    service.down()
    again = plan(step("again", "ask", {"item": "new"}))
    scripted_model.reply(asks(1), again, Reply({"steps": [], "impossible": "no other way"}), "the answer")
    report = (await run(scripted_model, [read(service.ask)], "plan_and_execute", breaker=1))["report"]
    asked = str(scripted_model.requests[2]["messages"])
    assert "ask is taken out after 1 failures in a row" in asked and "it is tried again in 30 s" in asked
    assert "there is no tool 'ask'" not in asked
    assert report["stop"]["message"].startswith("no other way; ask is taken out after 1 failures in a row")


async def test_the_probe_brings_a_tool_back_into_the_catalogue(
    scripted_model: ScriptedModel, home: Path, service: Service
) -> None:
    service.down()
    tools = [read(service.ask, probe=service.probe)]
    scripted_model.reply(asks(1), asks(1))
    await run(scripted_model, tools, breaker=1, breaker_seconds=SOON)
    service.up()
    await asyncio.sleep(SOON)
    out = await run(scripted_model, tools, breaker=1, breaker_seconds=SOON)
    assert seen(out, "tool_out", "tool_back") == ["tool_back"]
    assert service.calls == ["/health", "/i0"]
    assert by_step(out["report"])["s0"]["status"] == "done"


async def test_a_probe_that_fails_keeps_a_tool_out(scripted_model: ScriptedModel, home: Path, service: Service) -> None:
    def other() -> str:
        """Another way."""
        return "found"

    service.down()
    tools = [read(service.ask, probe=service.probe), read(other)]
    scripted_model.reply(asks(1), plan(step("o", "other")))
    await run(scripted_model, tools, breaker=1, breaker_seconds=SOON)
    await asyncio.sleep(SOON)
    out = await run(scripted_model, tools, breaker=1, breaker_seconds=SOON)
    [event] = [event for event in out["events"] if event["event"] == "tool_out"]
    assert event["reason"].startswith("transient: probe: ")
    assert '"name": "ask"' not in str(scripted_model.requests[1]["messages"])


async def test_without_a_probe_the_next_call_brings_a_tool_back(
    scripted_model: ScriptedModel, home: Path, service: Service
) -> None:
    service.down()
    tools = [read(service.ask)]
    scripted_model.reply(asks(1), each_on_its_own(5))
    await run(scripted_model, tools, breaker=1, breaker_seconds=SOON)
    service.up()
    await asyncio.sleep(SOON)
    out = await run(scripted_model, tools, breaker=1, breaker_seconds=SOON, concurrency=5)
    assert seen(out, "tool_out", "tool_back") == ["tool_back"]
    assert {result["status"] for result in out["report"]["results"]} == {"done"}


async def test_one_call_at_a_time_tries_a_tool_whose_rest_is_over(
    scripted_model: ScriptedModel, home: Path, service: Service
) -> None:
    tools = [read(service.ask)]
    service.status = 503
    scripted_model.reply(asks(1), each_on_its_own(5))
    await run(scripted_model, tools, breaker=1, breaker_seconds=SOON)
    await asyncio.sleep(SOON)
    out = await run(scripted_model, tools, breaker=1, breaker_seconds=30, concurrency=5)
    assert len(service.calls) == 2  # the failure before, and one trial for all five
    assert {result["status"] for result in out["report"]["results"]} == {"failed"}


@pytest.mark.parametrize("status", [404, 400, 418])
async def test_a_service_that_only_refuses_what_was_asked_is_never_taken_out(
    scripted_model: ScriptedModel, home: Path, service: Service, status: int
) -> None:
    service.status = status
    scripted_model.reply(each_on_its_own(5))
    out = await run(scripted_model, [read(service.ask)], breaker=2)
    assert (len(service.calls), seen(out, "tool_out")) == (5, [])


@pytest.mark.parametrize(("status", "cls"), [(503, "transient"), (429, "rate_limit"), (401, "auth"), (408, "timeout")])
async def test_each_class_that_means_a_service_is_not_well_counts(
    scripted_model: ScriptedModel, home: Path, service: Service, status: int, cls: str
) -> None:
    service.status = status
    scripted_model.reply(each_on_its_own(4))
    out = await run(scripted_model, [read(service.ask)], breaker=2)
    [event] = [event for event in out["events"] if event["event"] == "tool_out"]
    assert (len(service.calls), event["evidence"]) == (2, ["ask", cls, 2])


async def test_a_success_in_between_begins_the_count_anew(
    scripted_model: ScriptedModel, home: Path, service: Service
) -> None:
    answers = iter([503, 503, 200, 503, 503])

    async def ask(item: str) -> str:
        """Asks."""
        service.status = next(answers)
        return await service.get(item)

    scripted_model.reply(each_on_its_own(5))
    out = await run(scripted_model, [read(ask)], breaker=3)
    assert (len(service.calls), seen(out, "tool_out")) == (5, [])


async def test_a_breaker_of_zero_never_takes_a_tool_out(
    scripted_model: ScriptedModel, home: Path, service: Service
) -> None:
    service.status = 503
    scripted_model.reply(each_on_its_own(7))
    out = await run(scripted_model, [read(service.ask)], breaker=0)
    assert (len(service.calls), seen(out, "tool_out")) == (7, [])


async def test_tools_that_ask_another_host_each_time_are_never_taken_out(
    scripted_model: ScriptedModel, home: Path, service: Service
) -> None:
    service.status = 503
    scripted_model.reply(each_on_its_own(4))
    out = await run(scripted_model, [read(service.ask, one_service=False)], breaker=1)
    assert (len(service.calls), seen(out, "tool_out")) == (4, [])


async def test_no_person_is_asked_about_a_write_whose_tool_is_out(
    scripted_model: ScriptedModel, home: Path, service: Service
) -> None:
    tool = write(service.ask)

    def goes_down(body: Any) -> Any:
        health.saw_failure(tool, "timeout", "gone", 1, 30)
        return asks(1)

    scripted_model.reply(Reply(goes_down))
    out = await run(scripted_model, [tool])
    assert by_step(out["report"])["s0"]["status"] == "failed"
    assert "ask is taken out" in by_step(out["report"])["s0"]["failure"]["message"]


async def test_retries_end_where_a_tool_is_taken_out(
    scripted_model: ScriptedModel, home: Path, service: Service
) -> None:
    service.status = 503
    scripted_model.reply(asks(1))
    out = await run(scripted_model, [read(service.ask)], breaker=2, limits={"retries": 5})
    assert len(service.calls) == 2
    assert "503" in by_step(out["report"])["s0"]["failure"]["message"]


def test_a_tool_is_known_by_what_it_was_made_of(service: Service) -> None:
    health.saw_failure(read(service.ask), "timeout", "gone", 1, 30)
    assert health.health(read(service.ask)) == "out"
    assert health.health(read(Service.ask)) == "in"


async def test_another_tool_of_the_same_name_in_another_run_has_a_health_of_its_own(
    scripted_model: ScriptedModel, home: Path, service: Service
) -> None:
    def ask(item: str = "x") -> str:
        """Asks another service."""
        return "fine"

    service.down()
    scripted_model.reply(asks(1), asks(1))
    await run(scripted_model, [read(service.ask)], breaker=1)
    out = await run(scripted_model, [read(ask)], breaker=1)
    assert by_step(out["report"])["s0"]["output"] == "fine"


async def test_nothing_is_kept_about_tools_that_are_well(
    scripted_model: ScriptedModel, home: Path, service: Service
) -> None:
    scripted_model.reply(asks(2))
    await run(scripted_model, [read(service.ask)])
    assert health.breaker_of(read(service.ask)) is None


async def test_a_probe_may_say_in_words_what_is_wrong_or_hang() -> None:
    async def says() -> str:
        return "the index is being built"

    async def hangs() -> None:
        await asyncio.sleep(60)

    def work() -> str:
        """Works."""
        return ""

    assert await health.probe(read(work, probe=says)) == "the index is being built"
    assert await health.probe(read(work, probe=hangs, timeout=0.05)) == "it gave nothing within 0.05 s"
    assert await health.probe(read(work)) == ""


def test_the_catalogue_holds_probes_of_the_services_that_built_in_tools_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "x" * 20)
    tools = catalogue(None, ToolSettings(smtp="smtp://127.0.0.1:9"))
    assert sorted(tool.name for tool in tools.values() if tool.probe) == ["send_mail", "weather", "web_search"]
    assert isinstance(tools["weather"], Tool)
