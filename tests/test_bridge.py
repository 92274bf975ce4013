"""The sync bridge: every way to call a graph, with every saver, from every kind of caller."""

import asyncio
import gc
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver, get_checkpoint_metadata
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.config import get_config, get_store, get_stream_writer
from langgraph.errors import GraphInterrupt, GraphRecursionError
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import AsyncSqliteStore, SqliteStore
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from graphs import _loop, load
from graphs._bridge import Builder, Pattern
from graphs._given import STEPS, SUPERSTEPS
from graphs._savers import ReachedSaver, reach_saver
from nodes.memo import MEMO, Memo, memo_of_call
from nodes.settings import get_context
from state.context import Context
from state.errors import InputError, SetupError


def extend(old: list[Any], writes: list[list[Any]]) -> list[Any]:
    return [*old, *(item for write in writes for item in write)]


class State(TypedDict, total=False):
    task: str
    log: Annotated[list[Any], DeltaChannel(extend, snapshot_frequency=50)]


class ParentState(TypedDict, total=False):
    task: str
    log: list[Any]
    answer: str


Node = Callable[..., Any]
THREAD: Any = {"configurable": {"thread_id": "t"}}
caller: ContextVar[str] = ContextVar("caller", default="nobody")


def chain(*nodes: Node) -> Builder:
    """A graph of these nodes, one after the other."""
    builder = Builder(State)
    builder.add_sequence([(node.__name__, node) for node in nodes])
    builder.add_edge(START, nodes[0].__name__)
    builder.add_edge(nodes[-1].__name__, END)
    return builder


async def first(state: State) -> State:
    await asyncio.sleep(0)
    return {"log": [f"first {state.get('task')}"]}


async def ask(state: State) -> State:
    return {"log": [interrupt({"ask": state["task"]})]}


async def last(state: State) -> State:
    return {"log": [len(state["log"])]}


def parent_of(graph: Pattern, state: type[Any] = ParentState, **options: Any) -> StateGraph[Any, Any, Any, Any]:
    """Someone else's graph with ours as a node, between two sync nodes."""
    parent: StateGraph[Any, Any, Any, Any] = StateGraph(state, **options)
    parent.add_node("before", lambda state: {"task": state["task"] + "!"})
    parent.add_node("ours", graph)
    parent.add_node("after", lambda state: {"answer": f"after {state['log'][-1]}"})
    parent.add_edge(START, "before")
    parent.add_edge("before", "ours")
    parent.add_edge("ours", "after")
    return parent


class Loop:
    """An event loop that runs in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()

    def run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(20)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


@pytest.fixture
def loop() -> Iterator[Loop]:
    loop = Loop()
    yield loop
    loop.close()


async def _opened(kind: Any, path: str) -> Any:
    manager = kind.from_conn_string(path)
    return manager, await manager.__aenter__()


@pytest.fixture(params=["memory", "sqlite", "aiosqlite"])
def saver(request: pytest.FixtureRequest, tmp_path: Path, loop: Loop) -> Iterator[BaseCheckpointSaver[Any]]:
    """Each kind of saver, all of which sync code may use."""
    path = str(tmp_path / "runs.db")
    if request.param == "memory":
        yield InMemorySaver()
    elif request.param == "sqlite":
        with SqliteSaver.from_conn_string(path) as found:
            yield found
    else:
        manager, found = loop.run(_opened(AsyncSqliteSaver, path))
        yield found
        loop.run(manager.__aexit__(None, None, None))


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """No test may leave a task on the private loop."""
    yield
    gc.collect()

    async def others() -> set[Any]:
        for _ in range(100):
            if not (left := asyncio.all_tasks() - {asyncio.current_task()}):
                break
            await asyncio.sleep(0.01)
        return left

    assert _loop.run(others) == set()


# ---- every method, every saver --------------------------------------------------------------------------------


def test_sync_methods_run_interrupt_resume_and_look_back_with_each_saver(saver: BaseCheckpointSaver[Any]) -> None:
    graph = chain(first, ask, last).compile(saver)
    stopped = graph.invoke({"task": "x"}, THREAD)
    assert stopped["__interrupt__"][0].value == {"ask": "x"}
    assert graph.get_state(THREAD).next == ("ask",)
    assert graph.invoke(Command(resume="yes"), THREAD)["log"] == ["first x", "yes", 2]
    assert [len(found.values.get("log", [])) for found in graph.get_state_history(THREAD)] == [3, 2, 1, 0, 0]
    graph.update_state(THREAD, {"log": ["by hand"]}, as_node="ask")
    assert graph.get_state(THREAD).next == ("last",)
    assert graph.invoke(None, THREAD)["log"][-2:] == ["by hand", 4]


async def test_async_methods_do_the_same_with_each_saver(saver: BaseCheckpointSaver[Any]) -> None:
    graph = chain(first, ask, last).compile(saver)
    parts = [part async for part in graph.astream({"task": "x"}, THREAD, stream_mode="updates")]
    assert parts[0] == {"first": {"log": ["first x"]}} and "__interrupt__" in parts[1]
    assert (await graph.ainvoke(Command(resume="yes"), THREAD))["log"] == ["first x", "yes", 2]
    await graph.aupdate_state(THREAD, {"log": ["by hand"]}, as_node="ask")
    assert (await graph.aget_state(THREAD)).values["log"][-1] == "by hand"
    assert len([found async for found in graph.aget_state_history(THREAD)]) == 6


def test_invoke_works_inside_a_running_loop(saver: BaseCheckpointSaver[Any]) -> None:
    async def cell() -> Any:
        graph = chain(first, last).compile(saver)
        assert [*graph.stream({"task": "s"}, THREAD, stream_mode="updates")][-1] == {"last": {"log": [1]}}
        return graph.invoke({"task": "x"}, THREAD)

    assert asyncio.run(cell())["log"] == ["first s", 1, "first x", 3]


def test_asyncio_run_may_be_repeated_on_one_graph_and_saver(saver: BaseCheckpointSaver[Any]) -> None:
    graph = chain(first, last).compile(saver)
    for round_ in range(1, 4):
        assert len(asyncio.run(graph.ainvoke({"task": "x"}, THREAD))["log"]) == 2 * round_
    assert len(graph.invoke({"task": "x"}, THREAD)["log"]) == 8


def test_batch_and_abatch_keep_the_order() -> None:
    graph = chain(first, last).compile()
    inputs = [{"task": str(n)} for n in range(5)]
    wanted = [[f"first {n}", 1] for n in range(5)]
    assert [found["log"] for found in graph.batch(inputs, config={"max_concurrency": 2})] == wanted
    assert [found["log"] for found in asyncio.run(graph.abatch(inputs))] == wanted
    assert isinstance(graph.batch([{"task": "x"}, "y"], return_exceptions=True)[1], InputError)


def test_twenty_threads_invoke_at_once(saver: BaseCheckpointSaver[Any]) -> None:
    graph = chain(first, last).compile(saver)

    def one(n: int) -> Any:
        return graph.invoke({"task": str(n)}, {"configurable": {"thread_id": str(n)}})["log"]

    with ThreadPoolExecutor(20) as threads:
        assert list(threads.map(one, range(20))) == [[f"first {n}", 1] for n in range(20)]


def test_events_of_version_two_and_three_can_be_streamed() -> None:
    graph = chain(first, last).compile()

    async def events() -> set[str]:
        return {event["name"] async for event in graph.astream_events({"task": "x"}, version="v2")}

    assert {"first", "last"} <= asyncio.run(events())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert graph.stream_events({"task": "x"}, version="v3").output["log"] == ["first x", 1]


# ---- a node of someone else's graph ---------------------------------------------------------------------------


def test_a_sync_parent_interrupts_and_resumes_our_graph_with_each_saver(saver: BaseCheckpointSaver[Any]) -> None:
    parent = parent_of(chain(first, ask, last).compile()).compile(saver)
    assert parent.invoke({"task": "x"}, THREAD)["__interrupt__"][0].value == {"ask": "x!"}
    inner = parent.get_state(THREAD, subgraphs=True).tasks[0].state
    assert inner is not None and not isinstance(inner, dict) and inner.values["log"] == ["first x!"]
    done = list(parent.stream(Command(resume="yes"), THREAD, stream_mode="updates"))
    assert done == [{"ours": {"task": "x!", "log": ["first x!", "yes", 2]}}, {"after": {"answer": "after 2"}}]


def test_a_sync_parent_in_a_running_loop_does_not_deadlock(tmp_path: Path) -> None:
    async def cell() -> Any:
        with SqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver:
            parent = parent_of(chain(first, ask, last).compile()).compile(saver)
            parent.invoke({"task": "x"}, THREAD)
            return parent.invoke(Command(resume="yes"), THREAD)

    assert asyncio.run(cell())["answer"] == "after 2"


def test_an_async_parent_lends_its_loop_and_saver(tmp_path: Path) -> None:
    async def main() -> Any:
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver:
            parent = parent_of(chain(first, ask, last).compile()).compile(saver)
            await parent.ainvoke({"task": "x"}, THREAD)
            return await parent.ainvoke(Command(resume="yes"), THREAD)

    assert asyncio.run(main())["answer"] == "after 2"


def test_an_async_parent_may_call_our_sync_side_from_a_sync_node(tmp_path: Path) -> None:
    graph = chain(first, last).compile()

    async def main() -> Any:
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver:
            parent: Any = StateGraph(ParentState)
            parent.add_node("call", lambda state: {"log": graph.invoke({"task": state["task"]})["log"]})
            parent.add_edge(START, "call")
            return await parent.compile(saver).ainvoke({"task": "x"}, THREAD)

    assert asyncio.run(main())["log"] == ["first x", 1]


def test_a_sync_parent_sees_our_inner_steps_and_custom_parts_in_its_stream() -> None:
    async def tell(state: State) -> State:
        get_stream_writer()("halfway")
        return {"log": ["told"]}

    parent = parent_of(chain(tell, last).compile()).compile()
    parts = list(parent.stream({"task": "x"}, stream_mode=["updates", "custom"], subgraphs=True))
    inner = [(mode, part) for where, mode, part in parts if where]
    assert inner == [
        ("custom", "halfway"),
        ("updates", {"tell": {"log": ["told"]}}),
        ("updates", {"last": {"log": [1]}}),
    ]


def test_a_graph_with_a_history_of_its_own_works_under_a_sync_parent(saver: BaseCheckpointSaver[Any]) -> None:
    parent = parent_of(chain(first, last).compile(True)).compile(saver)
    assert parent.invoke({"task": "x"}, THREAD)["answer"] == "after 1"
    # its own two entries, the two that the parent hands in, and the first node's
    assert parent.invoke({"task": "x"}, THREAD)["answer"] == "after 5"


def test_a_command_to_the_parent_goes_through_the_bridge() -> None:
    async def leave(state: State) -> Command[Any]:
        return Command(graph=Command.PARENT, update={"log": ["left"]}, goto="after")

    assert parent_of(chain(leave).compile()).compile().invoke({"task": "x"})["answer"] == "after left"


def test_an_interrupt_in_a_nested_graph_keeps_its_type_for_the_calling_node() -> None:
    inner, seen = chain(first, ask).compile(), []

    def call(state: ParentState) -> ParentState:
        try:
            return {"log": inner.invoke({"task": "deep"})["log"]}
        except GraphInterrupt as error:
            seen.append(type(error))
            raise

    parent: Any = StateGraph(ParentState)
    parent.add_node("call", call)
    parent.add_edge(START, "call")
    graph = parent.compile(InMemorySaver())
    assert graph.invoke({"task": "x"}, THREAD)["__interrupt__"][0].value == {"ask": "deep"}
    assert graph.invoke(Command(resume="yes"), THREAD)["log"] == ["first deep", "yes"]
    assert seen == [GraphInterrupt]


def test_callbacks_of_a_sync_caller_see_our_nodes_under_their_parent() -> None:
    class Watch(BaseCallbackHandler):
        def __init__(self) -> None:
            self.parents: dict[str, Any] = {}
            self.runs: dict[Any, str] = {}

        def on_chain_start(
            self, serialized: Any, inputs: Any, *, run_id: Any, parent_run_id: Any = None, **kw: Any
        ) -> Any:
            self.runs[run_id] = kw.get("name") or "?"
            self.parents[self.runs[run_id]] = self.runs.get(parent_run_id)

    watch = Watch()
    parent_of(chain(first, last).compile(name="plan")).compile().invoke({"task": "x"}, {"callbacks": [watch]})
    assert watch.parents["first"] == "plan" and watch.parents["plan"] == "ours"


# ---- nesting, threads, blocked loops --------------------------------------------------------------------------


def test_a_tool_in_a_thread_may_invoke_a_graph_while_an_outer_invoke_runs(saver: BaseCheckpointSaver[Any]) -> None:
    inner = chain(first, last).compile(saver)

    async def tool(state: State) -> State:
        config = RunnableConfig(configurable={"thread_id": f"inner {state['task']}"})
        return {"log": (await asyncio.to_thread(inner.invoke, {"task": "in"}, config))["log"]}

    assert chain(tool, last).compile(saver).invoke({"task": "x"}, THREAD)["log"] == ["first in", 1, 2]


def test_many_nested_invokes_starve_neither_threads_nor_savers(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver:
        deepest = chain(first, last).compile()

        async def middle_tool(state: State) -> State:
            return {"log": (await asyncio.to_thread(deepest.invoke, {"task": "in"}))["log"]}

        middle = chain(middle_tool).compile()

        async def tool(state: State) -> State:
            calls = [asyncio.to_thread(middle.invoke, {"task": "in"}) for _ in range(24)]
            return {"log": [len(await asyncio.gather(*calls))]}

        graph = chain(tool).compile(saver)
        assert graph.invoke({"task": "x"}, THREAD)["log"] == [24]


def test_savers_have_threads_when_tools_hold_all_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_loop, "WORKERS", 2)
    monkeypatch.setattr(_loop, "_shared", None)
    with SqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver:
        inner = chain(first).compile(saver)

        async def tool(state: State) -> State:
            configs = [RunnableConfig(configurable={"thread_id": str(n)}) for n in range(4)]
            calls = [asyncio.to_thread(inner.invoke, {"task": "in"}, config) for config in configs]
            return {"log": [len(await asyncio.gather(*calls))]}

        assert chain(tool).compile(saver).invoke({"task": "x"}, THREAD)["log"] == [4]
    _loop._stop()
    monkeypatch.undo()


@pytest.mark.parametrize("method", ["invoke", "stream", "batch"])
def test_a_sync_call_from_the_private_loop_is_refused_in_one_line(method: str) -> None:
    inner = chain(first).compile()

    async def wrong(state: State) -> State:
        return {"log": list(getattr(inner, method)([{"task": "x"}] if method == "batch" else {"task": "x"}))}

    with pytest.raises(SetupError, match="ainvoke") as caught:
        chain(wrong).compile().invoke({"task": "x"})
    assert "\n" not in str(caught.value)


async def test_a_sync_call_from_the_savers_own_loop_is_refused_in_one_line(tmp_path: Path) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver:
        graph = chain(first).compile(saver)
        for call in (graph.invoke, lambda *a: list(graph.stream(*a)), lambda _, c: graph.get_state(c)):
            with pytest.raises(SetupError, match=r"AsyncSqliteSaver.*ainvoke") as caught:
                call({"task": "x"}, THREAD)
            assert "\n" not in str(caught.value)
        assert (await graph.ainvoke({"task": "x"}, THREAD))["log"] == ["first x"]
        assert (await asyncio.to_thread(graph.invoke, {"task": "y"}, THREAD))["log"] == ["first x", "first y"]


async def test_a_blocked_loop_is_noticed_through_a_graph_in_between(tmp_path: Path) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver:
        inner = chain(first).compile(saver)

        async def call(state: State) -> State:
            return {"log": (await inner.ainvoke({"task": "in"}, THREAD))["log"]}

        with pytest.raises(SetupError, match="ainvoke"):
            chain(call).compile().invoke({"task": "x"})


def test_a_saver_whose_loop_has_ended_is_refused_in_one_line(tmp_path: Path) -> None:
    async def opened() -> AsyncSqliteSaver:
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver:
            return saver

    graph = chain(first).compile(asyncio.run(opened()))
    with pytest.raises(SetupError, match="event loop that has ended") as caught:
        graph.invoke({"task": "x"}, THREAD)
    assert "\n" not in str(caught.value)
    with pytest.raises(SetupError, match="event loop that has ended"):
        asyncio.run(graph.ainvoke({"task": "x"}, THREAD))


# ---- leaving, failing, Ctrl-C ---------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["break", "close", "aclose"])
def test_leaving_a_stream_early_cancels_the_run(how: str) -> None:
    ended: list[str] = []

    async def slow(state: State) -> State:
        try:
            await asyncio.sleep(30)
        finally:
            ended.append("slow")
        return {}

    graph = chain(first).add_node("slow", slow).add_edge(START, "slow").compile()
    began = time.monotonic()

    async def leave() -> None:
        stream = graph.astream({"task": "x"}, stream_mode="updates")
        await anext(stream)
        await stream.aclose()

    if how == "break":
        for _ in graph.stream({"task": "x"}, stream_mode="updates"):
            break
    elif how == "close":
        stream: Any = graph.stream({"task": "x"}, stream_mode="updates")
        next(stream)
        stream.close()
    else:
        asyncio.run(leave())
    assert ended == ["slow"] and time.monotonic() - began < 10


def test_a_stream_that_is_forgotten_in_a_cycle_cancels_the_run() -> None:
    ended = threading.Event()

    async def slow(state: State) -> State:
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()
        return {}

    graph = chain(first).add_node("slow", slow).add_edge(START, "slow").compile()
    cycle: list[Any] = [graph.stream({"task": "x"}, stream_mode="updates")]
    next(cycle[0])
    cycle.append(cycle)
    del cycle

    async def collect() -> None:
        gc.collect()  # on the private loop itself, which can't wait for itself

    _loop.run(collect)
    assert ended.wait(10)


def test_a_stream_runs_no_further_than_it_is_read() -> None:
    ran: list[str] = []

    async def note(state: State) -> State:
        ran.append("note")
        return {}

    for _ in chain(first, note).compile().stream({"task": "x"}, stream_mode="updates"):
        time.sleep(0.05)
        break
    assert ran == []


@pytest.mark.parametrize("error", [ZeroDivisionError, SystemExit, KeyboardInterrupt])
def test_errors_keep_their_type_and_the_bridge_goes_on(error: type[BaseException]) -> None:
    async def fail(state: State) -> State:
        raise error("in a node")

    graph = chain(fail).compile()
    with pytest.raises(error, match="in a node"):
        graph.invoke({"task": "x"})
    with pytest.raises(error, match="in a node"):
        list(graph.stream({"task": "x"}))
    assert chain(first).compile().invoke({"task": "x"})["log"] == ["first x"]


CTRL_C = """
import asyncio, sys, time
from graphs._bridge import Builder
from langgraph.graph import START
from typing_extensions import TypedDict

class State(TypedDict, total=False):
    task: str

async def slow(state):
    print("started", flush=True)
    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.2)
        print("cleaned up", flush=True)

builder = Builder(State)
builder.add_node("slow", slow)
builder.add_edge(START, "slow")
graph = builder.compile()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


CALLS = ["graph.invoke({'task': 'x'})", "list(graph.stream({'task': 'x'}))"]
SLOW_TO_WAIT = """
from graphs import _loop
loop = _loop._home().loop
hand_over = loop.call_soon_threadsafe

def hand_over_slowly(work, *given, **options):
    handle = hand_over(work, *given, **options)
    if getattr(work, "__name__", "") == "_begin":
        time.sleep(10)  # Ctrl-C comes here
    return handle

loop.call_soon_threadsafe = hand_over_slowly
"""


def interrupted(code: str) -> tuple[str, str, int]:
    root = str(Path(__file__).parents[1])
    process = subprocess.Popen([sys.executable, "-c", code], cwd=root, text=True, stdout=-1, stderr=-1)
    assert process.stdout is not None and process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=20)
    return out, errors, process.returncode


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_cancels_the_work_waits_for_it_and_is_raised(call: str) -> None:
    assert interrupted(CTRL_C.replace("{call}", call)) == ("cleaned up\ninterrupted\n", "", 0)


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_is_not_lost_on_work_that_began_before_its_caller_came_to_wait(call: str) -> None:
    code = CTRL_C.replace("{call}", call).replace("\ntry:", f"\n{SLOW_TO_WAIT}\ntry:")
    assert code.count("hand_over_slowly") == 2 and interrupted(code) == ("cleaned up\ninterrupted\n", "", 0)


def test_a_stream_that_is_still_open_does_not_hold_up_the_interpreter() -> None:
    code = CTRL_C.replace("{call}", "stream = graph.stream({'task': 'x'}, stream_mode='debug'); next(stream)")
    root = str(Path(__file__).parents[1])
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], cwd=root, text=True, capture_output=True, timeout=40)
    assert (done.stderr, done.returncode) == ("", 0) and time.monotonic() - began < 30


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_gets_a_loop_of_its_own() -> None:
    graph = chain(first).compile()
    graph.invoke({"task": "x"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 3.12 warns about forking with threads
        child = os.fork()
    if not child:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(20)
        os._exit(0 if graph.invoke({"task": "x"})["log"] == ["first x"] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert graph.invoke({"task": "x"})["log"] == ["first x"]


def test_the_callers_context_variables_are_seen_by_the_nodes() -> None:
    async def look(state: State) -> State:
        return {"log": [caller.get()]}

    graph = chain(look).compile()
    token = caller.set("me")
    try:
        assert graph.invoke({"task": "x"})["log"] == ["me"]
        assert list(graph.stream({"task": "x"}, stream_mode="updates")) == [{"look": {"log": ["me"]}}]
    finally:
        caller.reset(token)


# ---- defaults -------------------------------------------------------------------------------------------------


async def durability(state: State) -> State:
    return {"log": [get_config()["configurable"].get("__pregel_durability")]}


def test_durability_is_sync_with_a_saver_unless_the_caller_or_a_parent_decides() -> None:
    graph = chain(durability).compile(InMemorySaver())
    assert graph.invoke({"task": "x"}, THREAD)["log"] == ["sync"]
    assert graph.invoke({"task": "x"}, THREAD, durability="exit")["log"][-1] == "exit"
    assert chain(durability).compile().invoke({"task": "x"})["log"] == [None]
    parent = parent_of(chain(durability).compile()).compile(InMemorySaver())
    assert parent.invoke({"task": "x"}, THREAD)["log"] == [None]
    assert parent.invoke({"task": "x"}, {"configurable": {"thread_id": "e"}}, durability="exit")["log"] == ["exit"]


def test_the_recursion_limit_is_ours_unless_the_caller_gives_one() -> None:
    async def limit(state: State) -> State:
        return {"log": [get_config()["recursion_limit"]]}

    graph = chain(limit).compile()

    def seen(found: Any) -> int:
        return int(found["log"][-1])

    assert seen(graph.invoke({"task": "x"})) == STEPS
    assert seen(graph.invoke({"task": "x"}, {"tags": ["a"]})) == STEPS
    assert seen(graph.batch([{"task": "x"}])[0]) == STEPS
    assert seen((RunnableLambda(lambda task: {"task": task}) | graph).invoke("x")) == STEPS
    assert seen(parent_of(graph).compile().invoke({"task": "x"})) == STEPS
    assert seen(parent_of(graph).compile().invoke({"task": "x"}, {"recursion_limit": 50})) == 50
    assert seen(graph.invoke({"task": "x"}, {"recursion_limit": 25})) == 25
    assert seen(graph.with_config(recursion_limit=7).invoke({"task": "x"})) == 7
    with pytest.raises(GraphRecursionError):
        chain(first, last).compile().invoke({"task": "x"}, {"recursion_limit": 1})


def test_there_is_room_for_all_rounds_that_a_run_may_have() -> None:
    async def limit(state: State) -> State:
        return {"log": [get_config()["recursion_limit"]]}

    many: Any = {"limits": {"iterations": 500}}
    graph = chain(limit).compile()
    assert int(graph.invoke({"task": "x"}, context=many)["log"][-1]) == 500 * SUPERSTEPS
    assert int(graph.invoke({"task": "x"}, {"recursion_limit": STEPS}, context=many)["log"][-1]) == STEPS
    assert int(graph.invoke({"task": "x"}, {"recursion_limit": 25}, context=many)["log"][-1]) == 25


@pytest.mark.parametrize("wrong", [None, "a task", 5, ["a task"], Command(), Command(resume=None)])
def test_a_wrong_input_is_one_line_that_says_what_would_be_right(wrong: Any) -> None:
    with pytest.raises(InputError, match="task") as caught:
        chain(first).compile(InMemorySaver()).invoke(wrong, THREAD)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["constraint", "input", "limits"])
def test_a_key_that_nobody_reads_is_refused_instead_of_dropped(key: str) -> None:
    with pytest.raises(InputError, match=f"no key '{key}'; it has: task, constraints, inputs") as caught:
        load("one_shot").invoke({"task": "add 1 and 2", key: {"read_only": True}})
    assert ("context={'limits': ...}" in str(caught.value)) == (key == "limits")


def test_settings_in_the_place_of_the_config_are_refused_instead_of_dropped() -> None:
    config: Any = {"limits": {"tokens": 5}}
    with pytest.raises(InputError, match="no part of LangGraph's config"):
        load("one_shot").invoke({"task": "add 1 and 2"}, config)


def test_a_dict_without_a_task_is_left_to_the_first_node() -> None:
    assert chain(first).compile().invoke({})["log"] == ["first None"]


def test_a_missing_thread_is_one_line_that_says_what_would_be_right() -> None:
    with pytest.raises(InputError, match="thread_id"):
        chain(first).compile(InMemorySaver()).invoke({"task": "x"})


def test_there_are_no_warnings_without_a_saver() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chain(first).compile().invoke({"task": "x"})


# ---- context --------------------------------------------------------------------------------------------------


async def language(state: State, runtime: Runtime[Context]) -> State:
    assert isinstance(runtime.context, Context)
    return {"log": [get_context(runtime).language, get_context(runtime).concurrency]}


def test_context_is_an_object_a_dict_of_settings_or_left_out() -> None:
    graph = chain(language).compile()
    assert graph.invoke({"task": "x"})["log"] == ["auto", 8]
    assert graph.invoke({"task": "x"}, context=Context(language="zh"))["log"] == ["zh", 8]
    assert graph.invoke({"task": "x"}, context={"language": "en"})["log"] == ["en", 8]
    for wrong in ({"langauge": "en"}, {"concurrency": "many"}, "en", 3):
        with pytest.raises(InputError, match="context"):
            graph.invoke({"task": "x"}, context=wrong)


def test_a_bound_context_stands_under_the_callers() -> None:
    graph = chain(language).compile(context={"language": "zh", "concurrency": 2})
    assert graph.invoke({"task": "x"})["log"] == ["zh", 2]
    assert graph.invoke({"task": "x"}, context={"language": "en"})["log"] == ["en", 2]
    assert graph.invoke({"task": "x"}, context=Context())["log"] == ["auto", 8]
    assert graph.with_context({"concurrency": 3}).invoke({"task": "x"})["log"] == ["zh", 3]
    assert asyncio.run(graph.ainvoke({"task": "x"}))["log"] == ["zh", 2]


@dataclass
class Foreign:
    language: str = "fr"


@pytest.mark.parametrize("foreign", [Foreign(), {"user": "someone"}])
@pytest.mark.parametrize("bound", [None, Context(language="zh")])
def test_a_parents_foreign_context_is_ignored(foreign: Any, bound: Context | None) -> None:
    seen: list[Any] = []
    wanted = ["zh" if bound else "auto", 8]
    schema = Foreign if isinstance(foreign, Foreign) else None
    parent: Any = parent_of(chain(language).compile(context=bound), context_schema=schema)
    parent.add_node("look", lambda state, runtime: seen.append(runtime.context))
    parent.add_edge("after", "look")
    assert parent.compile().invoke({"task": "x"}, context=foreign)["log"] == wanted
    assert asyncio.run(parent.compile().ainvoke({"task": "x"}, context=foreign))["log"] == wanted
    assert seen == [foreign, foreign]


def test_a_parents_own_context_is_ours_too() -> None:
    parent = parent_of(chain(language).compile(), context_schema=Context).compile()
    assert parent.invoke({"task": "x"}, context=Context(language="zh"))["log"] == ["zh", 8]
    outer = Builder(State).add_node("inner", chain(language).compile()).add_edge(START, "inner")
    assert outer.compile().invoke({"task": "x"}, context={"language": "en"})["log"] == ["en", 8]


def test_nodes_in_a_foreign_graph_get_the_default_context() -> None:
    assert get_context(Runtime(context=Foreign())) == get_context(Runtime()) == Context()


def test_the_context_is_not_stored_with_the_checkpoint() -> None:
    saver = InMemorySaver()
    chain(language).compile(saver, context=Context(model="secret-name")).invoke({"task": "x"}, THREAD)
    assert "secret-name" not in str([(found.metadata, found.checkpoint) for found in saver.list(THREAD)])
    assert get_checkpoint_metadata({"configurable": {"__x": "y"}}, {}) == {}


# ---- the graph as an object -----------------------------------------------------------------------------------


def test_copies_keep_class_name_and_bound_context() -> None:
    graph = chain(first, last).compile(name="plan", context=Context(language="zh"))
    for copy in (graph, graph.copy(), graph.with_config(tags=["a"]), graph.with_context(Context(language="zh"))):
        assert isinstance(copy, Pattern) and copy.name == "plan" and copy.bound == Context(language="zh")
        assert list(copy.get_graph().nodes) == ["__start__", "first", "last", "__end__"]
        assert "first" in copy.get_graph().draw_mermaid()


def test_a_notebook_shows_the_graph_drawn_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = chain(first).compile()
    monkeypatch.setattr("socket.socket.connect", lambda *a: pytest.fail("network"))
    monkeypatch.setattr("socket.getaddrinfo", lambda *a, **k: pytest.fail("network"))
    shown = graph._repr_mimebundle_()
    assert shown["text/plain"].startswith("%% ") and "first" in shown["image/svg+xml"] and "<svg" in shown["text/html"]


def test_an_adapted_saver_stays_a_saver(tmp_path: Path) -> None:
    async def adapted(saver: BaseCheckpointSaver[Any]) -> BaseCheckpointSaver[Any]:
        return reach_saver(saver)

    with SqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver:
        chain(first).compile(saver).invoke({"task": "x"}, THREAD)
        reached = asyncio.run(adapted(saver))
        assert isinstance(reached, BaseCheckpointSaver) and isinstance(reached, ReachedSaver)
        assert asyncio.run(adapted(reached)) is reached
        assert reached.serde is saver.serde and reached.config_specs == saver.config_specs
        assert reached.get_next_version(None, None).split(".")[0] == saver.get_next_version(None, None).split(".")[0]
        latest = reached.get_tuple({"configurable": {"thread_id": "t", "checkpoint_ns": ""}})
        assert latest is not None and latest == next(reached.list(THREAD))
        wanted = saver.get_delta_channel_history(config=latest.config, channels=["log"])
        assert wanted["log"]["writes"]
        assert reached.get_delta_channel_history(config=latest.config, channels=["log"]) == wanted
        history = asyncio.run(reached.aget_delta_channel_history(config=latest.config, channels=["log"]))
        assert history == wanted


def test_parallel_writes_come_back_in_the_same_order_after_a_resume(saver: BaseCheckpointSaver[Any]) -> None:
    def side(n: int) -> Node:
        async def node(state: State) -> State:
            await asyncio.sleep(0.01 * (5 - n))
            return {"log": [n]}

        return node

    builder = Builder(State).add_node("ask", ask)
    for n in range(5):
        builder.add_node(f"n{n}", side(n)).add_edge(START, f"n{n}").add_edge(f"n{n}", "ask")
    graph = builder.compile(saver)
    graph.invoke({"task": "x"}, THREAD)
    assert graph.invoke(Command(resume="yes"), THREAD)["log"] == [0, 1, 2, 3, 4, "yes"]


# ---- stores ---------------------------------------------------------------------------------------------------


async def remember(state: State) -> State:
    await get_store().aput(("notes",), "x", {"task": state["task"]})
    found = await get_store().aget(("notes",), "x")
    assert found is not None
    return {"log": [found.value["task"], len(await get_store().asearch(("notes",)))]}


@asynccontextmanager
async def async_store(path: str) -> AsyncIterator[BaseStore]:
    async with AsyncSqliteStore.from_conn_string(path) as store:
        await store.setup()
        yield store


@pytest.mark.parametrize("kind", ["memory", "sqlite", "aiosqlite"])
def test_nodes_reach_each_store_from_sync_calls_and_parents(kind: str, tmp_path: Path, loop: Loop) -> None:
    def check(store: BaseStore) -> None:
        graph = chain(remember).compile(store=store)
        assert graph.invoke({"task": "x"})["log"] == ["x", 1]
        assert asyncio.run(graph.ainvoke({"task": "y"}))["log"] == ["y", 1]
        parent = parent_of(chain(remember).compile()).compile(store=store)
        assert parent.invoke({"task": "z"})["log"] == ["z!", 1]

    if kind == "memory":
        check(InMemoryStore())
    elif kind == "sqlite":
        with SqliteStore.from_conn_string(str(tmp_path / "store.db")) as store:
            store.setup()
            check(store)
    else:
        manager = async_store(str(tmp_path / "store.db"))
        check(loop.run(manager.__aenter__()))
        loop.run(manager.__aexit__(None, None, None))


def test_a_cancelled_write_ends_before_the_connection_is_closed(tmp_path: Path) -> None:
    class SlowSaver(SqliteSaver):
        ended = 0

        def put(self, *args: Any, **options: Any) -> Any:
            time.sleep(0.3)
            found = super().put(*args, **options)
            self.ended += 1
            return found

    connection = sqlite3.connect(tmp_path / "runs.db", check_same_thread=False)
    saver = SlowSaver(connection)

    async def main() -> None:
        run = asyncio.create_task(chain(first, last).compile(saver).ainvoke({"task": "x"}, THREAD))
        await asyncio.sleep(0.1)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert saver.ended >= 1

    asyncio.run(main())
    connection.close()


def test_what_a_call_has_worked_out_is_one_thing_for_its_nodes_neither_stored_nor_shown_and_gone_at_its_end() -> None:
    """It stands in the config, of which LangGraph stores and shows a lot."""
    memos: list[Memo] = []
    kept: list[list[Any]] = []

    async def works_it_out(state: State) -> State:
        memos.append(memo_of_call())
        kept.append(memos[-1].of(list))
        return {"log": ["done"]}

    async def again(state: State) -> State:
        return await works_it_out(state)

    saver: Any = InMemorySaver()
    graph = chain(works_it_out, again).compile(checkpointer=saver)
    shown = list(graph.stream({"task": "a"}, THREAD, stream_mode=["checkpoints", "debug", "tasks", "updates"]))
    assert kept[0] is kept[1] and memos[0] is memos[1] and not memos[0]._kept
    assert shown and MEMO not in f"{shown} {list(saver.list(None))} {THREAD} {graph.get_state(THREAD)}"
    graph.invoke({"task": "b"}, THREAD)
    assert memos[2] is memos[3] is not memos[0]
