"""Which tools a run has, by name; a family is imported when it is first asked for.

Leaves out: which of them may run (`tools/policy.py`).
"""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from inspect import isfunction
from typing import Any

from state.errors import InputError, shorten
from tools.fallbacks import check_fallbacks
from tools.settings import ToolSettings
from tools.sources import is_source, tools_of
from tools.tool import Tool, as_tool

FAMILIES: dict[str, tuple[str, ...]] = {
    "calculator": ("calculator",),
    "code": ("run_python", "run_tests"),
    "documents": ("search",),
    "files": ("list_files", "read_file", "count_words", "write_file", "copy_file", "compress"),
    "finance": ("stock_quote",),
    "http": ("http_get", "http_send"),
    "mail": ("send_mail",),
    "news": ("news_search",),
    "shop": (
        "order_status",
        "order_logistics",
        "refund_policy",
        "order_refunds",
        "submit_refund",
        "withdraw_refund",
    ),
    "sql": ("sql_tables", "sql_query", "sql_execute"),
    "weather": ("weather",),
    "web": ("web_search", "fetch_page"),
    "words": ("extract", "translate", "summarise"),
}
"""Each built-in family, a module of this package, and the tools that its `tools(settings)` gives."""
ON_REQUEST = frozenset({"code", "finance", "http", "news", "shop", "sql"})
"""Families that a run has only if they, or a tool of theirs, are named."""
STANDARD = "standard"
"""Names all families together that a run has when none are named."""
_FAMILY_OF = {name: family for family, names in FAMILIES.items() for name in names}


def built_in(name: str) -> bool:
    """Whether a tool of that name comes with this project."""
    return name in _FAMILY_OF


def on_request(name: str) -> bool:
    """Whether a built-in tool is in use only where it, or its family, is named."""
    return _FAMILY_OF.get(name) in ON_REQUEST


class Catalogue(Mapping[str, Tool]):
    """Tools by name. `catalogue[name]` raises `InputError` for an unknown one, with close names; `get` gives None."""

    def __init__(self, tools: Iterable[Tool] = (), away: Mapping[str, str] | None = None) -> None:
        self._tools: dict[str, Tool] = {}
        self.away = dict(away or {})
        """Tools that a run has and can't use at this moment, and why."""
        for tool in tools:
            if tool.name in self._tools:
                raise InputError(f"two tools are called {tool.name!r}; give one of them another name, or leave one out")
            self._tools[tool.name] = tool

    def __getitem__(self, name: str) -> Tool:
        if name in self._tools:
            return self._tools[name]
        raise InputError(unknown(name, self._tools))

    def get(self, name: str, default: Any = None) -> Any:
        """The tool, or the default when there is none of that name."""
        return self._tools.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    @property
    def names(self) -> list[str]:
        """All names, in the order given."""
        return list(self._tools)


def catalogue(sources: list[Any] | None, settings: ToolSettings) -> Catalogue:
    """The tools of a run: names of tools or families, functions, LangChain tools, `Tool`s.

    None, or the name "standard": all built-in ones but those on request and those that can't work for lack of a key; a
    planner would only run into them.
    """
    if isinstance(sources, str):
        raise InputError(f"tools should be a list, got the text {shorten(sources)!r}; right would be [{sources!r}]")
    given = [STANDARD] if sources is None else sources
    made = Catalogue(_apart(tool for source in given for tool in _tools_of(source, settings)))
    check_fallbacks(made)
    return made


def _apart(tools: Iterable[Tool]) -> Iterator[Tool]:
    """Puts the server's name before a name that another tool has; its own tools can't be renamed by the user."""
    found = list(tools)
    taken = {tool.name for tool in found if not tool.server}
    for tool in found:
        own = tool.name in taken and tool.server
        yield replace(tool, name=f"{tool.server}_{tool.name}") if own else tool
        taken.add(tool.name)


def unknown(name: str, known: Iterable[str]) -> str:
    """The message about a name that no tool has."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=3)
    offer = f"did you mean {' or '.join(close)}?" if close else f"there is: {', '.join(names) or 'none'}"
    return f"there is no tool {shorten(name)!r}; {offer}"


def describe(tool: Tool) -> dict[str, Any]:
    """What a planner is told about a tool."""
    return {
        "name": tool.name,
        "description": tool.description,
        "args": tool.args_schema,
        "returns": tool.output_schema,
        "effect": tool.effect,
    }


def _tools_of(source: Any, settings: ToolSettings) -> list[Tool]:
    if not isinstance(source, str):
        return [_made_of(source) if isfunction(source) else as_tool(source)]
    if source == STANDARD:
        return [tool for name in FAMILIES if name not in ON_REQUEST for tool in _family(name, settings).values()
                if tool.available]  # fmt: skip
    if is_source(source):
        return tools_of(source, settings)
    if source in FAMILIES:
        return list(_family(source, settings).values())
    if source in _FAMILY_OF:
        return [_family(_FAMILY_OF[source], settings)[source]]
    raise InputError(unknown(source, dict.fromkeys([*_FAMILY_OF, *FAMILIES, STANDARD])))


@lru_cache(maxsize=64)  # every node of a run asks, and schemas take milliseconds to make
def _family(name: str, settings: ToolSettings) -> dict[str, Tool]:
    return {tool.name: tool for tool in import_module(f"tools.{name}").tools(settings)}


@lru_cache(maxsize=256)
def _made_of(function: Callable[..., Any]) -> Tool:
    return as_tool(function)
