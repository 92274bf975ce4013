"""What a tool is, and how a function, a LangChain tool or one of ours becomes one.

Leaves out: running it under control, which is `nodes/call.py` alone.
"""

import inspect
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, get_type_hints

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model

from state.context import env
from state.errors import InputError, ToolFailed, shorten
from state.plan import Effect
from tools.at_work import in_thread
from tools.bounded import in_its_way

Schema = dict[str, Any]
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
AskText = Callable[[str, Any], Awaitable[str]]
"""Asks a model in a role: (instruction, data) -> text. Only tools that a model carries out use it."""


@dataclass(frozen=True)
class ToolEnv:
    """What a tool may use besides its arguments. A function gets it through a parameter annotated `ToolEnv`."""

    ask: AskText | None = None
    key: str = ""
    """The idempotency key of a write, for services that take one; empty for a read."""
    language: str = "en"
    """The language in which a model is asked: en or zh."""


@dataclass(frozen=True)
class Tool:
    """One callable thing: its name, what it takes and gives (JSON Schema), and whether it changes anything.

    What it is asked besides its work (lookup, business_key, compensate, refuse, probe) may be plain or async.
    """

    name: str
    description: str
    args_schema: Schema
    run: Callable[[dict[str, Any], ToolEnv], Awaitable[Any]]
    effect: Effect = "read"
    output_schema: Schema | None = None
    timeout: float = 30.0
    """Seconds after which a call counts as timed out, unless the step says otherwise."""
    untrusted: bool = False
    """Whether its output comes from outside (web, documents, mail) and must not be believed."""
    lookup: Callable[[dict[str, Any], str], Any] | None = None
    """For a write: (arguments, key) -> what it did, or None if it did nothing; asked when an outcome is unknown."""
    business_key: Callable[[dict[str, Any]], Any] | None = None
    """For a write: a key of the user's own that holds across requests, such as an invoice number."""
    compensate: Callable[[dict[str, Any], Any], Any] | None = None
    """For a write: (arguments, output) -> the call that undoes it, as (tool, arguments)."""
    refuse: Callable[[dict[str, Any]], Any] | None = None
    """Raises `ToolFailed` for arguments that can never do, before anyone is asked; some may not be known yet."""
    probe: Callable[[], Any] | None = None
    """Asks whether it works, without an effect: raises, or returns a text that says why it doesn't."""
    one_service: bool = True
    """Whether failures in a row say that it is down as a whole; not so where each call asks another host or file."""
    fallback: str = ""
    """For a read: the tool of the catalogue, with the same arguments, that may stand in when this one failed."""
    source: Any = field(default=None, compare=False, repr=False)
    """The function or tool that it was made of: its health is known by that, also when it is made anew."""
    uses_model: bool = False
    of_pattern: bool = False
    """Whether it is a part of a pattern, and none of the tools that a run is given and may allow or deny."""
    key_variable: str = ""
    """The environment variable with the key that it needs; without it a run has the tool only if it is named."""
    needs: str = ""
    """What must be installed or set for it, in words that `forethought tools` shows."""
    server: str = ""
    """The server that it comes from, which goes before its name where another tool has the same."""
    tags: tuple[str, ...] = field(default=())

    @property
    def available(self) -> bool:
        """Whether the key that it needs is set at this moment."""
        return not self.key_variable or env(self.key_variable) is not None


def tool(function: Callable[..., Any] | None = None, *, effect: Effect = "read", **fields: Any) -> Any:
    """Makes a `Tool` of a function; also a decorator: `@tool(effect="write", timeout=5)`."""
    if function is None:
        return partial(tool, effect=effect, **fields)
    return from_function(function, effect=effect, **fields)


def read(function: Callable[..., Any] | BaseTool, **fields: Any) -> Tool:
    """A tool that only looks; a LangChain tool is marked as one."""
    return _marked(function, "read", fields)


def write(function: Callable[..., Any] | BaseTool, **fields: Any) -> Tool:
    """A tool that changes something: it needs approval, and runs once."""
    return _marked(function, "write", fields)


def _marked(source: Any, effect: Effect, fields: dict[str, Any]) -> Tool:
    if isinstance(source, BaseTool):
        return replace(from_langchain(source), effect=effect, **fields)
    return from_function(source, effect=effect, **fields)


def from_function(function: Callable[..., Any], *, effect: Effect, **fields: Any) -> Tool:
    """A tool with its schemas read from the function's annotations and its description from the docstring."""
    name = fields.pop("name", None) or _name(function)
    if not _NAME.fullmatch(name):
        right = "give name=, 1 to 64 letters, digits, _ and -, as in read(f, name='look_up')"
        raise InputError(f"{name!r} is no name for a tool: {right}")
    hints = _hints(function, name)
    env = [key for key, hint in hints.items() if hint is ToolEnv]
    keys = [key for key in _parameters(function, name) if key not in env]
    model = _arguments(function, name, hints, keys)
    fields.setdefault("output_schema", _output_schema(hints.get("return", Any)))
    fields.setdefault("description", inspect.getdoc(_written(function)) or name)
    fields.setdefault("source", function)

    async def run(args: dict[str, Any], around: ToolEnv) -> Any:
        given = _validated(model, name, args)
        values = {key: getattr(given, f"field_{n}") for n, key in enumerate(keys)}
        return await in_its_way(function, **values, **dict.fromkeys(env, around))

    return Tool(name=name, args_schema=_plain(model.model_json_schema()), run=run, effect=effect, **fields)


def from_langchain(source: BaseTool) -> Tool:
    """A LangChain tool as it is. It counts as a write unless its metadata says `effect: read` or `readOnlyHint`."""
    spec = convert_to_openai_tool(source)["function"]
    hints = source.metadata or {}
    reads = hints.get("effect") == "read" or hints.get("readOnlyHint") is True

    async def run(args: dict[str, Any], around: ToolEnv) -> Any:
        if type(source)._arun is BaseTool._arun and getattr(source, "coroutine", None) is None:
            return await in_thread(partial(source.invoke, args))
        return await source.ainvoke(args)

    schema = spec.get("parameters") or {"type": "object", "properties": {}}
    effect: Effect = "read" if reads else "write"
    return Tool(
        name=spec["name"],
        description=spec.get("description") or source.name,
        args_schema=schema,
        run=run,
        effect=effect,
        source=source,
    )


def as_tool(source: Any) -> Tool:
    """Takes a `Tool`, a LangChain tool or a function; a bare function counts as a write, nobody said otherwise."""
    if isinstance(source, Tool):
        return source
    if isinstance(source, BaseTool):
        return from_langchain(source)
    if callable(source) and not isinstance(source, type):
        return from_function(source, effect="write")
    raise InputError(f"{source!r} is no tool: give a name, a function, tools.tool.read(function) or a LangChain tool")


def _written(function: Callable[..., Any]) -> Callable[..., Any]:
    """Where the annotations and the docstring stand: a partial's function, an object's `__call__`."""
    function = inspect.unwrap(function)
    if isinstance(function, partial):
        return _written(function.func)
    return function if inspect.isroutine(function) else type(function).__call__


def _name(function: Callable[..., Any]) -> str:
    inner = function.func if isinstance(function, partial) else function
    return str(getattr(inner, "__name__", type(inner).__name__))


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        return get_type_hints(_written(function), include_extras=True)
    except NameError as error:
        raise InputError(
            f"tool {name!r} has an annotation that can't be read: {error}; import it at run time"
        ) from error


def _parameters(function: Callable[..., Any], name: str) -> list[str]:
    found = inspect.signature(function).parameters
    for key, parameter in found.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise InputError(
                f"tool {name!r} takes {str(parameter)!r} with no name to give {key} by; a tool needs named parameters"
            )
    return list(found)


def _arguments(function: Callable[..., Any], name: str, hints: dict[str, Any], keys: list[str]) -> type[BaseModel]:
    """The arguments as a model; its fields are numbered, so that a parameter may be called `schema`, `copy` or `_x`."""
    found = inspect.signature(function).parameters
    fields: dict[str, Any] = {}
    for n, key in enumerate(keys):
        default = ... if found[key].default is inspect.Parameter.empty else found[key].default
        fields[f"field_{n}"] = (Annotated[hints.get(key, Any), Field(alias=key)], default)
    return create_model(
        f"{name}_arguments", __config__=ConfigDict(extra="forbid", arbitrary_types_allowed=True), **fields
    )


def _validated(model: type[BaseModel], name: str, args: dict[str, Any]) -> BaseModel:
    try:
        return model.model_validate(args)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "arguments"
        message = f"tool {name!r}: {where}: {first['msg']}, got {shorten(first['input'])}"
        raise ToolFailed(message, "invalid_arguments") from error


def _output_schema(hint: Any) -> Schema | None:
    if hint in (Any, inspect.Parameter.empty):
        return None
    try:
        schema: Schema = _plain(TypeAdapter(hint).json_schema(mode="serialization"))
        return schema
    except Exception:  # an output of a type without a schema is simply not described
        return None


def _plain(schema: Any) -> Any:
    """A schema without pydantic's titles, which only cost tokens; values that stand in it are left as they are."""
    if isinstance(schema, dict):
        kept = {k: v for k, v in schema.items() if not (k == "title" and isinstance(v, str))}
        return {k: v if k in ("default", "const", "enum", "examples") else _plain(v) for k, v in kept.items()}
    return [_plain(v) for v in schema] if isinstance(schema, list) else schema
