"""How well uneven steps overlap: our data flow against waves of LangGraph's `Send`, side by side in one run.

Run: `python -m benchmarks.overlap [ROUNDS]`. Prints wall time over the longest chain; 1.00 is as fast as can be.
Measured, never asserted: a shared machine swings.
"""

import asyncio
import operator
import statistics
import sys
import tempfile
import time
from typing import Annotated, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

import graphs
from tools.tool import read

DAG: dict[str, tuple[float, list[str]]] = {
    "a": (0.1, []), "b": (0.4, []), "c": (0.1, ["a"]), "d": (0.3, ["c"]), "e": (0.1, ["b"]), "f": (0.2, ["d", "e"]),
    "g": (0.05, ["a"]), "h": (0.25, ["g"]), "i": (0.1, ["f", "h"]),
}  # fmt: skip
"""Step -> (seconds, steps it waits for)."""


def longest() -> float:
    """Seconds of the longest chain."""
    ends: dict[str, float] = {}
    for name, (seconds, needs) in DAG.items():
        ends[name] = seconds + max((ends[need] for need in needs), default=0.0)
    return max(ends.values())


async def work(name: str, seconds: float) -> str:
    """Takes its time."""
    await asyncio.sleep(seconds)
    return name


class Planner(BaseChatModel):
    """Says the one plan."""

    @property
    def _llm_type(self) -> str:
        return "benchmark"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Takes any tools."""
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        steps = [
            {"id": name, "tool": "work", "args": {"name": name, "seconds": seconds}, "after": needs}
            for name, (seconds, needs) in DAG.items()
        ]
        call = {"name": "plan", "args": {"goal": "", "steps": steps}, "id": "1"}
        return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=[call]))])


async def ours() -> float:
    """Seconds of one run through `one_shot`."""
    graph = graphs.load("one_shot")
    context = {"model": Planner(), "tools": [read(work)], "home": tempfile.gettempdir(), "concurrency": 16}
    began = time.perf_counter()
    out = await graph.ainvoke({"task": "work"}, context=context)
    took = time.perf_counter() - began
    assert out["report"]["stop"]["reason"] == "done", out["report"]["stop"]
    return took


class Waves(TypedDict):
    """Names of finished steps."""

    done: Annotated[list[str], operator.add]


def waves() -> Any:
    """The same steps as supersteps: every step whose needs are there is sent at once, then all are waited for."""

    async def run(state: Any) -> dict[str, list[str]]:
        return {"done": [await work(state["name"], DAG[state["name"]][0])]}

    def onward(state: Waves) -> Any:
        done = set(state["done"])
        ready = [name for name, (_, needs) in DAG.items() if name not in done and set(needs) <= done]
        return [Send("run", {"name": name}) for name in ready] or END

    builder = StateGraph(Waves)
    builder.add_node("look", lambda state: {})
    builder.add_node("run", run)
    builder.add_edge(START, "look")
    builder.add_conditional_edges("look", onward, ["run", END])
    builder.add_edge("run", "look")
    return builder.compile()


async def theirs(graph: Any) -> float:
    """Seconds of one run through waves."""
    began = time.perf_counter()
    await graph.ainvoke({"done": []})
    return time.perf_counter() - began


async def main(rounds: int) -> None:
    """Interleaved rounds, medians, ratios."""
    graph, bound = waves(), longest()
    await ours()
    times: dict[str, list[float]] = {"data flow": [], "waves of Send": []}
    for _ in range(rounds):
        times["data flow"].append(await ours())
        times["waves of Send"].append(await theirs(graph))
    print(f"longest chain {bound:.2f} s, {len(DAG)} steps, {rounds} interleaved rounds, medians")
    for name, taken in times.items():
        print(
            f"{name:14} {statistics.median(taken):.3f} s   wall / longest chain {statistics.median(taken) / bound:.2f}"
        )


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
