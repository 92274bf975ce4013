"""PostgreSQL, Redis and Aegra servers on one machine, from Debian's packages and `make aegra`; all ends with the block.

Leaves out: containers, which `deploy/` has, and Redis or PostgreSQL of more than one machine.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.support.dev_server import free_port
from tests.support.postgres import Postgres, running

ROOT = Path(__file__).parent.parent
PROGRAM = ROOT / ".venv-aegra" / "bin" / "aegra"
STAMP = ROOT / ".venv-aegra" / "stamp"
SETTINGS = ROOT / "deploy" / "settings.env"
_READY = 90.0
"""Seconds that a server may take to answer; the first one also makes its tables."""


@dataclass
class Server:
    """One Aegra server: `aegra serve` and the uvicorn that it starts, as one process group."""

    port: int
    log: Path
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def program(self) -> int:
        """The process that works: Aegra names it in its claims."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0])

    def kill(self) -> None:
        """Ends both processes as a power failure would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """Ends it, by force if it takes long."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@dataclass
class Stack:
    """What two servers share, and the servers that were started on it."""

    folder: Path
    database: str
    redis: str
    environment: dict[str, str]
    servers: list[Server] = field(default_factory=list)

    def start(self, config: Path, **settings: str) -> Server:
        """Starts one more server and waits until it answers."""
        port = free_port()
        log = self.folder / f"server-{len(self.servers)}.log"
        names = {**shared_settings(), **self.environment, **settings, "HOST": "127.0.0.1", "PORT": str(port)}
        with log.open("wb") as said:
            process = subprocess.Popen(
                [PROGRAM, "serve", "--config", config, "--host", "127.0.0.1", "--port", str(port)],
                cwd=self.folder, env=clean() | names, stdout=said, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        server = Server(port, log, process)
        self.servers.append(server)
        wait_until_ready(server)
        return server


@contextmanager
def stack(**environment: str) -> Iterator[Stack]:
    """A new database and a new Redis, without a server yet."""
    if not is_made():
        raise SystemExit("Aegra is not installed for this project as it is now: `make aegra` does it (docs/scale.md)")
    folder = Path(tempfile.mkdtemp(prefix="forethought-aegra-"))
    try:
        with running() as postgres, redis(folder) as address:
            yield from _with_servers(postgres, folder, address, environment)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_made() -> bool:
    """Whether `make aegra` was run since the dependencies changed."""
    needs = (ROOT / "pyproject.toml", ROOT / "deploy" / "constraints.txt")
    return STAMP.exists() and all(file.stat().st_mtime <= STAMP.stat().st_mtime for file in needs)


def _with_servers(postgres: Postgres, folder: Path, address: str, more: dict[str, str]) -> Iterator[Stack]:
    database = postgres.new_database()
    environment = {
        "DATABASE_URL": database,
        "REDIS_URL": address,
        "FORETHOUGHT_DATABASE": database,
        "FORETHOUGHT_HOME": str(folder / "home"),
        **more,
    }
    made = Stack(folder, database, address, environment)
    try:
        yield made
    finally:
        for server in made.servers:
            server.stop()


@contextmanager
def redis(folder: Path) -> Iterator[str]:
    """The address of a Redis that keeps nothing."""
    program = shutil.which("redis-server")
    if program is None:
        raise SystemExit("Redis is not installed: there is no redis-server on PATH (Debian package redis-server)")
    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder)]
    process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(10)


def shared_settings() -> dict[str, str]:
    """The settings that are deployed, without those that name a place."""
    lines = [line for line in SETTINGS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def clean() -> dict[str, str]:
    """This environment without what would name another model, database or tracing service."""
    others = (
        "LLM_",
        "OPENAI_",
        "LANGSMITH_",
        "LANGCHAIN_",
        "FORETHOUGHT_",
        "DATABASE_",
        "POSTGRES_",
        "REDIS_",
        "OTEL_",
    )
    return {name: value for name, value in os.environ.items() if not name.startswith(others)}


def wait_until_ready(server: Server) -> None:
    """Waits for its first answer; a server that ends before shows what it said."""
    until = time.monotonic() + _READY
    while time.monotonic() < until and server.process.poll() is None:
        with suppress(httpx.HTTPError):
            if httpx.get(f"{server.url}/health", timeout=2, trust_env=False).status_code == 200:
                return
        time.sleep(0.2)
    raise SystemExit(f"the server does not answer:\n{server.log.read_text(errors='replace')[-4000:]}")
