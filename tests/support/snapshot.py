"""Texts that must stay as they are: plain files under tests/snapshots, written anew with UPDATE_SNAPSHOTS=1."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "snapshots"


def unchanged(name: str, text: str) -> None:
    """Fails where a text is not the one in its file; says how to take the new one."""
    file = FOLDER / name
    text = text.rstrip("\n") + "\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    known = file.read_text(encoding="utf-8") if file.exists() else ""
    assert text == known, f"{file.name} has changed; look at it, then take it with UPDATE_SNAPSHOTS=1"
