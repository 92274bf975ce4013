import asyncio
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import graphs
from state.errors import InputError, ToolFailed
from tests.support.runs import plan, results, step
from tests.support.scripted_model import ScriptedModel
from tools import mcp_source, sources
from tools.catalogue import Catalogue, catalogue
from tools.settings import ToolSettings
from tools.tool import ToolEnv

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
SERVER = Path(__file__).parent / "support" / "mcp_server.py"
HOSTILE = SERVER.with_name("hostile_mcp.py")
OURS = f"test-{os.getpid()}"
TIME = f"mcp:{shlex.quote(sys.executable)} -m mcp_server_time --local-timezone UTC"


@pytest.fixture(autouse=True)
def nothing_loaded() -> None:
    sources.forget()


@pytest.fixture
def notes(tmp_path: Path) -> str:
    return f"mcp:{shlex.join([sys.executable, str(SERVER), str(tmp_path / 'notes.txt')])}"


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with served(SERVER, str(tmp_path / "notes.txt")) as address:
        yield address


@contextmanager
def served(*command: Any) -> Iterator[str]:
    """Starts a server over HTTP with a port as its last word."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, *command, str(port)])
    while process.poll() is None:  # the time-out of the test is the limit
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except ConnectionRefusedError:
            continue
    yield f"http://127.0.0.1:{port}/mcp"
    process.terminate()
    process.wait()


def hostile(mode: str) -> str:
    return f"mcp:{shlex.join([sys.executable, str(HOSTILE), mode, OURS])}"


def is_running(words: str) -> bool:
    """Whether a process has these words in its command; other tests may run servers beside this one."""
    return words in subprocess.run(["ps", "-eww", "-o", "args"], capture_output=True, text=True).stdout


async def loaded(*names: str, **settings: Any) -> Catalogue:
    found = ToolSettings(**settings)
    await sources.prepare(names, found)
    return catalogue(list(names), found)


async def test_a_server_that_nobody_here_wrote_tells_the_time() -> None:
    tools = await loaded(TIME)
    assert set(tools) == {"get_current_time", "convert_time"}
    answer = await tools["convert_time"].run(
        {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}, ToolEnv()
    )
    assert "21:00" in str(answer)
    with pytest.raises(ToolFailed, match=r"convert_time: .*nvalid"):
        await tools["convert_time"].run(
            {"source_timezone": "Nowhere/X", "time": "12:00", "target_timezone": "UTC"}, ToolEnv()
        )


async def test_hints_decide_what_is_a_read(notes: str) -> None:
    tools = await loaded(notes)
    assert [(tool.name, tool.effect, tool.tags) for tool in tools.values()] == [
        ("read_notes", "read", ()),
        ("add_note", "write", ()),
        ("calculator", "write", ("destructive",)),
    ]
    assert all(tool.untrusted for tool in tools.values())


@pytest.mark.parametrize("first", [True, False])
async def test_a_name_that_another_tool_has_gets_the_servers_name_before_it(notes: str, first: bool) -> None:
    tools = await loaded(*(("calculator", notes) if first else (notes, "calculator")))
    [own] = [name for name in tools if name.endswith("_calculator")]
    assert tools["calculator"].effect == "read" and tools[own].effect == "write"
    with pytest.raises(ToolFailed, match="no sums here: 1") as caught:
        await tools[own].run({"expression": "1"}, ToolEnv())
    assert not caught.value.nothing_happened


async def test_a_run_uses_the_tools_of_a_server_and_leaves_no_process(
    notes: str, scripted_model: ScriptedModel, home: Path, tmp_path: Path
) -> None:
    scripted_model.reply(plan(step("s1", "add_note", text="milk"), step("s2", "read_notes", more={"after": ["s1"]})))
    context = {"model": scripted_model, "tools": [notes], "writes": "allow"}
    report = (await graphs.load("one_shot").ainvoke({"task": "note milk"}, context=context))["report"]
    assert report["stop"]["reason"] == "done"
    assert results(report)["s2"]["output"] == {"result": ["milk"]}
    assert not is_running(str(tmp_path))


async def test_a_server_is_asked_over_http_where_its_host_is_allowed(url: str) -> None:
    host = url.split("/")[2]
    tools = await loaded(f"mcp:{url}", private_hosts=(host,))
    assert await tools["add_note"].run({"text": "milk"}, ToolEnv()) == {"result": "added milk"}
    assert await tools["read_notes"].run({}, ToolEnv()) == {"result": ["milk"]}
    with pytest.raises(InputError, match="private_hosts"):
        await loaded(f"mcp:{url}")


async def test_a_name_that_turns_private_after_the_check_gains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, tried = [], []

    def looked_up(host: str, *_: Any, **__: Any) -> Any:
        asked.append(host)
        address = "93.184.216.34" if len(asked) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80))]

    async def connect(self: Any, request: httpx.Request) -> Any:
        tried.append((request.url.host, request.headers["host"]))
        raise httpx.ConnectError("the test ends here")

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", connect)
    with pytest.raises(InputError, match="can't be used"):
        await loaded("mcp:http://rebind.test/mcp")
    assert (asked, tried) == (["rebind.test"], [("93.184.216.34", "rebind.test")])


@pytest.mark.parametrize(
    "command", ["no-such-program-here", f"{shlex.quote(sys.executable)} -c 'raise SystemExit(\"no luck\")'"]
)
async def test_a_server_that_does_not_start_is_the_callers_fault(command: str) -> None:
    with pytest.raises(InputError, match=r"can't be used: .*(No such file|no luck)"):
        await loaded(f"mcp:{command}")


async def test_servers_can_be_switched_off(notes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETHOUGHT_MCP", "off")
    with pytest.raises(InputError, match="switched off"):
        await loaded(notes)


@pytest.mark.parametrize("mode", ["silent in initialize", "silent in tools/list"])
async def test_a_server_that_does_not_answer_is_given_up(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_source, "_BEGINS", 0.5)
    with pytest.raises(InputError, match=r"did not answer within 0\.5 s; it said: nothing but trouble"):
        await loaded(hostile(mode))
    assert not is_running(OURS)


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("flood", "sent more than 10 MB"),
        ("endless", "its list of tools has no end after 50 pages"),
        ("many", "offers more than 1000 tools"),
        ("large", "'look' has a schema of 200,.* characters, at most 100,000 are taken"),
    ],
)
async def test_a_server_that_says_too_much_is_refused(mode: str, said: str) -> None:
    with pytest.raises(InputError, match=f"can't be used: .*{said}"):
        await loaded(hostile(mode))
    assert not is_running(OURS)


async def test_what_a_server_says_of_its_tools_is_cut_and_made_plain() -> None:
    tools = await loaded(hostile("names"))
    assert list(tools) == ["x_y_tools", "x_y", "x_y_2", "look-at", "tool"]
    assert {tool.description for tool in tools.values()} == {"a b" + "x" * 497}
    assert await tools["x_y_2"].run({}, ToolEnv()) == "zz"
    sources.forget()
    [look] = (await loaded(hostile("long"))).values()
    assert look.args_schema["properties"]["description"] == {
        "type": "string", "description": "y" * 300, "default": "z" * 1000
    }  # fmt: skip


async def test_a_call_that_is_answered_with_too_much_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = await loaded(hostile("huge"))
    with pytest.raises(ToolFailed, match="sent more than 10 MB"):
        await tools["look"].run({}, ToolEnv())


async def test_what_a_server_packs_over_http_is_counted_unpacked() -> None:
    with served(HOSTILE, "bomb") as url, pytest.raises(InputError, match="sent more than 10 MB"):
        await loaded(f"mcp:{url}", private_hosts=(url.split("/")[2],))


async def test_the_limit_of_time_holds_while_tools_are_loaded(scripted_model: ScriptedModel, home: Path) -> None:
    context = {"model": scripted_model, "tools": [hostile("silent in initialize")], "limits": {"seconds": 0.5}}
    began = time.monotonic()
    with pytest.raises(InputError, match=r"were not there within 0\.5 s, all that the limit seconds leaves"):
        await graphs.load("one_shot").ainvoke({"task": "look"}, context=context)
    assert time.monotonic() - began < 6 and not is_running(OURS)


def test_ctrl_c_ends_a_run_that_loads_tools(tmp_path: Path) -> None:
    run = [sys.executable, "-m", "graphs", "run", "look", "--set", f"tools={hostile('silent in initialize')}"]
    process = subprocess.Popen(run, env={**os.environ, "FORETHOUGHT_HOME": str(tmp_path), "LLM_MODEL_ID": "offline"})
    while not is_running(f"initialize {OURS}"):  # the server; the command that starts it has a quote there
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait(15) == 130
    assert not is_running(OURS)


async def test_a_source_is_loaded_once_for_a_run_and_on_a_resume_before_the_first_node(
    notes: str, scripted_model: ScriptedModel, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = []
    load = mcp_source.load

    async def counted(*args: Any) -> Any:
        loads.append(asyncio.current_task())
        return await load(*args)

    monkeypatch.setattr(mcp_source, "load", counted)
    monkeypatch.setattr(sources, "_now", None)
    scripted_model.reply(plan(step("s1", "add_note", text="milk")))
    context = {"model": scripted_model, "tools": [notes]}
    graph = import_module("graphs.one_shot").builder.compile(InMemorySaver(), context=context)
    config = {"configurable": {"thread_id": "t"}}
    await graph.ainvoke({"task": "note milk"}, config)
    sources.forget()
    [waits] = (await graph.aget_state(config)).interrupts
    report = (await graph.ainvoke(Command(resume={waits.id: {"type": "approve"}}), config))["report"]
    assert report["stop"]["reason"] == "done" and len(loads) == 2
