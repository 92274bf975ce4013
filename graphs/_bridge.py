"""`Builder(State).compile()` gives a `Pattern`: a LangGraph graph with async nodes that also works from sync code.

All sync methods run their async twin on one private loop (`_loop.py`); `_savers.py` makes savers and stores fit.
"""

import inspect
from collections.abc import AsyncGenerator, Callable, Collection, Iterator
from contextlib import aclosing
from dataclasses import replace
from functools import partial, wraps
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph._internal._config import ensure_config
from langgraph._internal._constants import CONF, CONFIG_KEY_RUNTIME, CONFIG_KEY_TASK_ID
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import EmptyInputError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Command, Send, StateSnapshot

from graphs._addressed import addressed, is_addressed
from graphs._given import (
    RIGHT_INPUT,
    STEPS,
    as_context,
    check_config,
    check_edits,
    check_input,
    check_keys,
    check_limit,
    check_thread,
    check_updates,
    storable_input,
    with_memo,
    with_room,
    without_foreign_limit,
)
from graphs._loop import run, walk
from graphs._savers import reach_saver, reach_store
from nodes.answers import as_given
from nodes.memo import Memo
from nodes.settings import prepare_tools
from state.context import Context
from state.errors import InputError


class Pattern(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled graph for sync and async callers, as a graph of its own or as a node of another."""

    bound: Context | None = None

    def __init__(self, *, bound: Context | None = None, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.bound = bound

    def with_context(self, context: Context | dict[str, Any]) -> "Pattern":
        """A copy with this context for every run that is given none."""
        return self.copy({"bound": as_context(context, self.bound or Context())})

    async def astream(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        context: Any = None,
        durability: Any = None,
        **options: Any,
    ) -> AsyncGenerator[Any, None]:
        """As LangGraph's, with our defaults and one-line errors."""
        check_input(input)
        check_config(config)
        config = without_foreign_limit(config)
        settled = ensure_config(self.config, config)
        check_limit(settled, self.builder)
        if CONFIG_KEY_TASK_ID not in settled[CONF]:  # a node gets the state of the graph around it, with other keys
            check_keys(input, self.builder)
            input = storable_input(input, self.builder)
        if CONFIG_KEY_TASK_ID not in settled[CONF] and self._resolve_checkpointer(settled):
            check_thread(settled)
            if "checkpoint_during" not in options:  # the old name of `durability`
                durability = durability or "sync"  # LangGraph's default loses finished steps on a kill
        context = as_context(context, self._default_context(settled))
        config = with_room(config, settled["recursion_limit"] == STEPS, context.limits.iterations)
        config = with_memo(config, memo := Memo())
        if input is None or isinstance(input, Command):  # it goes on, perhaps in another process than it began in
            await prepare_tools(context)
        if isinstance(input, Command) and input.resume is not None:  # LangGraph keeps it before any node sees it
            input = replace(input, resume=await self._addressed(as_given(input.resume), config, settled))
        try:
            parts: Any = super().astream(input, config, context=context, durability=durability, **options)
            async with aclosing(parts):  # who leaves this generator early leaves LangGraph's at once as well
                async for part in parts:
                    yield part
        except EmptyInputError as error:
            raise InputError(f"there is nothing to go on with in this thread: {RIGHT_INPUT}") from error
        finally:
            memo.clear()

    async def _addressed(self, resume: Any, config: Any, settled: RunnableConfig) -> Any:
        """The answer under the id of its question; in a parent's run the parent's questions count."""
        if is_addressed(resume) or CONFIG_KEY_TASK_ID in settled[CONF] or not self._resolve_checkpointer(settled):
            return resume
        return addressed(resume, (await self.aget_state(config)).interrupts)

    def _default_context(self, config: RunnableConfig) -> Context:
        inherited = getattr(config[CONF].get(CONFIG_KEY_RUNTIME), "context", None)
        return inherited if isinstance(inherited, Context) else self.bound or Context()

    def stream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Iterator[Any]:
        """As LangGraph's; leaving it early cancels the run."""
        return walk(partial(self.astream, input, config, **options))

    def invoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """As LangGraph's."""
        return run(partial(self.ainvoke, input, config, **options))

    def batch(self, inputs: list[Any], config: Any = None, **options: Any) -> list[Any]:
        """As LangChain's."""
        return run(partial(self.abatch, inputs, config, **options))

    def get_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """As LangGraph's."""
        return run(partial(self.aget_state, config, subgraphs=subgraphs))

    def get_state_history(self, config: RunnableConfig, **options: Any) -> Iterator[StateSnapshot]:
        """As LangGraph's."""
        return walk(partial(self._history, config, **options))

    async def aget_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """As LangGraph's, with one-line errors."""
        self._placed(config)
        return await super().aget_state(config, subgraphs=subgraphs)

    def _placed(self, config: RunnableConfig) -> RunnableConfig:
        """The config of a look-up or an edit, which names its thread."""
        check_config(config)
        settled = ensure_config(self.config, config)
        if self._resolve_checkpointer(settled):
            check_thread(settled)
        return settled

    async def _history(self, config: RunnableConfig, **options: Any) -> AsyncGenerator[StateSnapshot, None]:
        self._placed(config)
        async for snapshot in self.aget_state_history(config, **options):
            yield snapshot

    def bulk_update_state(self, config: RunnableConfig, supersteps: Any) -> RunnableConfig:
        """As LangGraph's; `update_state` comes here too."""
        return run(partial(self.abulk_update_state, config, supersteps))

    async def abulk_update_state(self, config: RunnableConfig, supersteps: Any) -> RunnableConfig:
        """As LangGraph's, for edits that this graph can read."""
        check_updates(supersteps, self._placed(config), self.builder)
        check_edits(supersteps, self.builder)
        return await super().abulk_update_state(config, supersteps)

    def _resolve_checkpointer(self, config: RunnableConfig) -> BaseCheckpointSaver[Any] | None:
        """LangGraph asks here for every run and look-up, also for a saver lent by a parent."""
        saver = super()._resolve_checkpointer(config)
        return reach_saver(saver) if isinstance(saver, BaseCheckpointSaver) else saver

    def _defaults(self, *args: Any, **options: Any) -> Any:
        """LangGraph asks here for the store of a run, own or inherited."""
        return tuple(reach_store(x) if isinstance(x, BaseStore) else x for x in super()._defaults(*args, **options))

    def get_input_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """As LangGraph's, with the task alone: a form has one field. The others are taken all the same."""
        schema = super().get_input_jsonschema(config)
        shown = {name: part for name, part in schema.get("properties", {}).items() if name == "task"}
        return {**schema, "properties": shown} if shown else schema

    def get_context_jsonschema(self) -> dict[str, Any] | None:
        """As LangGraph's; a setting that is shown at nodes names those that this graph has."""
        schema = super().get_context_jsonschema()
        for part in (schema or {}).get("properties", {}).values():
            if "langgraph_nodes" in part:
                wanted = part["langgraph_nodes"]
                part["langgraph_nodes"] = [name for name in self.nodes if name.rpartition(".")[2] in wanted]
        return schema

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Drawn here: LangGraph's own sends the graph to a drawing service on the internet."""
        from graphs._picture import picture_of

        return picture_of(self)._repr_mimebundle_()


class Builder(StateGraph[Any, Any, Any, Any]):
    """A `StateGraph` with our `Context` that compiles to a `Pattern`."""

    def __init__(self, state_schema: type[Any], context_schema: type[Any] | None = Context, **options: Any) -> None:
        super().__init__(state_schema, context_schema, **options)

    def compile(
        self, checkpointer: Any = None, *, context: Context | dict[str, Any] | None = None, **options: Any
    ) -> Pattern:
        """As LangGraph's; `context` is for every run that is given none."""
        compiled: Any = super().compile(checkpointer, **options)
        # `StateGraph.compile` names its class; all our class adds is methods and one attribute.
        compiled.__class__ = Pattern
        compiled.bound = None if context is None else as_context(context, Context())
        compiled.config = {"recursion_limit": STEPS}
        pattern: Pattern = compiled
        return pattern

    def add_node(self, *args: Any, metadata: dict[str, Any] | None = None, **options: Any) -> Any:
        """As LangGraph's; Studio gets what the node does, which it does not read from docstrings."""
        says = inspect.getdoc(args[-1]) if callable(args[-1]) else None
        told = {"description": says.partition("\n")[0]} if says else {}
        return super().add_node(*args, metadata={**told, **(metadata or {})} or None, **options)

    def include(self, other: "Builder", prefix: str, *, shared: Collection[str]) -> str:
        """Copies another's nodes under a prefix, with the ways between them; gives the node that its intake leads to.

        Where it leads to one of the `shared` nodes, it leads to the one of that name here.
        """

        def own(name: str) -> str:
            return name if name in (START, END, *shared) else f"{prefix}{name}"

        for name, spec in other.nodes.items():
            if name not in shared:
                self.add_node(own(name), spec.runnable, input_schema=spec.input_schema, metadata=spec.metadata)
        for start, end in other.edges:
            if start not in (START, *shared):
                self.add_edge(own(start), own(end))
        for start, branches in other.branches.items():
            for branch in branches.values() if start not in shared else ():
                ends = {said: own(end) for said, end in (branch.ends or {}).items()}
                self.add_conditional_edges(own(start), _sending(branch.path, own), ends)
        [entry] = [own(end) for start, end in other.edges if start == "intake"]
        return entry


def _sending(path: Any, own: Callable[[str], str]) -> Any:
    """A router whose sends go to the nodes under their own names here."""
    router = path.afunc

    @wraps(router)
    async def route(state: Any) -> Any:
        found = await router(state)
        if not isinstance(found, list):
            return found
        return [Send(own(one.node), one.arg) if isinstance(one, Send) else one for one in found]

    return route
