"""Runs that are kept no longer: those that a person deletes, and beginnings that were refused."""

import asyncio

from langgraph.graph import END, START

from graphs import load
from graphs._leg import Job
from graphs._options import settings_of
from graphs._saved import Home, alone, check_any, home_of, saver, started_with
from graphs._words import visible


def delete_runs(threads: list[str], more: list[str]) -> None:
    """Deletes kept runs with their recordings; what the journal knows of their writes stays."""
    home = home_of(settings_of(more=more))
    for thread in threads:
        check_any(home, thread)
        with alone(home, thread):
            asyncio.run(_delete(home, thread))
        print(f"deleted {visible(thread)}")


async def _delete(home: Home, thread: str) -> None:
    async with saver(home) as found:
        await started_with(found, thread, home)
        await found.adelete_thread(thread)
    await asyncio.to_thread(home.recording(thread).unlink, missing_ok=True)


def drop_refused(job: Job) -> None:
    """Takes back the beginning of a request that was refused, so that no run is left that could never go on.

    A thread with earlier requests stands where they left it.
    """
    if job.home:
        asyncio.run(_drop(job, job.home))


async def _drop(job: Job, home: Home) -> None:
    async with saver(home) as found:
        graph = load(job.pattern, checkpointer=found)
        stands = await graph.aget_state(job.config)
        if not {"intake", START} & set(stands.next):
            return
        if stands.values.get("request"):
            await graph.aupdate_state(job.config, None, as_node=END)  # clears what waits
        else:
            await found.adelete_thread(job.thread)
