"""Plain HTTP: read an address, or send to one. Addresses outside the public internet must be named in private_hosts."""

from typing import Any, Literal

from typing_extensions import TypedDict

from state.errors import ToolFailed, shorten
from tools.exchange import Request, exchanged
from tools.settings import ToolSettings
from tools.tool import Tool, ToolEnv, read, write

Json = dict[str, Any] | list[Any] | str | int | float | bool | None


class Got(TypedDict):
    """An answer; body is JSON read, or text; url is where it was found after all redirects, without its query."""

    status: int
    url: str
    body: Any


def tools(settings: ToolSettings) -> list[Tool]:
    """Reading and sending."""

    async def http_get(url: str, params: dict[str, str | int | float | bool] | None = None) -> Got:
        """Reads an http or https address, such as an API's, with params as its query; JSON comes as data."""
        return await _got(Request("GET", _checked(url), params or {}))

    async def http_send(
        method: Literal["POST", "PUT", "PATCH", "DELETE"], url: str, env: ToolEnv, body: Json = None
    ) -> Got:
        """Sends JSON to an http or https address; a service that knows the header Idempotency-Key does it once."""
        return await _got(Request(method, _checked(url), headers={"Idempotency-Key": env.key}, body=body))

    async def _got(request: Request) -> Got:
        reply = await exchanged(request, settings.private_hosts)
        return {"status": reply.status, "url": reply.url, "body": reply.content}

    return [
        read(http_get, untrusted=True, one_service=False),
        write(http_send, untrusted=True, one_service=False),
    ]


def _checked(url: str) -> str:
    if not url.strip().lower().startswith(("http://", "https://")):
        wrong = f"url {shorten(url)!r} is no http or https address; right would be for example: https://example.org/api"
        raise ToolFailed(wrong, "invalid_arguments")
    return url.strip()
