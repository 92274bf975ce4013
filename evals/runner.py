"""Runs tasks and dialogues through a pattern, several at once, and records what came of each."""

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from typing_extensions import TypedDict

from evals.tasks import Dialogue, Task
from graphs import load
from nodes.unused import MUST, may_use
from state.context import Context, make_context
from state.report import Report
from state.stop import StopReason

if TYPE_CHECKING:
    from graphs._bridge import Pattern

PLENTY: Mapping[str, Any] = {
    "limits": {"steps": 200, "same_call": 200, "iterations": 200, "replans": 200, "failures": 200, "attempts": 200},
    "concurrency": 200, "output_cap": 1_000_000, "writes": "allow",
}  # fmt: skip
"""Settings under which no gold plan meets a limit or asks a person."""


class Record(TypedDict):
    """What came of one task; `problems` says what was wrong, `steps` how many had a result to build on."""

    task: str
    pattern: str
    success: bool
    problems: list[str]
    stop: str
    model_calls: int
    tool_calls: int
    steps: int
    report: Report


async def run_tasks(
    tasks: Sequence[Task], pattern: str, *, at_once: int = 8, settings: Mapping[str, Any] | None = None
) -> list[Record]:
    """The records of all tasks, in their order; `settings` are those of the context, above all the model."""
    slots = asyncio.Semaphore(at_once)
    with tempfile.TemporaryDirectory(prefix="forethought-") as home:
        chosen = {**PLENTY, "home": home, **(settings or {})}

        async def one(task: Task) -> Record:
            async with slots:
                return await run_task(task, load(pattern), pattern, chosen)

        return await asyncio.gather(*[one(task) for task in tasks])


async def run_dialogues(
    dialogues: Sequence[Dialogue], pattern: str, *, at_once: int = 8, settings: Mapping[str, Any] | None = None
) -> list[Record]:
    """The records of all turns, dialogue by dialogue; the turns of one follow one another on a thread of its own."""
    slots = asyncio.Semaphore(at_once)
    graph = load(pattern, checkpointer=InMemorySaver())
    with tempfile.TemporaryDirectory(prefix="forethought-") as home:
        chosen = {**PLENTY, "home": home, **(settings or {})}

        async def one(dialogue: Dialogue) -> list[Record]:
            thread: RunnableConfig = {"configurable": {"thread_id": dialogue.id}}
            async with slots:
                return [await run_task(task, graph, pattern, chosen, thread) for task in dialogue.begin()]

        return [one for records in await asyncio.gather(*map(one, dialogues)) for one in records]


async def run_task(
    task: Task, graph: "Pattern", pattern: str, settings: Mapping[str, Any], config: RunnableConfig | None = None
) -> Record:
    """One task through one pattern."""
    state = await graph.ainvoke({"task": task.text, **task.given}, config, context=_context(task, pattern, settings))
    return record(task, pattern, state["report"])


def _context(task: Task, pattern: str, settings: Mapping[str, Any]) -> Context:
    """The settings with what belongs to the task; a workflow is handed the gold plan, as it plans nothing itself."""
    steps = [step.model_dump(exclude_defaults=True) for step in task.gold]
    more = {"plan": {"goal": task.id, "steps": steps}} if pattern == "workflow" else {}
    own = {name: value for name, value in task.settings.items() if name not in MUST or may_use(name, pattern)}
    return make_context(**{**settings, "tools": list(task.tools), **own, **more})


def record(task: Task, pattern: str, report: Report) -> Record:
    """What a report says, and whether it was right."""
    problems = task.wrong(report)
    unchecked = task.judge is not None and report["stop"]["reason"] == StopReason.UNVERIFIED  # here it is verified
    if report["stop"]["kind"] != "success" and not unchecked:
        problems.insert(0, f"stopped: {report['stop']['reason']}: {report['stop']['message']}")
    return {
        "task": task.id, "pattern": pattern, "success": not problems, "problems": problems,
        "stop": report["stop"]["reason"], "model_calls": report["usage"]["model_calls"],
        "tool_calls": report["usage"]["tool_calls"],
        "steps": sum(one["status"] == "done" for one in report["results"]), "report": report,
    }  # fmt: skip
