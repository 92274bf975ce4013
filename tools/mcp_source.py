"""`mcp:COMMAND ...` or `mcp:URL` in the setting `tools`: the tools of an MCP server, over stdio or streamable HTTP.

A server's `readOnlyHint` of a tool is believed, since a person named the server; any other tool is a write. Each call
has a session of its own, so no server outlives it. Leaves out: state between calls, resources, prompts, images.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import httpx

from state.errors import InputError, ToolFailed, shorten
from tools.hosts import addresses
from tools.settings import ToolSettings
from tools.tool import Tool, ToolEnv

_SECONDS = 60.0
_PAGES = 50


async def load(words: list[str], settings: ToolSettings) -> list[Tool]:
    """The tools of the server that the words start, or of the one at an address."""
    if os.environ.get("FORETHOUGHT_MCP") == "off":
        raise InputError("MCP servers are switched off here (FORETHOUGHT_MCP=off)")
    try:
        async with _session(words, settings) as session:
            found, cursor = [], None
            for _ in range(_PAGES):
                page = await session.list_tools(cursor)
                found += page.tools
                if not (cursor := page.nextCursor):
                    break
    except ToolFailed as error:
        raise InputError(f"the MCP server {shorten(' '.join(words))!r} can't be used: {error}") from error
    return [_tool(one, words, settings) for one in found]


def _tool(described: Any, words: list[str], settings: ToolSettings) -> Tool:
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
        return _content(answer, described.name, reads)

    return Tool(
        name=described.name, description=shorten(described.description or described.name, 500), run=run,
        args_schema=described.inputSchema, output_schema=described.outputSchema, effect="read" if reads else "write",
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
async def _session(words: list[str], settings: ToolSettings) -> AsyncIterator[Any]:
    """A session that is ended with the block, and with it the process; what goes wrong around it is one line."""
    try:
        from mcp import ClientSession
    except ImportError as error:
        raise ToolFailed(f"MCP servers need the package {error.name}: install the extra mcp") from error
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        try:
            async with _streams(words, settings, said) as (receive, send), ClientSession(receive, send) as session:
                await session.initialize()
                yield session
        except (ToolFailed, GeneratorExit):
            raise
        except Exception as error:
            said.seek(0)
            lines = [line for line in said.read(20_000).splitlines() if line.strip()] or [""]
            raise ToolFailed(
                f"{_why(error)}{'; it said: ' if lines[-1] else ''}{shorten(lines[-1])}", "transient"
            ) from error


@asynccontextmanager
async def _streams(words: list[str], settings: ToolSettings, said: Any) -> AsyncIterator[tuple[Any, Any]]:
    if _is_url(words):
        from mcp.client.streamable_http import streamable_http_client

        async with (
            httpx.AsyncClient(transport=_Checked(settings.private_hosts), timeout=_SECONDS) as http,
            streamable_http_client(words[0], http_client=http) as (receive, send, _),
        ):
            yield receive, send
        return
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client

    async with stdio_client(StdioServerParameters(command=words[0], args=words[1:]), errlog=said) as streams:
        yield streams


class _Checked(httpx.AsyncHTTPTransport):
    """Connects to no address that may not be fetched, by the look-up that was checked, request by request."""

    def __init__(self, private_hosts: tuple[str, ...]) -> None:
        super().__init__()
        self._private_hosts = private_hosts

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        found = await addresses(request.url, self._private_hosts)
        request.extensions = {**request.extensions, "sni_hostname": request.url.raw_host.decode("ascii")}
        request.url = request.url.copy_with(host=found[0])
        return await super().handle_async_request(request)


def _why(error: BaseException) -> str:
    """The first thing that went wrong inside a group of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ToolFailed):
        return str(error)
    return shorten(str(error)) or type(error).__name__
