"""A chat model at an OpenAI-compatible address.

It asks for a stream only where somebody watches or hears the pieces, and builds the same message either way. Retries,
typed replies and limits are in `nodes/ask.py`. Leaves out: images, audio, several choices, the Responses API.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from functools import lru_cache
from typing import Any

import httpx
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tracers._streaming import _StreamingCallbackHandler
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict, Field, PrivateAttr, SecretStr

from nodes.wire.assembly import Assembly, Piece
from nodes.wire.errors import WireError, refusal
from nodes.wire.feed import Feed
from nodes.wire.hearing import Hearer, hearer
from nodes.wire.request import Body, body_of, encoded, fitted, without
from nodes.wire.vectors import Vectors, joined, vectors_of
from state.errors import ToolFailed
from state.masking import without_passwords
from tools.unpacking import unpacked

OPENAI = "https://api.openai.com/v1"
CHAT = "/chat/completions"
BATCH = 128
"""Texts in one request for vectors; some servers take no more."""
PLACES = 100
"""Requests to one endpoint at a time; what is more waits in `nodes/wire/turns.py`, where it costs nothing."""
LONGEST_REPLY = 32_000_000
"""Bytes; what sends more is no chat completion."""


class Endpoint(BaseChatModel):
    """One model at one address; a client belongs to one event loop."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    model_name: str
    base_url: str = OPENAI
    api_key: SecretStr = SecretStr("")
    timeout: float = 120.0
    speaks_openai: bool = True
    """Takes every form of request that the protocol has."""
    transport: httpx.AsyncBaseTransport | None = Field(default=None, exclude=True)
    """In place of the network, for tests."""
    _client: httpx.AsyncClient | None = PrivateAttr(default=None)
    _left_out: list[str] = PrivateAttr(default_factory=list)
    _places: asyncio.Semaphore = PrivateAttr(default_factory=lambda: asyncio.Semaphore(PLACES))

    @property
    def _llm_type(self) -> str:
        return "openai-compatible"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name, "base_url": self.base_url}

    async def aclose(self) -> None:
        """Closes its connections; the next request opens new ones."""
        if self._client:
            await self._client.aclose()
        self._client = None

    @property
    def places(self) -> asyncio.Semaphore:
        """Whoever asks takes one for the time of the request."""
        return self._places

    @property
    def left_out(self) -> tuple[str, ...]:
        """Parts of requests that the server has refused and that are no longer sent."""
        return tuple(self._left_out)

    def opened(self) -> "Endpoint":
        """With its client made, which is better done off the event loop."""
        self._client = self._client or self._open()
        return self

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offers tools; `tool_choice` is the name of one, or auto, none, required."""
        offered = [convert_to_openai_tool(tool) for tool in tools]
        named = tool_choice in {tool["function"]["name"] for tool in offered}
        choice: Any = {"type": "function", "function": {"name": tool_choice}} if named else tool_choice
        return self.bind(tools=offered, tool_choice=choice, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise NotImplementedError("an endpoint is asked with `ainvoke`")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        watched = run_manager is not None and any(
            isinstance(h, _StreamingCallbackHandler) for h in run_manager.handlers
        )
        streams = watched or hearer() is not None
        body = body_of(self.model_name, messages, {**kwargs, "stop": stop}, stream=streams)
        for _ in range(len(body)):  # each turn leaves out one part more
            try:
                message = await self._ask(fitted(body, self._left_out), run_manager if watched else None)
                message.id = _id(run_manager)
                return ChatResult(generations=[ChatGeneration(message=message)])
            except WireError as error:
                if (less := without(fitted(body, self._left_out), error)) is None:
                    raise
                self._left_out.append(less[1])
        raise AssertionError("a request has no endless list of optional parts")

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text, in order; raises `WireError`."""
        parts = [texts[at : at + BATCH] for at in range(0, len(texts), BATCH)]
        return joined(
            [vectors_of(await self._post({"model": self.model_name, "input": [*part]}), len(part)) for part in parts]
        )

    async def _post(self, body: Body) -> str:
        """The text of a reply that is no stream."""
        try:
            self._client = self._client or self._open()
            response = await self._client.post(
                _url(self.base_url, "/embeddings"), content=encoded(body), headers=self._headers()
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._broken(error) from error
        if not response.is_success:
            raise refusal(response.status_code, response.headers, response.text[:LONGEST_REPLY])
        return response.text

    async def _ask(self, body: Body, watcher: AsyncCallbackManagerForLLMRun | None) -> AIMessage:
        assembly, feed = Assembly(), Feed()
        try:
            self._client = self._client or self._open()
            async with self._client.stream(
                "POST", _url(self.base_url), content=encoded(body), headers=self._headers()
            ) as response:
                if not response.is_success:
                    raise refusal(response.status_code, response.headers, await _text(response))
                async for records in _records(response, feed):
                    for record in records:
                        await _show(assembly.add(record), watcher, hearer())
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            if not isinstance(error, httpx.RemoteProtocolError | httpx.ReadError) or not assembly.is_complete(
                feed.done
            ):
                raise self._broken(error) from error
        return assembly.message(feed.done)

    def _open(self) -> httpx.AsyncClient:
        # no proxy and no certificates between a machine and itself; reading them takes a fifth of a second
        far = re.match(r"http://(localhost|127\.0\.0\.1|\[::1\])([:/]|$)", self.base_url) is None
        return httpx.AsyncClient(
            timeout=httpx.Timeout(self.timeout, connect=min(self.timeout, 20.0)),
            limits=httpx.Limits(max_connections=PLACES, max_keepalive_connections=20),
            transport=self.transport,
            verify=far,
            trust_env=far,
        )

    def _headers(self) -> dict[str, str]:
        key = self.api_key.get_secret_value()
        plain = {"Content-Type": "application/json", "Accept-Encoding": "gzip, deflate"}
        return {**plain, **({"Authorization": f"Bearer {key}"} if key else {})}

    def _broken(self, error: Exception) -> WireError:
        where = (
            httpx.URL(self.base_url).host
            if not isinstance(error, httpx.InvalidURL)
            else without_passwords(self.base_url)
        )
        said = str(error) or type(error).__name__
        if isinstance(error, httpx.TimeoutException):
            return WireError(f"no answer from {where} in time ({type(error).__name__})", "timeout")
        lasting = isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol | httpx.LocalProtocolError)
        return WireError(f"the connection to {where} failed: {said}", "bad_request" if lasting else "transient")


@lru_cache(maxsize=32)
def _url(base: str, what: str = CHAT) -> httpx.URL:
    """The address of what is asked; some give that of the chat itself as their endpoint."""
    url = httpx.URL(base)
    return url.copy_with(path=f"{url.path.rstrip('/').removesuffix(CHAT)}{what}")


async def _text(response: httpx.Response) -> str:
    pieces = [piece async for piece in _pieces(response)]
    return b"".join(pieces)[:LONGEST_REPLY].decode("utf-8", "replace")


async def _pieces(response: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for piece in unpacked(response, LONGEST_REPLY):
            yield piece
    except ToolFailed as error:
        raise WireError(f"the reply can't be read: {error}", "transient") from error


async def _records(response: httpx.Response, feed: Feed) -> AsyncIterator[list[Body]]:
    size = 0
    async for piece in _pieces(response):
        size += len(piece)
        if size > LONGEST_REPLY:
            raise WireError(f"the reply is longer than {LONGEST_REPLY:,} bytes", "permanent")
        yield feed.push(piece)
        if feed.done:  # some servers keep the connection open after the end mark
            return
    yield feed.close()


def _id(manager: AsyncCallbackManagerForLLMRun | None) -> str | None:
    """The same for the pieces and the whole, so that who watched the pieces does not get it twice."""
    return f"lc_run--{manager.run_id}" if manager else None


async def _show(piece: Piece, watcher: AsyncCallbackManagerForLLMRun | None, heard: Hearer | None) -> None:
    """Gives a piece to whoever hears the reply, and to whoever watches the tokens."""
    if heard is not None:
        heard.hear(piece)
    if watcher is None or not (piece.text or piece.reasoning):
        return
    extra = {"reasoning_content": piece.reasoning} if piece.reasoning else {}
    message = AIMessageChunk(content=piece.text, additional_kwargs=extra, id=_id(watcher))
    await watcher.on_llm_new_token(piece.text, chunk=ChatGenerationChunk(message=message))
