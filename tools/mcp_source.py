"""`mcp:COMMAND ...` or `mcp:URL` in the setting `tools`: the tools of an MCP server, over stdio or streamable HTTP.

A server's `readOnlyHint` of a tool is believed, since a person named the server; any other tool is a write. Each call
has a session of its own, so no server outlives it. Leaves out: state between calls, resources, prompts, images.
"""

import logging
import math
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import anyio
import httpx

from state.errors import InputError, ToolFailed, shorten
from state.extras import extra
from state.masking import without_passwords
from tools.described import not_too_large, plain_names, plain_schema, plain_words
from tools.mcp_wire import over_http, over_stdio
from tools.settings import ToolSettings
from tools.tool import Tool, ToolEnv

logging.getLogger("mcp").addHandler(logging.NullHandler())  # else its tracebacks go to a terminal that set up no log
_SECONDS = 60.0
_BEGINS = 30.0
"""Seconds until a session stands, and for the list of tools; a first start may have to load the server's packages."""
_PAGES = 50
_TOOLS = 1000


async def load(words: list[str], settings: ToolSettings) -> list[Tool]:
    """The tools of the server that the words start, or of the one at an address."""
    if os.environ.get("FORETHOUGHT_MCP") == "off":
        raise InputError("MCP servers are switched off here (FORETHOUGHT_MCP=off)")
    try:
        async with _session(words, settings, for_all=True) as session:
            found = await _listed(session)
        names = plain_names(one.name for one in found)
        return [_tool(one, names[one.name], words, settings) for one in {one.name: one for one in found}.values()]
    except (ToolFailed, InputError) as error:
        server = shorten(without_passwords(" ".join(words)))
        raise InputError(f"the MCP server {server!r} can't be used: {error}") from error


async def _listed(session: Any) -> list[Any]:
    """All that it offers, page by page."""
    found: list[Any] = []
    cursor = None
    for _ in range(_PAGES):
        page = await session.list_tools(cursor)
        found += page.tools
        if len(found) > _TOOLS:
            raise ToolFailed(f"it offers more than {_TOOLS} tools")
        if not (cursor := page.nextCursor):
            return found
    raise ToolFailed(f"its list of tools has no end after {_PAGES} pages")


def _tool(described: Any, name: str, words: list[str], settings: ToolSettings) -> Tool:
    hints = described.annotations
    reads = bool(hints and hints.readOnlyHint)
    destroys = not reads and (hints is None or hints.destructiveHint is not False)

    async def run(args: dict[str, Any], env: ToolEnv) -> Any:
        started = False
        try:
            async with _session(words, settings) as session:
                started = True
                answer = await session.call_tool(described.name, args)
        except ToolFailed as error:
            error.nothing_happened = reads or not started
            raise
        return _content(answer, name, reads)

    schemas = [plain_schema(described.inputSchema), plain_schema(described.outputSchema)]
    return Tool(
        name=name, description=plain_words(described.description or name, 500), run=run,
        args_schema=not_too_large(schemas[0], name), output_schema=not_too_large(schemas[1], name),
        effect="read" if reads else "write",
        untrusted=True, timeout=_SECONDS, server=_server(words),
        tags=("destructive",) if destroys else (),
    )  # fmt: skip


def _server(words: list[str]) -> str:
    """A short name of the server, for names that two have."""
    last = httpx.URL(words[0]).host if _is_url(words) else Path(words[0]).name
    return "".join(letter if letter.isalnum() else "_" for letter in last)


def _is_url(words: list[str]) -> bool:
    return words[0].startswith(("http://", "https://"))


def _content(answer: Any, name: str, reads: bool) -> Any:
    """Structured content as it is, else the texts as one."""
    text = "\n".join(part.text for part in answer.content if part.type == "text")
    if answer.isError:
        raise ToolFailed(f"{name}: {shorten(text, 300) or 'it failed and said nothing'}", nothing_happened=reads)
    return answer.structuredContent if answer.structuredContent is not None else text


@asynccontextmanager
async def _session(words: list[str], settings: ToolSettings, *, for_all: bool = False) -> AsyncIterator[Any]:
    """A session that is ended with the block, and with it the process; what goes wrong around it is one line.

    It must begin in time; `for_all`: what is done in it as well.
    """
    try:
        from mcp import ClientSession
    except ImportError as error:
        raise ToolFailed(f"MCP servers need the package {error.name}: install {extra('mcp')}") from error
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        try:
            with anyio.fail_after(_BEGINS) as time:
                async with _streams(words, settings, said) as (receive, send), ClientSession(receive, send) as session:
                    await session.initialize()
                    time.deadline = time.deadline if for_all else math.inf
                    yield session
        except (ToolFailed, GeneratorExit):
            raise
        except Exception as error:
            raise ToolFailed(f"{_why(error)}{_last_line(said)}", "transient") from error


def _last_line(said: Any) -> str:
    """What the server said last on its standard error."""
    said.seek(max(0, said.seek(0, os.SEEK_END) - 20_000))
    lines = [line for line in said.read(20_000).splitlines() if line.strip()]
    return f"; it said: {shorten(lines[-1])}" if lines else ""


def _streams(words: list[str], settings: ToolSettings, said: Any) -> Any:
    return over_http(words[0], settings.private_hosts) if _is_url(words) else over_stdio(words, said)


def _why(error: BaseException) -> str:
    """The first thing that went wrong inside a group of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ToolFailed):
        return str(error)
    if isinstance(error, TimeoutError):
        return f"it did not answer within {_BEGINS:g} s"
    return shorten(str(error)) or type(error).__name__
