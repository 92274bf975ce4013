"""A thousand runs at once in one process: memory and CPU a run, throughput, and whether anything stays behind.

Run: `python -m benchmarks.thousand [RUNS] [ROUNDS]` (1,000 runs, 4 rounds). Every run asks a model over HTTP, looks six
things up side by side and writes once into a journal in a file; the model is a scripted server in a process of its own.
It ends with 1 if a run did not end as done, or if memory, open files, threads or tasks grow from round to round.
"""

import asyncio
import gc
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import graphs
from benchmarks.takeover_world import world
from tools.tool import read, write

MODEL_SECONDS = 1.0
"""How long the model takes in the mean."""
STEP_SECONDS = 0.2
GROWTH = {"megabytes": 0.03, "files": 0.0, "threads": 0.0, "tasks": 0.0, "objects": 0.01}
"""What the rounds after the second may add, as a share; the allocator gives memory back as it likes."""


@dataclass(frozen=True)
class Held:
    """What the process holds."""

    megabytes: float
    files: int
    threads: int
    tasks: int
    objects: int

    @classmethod
    def now(cls) -> "Held":
        """After what can be freed is freed."""
        for _ in range(3):
            gc.collect()
        return cls(megabytes(), len(os.listdir("/proc/self/fd")), threading.active_count(), len(asyncio.all_tasks()),
                   len(gc.get_objects()))  # fmt: skip


def megabytes() -> float:
    """The memory of this process that is its own (resident, without what files share)."""
    fields = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["RssAnon"].split()[0]) / 1024


async def look(run: str, name: str) -> str:
    """Looks one thing up."""
    await asyncio.sleep(STEP_SECONDS)
    return f"{run} {name}"


async def order(run: str) -> str:
    """Orders."""
    await asyncio.sleep(STEP_SECONDS)
    return run


async def once(graph: Any, run: str, context: dict[str, Any]) -> str:
    """One run; the reason of its end."""
    out = await graph.ainvoke({"task": run}, context=context)
    return str(out["report"]["stop"]["reason"])


async def all_at_once(graph: Any, runs: list[str], context: dict[str, Any]) -> tuple[list[str], float]:
    """All of them together; how they ended, and the most memory that was held on the way."""
    peak = 0.0
    ended = asyncio.gather(*(once(graph, run, context) for run in runs))
    while not ended.done():
        await asyncio.wait([ended], timeout=0.1)
        peak = max(peak, megabytes())
    return await ended, peak


async def main(count: int, rounds: int, url: str) -> bool:
    """The rounds, a line for each; whether nothing grew."""
    with tempfile.TemporaryDirectory() as home:
        context = {
            "model": "scripted", "base_url": f"{url}/v1", "home": home, "tools": [read(look), write(order)],
            "writes": "allow",
        }  # fmt: skip
        graph = graphs.load("one_shot")
        await once(graph, "run-0-0", context)  # what is loaded once
        held = [Held.now()]
        print(f"before: {held[0]}")
        for number in range(1, rounds + 1):
            await _round(graph, [f"run-{number}-{one}" for one in range(count)], context, held)
    return _steady(held)


async def _round(graph: Any, runs: list[str], context: dict[str, Any], held: list[Held]) -> None:
    cpu, wall = time.process_time(), time.perf_counter()
    ended, peak = await all_at_once(graph, runs, context)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    assert set(ended) == {"done"}, sorted(set(ended))
    each = (peak - held[0].megabytes) / len(runs) * 1024
    held.append(Held.now())
    print(
        f"{len(runs)} at once: {wall:.1f} s, {len(runs) / wall:.1f} runs/s, {cpu / len(runs) * 1000:.0f} ms CPU a run; "
        f"{peak:.0f} MB at the peak, {each:.0f} KB a run; after it {held[-1]}",
        flush=True,
    )


def _steady(held: list[Held]) -> bool:
    before, last = held[min(2, len(held) - 1)], held[-1]
    grown = [what for what, most in GROWTH.items() if getattr(last, what) > getattr(before, what) * (1 + most)]
    print("nothing grew after the second round" if not grown else f"GREW: {', '.join(grown)}")
    return not grown


@contextmanager
def model() -> Iterator[str]:
    """The address of a scripted model in a process of its own."""
    ours, theirs = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send("end")
        process.join(10)
        process.terminate()


def _serve(pipe: Connection) -> None:
    with world(MODEL_SECONDS) as made:
        pipe.send(made.url)
        pipe.recv()


if __name__ == "__main__":
    runs, rounds = ([int(word) for word in sys.argv[1:]] + [1000, 4][len(sys.argv) - 1 :])[:2]
    with model() as address:
        sys.exit(not asyncio.run(main(runs, rounds, address)))
