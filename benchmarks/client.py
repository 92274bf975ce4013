"""One contestant in a process of its own: runs jobs against the server and prints what each took, as JSON lines.

Run: `python -m benchmarks.client NAME PORT JOB ROUNDS [JOB ROUNDS ...]`; the first run is not counted.
"""

import asyncio
import json
import resource
import statistics
import sys
import time
import urllib.request
from typing import Any

from benchmarks.workloads import JOBS, Job


async def contestant(name: str, url: str, current: list[Job]) -> Any:
    """What runs a task; imports only what it needs."""
    if name.startswith("ours "):
        from benchmarks import ours

        return await ours.build(name.removeprefix("ours "), url, current)
    from benchmarks import peers, tutorials

    where: Any = tutorials if name.startswith("tutorial ") else peers
    return await getattr(where, name.removeprefix("tutorial "))(url, current)


def asked(port: str, path: str) -> Any:
    """What the server says to its counts."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as reply:
        return json.load(reply)


def memory() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def measured(run: Any, job: Job, port: str) -> dict[str, Any]:
    """One run of a job."""
    asked(port, f"/begin/{job.model}")
    cpu, wall = time.process_time(), time.perf_counter()
    answer = await run(job.task)
    took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    return {**took, "right": answer == job.answer, "said": answer[-60:], **asked(port, "/counts")}


async def main(name: str, port: str, *jobs: str) -> None:
    """Every job so many times; prints the median of its times."""
    current = [JOBS["W1"]]
    run = await contestant(name, f"http://127.0.0.1:{port}/v1", current)
    await measured(run, current[0], port)
    start = memory()
    for job, rounds in zip(jobs[::2], map(int, jobs[1::2]), strict=True):
        current[0] = JOBS[job]
        rows = [await measured(run, current[0], port) for _ in range(rounds)]
        medians = {key: statistics.median(row[key] for row in rows) for key in ("wall", "cpu")}
        right = all(row["right"] for row in rows)
        print(json.dumps({"name": name, "job": job, **rows[0], **medians, "right": right, "grown": memory() - start}))
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
