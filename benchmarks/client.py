"""One contestant in a process of its own: runs jobs against the server and prints what each took, as JSON lines.

Run: `python -m benchmarks.client NAME PORT JOB ROUNDS [JOB ROUNDS ...]`; the first run is not counted. The name is that
of a function in `peers.py`, "tutorial NAME" for one in `tutorials.py`, or "ours PATTERN"; `+sqlite`, `+memory` keep it.
"""

import asyncio
import json
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
import urllib.request
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

from benchmarks.workloads import JOBS, Job, Now


async def contestant(name: str, url: str, now: Now, folder: str, stack: AsyncExitStack) -> Any:
    """What runs a task; imports only what it needs."""
    saver = await _saver(name, folder, stack)
    if name.startswith("ours "):
        from benchmarks import ours

        return await ours.build(name.removeprefix("ours "), url, now, folder, saver)
    from benchmarks import peers, tutorials

    where: Any = tutorials if name.startswith("tutorial ") else peers
    more = {"saver": saver} if saver else {}
    return await getattr(where, name.removeprefix("tutorial ").partition("+")[0])(url, now, **more)


async def _saver(name: str, folder: str, stack: AsyncExitStack) -> Any:
    if "+memory" in name:
        from langgraph.checkpoint.memory import InMemorySaver

        return InMemorySaver()
    if "+sqlite" in name:
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        return await stack.enter_async_context(AsyncSqliteSaver.from_conn_string(f"{folder}/runs.db"))
    return None


def asked(port: str, path: str) -> Any:
    """What the server says to its counts."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as reply:
        return json.load(reply)


def memory() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def kept(folder: str) -> int:
    """Bytes of the runs that were kept, without what SQLite has not yet put in its place."""
    file = Path(folder, "runs.db")
    if not file.exists():
        return 0
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return file.stat().st_size


async def measured(run: Any, now: Now, job: Job, port: str) -> dict[str, Any]:
    """One run of a job."""
    now.job, now.first = job, 0.0
    asked(port, f"/begin/{job.model}")
    cpu, wall = time.process_time(), time.perf_counter()
    answer = await run(job.task)
    took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "first": now.first - wall}
    return {**took, "right": answer == job.answer, "said": answer[-60:], **asked(port, "/counts")}


async def main(name: str, port: str, *jobs: str) -> None:
    """Every job so many times; prints the median of its times."""
    now = Now(JOBS["W1"])
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        run = await contestant(name, f"http://127.0.0.1:{port}/v1", now, folder, stack)
        imported = memory()
        await measured(run, now, JOBS["W1"], port)
        for job, rounds in zip(jobs[::2], map(int, jobs[1::2]), strict=True):
            before = kept(folder)
            rows = [await measured(run, now, JOBS[job], port) for _ in range(rounds)]
            medians = {key: statistics.median(row[key] for row in rows) for key in ("wall", "cpu", "first")}
            more = {"right": all(row["right"] for row in rows), "memory": memory() - imported}
            more |= {"bytes": (kept(folder) - before) / rounds}
            print(json.dumps({"name": name, "job": job, **rows[0], **medians, **more}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
