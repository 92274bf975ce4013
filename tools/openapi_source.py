"""`openapi:FILE` or `openapi:URL` in the setting `tools`, with `base=` and `key=` behind it where they are needed."""

import asyncio
import json
from typing import Any, NoReturn
from urllib.parse import urlsplit

from state.errors import InputError, ToolFailed, shorten
from state.json_text import from_json
from state.masking import without_passwords
from tools.exchange import Request, exchanged
from tools.given_file import text_of
from tools.openapi import openapi_tools
from tools.settings import ToolSettings
from tools.sources import options
from tools.tool import Tool

_MOST = 20_000_000
"""Bytes of a document."""


async def load(words: list[str], settings: ToolSettings) -> list[Tool]:
    """The tools of the document that the first word names."""
    source, more = words[0], options(words[1:], ("base", "key"))
    if urlsplit(source).scheme in ("http", "https"):
        text = await _fetched(source, settings)
        document = await asyncio.to_thread(parsed, text, source)
    else:
        document = await asyncio.to_thread(read_document, source)
    return await asyncio.to_thread(
        lambda: openapi_tools(document, source=source, private_hosts=settings.private_hosts, **more)
    )


async def _fetched(url: str, settings: ToolSettings) -> str:
    try:
        reply = await exchanged(Request("GET", url), settings.private_hosts)
    except ToolFailed as error:
        raise InputError(f"OpenAPI document {shorten(without_passwords(url))!r} can't be fetched: {error}") from error
    return reply.content if isinstance(reply.content, str) else json.dumps(reply.content)


def read_document(path: str) -> dict[str, Any]:
    """A document in a file, JSON or YAML."""
    return parsed(text_of(path, f"OpenAPI document {shorten(path)!r}", _MOST), path)


def parsed(text: str, where: str) -> dict[str, Any]:
    """The document in a text."""
    try:
        found = from_json(text)
    except ValueError:
        import yaml

        try:
            found = yaml.load(text, Loader=_loader(yaml))
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            _wrong(where, f"it is neither JSON nor YAML: {shorten(str(error))}")
    if not isinstance(found, dict) or not str(found.get("openapi", "")).startswith("3"):
        _wrong(where, "it is no OpenAPI 3 document: it begins with no openapi: 3...")
    return found


def _loader(yaml: Any) -> Any:
    """YAML as OpenAPI means it: no dates, and no aliases, which can make a small file huge."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.events.AliasEvent):
                raise yaml.YAMLError("it has an alias (*name)")
            return super().compose_node(parent, index)

    Loader.yaml_implicit_resolvers = {
        first: [(tag, rule) for tag, rule in rules if tag != "tag:yaml.org,2002:timestamp"]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return Loader


def _wrong(where: str, why: str) -> NoReturn:
    raise InputError(f"OpenAPI document {shorten(without_passwords(where))!r} can't be used: {why}")
