"""Many runs at once in one process: they share an endpoint and a journal fairly, and leave nothing behind."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

import graphs
from nodes.wire import endpoint
from tests.support.model_server import ModelServer
from tests.support.script import Reply
from tools import journal_file
from tools.journal_file import FileStorage
from tools.tool import read, write

ROOT = Path(__file__).parent.parent


async def look(name: str) -> str:
    """Looks."""
    await asyncio.sleep(0)
    return name


async def order(name: str) -> str:
    """Orders."""
    return name


STEPS = [
    {"id": "a", "tool": "look", "args": {"name": "x"}},
    {"id": "b", "tool": "order", "args": {"name": "${steps.a}"}},
]


async def ended(server: ModelServer, home: Path, count: int, **settings: Any) -> list[Any]:
    """What came of that many runs at once."""
    context = {
        "model": "scripted", "base_url": server.url, "home": str(home), "tools": [read(look), write(order)],
        "writes": "allow", **settings,
    }  # fmt: skip
    graph = graphs.load("one_shot", context=context)
    return [out["report"] for out in await asyncio.gather(*(graph.ainvoke({"task": "go"}) for _ in range(count)))]


def plans(server: ModelServer, count: int, delay: float = 0.0) -> None:
    server.reply(*(Reply({"goal": "g", "steps": STEPS}, delay=delay) for _ in range(count)))


async def test_waiting_for_a_place_at_a_busy_endpoint_is_no_time_of_the_model(
    model_server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "PLACES", 2)
    plans(model_server, 10, delay=0.3)
    reports = await ended(model_server, tmp_path, 10, model_timeout=1.0, limits={"retries": 0})
    assert [one["stop"]["reason"] for one in reports] == ["done"] * 10  # in five turns of 0.3 seconds


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[httpx.AsyncClient]:
    """The clients that endpoints open in this test."""
    found: list[httpx.AsyncClient] = []
    once = endpoint.Endpoint._open

    def noted(self: endpoint.Endpoint) -> httpx.AsyncClient:
        found.append(once(self))
        return found[-1]

    monkeypatch.setattr(endpoint.Endpoint, "_open", noted)
    return found


async def test_runs_that_begin_together_share_one_client(
    model_server: ModelServer, tmp_path: Path, opened: list[httpx.AsyncClient]
) -> None:
    plans(model_server, 12)
    await ended(model_server, tmp_path, 12)
    assert [one.is_closed for one in opened] == [False]


def test_the_connections_of_an_event_loop_are_closed_when_it_ends(
    model_server: ModelServer, tmp_path: Path, opened: list[httpx.AsyncClient]
) -> None:
    plans(model_server, 3)
    for _ in range(3):
        asyncio.run(ended(model_server, tmp_path, 1))
    assert [one.is_closed for one in opened] == [True] * 3


async def test_waiting_for_a_place_ends_with_the_time_of_the_run(
    model_server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "PLACES", 1)
    plans(model_server, 1, delay=1.5)  # the other one is never asked for
    first = asyncio.create_task(ended(model_server, tmp_path, 1))
    await asyncio.sleep(0.3)
    assert (await ended(model_server, tmp_path, 1, limits={"seconds": 0.5}))[0]["stop"]["reason"] == "seconds"
    assert (await first)[0]["stop"]["reason"] == "done"


def test_threads_of_one_process_take_turns_at_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = FileStorage(str(tmp_path / "journal.db"))
    with storage.open():
        pass
    monkeypatch.setattr(journal_file, "_PATIENCE", 0.0)  # SQLite itself lets nobody wait
    begun, go_on = threading.Event(), threading.Event()

    def first() -> None:
        with storage.open():
            begun.set()
            go_on.wait(10)

    holder, kept_open = threading.Thread(target=first), sqlite3.connect(storage.place)
    holder.start()
    assert begun.wait(10)
    threading.Timer(0.2, go_on.set).start()
    with storage.open() as table:
        assert table.rows("SELECT count(*) FROM writes", ()) == [(0,)]
    holder.join()
    kept_open.close()


@pytest.mark.slow
def test_rounds_of_many_runs_leave_nothing_behind() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.thousand", "40", "4"], cwd=ROOT, capture_output=True, text=True, timeout=55
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert done.stdout.count("40 at once") == 4
