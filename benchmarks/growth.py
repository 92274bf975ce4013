"""How a run grows with its steps: checkpoint bytes, CPU and wall time a step, and the characters of its prompts.

Run: `python -m benchmarks.growth [STEPS ...]`. A chain of steps with 200-byte results on SQLite, looked at once or
after each step with a checkpoint for it; half of it planned anew after a failure. Time is measured, never asserted.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

import graphs
from state.errors import ToolFailed
from tools.tool import read


async def note(text: str) -> str:
    """Gives 200 characters."""
    return (text + "." * 200)[:200]


async def broken() -> str:
    """Fails."""
    raise ToolFailed("it is broken", "permanent")


class Planner(BaseChatModel):
    """Says the first half of a chain and a step that fails, then the other half, then an answer."""

    steps: int
    prompts: list[int]

    @property
    def _llm_type(self) -> str:
        return "benchmark"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Takes any tools."""
        return self.bind(tools=tools)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        self.prompts.append(sum(len(str(message.content)) for message in messages))
        half = self.steps // 2
        if "tools" not in kwargs:
            return _said(AIMessage("done"))
        if len(self.prompts) == 1:
            return _said(_plan([*chain(0, half), {"id": "x", "tool": "broken", "args": {}}]))
        return _said(_plan(list(chain(half, self.steps))))


def chain(begin: int, end: int) -> Iterator[dict[str, Any]]:
    """Steps that each take the result before."""
    for n in range(begin, end):
        yield {"id": f"s{n}", "tool": "note", "args": {"text": f"${{steps.s{n - 1}}}" if n else "0"}}


def _plan(steps: list[dict[str, Any]]) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "plan", "args": {"goal": "", "steps": steps}, "id": "1"}])


def _said(message: AIMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])


@dataclass
class Growth:
    """One run: bytes in the file, seconds, and the characters of each prompt (plan, replan, answer)."""

    steps: int
    size: int = 0
    cpu: float = 0.0
    wall: float = 0.0
    prompts: list[int] = field(default_factory=list)


async def measured(steps: int, check_after: str) -> Growth:
    """Runs plan-and-execute over that many steps."""
    growth, model = Growth(steps), Planner(steps=steps, prompts=[])
    limits = {"steps": steps + 1, "iterations": steps + 3, "same_call": steps + 1}
    with tempfile.TemporaryDirectory() as folder:
        context = {
            "model": model, "tools": [read(note), read(broken)], "home": folder, "limits": limits,
            "check_after": check_after,
        }  # fmt: skip
        async with AsyncSqliteSaver.from_conn_string(f"{folder}/runs.db") as saver:
            graph = graphs.load("plan_and_execute", checkpointer=saver)
            cpu, wall = time.process_time(), time.perf_counter()
            config: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 10 * steps + 100}
            out = await graph.ainvoke({"task": "note"}, config, context=context)
            growth.cpu, growth.wall = time.process_time() - cpu, time.perf_counter() - wall
            assert out["report"]["stop"]["reason"] == "done", out["report"]["stop"]
        growth.size = sum(file.stat().st_size for file in Path(folder).glob("runs.db*"))
    growth.prompts = model.prompts
    return growth


async def main(sizes: list[int]) -> None:
    """One line for each number of steps and each way to look."""
    for check_after in ("plan", "step"):
        for steps in sizes:
            run = await measured(steps, check_after)
            each = f"{run.size / steps:7,.0f} bytes, {run.cpu / steps * 1000:5.2f} ms CPU, "
            each += f"{run.wall / steps * 1000:5.2f} ms wall a step"
            plan, replan, answer = run.prompts
            print(f"look after each {check_after:4} {steps:5} steps: {each}; prompts {plan:,} {replan:,} {answer:,}")


if __name__ == "__main__":
    asyncio.run(main([int(size) for size in sys.argv[1:]] or [100, 300, 1000]))
