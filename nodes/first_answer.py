"""One asking has one answer: of several who answer at the same time, that of whoever came first holds for all."""

import asyncio
from contextlib import suppress
from typing import Any

from langgraph.runtime import Runtime

from nodes.answers import Answer
from nodes.run import Run
from state.errors import SetupError


async def first_answer(run: Run, runtime: Runtime[Any], answer: Answer) -> Answer:
    """The answer that holds. What is asked again, also in a fork, is another asking, known by its task."""
    asked = runtime.execution_info
    if run.replay or asked is None or not run.request["settings"].get("journal"):
        return answer
    with suppress(SetupError):  # then no write is made either
        name = f"answer {asked.thread_id} {asked.checkpoint_ns} {asked.task_id}"
        first: Answer = await asyncio.to_thread(run.journal.first, name, answer)
        if {**first, "mark": ""} != {**answer, "mark": ""}:
            run.event("answered_before", reason=f"{answer['type']} came after {first['type']}, which stands")
        return first
    return answer
