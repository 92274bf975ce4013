"""Large results: the whole is kept in a file, a handle and the beginning stay in state."""

import hashlib
import json
from pathlib import Path
from typing import Any

from state.errors import ReferenceMissing
from state.json_text import from_json


def as_json(value: Any) -> str:
    """The text whose length counts against the cap."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def keep(value: Any, home: str) -> str:
    """Stores a value under its content's fingerprint and returns the handle. Blocking."""
    data = json.dumps(value, ensure_ascii=False).encode()
    handle = hashlib.sha256(data).hexdigest()[:32]
    folder = Path(home) / "artefacts"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{handle}.json"
    if not path.exists():
        temporary = path.with_suffix(f".{id(data)}.tmp")
        temporary.write_bytes(data)
        temporary.replace(path)
    return handle


def load(handle: str, home: str) -> Any:
    """The value behind a handle. Blocking."""
    path = Path(home) / "artefacts" / f"{handle}.json"
    try:
        return from_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ReferenceMissing(f"artefact {handle}", f"{path} can't be read: {error}") from error


def preview(value: Any, cap: int, handle: str) -> str:
    """The beginning of a large value, and where the rest is."""
    text = as_json(value)
    return f"{text[:cap]}… [{len(text)} characters in all; the whole is artefact {handle}]"
