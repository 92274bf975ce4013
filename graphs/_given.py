"""What a caller hands to a pattern, checked before LangGraph sees it: it drops or misreads what it does not know."""

from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from typing import Any
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph._internal._constants import CONF
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from pydantic import BaseModel

from nodes.memo import MEMO, Memo
from state.channels import State
from state.context import Context, make_context
from state.edits import check_edit
from state.errors import InputError, offer, shorten
from state.plain import clean_text, storable

RIGHT_INPUT = (
    'give {"task": "..."} for a new task, Command(resume=...) for an answer, None to go on with an unfinished run'
)

STEPS = 1000
"""Supersteps after which LangGraph stops a run: a backstop only, our own limits end it in a report."""
SUPERSTEPS = 12
"""How many a round takes at most: turn, decision, execution, people, check, answer, grading, reflection, plan anew."""


def check_input(given: Any) -> None:
    """Refuses what is no input, nor an answer."""
    if given == Command():
        raise InputError(f"an empty Command (resume=None?) answers nothing: {RIGHT_INPUT}")
    if given is not None and not isinstance(given, dict | Command | BaseModel) and not is_dataclass(given):
        raise InputError(f"input {shorten(given)} is a {type(given).__name__}: {RIGHT_INPUT}")


def check_keys(given: Any, builder: StateGraph[Any, Any, Any, Any]) -> None:
    """LangGraph drops a key that no channel has: a constraint with a slip in its name would protect nothing."""
    if isinstance(given, Command):
        check_way(given, builder)
        check_edits([[(given.update, None)]], builder)
    right: list[str] = [*getattr(builder.input_schema, "__annotations__", {})]
    for key in given if isinstance(given, dict) and right else ():
        if key not in right and key not in builder.channels:
            hint = f"; settings go into context={{{key!r}: ...}}" if key in Context.model_fields else ""
            raise InputError(f"the input has no key {shorten(str(key))!r}; it has: {', '.join(right)}{hint}")


def storable_input(given: Any, builder: StateGraph[Any, Any, Any, Any]) -> Any:
    """The input with its values as a checkpoint holds them: a saver stores it before any node looks at it."""
    if builder.state_schema is not State or not isinstance(given, dict):
        return given
    named = {name: given[name] for name in ("task", "constraints", "inputs") if name in given}
    inputs = named.pop("inputs", None)
    found = {name: _storable(name, value) for name, value in named.items()}
    if isinstance(inputs, dict):
        found["inputs"] = {name: _storable(f"input {shorten(str(name))!r}", inputs[name], within=1) for name in inputs}
    elif inputs is not None:
        found["inputs"] = _storable("inputs", inputs)
    return given | found


def _storable(name: str, value: Any, *, within: int = 0) -> Any:
    try:
        return storable(value, within=within)
    except ValueError as error:
        raise InputError(f"{name}: {error}, got {shorten(value)}") from error


def check_way(given: Command[Any], builder: StateGraph[Any, Any, Any, Any]) -> None:
    """A jump to a node would lead past the check of a plan, the people who are asked, and the request itself."""
    if (given.goto or given.graph) and builder.state_schema is State:
        where = f"goto={shorten(given.goto)}" if given.goto else f"graph={shorten(given.graph)}"
        raise InputError(
            f"Command({where}) is not taken: {RIGHT_INPUT}; graphs.fork(graph, thread, at=..., into=...) goes another "
            "way from an earlier point"
        )


def check_updates(supersteps: Any, config: Any, builder: StateGraph[Any, Any, Any, Any]) -> None:
    """Refuses what is no list of edits, each with the node that it stands for."""
    rows = [*supersteps] if isinstance(supersteps, list | tuple) else []
    updates = [update for row in rows if isinstance(row, list | tuple) for update in row]
    if not updates or not all(isinstance(row, list | tuple) and row for row in rows):
        raise InputError(f"edits {shorten(supersteps)} are no list of lists, such as [[(values, node)]]")
    for update in updates:
        if not isinstance(update, list | tuple) or len(update) not in (2, 3):
            raise InputError(f"the edit {shorten(update)} is no pair of values and node, such as (values, 'decide')")
        known = [None, START, "__input__", "__copy__", *([END] if update[0] is None else []), *builder.nodes]
        if update[1] not in known and not config[CONF].get("checkpoint_ns"):  # which is of a graph within this one
            raise InputError(
                f"as_node={shorten(update[1])}: there is no such node; {offer(str(update[1]), builder.nodes)}"
            )


def check_edits(supersteps: Iterable[Iterable[Any]], builder: StateGraph[Any, Any, Any, Any]) -> None:
    """Refuses edits of a thread that its graph could not read; LangGraph stores them first and fails then, for ever."""
    if builder.state_schema is not State:
        return
    for values, as_node, *_ in (update for superstep in supersteps for update in superstep):
        copied = as_node == "__copy__" and isinstance(values, list)
        for edit in [item[0] for item in values if isinstance(item, list | tuple) and item] if copied else [values]:
            if edit is not None:
                check_edit(edit)


def check_config(config: RunnableConfig | None) -> None:
    """LangChain drops what it does not know."""
    if config is not None and not isinstance(config, Mapping):
        raise InputError(f'config {shorten(config)} is a {type(config).__name__}: give a mapping with "configurable"')
    for key in config or {}:
        if key in Context.model_fields and key not in RunnableConfig.__annotations__:
            raise InputError(f"{key!r} is no part of LangGraph's config; settings go into context={{{key!r}: ...}}")


def check_limit(config: RunnableConfig, builder: StateGraph[Any, Any, Any, Any]) -> None:
    """A limit of the caller's ends a run in a report, where it leaves room for one."""
    limit = config["recursion_limit"]
    if limit < SUPERSTEPS and builder.state_schema is State:
        raise InputError(
            f"recursion_limit={limit} leaves no room for a round and its report: give at least {SUPERSTEPS}, or none, "
            "and limits={...} in the context"
        )


def check_thread(config: RunnableConfig) -> None:
    """A thread has a name that every saver can hold."""
    right = 'right would be {"configurable": {"thread_id": "..."}}'
    if "thread_id" not in config[CONF]:
        raise InputError('with a checkpointer config names the thread: {"configurable": {"thread_id": "..."}}')
    name = config[CONF]["thread_id"]
    if not isinstance(name, str | int | UUID):
        raise InputError(f"thread_id is {shorten(name)} ({type(name).__name__}), and it must be a text; {right}")
    if clean_text(str(name)) != str(name):
        raise InputError(f"thread_id is {name!a}, with a character that can't be kept; {right}")


def without_foreign_limit(config: RunnableConfig | None) -> RunnableConfig | None:
    """Drops a recursion limit that a library filled in; one that the caller gave stays.

    LangGraph's default (10,007) has a type of its own; LangChain's (25) comes in a config with every key filled in.
    """
    limit = (config or {}).get("recursion_limit")
    filled = limit == 25 and {"tags", "metadata", "callbacks", "configurable"} <= (config or {}).keys()
    if config is None or (type(limit) is int and not filled):
        return config
    return {key: value for key, value in config.items() if key != "recursion_limit"}  # type: ignore[return-value]


def with_room(config: RunnableConfig | None, is_ours: bool, rounds: int) -> RunnableConfig | None:
    """Room for all rounds that a run may have: LangGraph's own limit would end it without a report.

    `is_ours`: the limit that holds is none of the caller's.
    """
    if not is_ours or "recursion_limit" in (config or {}):
        return config
    return {**(config or {}), "recursion_limit": max(STEPS, SUPERSTEPS * rounds)}


def with_memo(config: RunnableConfig | None, memo: Memo) -> RunnableConfig:
    """With the memo of this call, whatever the call around it has."""
    given = config or {}
    return {**given, CONF: {**(given.get(CONF) or {}), MEMO: memo}}


def as_context(given: Any, default: Context) -> Context:
    """A whole `Context` stands alone; a dict of settings is laid over the default."""
    if given is None or isinstance(given, Context):
        return given or default
    if not isinstance(given, dict):
        raise InputError(
            f"context {shorten(given)} is a {type(given).__name__}: give a Context or a dict of its settings"
        )
    return make_context(**{name: getattr(default, name) for name in default.model_fields_set} | given)
