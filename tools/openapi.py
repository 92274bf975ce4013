"""An OpenAPI 3 document as tools: GET and HEAD are reads, everything else is a write with an Idempotency-Key.

Arguments are checked by the document's schemas before anything is sent, and a tool asks no host but the document's.
Leaves out: bodies that are not JSON, cookies, OAuth, and references to other files.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urljoin

from state.context import env as variable
from state.errors import InputError, ToolFailed, shorten
from tools.described import plain_name, plain_words
from tools.exchange import Request, exchanged
from tools.openapi_schema import Document, loosened
from tools.tool import Tool, ToolEnv

_METHODS = ("get", "head", "post", "put", "patch", "delete")
_PLACES = ("path", "query", "header")


@dataclass(frozen=True)
class Service:
    """What all tools of a document share."""

    document: Document
    base: str
    private_hosts: tuple[str, ...]
    key_variable: str


def openapi_tools(
    document: Mapping[str, Any], *, base: str = "", source: str = "", private_hosts: tuple[str, ...] = (), key: str = ""
) -> list[Tool]:
    """The tools of a document; `base` is another address than its own, `key` the variable with its key."""
    read = Document(document)
    service = Service(read, _base(document, base, source), private_hosts, key)
    found = [
        _tool(service, path, method, operation, [*item.get("parameters", []), *operation.get("parameters", [])])
        for path, item in read.paths()
        for method, operation in item.items()
        if method in _METHODS and isinstance(operation, dict) and _can(read, operation)
    ]
    if not found:
        raise InputError("the OpenAPI document has no operation that takes JSON or nothing; there is no tool in it")
    return found


def _can(document: Document, operation: Mapping[str, Any]) -> bool:
    """Whether it can be asked: its body is JSON, or need not be there."""
    body = document.followed(operation.get("requestBody") or {})
    return not body.get("required") or _json(body.get("content")) is not None


def _json(content: Any) -> Any:
    """The part of a content that is JSON."""
    return next((part for media, part in (content or {}).items() if media.split(";")[0].endswith("json")), None)


def _base(document: Mapping[str, Any], base: str, source: str) -> str:
    server = (document.get("servers") or [{"url": "/"}])[0]
    url = str(server.get("url", "/"))
    for name, value in (server.get("variables") or {}).items():
        url = url.replace(f"{{{name}}}", str(value.get("default", "")))
    found = base or (urljoin(source, url) if source.startswith("http") else url)
    if not found.startswith(("http://", "https://")):
        raise InputError(
            f"the OpenAPI document names the server {shorten(url)!r}, no whole address; give base=https://..."
        )
    return found.rstrip("/")


def _tool(service: Service, path: str, method: str, operation: Mapping[str, Any], given: list[Any]) -> Tool:
    parameters = {
        (one["in"], one["name"]): one for one in map(service.document.followed, given) if one["in"] in _PLACES
    }
    names = dict(_names(parameters))
    body = service.document.followed(operation.get("requestBody") or {})
    wanted = _json(body.get("content"))
    properties = {name: _described(service, parameters[place]) for name, place in names.items()}
    required = [name for name, place in names.items() if parameters[place].get("required")]
    if wanted is not None:
        properties["body"] = service.document.schema(wanted.get("schema") or {})
        required += ["body"] if body.get("required") else []
    writes = method not in ("get", "head")

    async def run(args: dict[str, Any], env: ToolEnv) -> Any:
        request = _request(service, path, method, names, args, env.key if writes else "")
        return (await exchanged(request, service.private_hosts)).content

    said = operation.get("summary") or operation.get("description") or f"{method.upper()} {path}"
    return Tool(
        name=plain_name(str(operation.get("operationId") or f"{method} {path}")), description=plain_words(said),
        run=run, untrusted=True,
        args_schema=service.document.whole({"type": "object", "properties": properties, "required": required,
                                            "additionalProperties": False}),
        output_schema=_output(service, operation), effect="write" if writes else "read",
        key_variable=service.key_variable,
    )  # fmt: skip


def _names(parameters: Mapping[tuple[str, str], Any]) -> Iterator[tuple[str, tuple[str, str]]]:
    """The name of each parameter as an argument; of equal ones the later tells its place."""
    taken = {"body"}
    for place, name in parameters:
        free = name if name not in taken else f"{name}_{place}"
        taken.add(free)
        yield free, (place, name)


def _described(service: Service, parameter: Mapping[str, Any]) -> Any:
    schema = service.document.schema(parameter.get("schema") or {})
    said = parameter.get("description")
    return {**schema, "description": plain_words(said)} if said and "$ref" not in schema else schema


def _output(service: Service, operation: Mapping[str, Any]) -> Any:
    """What comes out, as far as the document says; loosely, since services add and leave out."""
    replies = operation.get("responses") or {}
    good = next((reply for code, reply in replies.items() if str(code).startswith("2")), None)
    part = _json(service.document.followed(good or {}).get("content"))
    return (
        service.document.whole(loosened(service.document.schema(part["schema"])), loosely=True)
        if part and "schema" in part
        else None
    )


def _request(
    service: Service, path: str, method: str, names: Mapping[str, tuple[str, str]], args: Mapping[str, Any], key: str
) -> Request:
    parts: dict[str, dict[str, Any]] = {place: {} for place in _PLACES}
    for name, value in args.items():
        if name in names and value is not None:
            place, given = names[name]
            parts[place][given] = value
    for name, value in parts["path"].items():
        if str(value) in ("", ".", ".."):
            raise ToolFailed(f"{name} {value!r} is no part of a path", "invalid_arguments")
        path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
    headers = {name: str(value) for name, value in parts["header"].items()} | ({"Idempotency-Key": key} if key else {})
    secret_headers, secret_params = _secrets(service)
    query = {name: _plain(value) for name, value in parts["query"].items()}
    return Request(method.upper(), service.base + path, query, headers, args.get("body"), secret_headers, secret_params)


def _plain(value: Any) -> Any:
    return (
        str(value).lower() if isinstance(value, bool) else [*map(_plain, value)] if isinstance(value, list) else value
    )


def _secrets(service: Service) -> tuple[dict[str, str], dict[str, str]]:
    """The key, where the document wants it: a header, a parameter, else as a bearer token."""
    if not service.key_variable:
        return {}, {}
    key = (variable(service.key_variable) or "").strip()
    if not key:
        raise ToolFailed(f"the key of this service is not set; set {service.key_variable}", "auth")
    for scheme in service.document.security():
        if scheme.get("type") == "apiKey" and scheme.get("in") in ("header", "query"):
            named = {str(scheme["name"]): key}
            return (named, {}) if scheme["in"] == "header" else ({}, named)
    return {"Authorization": f"Bearer {key}"}, {}
