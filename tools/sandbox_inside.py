"""What runs inside the sandbox: takes a job from standard input, runs each part in a child, writes one report.

Standard library only: it is handed to a bare interpreter as text. The children have neither the job nor the way to
the report. Leaves out: the walls, which are `tools/sandbox.py`'s, and code that
forges its own result: it can, as it can print anything.
"""

import json
import os
import resource
import select
import signal
import sys
import traceback
from contextlib import suppress
from tempfile import TemporaryFile
from typing import Any, BinaryIO

ENDED = ": the code ended before its test did"


def main() -> None:
    """Runs the code with each of the job's checks, or alone; the report has one entry for each."""
    job = json.load(sys.stdin)
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    outcomes = [part(job, check) for check in job["checks"] or [None]]
    json.dump(outcomes, report)
    report.flush()


def part(job: dict[str, Any], check: str | None) -> dict[str, Any]:
    """One child: what it printed, the value of `result`, its error, and how it ended."""
    with TemporaryFile() as out, TemporaryFile() as err, TemporaryFile() as value:
        child = os.fork()
        if child == 0:
            inside(job, check, out, err, value)
        status = waited(child, job["seconds"])
        found = outcome(content(value, job["most"]), job["most"])
        ended = {"late": status is None, "code": None if status is None else os.waitstatus_to_exitcode(status)}
        return {**found, **ended, "out": content(out, job["most"]), "err": content(err, job["most"])}


def outcome(given: str, most: int) -> dict[str, Any]:
    """What a child says came of it; the code may have got in the way, so only what has its form is taken."""
    try:
        found = json.loads(given) if given else {}
    except (ValueError, RecursionError):
        return {"error": f"its result has more than {most} bytes, or the code broke its report"}
    kinds = {"ran": bool, "checked": bool, "error": str}
    if not isinstance(found, dict) or any(type(found.get(name, kind())) is not kind for name, kind in kinds.items()):
        return {"error": "the code broke the report of its result"}
    return found


def waited(child: int, seconds: float) -> int | None:
    """The status of a child, or None if it was killed for taking too long."""
    handle = os.pidfd_open(child)
    try:
        ready, _, _ = select.select([handle], [], [], seconds)
    finally:
        os.close(handle)
    if not ready:
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    with suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)  # what the code started and left
    return status if ready else None


def content(file: BinaryIO, most: int) -> str:
    """The beginning of what was written to a file."""
    file.seek(0)
    return file.read(most).decode("utf-8", "replace")


def inside(job: dict[str, Any], check: str | None, out: BinaryIO, err: BinaryIO, value: BinaryIO) -> None:
    """The child: limits that can't be lifted again, then the code; never returns."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    kept = os.dup(value.fileno())
    os.closerange(3, kept)
    os.closerange(kept + 1, 256)
    if job["user"]:
        os.setgroups([])
        os.setresgid(*[job["user"]] * 3)
        os.setresuid(*[job["user"]] * 3)
    for name, most in job["limits"].items():
        resource.setrlimit(
            getattr(resource, name), (most, most + (name == "RLIMIT_CPU"))
        )  # a signal first, then the end
    me = os.getpid()
    done = execute(job, check)
    if os.getpid() != me:  # a child of the code that came back here
        os._exit(0)
    sys.stdout.flush()
    sys.stderr.flush()
    os.write(kept, done.encode())
    os._exit(0)


def execute(job: dict[str, Any], check: str | None) -> str:
    """Runs the code and its check in one namespace; what came of it, as JSON."""
    names: dict[str, Any] = {"__name__": "__main__" if check is None else "code", "inputs": job["inputs"]}
    done: dict[str, Any] = {"ran": False, "checked": False, "result": None, "error": ""}
    try:
        exec(compile(job["code"], "code.py", "exec"), names)
        done["ran"] = True
        if check is not None:
            exec(compile(check, "check.py", "exec"), names)
            done["checked"] = True
        return packed(done, names.get("result"))
    except SystemExit as error:
        quiet = error.code in (None, 0) and check is None
        done["error"] = "" if quiet else f"SystemExit: {error.code}{ENDED * (check is not None)}"
    except BaseException as error:
        place = next((e for e in reversed(traceback.extract_tb(error.__traceback__)) if e.filename == "code.py"), None)
        text = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
        line = error.lineno if isinstance(error, SyntaxError) else place.lineno if place else None
        done["error"] = text + (f" (line {line})" if line else "")
    return json.dumps(done)


def packed(done: dict[str, Any], result: Any) -> str:
    """With the result, if it is a value that JSON can hold."""
    try:
        return json.dumps(done | {"result": result}, allow_nan=False)
    except (TypeError, ValueError) as error:
        return json.dumps(done | {"error": f"result can't be given on as JSON: {error}"})


if __name__ == "__main__":
    main()
