"""LangGraph's development server with our patterns and page, started as a newcomer would: no key, nothing else set."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from graphs._serving import config_for_anywhere


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def newcomer(home: Path) -> dict[str, str]:
    """The environment of one who has set nothing, with a home folder of its own."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith(("LLM_", "OPENAI_", "LANGSMITH_"))}
    quiet = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGSMITH_TRACING": "false"}
    return {**mine, **quiet, "FORETHOUGHT_HOME": str(home)}


@contextmanager
def dev_server(folder: Path, *options: str, strangers: bool = False, **more: Any) -> Iterator[str]:
    """The address of a running server, whose threads lie in the folder; its log must name no blocking call.

    `more` goes into its `langgraph.json`; with `strangers` it also serves a graph that is none of ours.

    FORETHOUGHT_SERVER names another server of the same protocol, which runs already (docs/scale.md).
    """
    if running := os.environ.get("FORETHOUGHT_SERVER"):
        yield running
        return
    port, config = free_port(), config_for_anywhere(folder)
    told = json.loads(config.read_text(encoding="utf-8")) | more
    if strangers:
        told["graphs"]["stranger"] = f"{Path(__file__).parent / 'stranger.py'}:graph"
    config.write_text(json.dumps(told), encoding="utf-8")
    program = [Path(sys.executable).parent / "langgraph", "dev", "--config", config]
    command = [*program, "--no-browser", "--no-reload", "--port", str(port)]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [*command, *options], cwd=folder, env=newcomer(folder / "home"), stdout=log, stderr=subprocess.STDOUT
        )
        url = f"http://127.0.0.1:{port}"
        try:
            wait_for(url, process, folder / "log")
            yield url
        finally:
            process.terminate()
            process.wait(20)
    text = (folder / "log").read_text()
    assert "BlockingError" not in text, text[text.index("BlockingError") - 2000 :]


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Waits until the server answers; fails with the end of its log if it ends before."""
    for _ in range(240):
        assert process.poll() is None, log.read_text()[-4000:]
        try:
            if httpx.get(f"{url}/ok", timeout=1).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.25)
    raise AssertionError(log.read_text()[-4000:])
