"""Remembers which way to a typed reply an endpoint takes: in this process, and in the home folder if there is one."""

import asyncio
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from state.context import Context
from state.json_text import from_json

Place = tuple[str, str]
"""Address and model; without an address nothing is remembered."""
FILE = "endpoints.json"
LASTS = 7 * 24 * 3600.0
"""Seconds that a file is believed; servers learn new ways."""
_works: dict[Place, str] = {}


def place_of(model: Any) -> Place:
    """Where a model is asked, without a password."""
    url = str(getattr(model, "base_url", None) or getattr(model, "openai_api_base", None) or "")
    scheme, mark, rest = url.partition("://")
    name = getattr(model, "model_name", None) or getattr(model, "model", None) or ""
    return f"{scheme}{mark}{rest.rpartition('@')[2]}".rstrip("/"), str(name)


async def recall(place: Place, context: Context) -> str | None:
    """The rung that worked, if one is known."""
    if place not in _works and place[0] and (file := _file(context)):
        found = (await asyncio.to_thread(_read, file)).get(" ".join(place))
        if found:
            _works[place] = found
    return _works.get(place)


async def remember(place: Place, rung: str, context: Context) -> None:
    """Notes the rung that worked."""
    if place[0] and _works.get(place) != rung:
        _works[place] = rung
        if file := _file(context):
            await asyncio.to_thread(_write, file, " ".join(place), rung)


async def forget(place: Place, context: Context) -> None:
    """Drops what was known."""
    if _works.pop(place, None) and (file := _file(context)):
        await asyncio.to_thread(_write, file, " ".join(place), None)


def known(context: Context) -> dict[str, str]:
    """The rung by "address model", for people."""
    file = _file(context)
    return {**(_read(file) if file else {}), **{" ".join(place): rung for place, rung in _works.items()}}


def _file(context: Context) -> Path | None:
    """No folder is made for this: where there is no home yet, the process remembers."""
    folder = Path(context.home_folder())
    return folder / FILE if folder.is_dir() else None


def _read(file: Path) -> dict[str, str]:
    since = time.time() - LASTS
    return {name: entry["rung"] for name, entry in _entries(file).items() if entry["at"] >= since}


def _entries(file: Path) -> dict[str, dict[str, Any]]:
    try:
        found = from_json(file.read_text(encoding="utf-8"))
        return {name: {"rung": str(entry["rung"]), "at": float(entry["at"])} for name, entry in found.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}  # a memory that can't be read is only learnt again


def _write(file: Path, name: str, rung: str | None) -> None:
    entries = _entries(file)
    entries.pop(name, None)
    if rung:
        entries[name] = {"rung": rung, "at": time.time()}
    try:
        handle, new = tempfile.mkstemp(dir=file.parent, prefix=f".{FILE}-")
        with os.fdopen(handle, "w", encoding="utf-8") as text:
            json.dump(entries, text, ensure_ascii=False, indent=1)
        os.replace(new, file)
    except OSError:
        return  # remembering is a convenience: a folder that can't be written ends no run
