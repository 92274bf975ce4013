"""The commands that only show something: patterns, and how things stand here; and columns, for all that list."""

import ast
import asyncio
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from graphs import names
from graphs._live import Screen
from graphs._words import one_line, visible
from state.syntax import parsed

_ROOM = 20
"""Columns that the last one needs at least."""
_INSET = (0, 0, 0, 2)
_MARKS = {"ok": "green", "note": "yellow", "bad": "red"}


def show_patterns() -> None:
    """Name and first line of each pattern; the modules are read, not imported."""
    print_columns([(name, _first_line(name)) for name in names()])


def show_doctor(given: dict[str, Any]) -> int:
    """What was found, and 0 if a run could start."""
    from graphs._doctor import examine
    from graphs._options import settings_of
    from state.context import make_context

    found = asyncio.run(examine(make_context(**settings_of(**given))))
    print_columns([(finding.mark, finding.what, finding.text) for finding in found])
    return 1 if any(finding.mark == "bad" for finding in found) else 0


def _first_line(pattern: str) -> str:
    spec = find_spec(f"graphs.{pattern}")
    if spec is None or spec.origin is None:
        return ""
    text = ast.get_docstring(parsed(Path(spec.origin).read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def print_columns(rows: Sequence[tuple[str, ...]]) -> None:
    """Columns; on a terminal a long last one goes on below itself, and where they don't fit each row is stacked.

    Nothing but the last is ever cut: names are there to be typed.
    """
    console = Screen()
    widths = [max(cell_len(visible(row[place])) for row in rows) for place in range(len(rows[0]) - 1)]
    if not console.file.isatty():
        for row in rows:
            cells = [visible(cell).ljust(width) for cell, width in zip(row, widths, strict=False)]
            print("  ".join([*cells, one_line(row[-1], 1000)]))
    elif console.width - sum(widths) - 2 * len(widths) >= _ROOM:
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        for row in rows:
            table.add_row(*map(_cell, row))
        console.print(table)
    else:
        for row in rows:
            console.print(_cell(row[0]), Padding(_cell("  ".join(row[1:-1])), _INSET), Padding(_cell(row[-1]), _INSET))


def _cell(text: str) -> Text:
    return Text(visible(text), style=_MARKS.get(text, ""))
