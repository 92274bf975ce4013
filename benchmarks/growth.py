"""How a run grows with its steps: checkpoint bytes, CPU and wall time a step, with one checkpoint after every step.

Run: `python -m benchmarks.growth [STEPS ...]`. A chain of steps with 200-byte results, `check_after="step"`, SQLite.
Measured, never asserted.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

import graphs
from tools.tool import read


async def note(text: str) -> str:
    """Gives 200 characters."""
    return (text + "." * 200)[:200]


class Planner(BaseChatModel):
    """Says a chain of steps."""

    steps: int

    @property
    def _llm_type(self) -> str:
        return "benchmark"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Takes any tools."""
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        steps = [
            {"id": f"s{n}", "tool": "note", "args": {"text": f"${{steps.s{n - 1}}}" if n else "0"}}
            for n in range(self.steps)
        ]
        call = {"name": "plan", "args": {"goal": "", "steps": steps}, "id": "1"}
        return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=[call]))])


async def measured(steps: int, check_after: str) -> tuple[float, float, float]:
    """Bytes, CPU ms and wall ms a step."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
            graph = graphs.load("one_shot", checkpointer=saver)
            limits = {"steps": steps, "iterations": steps + 1, "same_call": steps + 1}
            context = {
                "model": Planner(steps=steps), "tools": [read(note)], "home": folder, "limits": limits,
                "check_after": check_after,
            }  # fmt: skip
            cpu, wall = time.process_time(), time.perf_counter()
            config: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 10 * steps + 100}
            out = await graph.ainvoke({"task": "note"}, config, context=context)
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            assert out["report"]["stop"]["reason"] == "done", out["report"]["stop"]
        size = sum(file.stat().st_size for file in Path(folder).glob("runs.db*"))
    return size / steps, cpu / steps * 1000, wall / steps * 1000


async def main(sizes: list[int]) -> None:
    """One line for each number of steps and each way to look."""
    for check_after in ("plan", "step"):
        for steps in sizes:
            size, cpu, wall = await measured(steps, check_after)
            told = f"{size:9,.0f} bytes, {cpu:6.2f} ms CPU, {wall:6.2f} ms wall a step"
            print(f"look after each {check_after:5} {steps:5} steps: {told}")


if __name__ == "__main__":
    asyncio.run(main([int(size) for size in sys.argv[1:]] or [100, 300, 1000]))
