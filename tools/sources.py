"""Tools that stand elsewhere and are named by a prefix: `openapi:FILE` and the like. Loaded once for a process.

A run loads them at its beginning, without holding up others, also where it is resumed in another process.
"""

import asyncio
import shlex
import threading
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from state.errors import InputError, shorten
from state.masking import without_passwords
from tools.settings import ToolSettings
from tools.tool import Tool

MODULES = {"mcp": "tools.mcp_source", "openapi": "tools.openapi_source"}
"""By prefix the module whose `load(words, settings)` gives the tools; `words` are what stands behind the prefix."""
_loaded: dict[tuple[str, tuple[str, ...]], list[Tool]] = {}
"""By source and what of the settings a source uses: those that may differ between a run's nodes are not in it."""


def is_source(name: str) -> bool:
    """Whether a name of the setting `tools` stands for tools from elsewhere."""
    return name.partition(":")[0] in MODULES and ":" in name


async def prepare(sources: Iterable[Any] | None, settings: ToolSettings, *, within: float | None = None) -> None:
    """Loads what is named and not loaded yet; `within` are the seconds that there are for all."""
    wanted = [one for one in sources or () if isinstance(one, str) and is_source(one)]
    source = ""
    try:
        async with asyncio.timeout(within) as time:
            for source in wanted:
                if _key(source, settings) not in _loaded:
                    _loaded[_key(source, settings)] = await _load(source, settings)
    except TimeoutError as error:
        if not time.expired():
            raise
        named = shorten(without_passwords(source))
        raise InputError(
            f"the tools of {named!r} were not there within {within:g} s, all that the limit seconds leaves"
        ) from error


async def _load(source: str, settings: ToolSettings) -> list[Tool]:
    prefix, _, rest = source.partition(":")
    found: list[Tool] = await import_module(MODULES[prefix]).load(_words(source, rest), settings)
    return found


def _key(source: str, settings: ToolSettings) -> tuple[str, tuple[str, ...]]:
    return source, settings.private_hosts


def tools_of(source: str, settings: ToolSettings) -> list[Tool]:
    """The tools of a source."""
    if _key(source, settings) not in _loaded:
        _now(source, settings)
    return _loaded[_key(source, settings)]


def forget() -> None:
    """Loads everything anew when it is next asked for."""
    _loaded.clear()


def options(words: list[str], known: Iterable[str]) -> dict[str, str]:
    """What stands behind the first word, as name=value."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in known:
            raise InputError(
                f"{shorten(word)!r} is not known behind a source; there is {', '.join(known)}, as name=value"
            )
        found[name] = value
    return found


def _words(source: str, rest: str) -> list[str]:
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise InputError(f"tool source {shorten(without_passwords(source))!r} can't be read: {error}") from error
    if not words:
        raise InputError(f"tool source {source!r} names nothing; right would be for example {source}NAME")
    return words


def _now(source: str, settings: ToolSettings) -> None:
    """Loads on another thread, with a loop of its own, while this one waits."""
    failed: list[BaseException] = []

    def load() -> None:
        try:
            asyncio.run(prepare([source], settings))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=load, name="forethought-tools", daemon=True)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
