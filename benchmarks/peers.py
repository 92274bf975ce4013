"""Peers as contestants: LangChain's agent, and a floor without any framework; the tutorials are in `tutorials.py`.

LangChain's packages come with the extra `benchmarks`.
"""

import asyncio
import itertools
import re
from collections.abc import Callable, Coroutine
from typing import Any

from benchmarks.workloads import Now

Run = Callable[[str], Coroutine[Any, Any, str]]
Found = dict[str, asyncio.Future[str]]
"""What each step gives, by number."""
NO_END = 10_000
"""Supersteps; no limit of the peers ends a job."""
CALL = re.compile(r'(\d+)\. work\((\d+), "([^"]*)"\)')
"""A line of a compiled plan."""


def tool_of(now: Now) -> Any:
    """The one tool, as LangChain takes it."""
    from langchain_core.tools import StructuredTool

    async def work(step: int, evidence: str) -> str:
        """Runs one step of the job."""
        return await now.work(step, evidence)

    return StructuredTool.from_function(coroutine=work, name="work")


def model_at(url: str) -> Any:
    """The model, as LangChain takes it."""
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model="scripted", base_url=url, api_key="x")


async def create_agent(url: str, now: Now, saver: Any = None) -> Run:
    """LangChain's own loop of tool calls (ReAct), as it comes."""
    from langchain.agents import create_agent as made

    told, threads = "Call the tool until the job is done.", itertools.count()
    agent: Any = made(model_at(url), [tool_of(now)], system_prompt=told, checkpointer=saver)

    async def run(task: str) -> str:
        config: Any = {"configurable": {"thread_id": str(next(threads))}, "recursion_limit": NO_END}
        out = await agent.ainvoke({"messages": [("user", task)]}, config)
        return str(out["messages"][-1].content)

    return run


async def floor(url: str, now: Now) -> Run:
    """No framework: a plan that streams over HTTP, steps as asyncio tasks by data flow, one call for the answer."""
    import httpx

    client = httpx.AsyncClient(timeout=60)

    async def run(task: str) -> str:
        return await _planned(client, url, task, lambda call, found: asyncio.ensure_future(_step(call, found, now)))

    return run


async def floor_langgraph(url: str, now: Now, saver: Any = None) -> Run:
    """The same in one node of a LangGraph graph, each step a task of LangGraph's, which a saver keeps when it ends."""
    import httpx
    from langgraph.func import task as as_task
    from langgraph.graph import START, StateGraph
    from typing_extensions import TypedDict

    class State(TypedDict, total=False):
        task: str
        answer: str

    client, threads = httpx.AsyncClient(timeout=60), itertools.count()

    @as_task
    async def step(call: re.Match[str], found: Found) -> str:
        return await _step(call, found, now)

    async def plan_and_act(state: State) -> State:
        return {"answer": await _planned(client, url, state["task"], step)}

    builder: Any = StateGraph(State)
    builder.add_node(plan_and_act)
    builder.add_edge(START, "plan_and_act")
    graph = builder.compile(checkpointer=saver)
    kept = {"durability": "sync"} if saver else {}

    async def run(task: str) -> str:
        config: Any = {"configurable": {"thread_id": str(next(threads))}}
        return str((await graph.ainvoke({"task": task}, config, **kept))["answer"])

    return run


async def _planned(client: Any, url: str, task: str, start: Callable[[re.Match[str], Found], Any]) -> str:
    """A plan as it comes, each step started at once, and the answer."""
    found: Found = {}
    async for call in _calls(client, url, f"Role: compiled_planner\n{task}"):
        found[call[1]] = start(call, found)
    told = "\n".join([await one for one in found.values()])
    said = await client.post(f"{url}/chat/completions", json=_body(f"Role: solver\n{task}\n{told}"))
    return str(said.json()["choices"][0]["message"]["content"])


async def _step(call: re.Match[str], found: Found, now: Now) -> str:
    evidence = " ".join([await found[name] for name in re.findall(r"\$(\d+)", call[3])])
    return await now.work(int(call[2]), evidence)


def _body(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "scripted", "messages": [{"role": "user", "content": text}], **more}


async def _calls(client: Any, url: str, prompt: str) -> Any:
    """The lines of a compiled plan as they come."""
    import json

    text = ""
    async with client.stream("POST", f"{url}/chat/completions", json=_body(prompt, stream=True)) as reply:
        async for line in reply.aiter_lines():
            if line.startswith("data: {") and (choices := json.loads(line[6:])["choices"]):
                *lines, text = (text + choices[0]["delta"].get("content", "")).split("\n")
                for call in filter(None, map(CALL.match, lines)):
                    yield call
