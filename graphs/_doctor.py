"""Looks at what a run would need here: versions, the model's endpoint, tools, folders, model servers of this machine.

It only looks and suggests: nothing is chosen, and no task is sent anywhere.
"""

import asyncio
import os
import platform
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import httpx

from nodes.models import check_name, endpoint, is_at_endpoint
from nodes.rungs import known
from nodes.telemetry import wanted
from state.context import ROLES, Context, env
from state.errors import ForethoughtError, shorten
from state.extras import extra
from tools.catalogue import catalogue
from tools.health import probe
from tools.journals import journal_of
from tools.settings import tool_settings

PACKAGES = (
    "langgraph", "langgraph-checkpoint-sqlite", "langchain-core", "pydantic", "httpx", "typer",
    "rich",
)  # fmt: skip
LOCAL = (("Ollama", 11434), ("vLLM", 8000), ("LM Studio", 1234), ("llama.cpp", 8080))
"""Model servers and the ports they listen on when nobody says otherwise."""
TIMEOUT = 3.0
OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at; only `bad` keeps the command from being usable."""

    mark: Literal["ok", "note", "bad"]
    what: str
    text: str


async def examine(context: Context) -> list[Finding]:
    """Everything, in the order in which it is shown."""
    endpoint, probed, local = await asyncio.gather(model_finding(context), probe_findings(context), local_findings())
    return [
        *version_findings(), *endpoint, *tool_findings(context), *probed, *telemetry_findings(context), *local
    ]  # fmt: skip


def version_findings() -> list[Finding]:
    """Python and the packages that a run is made of."""
    found = [Finding("ok", "python", f"{platform.python_version()} on {platform.system()}")]
    for package in PACKAGES:
        try:
            found.append(Finding("ok", package, version(package)))
        except PackageNotFoundError:
            found.append(Finding("bad", package, "is not installed"))
    return found


async def model_finding(context: Context) -> list[Finding]:
    """Which models are selected, and whether their endpoint answers."""
    chosen = {one for role in ROLES for one in context.models_of(role) if isinstance(one, str)}
    selected = sorted(chosen)
    named = [name for name in selected if is_at_endpoint(name)]
    found = [_elsewhere(name, context) for name in selected if name != "offline" and name not in named]
    if "offline" in selected:
        found.append(
            Finding("ok", "model", "offline planner, no language model; LLM_MODEL_ID or --model names another")
        )
    return [*found, *(await _endpoint(context, named) if named else [])]


def _elsewhere(name: str, context: Context) -> Finding:
    """A model of another maker's package, or a recording."""
    try:
        check_name(name, context)
    except ForethoughtError as error:
        return Finding("bad", "model", str(error))
    return Finding("ok", "model", f"{name} (not tried)")


async def _endpoint(context: Context, named: list[str]) -> list[Finding]:
    try:
        url, key = endpoint(named[0], context)
    except ForethoughtError:
        what = "set LLM_API_KEY for OpenAI, or LLM_BASE_URL for another endpoint"
        return [Finding("bad", "model", f"{', '.join(named)}: {what}")]
    url = (url or OPENAI).rstrip("/")
    ways = await asyncio.to_thread(known, context)
    try:
        async with httpx.AsyncClient(timeout=TIMEOUT) as client:
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            reply = await asyncio.wait_for(client.get(f"{url}/models", headers=headers), TIMEOUT)
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValueError) as error:
        why = "no answer in time" if isinstance(error, TimeoutError) else shorten(str(error)) or type(error).__name__
        return [Finding("bad", "model", f"{', '.join(named)}: {_shown(url)} can't be reached: {why}")]
    return [_judged(reply, _shown(url), name, ways.get(f"{_shown(url)} {name}")) for name in named]


def _judged(reply: httpx.Response, url: str, name: str, way: str | None) -> Finding:
    if reply.status_code in (401, 403):
        return Finding("bad", "model", f"{name}: {url} refuses the key ({reply.status_code}); set LLM_API_KEY")
    listed = _names(reply)
    if reply.status_code >= 500:
        return Finding("bad", "model", f"{name}: {url} answers with {reply.status_code}")
    if listed is None:
        return Finding("note", "model", f"{name}: {url} answers ({reply.status_code}), but lists no models")
    if name not in listed:
        return Finding("note", "model", f"{name}: {url} lists other models: {shorten(', '.join(listed), 200)}")
    return Finding("ok", "model", f"{name} at {url}" + (f"; typed replies by {way}" if way else ""))


def _names(reply: httpx.Response) -> list[str] | None:
    try:
        return [str(model["id"]) for model in reply.json()["data"]]
    except (ValueError, TypeError, KeyError):
        return None


def _shown(url: str) -> str:
    """The address without a password."""
    scheme, mark, rest = url.partition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2]}"


def tool_findings(context: Context) -> Iterator[Finding]:
    """What the built-in tools and the command itself need."""
    root, documents = context.root, context.documents or context.root
    yield _folder("root", root, os.R_OK | os.W_OK, "files can be read and written", "files can't be written")
    yield _folder("documents", documents, os.R_OK, "can be searched", "can't be searched")
    yield _fts5()
    yield _mail(context)
    try:
        journal = journal_of(context)
        journal.entry("")
        yield Finding("ok", "journal", f"{journal.place} can be written; runs are kept beside it")
    except ForethoughtError as error:
        yield Finding("bad", "journal", str(error))


async def probe_findings(context: Context) -> list[Finding]:
    """What the tools that have a probe say of themselves; one that is not well keeps no run from starting."""
    tools = [tool for tool in catalogue(context.tools, tool_settings(context)).values() if tool.probe]
    said = await asyncio.gather(*[probe(tool) for tool in tools])
    return [
        Finding("note", tool.name, f"is not well: {why}") if why else Finding("ok", tool.name, "answers its probe")
        for tool, why in zip(tools, said, strict=True)
    ]


def telemetry_findings(context: Context) -> Iterator[Finding]:
    """Where traces and metrics would go, if anybody asked for them."""
    if context.telemetry is False or not (context.telemetry or wanted()):
        return
    url = env("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or "http://localhost:4318"
    try:
        version("opentelemetry-exporter-otlp-proto-http")
    except PackageNotFoundError:
        yield Finding("note", "telemetry", f"is asked for by OTEL_*, but {extra('otel')} is not installed")
        return
    if "grpc" in (env("OTEL_EXPORTER_OTLP_PROTOCOL") or ""):
        yield Finding("note", "telemetry", "OTEL_EXPORTER_OTLP_PROTOCOL is grpc; only http/protobuf is spoken here")
    yield Finding("ok", "telemetry", f"goes to {_shown(url)} (not tried)")


def _folder(what: str, path: str, access: int, good: str, poor: str) -> Finding:
    if not Path(path).is_dir():
        return Finding("bad", what, f"there is no folder {shorten(path)!r}")
    fine = os.access(path, access)
    return Finding("ok" if fine else "note", what, f"{Path(path).resolve()}: {good if fine else poor}")


def _fts5() -> Finding:
    db = sqlite3.connect(":memory:")
    try:
        db.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.Error as error:
        return Finding("note", "search", f"SQLite {sqlite3.sqlite_version} has no full text index: {error}")
    finally:
        db.close()
    return Finding("ok", "search", f"SQLite {sqlite3.sqlite_version} with FTS5")


def _mail(context: Context) -> Finding:
    from tools.mail_server import server

    url = context.smtp or env("SMTP_URL")
    if not url:
        return Finding("note", "mail", "no mail server; SMTP_URL=smtp://user:password@host:port sets one")
    try:
        found = server(url)
    except ForethoughtError as error:
        return Finding("note", "mail", str(error))
    return Finding("ok", "mail", f"{found.host}:{found.port} as {found.sender}")


async def local_findings() -> list[Finding]:
    """Model servers that answer on this machine, with the settings that would use them."""
    async with httpx.AsyncClient(timeout=1.0, trust_env=False) as client:
        found = await asyncio.gather(*[_local(client, name, port) for name, port in LOCAL])
    return [finding for finding in found if finding]


async def _local(client: httpx.AsyncClient, name: str, port: int) -> Finding | None:
    url = f"http://127.0.0.1:{port}/v1"
    try:
        listed: Any = _names(await asyncio.wait_for(client.get(f"{url}/models"), 1.5))
    except (httpx.HTTPError, TimeoutError):
        return None
    if not listed:
        return None
    text = f"answers at {url}; to use it: LLM_BASE_URL={url} LLM_MODEL_ID={listed[0]}"
    return Finding("note", f"{name}?", text)
