"""Our own patterns as contestants: `NAME`, with `+memory` or `+sqlite` (a saver), `+step` (a look after each), `+wait`."""

import asyncio
import itertools
import os
import tempfile
from typing import Any

from benchmarks.workloads import Job

_threads = itertools.count()
_MOST = 1000
"""Above every limit that a job could reach."""


async def build(name: str, url: str, current: list[Job]) -> Any:
    """The pattern, asked by task; `current` holds the job that runs."""
    import graphs
    from tools.tool import read

    pattern, *options = name.split("+")
    os.environ.update(LLM_BASE_URL=url, LLM_API_KEY="x", LLM_MODEL_ID="scripted")

    async def work(step: int, evidence: str) -> str:
        """Runs one step of the job."""
        if seconds := current[0].seconds(step):
            await asyncio.sleep(seconds)
        return current[0].result(step, evidence)

    folder = tempfile.mkdtemp()
    settings = {
        "tools": [read(work)], "home": folder, "stream_plan": "wait" not in options, "concurrency": 16,
        "limits": {"steps": _MOST, "iterations": _MOST, "same_call": _MOST},
        "check_after": "step" if "step" in options else "plan",
    }  # fmt: skip
    graph = graphs.load(pattern, context=settings, checkpointer=await _saver(options, folder))

    async def run(task: str) -> str:
        config: Any = {"configurable": {"thread_id": str(next(_threads))}, "recursion_limit": 10_000}
        report = (await graph.ainvoke({"task": task}, config))["report"]
        return _last_value(str(report["answer"]), current[0]) if report["answered_by"] == "code" else report["answer"]

    return run


def _last_value(answer: str, job: Job) -> str:
    """What `one_shot` gives are the last results themselves; their sum is the answer."""
    from benchmarks.workloads import given_in

    return job.answer_from(given_in(answer)) or answer


async def _saver(options: list[str], folder: str) -> Any:
    if "memory" in options:
        from langgraph.checkpoint.memory import InMemorySaver

        return InMemorySaver()
    if "sqlite" in options:
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        return await AsyncSqliteSaver.from_conn_string(f"{folder}/runs.db").__aenter__()
    return None
