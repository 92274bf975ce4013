import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import graphs
from state.errors import InputError, ToolFailed
from tests.support.runs import plan, results, step
from tests.support.scripted_model import ScriptedModel
from tools import sources
from tools.catalogue import Catalogue, catalogue
from tools.settings import ToolSettings
from tools.tool import ToolEnv

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
SERVER = Path(__file__).parent / "support" / "mcp_server.py"
TIME = f"mcp:{shlex.quote(sys.executable)} -m mcp_server_time --local-timezone UTC"


@pytest.fixture(autouse=True)
def nothing_loaded() -> None:
    sources.forget()


@pytest.fixture
def notes(tmp_path: Path) -> str:
    return f"mcp:{shlex.join([sys.executable, str(SERVER), str(tmp_path / 'notes.txt')])}"


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(SERVER), str(tmp_path / "notes.txt"), str(port)])
    while process.poll() is None:  # the time-out of the test is the limit
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except ConnectionRefusedError:
            continue
    yield f"http://127.0.0.1:{port}/mcp"
    process.terminate()
    process.wait()


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


async def test_a_name_that_another_tool_has_gets_the_servers_name_before_it(notes: str) -> None:
    tools = await loaded("calculator", notes)
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
    assert str(SERVER) not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout


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
