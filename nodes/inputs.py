"""Inputs as a caller hands them in: values by name, a file by its path, or a kept result by its handle.

`{"file": "report.txt"}` becomes the file's path and size, which a plan refers to as `${steps.inputs.NAME.path}`;
`{"artefact": HANDLE}` stands for the whole of a result that an earlier run kept.
"""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from state.errors import InputError, ReferenceMissing, ToolFailed, shorten
from state.plain import plain
from tools.artefacts import as_json, load
from tools.folder import Folder
from tools.settings import ToolSettings

_HANDLE = re.compile(r"[0-9a-f]{32}")


async def valid_inputs(inputs: Any, settings: ToolSettings) -> dict[str, Any]:
    """As `looked_up`, in a thread."""
    return await asyncio.to_thread(looked_up, inputs, settings) if inputs else looked_up(inputs, settings)


def looked_up(inputs: Any, settings: ToolSettings) -> dict[str, Any]:
    """The inputs as a JSON-plain mapping by name, with files and handles looked up; else an `InputError`. Blocking."""
    if inputs is None:
        return {}
    if not isinstance(inputs, Mapping):
        raise InputError(f'inputs are {shorten(inputs)} ({type(inputs).__name__}); right would be {{"name": value}}')
    found = plain(dict(inputs))
    if not isinstance(found, dict):
        raise InputError(f"inputs can't be kept as JSON: {found}")
    return {name: _one(name, value, settings) for name, value in found.items()}


def _one(name: str, value: Any, settings: ToolSettings) -> Any:
    if not isinstance(value, dict) or value.keys() not in ({"file"}, {"artefact"}):
        return value
    try:
        return _file(value["file"], settings) if "file" in value else _artefact(value["artefact"], settings)
    except (ToolFailed, ReferenceMissing) as error:
        raise InputError(f"input {name!r}: {error}") from error


def _file(path: Any, settings: ToolSettings) -> dict[str, Any]:
    if not isinstance(path, str):
        raise ToolFailed(f'file is {shorten(path)}; right would be {{"file": "report.txt"}}', "invalid_arguments")
    folder = Folder(settings.root, settings.home)
    real = folder.file(path)
    return {"path": folder.name(real), "bytes": real.stat().st_size}


def _artefact(handle: Any, settings: ToolSettings) -> dict[str, Any]:
    if not isinstance(handle, str) or not _HANDLE.fullmatch(handle):
        raise ToolFailed(f"artefact is {shorten(handle)}; right would be the handle of a result", "invalid_arguments")
    return {"artefact": handle, "characters": len(as_json(load(handle, settings.home)))}


def input_schema(value: Any) -> dict[str, Any]:
    """What a plan's check knows of an input: the parts of a file, or nothing."""
    if isinstance(value, dict) and value.keys() == {"path", "bytes"}:
        return {"type": "object", "properties": {"path": {"type": "string"}, "bytes": {"type": "integer"}}}
    return {}


async def contents(inputs: Mapping[str, Any], home: str) -> dict[str, Any]:
    """The values of all inputs, with what kept results hold."""
    if not any(isinstance(value, dict) and "artefact" in value for value in inputs.values()):
        return dict(inputs)
    return await asyncio.to_thread(lambda: {name: content(one, home) for name, one in inputs.items()})


def content(value: Any, home: str) -> Any:
    """The value that a reference to an input brings in; blocks where that is a kept result."""
    if isinstance(value, dict) and value.keys() == {"artefact", "characters"}:
        return load(value["artefact"], home)
    return value
