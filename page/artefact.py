"""Large results, which lie in files: handed out only to who may read the run that they belong to."""

import asyncio
import json
from typing import Any

from page.odd import readable
from page.server import Thread
from state.context import Context
from state.errors import InputError
from tools.artefacts import load


async def artefact_of(thread: Thread, handle: str) -> tuple[str, bytes]:
    """A name for the file, and its content; raises `InputError` for a handle that is none of this run's."""
    with readable():
        known = [result["artefact"] for result in (thread.values.get("results") or {}).values()]
    if handle not in known:
        raise InputError(f"this run has no artefact {handle[:40]!r}")
    value = await asyncio.to_thread(load, handle, _home(thread))
    ending = "txt" if isinstance(value, str) else "json"
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    return f"{handle[:12]}.{ending}", said.encode("utf-8", "surrogatepass")


def _home(thread: Thread) -> str:
    """The folder that the run kept its results in."""
    given: dict[str, Any] = ((thread.runs[0] if thread.runs else {}).get("kwargs") or {}).get("context") or {}
    return Context(home=given.get("home")).home_folder()
