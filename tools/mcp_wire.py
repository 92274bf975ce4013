"""The two ways to an MCP server, each with a cap on what the server may send in a session.

The library's own way over stdio reads a line however long it is, and its HTTP one takes any body; so the process is
started here, and the HTTP transport counts.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import httpx
from anyio import BrokenResourceError, ClosedResourceError, EndOfStream, IncompleteRead
from anyio.streams.buffered import BufferedByteReceiveStream

from state.errors import ToolFailed
from tools.hosts import addresses
from tools.unpacking import Unpacker

MOST = 10_000_000
"""Bytes of one session."""
_SECONDS = 60.0
_LEAVE = 2.0
"""Seconds that a server has to end by itself once nobody asks it any more."""


def too_much() -> ToolFailed:
    """What ends a session in which the server sent more than it may."""
    return ToolFailed(f"it sent more than {MOST / 10**6:g} MB; ask for less, or use another server", "unusable_reply")


@asynccontextmanager
async def over_stdio(words: list[str], said: Any) -> AsyncIterator[tuple[Any, Any]]:
    """Starts a server; what it says on its standard error goes to a file. It ends with the block, and its children."""
    from mcp.client.stdio import get_default_environment

    process = await anyio.open_process(words, stderr=said, env=get_default_environment(), start_new_session=True)
    heard, received = anyio.create_memory_object_stream[Any](0)
    sent, told = anyio.create_memory_object_stream[Any](0)
    try:
        async with received, sent, anyio.create_task_group() as tasks:
            tasks.start_soon(_hear, process.stdout, heard)
            tasks.start_soon(_tell, process.stdin, told)
            yield received, sent
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _ended(process)


async def _hear(stdout: Any, heard: Any) -> None:
    """The server's messages, one a line; a line that is none is passed over, as some servers print what they do."""
    from mcp.shared.message import SessionMessage
    from mcp.types import JSONRPCMessage

    lines, left = BufferedByteReceiveStream(stdout), MOST
    async with heard:
        with suppress(EndOfStream, IncompleteRead, ClosedResourceError, BrokenResourceError):
            while True:
                try:
                    line = await lines.receive_until(b"\n", left)
                except anyio.DelimiterNotFound as error:
                    raise too_much() from error
                left = max(0, left - len(line) - 1)
                with suppress(ValueError):
                    await heard.send(SessionMessage(JSONRPCMessage.model_validate_json(line)))


async def _tell(stdin: Any, told: Any) -> None:
    async with told:
        with suppress(ClosedResourceError, BrokenResourceError):
            async for message in told:
                line = message.message.model_dump_json(by_alias=True, exclude_none=True)
                await stdin.send(f"{line}\n".encode())


async def _ended(process: anyio.abc.Process) -> None:
    from mcp.os.posix.utilities import terminate_posix_process_tree

    with suppress(OSError, BrokenResourceError):
        if process.stdin:
            await process.stdin.aclose()
    with anyio.move_on_after(_LEAVE):
        await process.wait()
    if process.returncode is None:
        await terminate_posix_process_tree(process)
    await process.aclose()


@asynccontextmanager
async def over_http(url: str, private_hosts: tuple[str, ...]) -> AsyncIterator[tuple[Any, Any]]:
    """A server at an address, asked only where that may be fetched."""
    from mcp.client.streamable_http import streamable_http_client

    transport = _Checked(private_hosts)
    async with (
        anyio.create_task_group() as tasks,
        httpx.AsyncClient(transport=transport, timeout=_SECONDS) as http,
        streamable_http_client(url, http_client=http) as (receive, send, _),
    ):
        tasks.start_soon(transport.watch)
        yield receive, send
        tasks.cancel_scope.cancel()


class _Checked(httpx.AsyncHTTPTransport):
    """Connects to no address that may not be fetched, by the look-up that was checked, request by request."""

    def __init__(self, private_hosts: tuple[str, ...]) -> None:
        super().__init__()
        self._private_hosts = private_hosts
        self._left = MOST
        self._over = anyio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        found = await addresses(request.url, self._private_hosts)
        request.extensions = {**request.extensions, "sni_hostname": request.url.raw_host.decode("ascii")}
        request.url = request.url.copy_with(host=found[0])
        reply = await super().handle_async_request(request)
        unpacker = Unpacker(reply.headers.pop("content-encoding", ""))
        reply.stream = _Counted(reply.stream, lambda piece: self._taken(unpacker.push(piece, self._left + 1)))
        return reply

    async def _taken(self, data: bytes) -> bytes:
        self._left -= len(data)
        if self._left < 0:
            self._over.set()
            await anyio.sleep_forever()  # the library would log an error and wait; whoever watches ends the session
        return data

    async def watch(self) -> None:
        """Raises once the server has sent too much."""
        await self._over.wait()
        raise too_much()


class _Counted(httpx.AsyncByteStream):
    """A body whose pieces go through a function."""

    def __init__(self, pieces: Any, taken: Any) -> None:
        self._pieces, self._taken = pieces, taken

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._pieces:
            yield await self._taken(piece)

    async def aclose(self) -> None:
        await self._pieces.aclose()
