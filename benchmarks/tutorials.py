"""The published tutorials of LangGraph as contestants, written anew in short and in our own words.

What each of them does is kept: how often a model is asked, what stands in its prompts, what runs beside what.
"""

import asyncio
import operator
import re
from typing import Annotated, Any

from typing_extensions import TypedDict

from benchmarks.peers import CALL, NO_END, Run, model_at, tool_of
from benchmarks.workloads import Now

_EVIDENCE = re.compile(r"Plan: (.+?) (#E\d+) = Work\[(\d+); ([^\]]*)\]")


class ListState(TypedDict, total=False):
    """What the graph of `plan_and_execute` carries."""

    task: str
    steps: list[str]
    past: Annotated[list[tuple[str, str]], operator.add]
    response: str


async def plan_and_execute(url: str, now: Now) -> Run:
    """A list of sentences, an agent for the first of them, then the list of what is left is written anew."""
    from langgraph.graph import END, START, StateGraph

    builder = StateGraph(ListState)
    for name, node in _list_nodes(url, now).items():
        builder.add_node(name, node)
    builder.add_edge(START, "plan")
    builder.add_edge("plan", "do")
    builder.add_edge("do", "again")
    builder.add_conditional_edges("again", lambda state: END if state.get("response") else "do", ["do", END])
    return _runner(builder.compile(), "response")


def _list_nodes(url: str, now: Now) -> dict[str, Any]:
    from langchain.agents import create_agent

    model, (task_list, next_act) = model_at(url), _list_forms()
    worker: Any = create_agent(model, [tool_of(now)], system_prompt="Do the step that you are given.")
    rules = "Make a short list of single steps for the task below, in order; each step names all that it needs."
    planner, replanner = model.with_structured_output(task_list), model.with_structured_output(next_act)

    async def plan(state: ListState) -> ListState:
        return {"steps": (await planner.ainvoke([("system", rules), ("user", state["task"])])).steps}

    async def do(state: ListState) -> ListState:
        listed = "\n".join(f"{place}. {one}" for place, one in enumerate(state["steps"], 1))
        asked = f"The plan is:\n{listed}\n\nYou are to do step 1: {state['steps'][0]}."
        out = await worker.ainvoke({"messages": [("user", asked)]})
        return {"past": [(state["steps"][0], out["messages"][-1].content)]}

    async def again(state: ListState) -> ListState:
        told = f"{rules}\n\nTask: {state['task']}\n\nPlan: {state['steps']}\n\nDone: {state['past']}\n\n"
        act = (await replanner.ainvoke(told + "List what is left, or answer if nothing is.")).action
        return {"steps": act.steps} if isinstance(act, task_list) else {"response": act.response}

    return {"plan": plan, "do": do, "again": again}


def _list_forms() -> tuple[Any, Any]:
    """What the model fills in: the list of steps; and the answer, or else the list of what is left."""
    from pydantic import BaseModel

    class TaskList(BaseModel):
        """What is left to do, in order."""

        steps: list[str]

    class Answer(BaseModel):
        """What the user gets."""

        response: str

    class NextAct(BaseModel):
        """The answer if all is done, else what is left to do."""

        action: Answer | TaskList

    return TaskList, NextAct


def _runner(graph: Any, answer: str) -> Run:
    async def run(task: str) -> str:
        return str((await graph.ainvoke({"task": task}, {"recursion_limit": NO_END}))[answer])

    return run


async def rewoo(url: str, now: Now) -> Run:
    """A plan as text, one worker that goes through it a superstep a step, then a solver.

    The tutorial puts `#E1` into `#E10` as well and is wrong from ten steps on; here whole names are replaced.
    """
    from langgraph.graph import END, START, StateGraph

    class State(TypedDict, total=False):
        task: str
        steps: list[tuple[str, str, str, str]]
        found: dict[str, str]
        answer: str

    model, tool = model_at(url), tool_of(now)

    async def plan(state: State) -> State:
        told = "Role: evidence_planner\nWrite a plan; each line names a tool and #E, where its evidence is kept.\n"
        said = await model.ainvoke(told + state["task"])
        return {"steps": _EVIDENCE.findall(said.content), "found": {}}

    async def work(state: State) -> State:
        found = state["found"]
        _, name, step, evidence = state["steps"][len(found)]
        filled = re.sub(r"#E\d+", lambda one: found.get(one[0], one[0]), evidence)
        return {"found": {**found, name: await tool.ainvoke({"step": int(step), "evidence": filled})}}

    async def solve(state: State) -> State:
        told = "\n".join(f"{plan}: {state['found'][name]}" for plan, name, *_ in state["steps"])
        said = await model.ainvoke(f"Role: solver\nAnswer the task by the evidence.\n{told}\nTask: {state['task']}")
        return {"answer": said.content}

    def onward(state: State) -> str:
        return "work" if len(state["found"]) < len(state["steps"]) else "solve"

    builder = StateGraph(State)
    builder.add_node("plan", plan)
    builder.add_node("work", work)
    builder.add_node("solve", solve)
    builder.add_edge(START, "plan")
    builder.add_edge("plan", "work")
    builder.add_conditional_edges("work", onward, ["work", "solve"])
    builder.add_edge("solve", END)
    return _runner(builder.compile(), "answer")


async def llm_compiler(url: str, now: Now) -> Run:
    """The plan is read line by line while it streams; a step with open inputs looks again every 0.25 s.

    A step whose inputs are there runs in the scheduler's own turn, so that nothing else begins beside it.
    """
    model, tool = model_at(url), tool_of(now)
    joiner = model.with_structured_output(_joined_form())

    async def step(call: re.Match[str], found: dict[str, str]) -> None:
        while any(name not in found for name in re.findall(r"\$(\d+)", call[3])):
            await asyncio.sleep(0.25)
        evidence = re.sub(r"\$(\d+)", lambda name: found[name[1]], call[3])
        found[call[1]] = await tool.ainvoke({"step": int(call[2]), "evidence": evidence})

    async def scheduled(task: str) -> dict[str, str]:
        found: dict[str, str] = {}
        text, later = "", []
        async for piece in model.astream(f"Role: compiled_planner\nPlan with the utmost parallelism.\n{task}"):
            *lines, text = (text + piece.content).split("\n")
            for call in filter(None, map(CALL.match, lines)):
                if all(name in found for name in re.findall(r"\$(\d+)", call[3])):
                    await step(call, found)
                else:
                    later.append(asyncio.ensure_future(step(call, found)))
        await asyncio.gather(*later)
        return found

    async def run(task: str) -> str:
        found = await scheduled(task)
        told = "\n".join(f"{name}: {got}" for name, got in found.items())
        return str((await joiner.ainvoke(f"Answer the task by what was found.\n{task}\n{told}")).action.response)

    return run


def _joined_form() -> Any:
    """What the model fills in when all is found."""
    from pydantic import BaseModel

    class Answer(BaseModel):
        """What the user gets."""

        response: str

    class Again(BaseModel):
        """What to do otherwise."""

        feedback: str

    class Joined(BaseModel):
        """The answer, or why a new plan is needed."""

        thought: str
        action: Answer | Again

    return Joined
