"""Our own patterns as contestants, and where their runs are kept.

Options follow the name: `+sqlite` or `+memory` keeps the run, `+step` looks after each, `+wait` waits for the plan.
"""

import itertools
import os
from typing import Any

from benchmarks.workloads import Job, Now, given_in

_threads = itertools.count()
_MOST = 1000
"""Above every limit that a job could reach."""


async def build(name: str, url: str, now: Now, folder: str, saver: Any) -> Any:
    """The pattern, asked by task."""
    import graphs
    import nodes.wire.endpoint  # noqa: F401 # else the first request would count as memory that a run takes
    from tools.tool import read

    pattern, *options = name.split("+")
    os.environ.update(LLM_BASE_URL=url, LLM_API_KEY="x", LLM_MODEL_ID="scripted")

    async def work(step: int, evidence: str) -> str:
        """Runs one step of the job."""
        return await now.work(step, evidence)

    settings = {
        "tools": [read(work)], "home": folder, "stream_plan": "wait" not in options, "concurrency": 16,
        "limits": {"steps": _MOST, "iterations": _MOST, "same_call": _MOST},
        "check_after": "step" if "step" in options else "plan",
    }  # fmt: skip
    graph = graphs.load(pattern, context=settings, checkpointer=saver)

    async def run(task: str) -> str:
        config: Any = {"configurable": {"thread_id": str(next(_threads))}, "recursion_limit": 10_000}
        report = (await graph.ainvoke({"task": task}, config))["report"]
        return _by_code(report["answer"], now.job) if report["answered_by"] == "code" else report["answer"]

    return run


def _by_code(answer: str, job: Job) -> str:
    """What code gives are the last results themselves; their sum is the answer."""
    return job.answer_from(given_in(answer)) or answer
