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
from tools.openapi_values import as_text, in_query
from tools.tool import Tool, ToolEnv

_METHODS = ("get", "head", "post", "put", "patch", "delete")
_PLACES = ("path", "query", "header")
_NOT_GIVEN = {"accept", "content-type", "authorization", "host", "connection", "content-length", "transfer-encoding"}
"""Headers that are no parameters, by OpenAPI or by HTTP itself."""


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
    writes = method not in ("get", "head")
    ours = _NOT_GIVEN | ({"idempotency-key"} if writes else set())
    parameters = {
        (one["in"], one["name"]): one
        for one in map(service.document.followed, given)
        if one["in"] in _PLACES and not _is_ours(one, service, ours)
    }
    names = dict(_names(parameters))
    body = service.document.followed(operation.get("requestBody") or {})
    wanted = _json(body.get("content"))
    properties = {name: _described(service, parameters[place]) for name, place in names.items()}
    required = [name for name, place in names.items() if parameters[place].get("required")]
    if wanted is not None:
        properties["body"] = service.document.schema(wanted.get("schema") or {})
        required += ["body"] if body.get("required") else []

    async def run(args: dict[str, Any], env: ToolEnv) -> Any:
        values = {place: (value, parameters[place]) for name, place in names.items()
                  if (value := args.get(name)) is not None}  # fmt: skip
        request = _request(service, path, method, values, args.get("body"), env.key if writes else "")
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
    service: Service, path: str, method: str, values: Mapping[tuple[str, str], tuple[Any, Any]], body: Any, key: str
) -> Request:
    query: dict[str, Any] = {}
    headers: dict[str, str] = {}
    for (place, name), (value, parameter) in values.items():
        if place == "query":
            query |= in_query(name, value, parameter)
        elif place == "header":
            headers[name] = as_text(value, parameter)
        else:
            path = path.replace(f"{{{name}}}", quote(_part(name, as_text(value, parameter)), safe=""))
    headers |= {"Idempotency-Key": key} if key else {}
    secret_headers, secret_params = _secrets(service)
    return Request(method.upper(), service.base + path, query, headers, body, secret_headers, secret_params)


def _part(name: str, value: str) -> str:
    if value in ("", ".", ".."):
        raise ToolFailed(f"{name} {value!r} is no part of a path", "invalid_arguments")
    return value


def _is_ours(parameter: Mapping[str, Any], service: Service, ours: set[str]) -> bool:
    """Whether a parameter is not the model's to give: the key of the service, or what HTTP itself says."""
    place, name = parameter["in"], str(parameter["name"])
    if place == "header":
        ours = ours | {key.lower() for key in _key_names(service, "header")}
        return name.lower() in ours
    return place == "query" and name in _key_names(service, "query")


def _key_names(service: Service, place: str) -> set[str]:
    """Under which names the key of the service goes, if it has one."""
    schemes = service.document.security() if service.key_variable else ()
    return {str(one.get("name")) for one in schemes if one.get("type") == "apiKey" and one.get("in") == place}


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
