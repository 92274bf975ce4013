"""`forethought ui`: it starts server and page anywhere, ends with Ctrl-C and leaves nothing behind."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from graphs.cli import execute
from tests.support.dev_server import dev_server, free_port, newcomer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_the_page_from_any_folder_until_it_is_stopped(tmp_path: Path, ending: signal.Signals) -> None:
    (tmp_path / "state").mkdir()  # a stranger's package of the same name, which must not stand in for ours
    (tmp_path / "state" / "__init__.py").write_text("raise RuntimeError('a stranger')", encoding="utf-8")
    port = free_port()
    command = [sys.executable, "-P", "-m", "graphs.cli", "ui", "--no-browser", "--port", str(port)]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=newcomer(tmp_path / "home"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    with process.stdout:
        first = process.stdout.readline()
        assert first == f"plan page: http://127.0.0.1:{port}/page/\n", first + process.stdout.read()
        found = httpx.get(f"http://127.0.0.1:{port}/page/", timeout=20)
        assert "default-src 'none'" in found.headers["content-security-policy"]
        assert httpx.get(f"http://127.0.0.1:{port}/page/data/runs", timeout=20).json() == []
        refused = httpx.post(f"http://127.0.0.1:{port}/threads", json={}, headers={"origin": "https://evil.example"})
        assert (refused.status_code, "FORETHOUGHT_ORIGINS" in refused.text) == (403, True)
        studio = {"origin": "https://smith.langchain.com", "access-control-request-method": "POST"}
        asked = httpx.options(f"http://127.0.0.1:{port}/threads", headers=studio)
        assert asked.status_code == 200 and asked.headers["access-control-allow-origin"] in ("*", studio["origin"])
        thread = httpx.post(f"http://127.0.0.1:{port}/threads", json={}, timeout=20).json()["thread_id"]
        run = {"assistant_id": "plan_and_execute", "input": {"task": "add 17 and 25"}}
        ended = httpx.post(f"http://127.0.0.1:{port}/threads/{thread}/runs/wait", json=run, timeout=60).json()
        assert "42" in ended["report"]["answer"], ended
        process.send_signal(ending)
        assert process.wait(30) == 0
    with socket.socket() as one:
        assert one.connect_ex(("127.0.0.1", port)) != 0, "the server goes on"


def test_a_port_in_use_is_one_line(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        port = one.getsockname()[1]
        assert execute(["ui", "--no-browser", "--port", str(port)]) == 2
    assert f"port {port} is in use" in capsys.readouterr().err


AUTH = """
from langgraph_sdk import Auth

auth = Auth()


@auth.authenticate
async def who(headers: dict) -> dict:
    if headers.get(b"authorization") != b"Bearer mine":
        raise Auth.exceptions.HTTPException(401, "who are you?")
    return {"identity": "me"}
"""


def test_where_the_server_has_a_log_in_the_page_shows_runs_only_to_who_has_it(tmp_path: Path) -> None:
    (tmp_path / "auth.py").write_text(AUTH, encoding="utf-8")
    with (
        dev_server(tmp_path, auth={"path": f"{tmp_path / 'auth.py'}:auth"}) as url,
        httpx.Client(base_url=url, timeout=20) as client,
    ):
        mine = {"authorization": "Bearer mine"}
        thread = client.post("/threads", json={}, headers=mine).json()["thread_id"]
        for path in ("/page/data/runs", f"/page/data/runs/{thread}/live", f"/page/data/runs/{thread}/report.html"):
            assert client.get(path).status_code == 401, path
        assert [run["thread"] for run in client.get("/page/data/runs", headers=mine).json()] == [thread]
