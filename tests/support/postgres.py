"""A real PostgreSQL on loopback, from Debian's binaries, in a folder of its own that is gone at the end."""

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import psycopg
import pytest

ACCOUNT = "postgres"
"""Who runs the server where the tests run as root: it refuses to be root itself."""


@dataclass(frozen=True)
class Postgres:
    """A running server; every test takes a database of its own."""

    binaries: Path
    folder: Path
    port: int
    password: str

    def url(self, database: str = "postgres") -> str:
        """The address of one of its databases, with the password."""
        return f"postgresql://postgres:{self.password}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """The address of a new, empty database."""
        name = f"test_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return self.url(name)

    def start(self) -> None:
        """Starts it, as after `stop`, and waits until it takes connections."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
        _as_account(
            [
                self.binaries / "pg_ctl",
                "-D",
                self.folder / "data",
                "-w",
                "-l",
                self.folder / "log",
                "-o",
                options,
                "start",
            ]
        )

    def stop(self) -> None:
        """Stops it at once, as a crash would."""
        _as_account([self.binaries / "pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop"])


def binaries() -> Path | None:
    """Where the newest server that is installed has its programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


@contextmanager
def running() -> Iterator[Postgres]:
    """Makes a server and starts it; skips the test where none is installed, but fails it in CI."""
    where = binaries()
    if where is None:
        why = "PostgreSQL is not installed: there is no /usr/lib/postgresql/*/bin (Debian package postgresql)"
        pytest.fail(why) if os.environ.get("CI") else pytest.skip(why)
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    server = Postgres(where, folder, _free_port(), secrets.token_hex(8))
    try:
        _make(server)
        server.start()
        yield server
    finally:
        if (folder / "data" / "postmaster.pid").exists():
            server.stop()
        shutil.rmtree(folder)


def _make(server: Postgres) -> None:
    words = server.folder / "password"
    words.write_text(server.password)
    if os.geteuid() == 0:
        account = pwd.getpwnam(ACCOUNT)
        for path in (server.folder, words):
            os.chown(path, account.pw_uid, account.pw_gid)
    options = ["-U", "postgres", "-A", "scram-sha-256", "--pwfile", words, "-E", "UTF8", "--locale=C", "--no-sync"]
    _as_account([server.binaries / "initdb", "-D", server.folder / "data", *options])


def _as_account(command: list[Path | str]) -> None:
    before = ["runuser", "-u", ACCOUNT, "--"] if os.geteuid() == 0 else []
    with tempfile.TemporaryFile("w+") as said:  # not a pipe: the server would hold it open
        done = subprocess.run([*before, *command], cwd="/", stdout=said, stderr=said, timeout=60)
        said.seek(0)
        assert done.returncode == 0, said.read()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return cast(int, probe.getsockname()[1])
