"""`forethought ui`: LangGraph's development server on loopback as a child process, and a browser on its plan page."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx

from state.context import Context
from state.errors import InputError, SetupError
from state.extras import extra
from state.json_text import from_json

HOST, USUAL = "127.0.0.1", 2024
PATIENCE, GRACE = 90.0, 15.0
"""Seconds until the server must answer; seconds that it gets to store its threads at the end."""
_NEEDED = ("langgraph_cli", "langgraph_api", "fastapi")
_QUIET = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGGRAPH_NO_VERSION_CHECK": "true", "LANGSMITH_TRACING": "false"}
"""Nothing is sent anywhere unless the environment says so."""
_AT_ONCE = "10"


def serve(port: int | None, *, browser: bool, log_here: bool) -> int:
    """Serves until Ctrl-C or SIGTERM; raises `SetupError` where it can't be started."""
    home = Path(Context().home_folder()).absolute()
    command, log = _command(port := _port(port), home), home / "ui.log"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with log.open("wb") as file:
        out: Any = None if log_here else file
        process = subprocess.Popen(command, env=_QUIET | os.environ, stdout=out, stderr=subprocess.STDOUT)
        try:
            _wait(process, port, log)
            _say(f"http://{HOST}:{port}/page/", log, browser)
            return process.wait()
        except KeyboardInterrupt:
            return 0
        finally:
            _stop(process)


def _command(port: int, home: Path) -> list[str]:
    """Runs in the folder where it was called, whose `.env` it reads; packages in that folder don't come before ours."""
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise SetupError(f"the plan page needs {extra('ui')}: there is no {missing[0]}")
    options = ["--no-browser", "--no-reload", "--host", HOST, "--n-jobs-per-worker", _AT_ONCE]
    config = str(config_for_anywhere(home))
    return [sys.executable, "-P", "-m", "langgraph_cli", "dev", "--config", config, "--port", str(port), *options]


def config_for_anywhere(folder: Path) -> Path:
    """Writes `langgraph.json` with whole paths of its graphs, for a server that runs in another folder."""
    root = Path(__file__).parent.parent
    try:
        config = from_json((root / "langgraph.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise SetupError(f"the plan page runs from a clone of the repository: {error}") from error
    for entry in config["graphs"].values():
        entry["path"] = str(root / entry["path"])
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / "ui.json"
    written.write_text(json.dumps(config), encoding="utf-8")
    return written


def _port(wanted: int | None) -> int:
    if _is_free(wanted or USUAL):
        return wanted or USUAL
    if wanted:
        raise InputError(f"port {wanted} is in use; another --port would be right, or none for one that is free")
    with socket.socket() as one:
        one.bind((HOST, 0))
        return int(one.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return one.connect_ex((HOST, port)) != 0


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        try:
            if httpx.get(f"http://{HOST}:{port}/ok", timeout=2, trust_env=False).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.2)
    how = "did not answer in time" if process.poll() is None else "ended"
    last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    raise SetupError(f"the server {how}: {''.join(last)[-500:]} (its log: {log})")


def _say(url: str, log: Path, browser: bool) -> None:
    print(f"plan page: {url}\nlog: {log}\nCtrl-C stops it", flush=True)
    # without a desktop a text browser would take over the terminal
    desktop = sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if browser and desktop:
        webbrowser.open(url)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """The terminal has sent Ctrl-C to both; a server that doesn't end by itself is ended."""
    try:
        process.terminate()
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
