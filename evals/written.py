"""The report of an eval: tables on the screen, files beside the rows."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.cells import cell_len

from evals.page import Shown, by, kind_of, page
from evals.plots import cost_plot, size_plot
from evals.rows import is_measured
from evals.summary import ALL, SIMULATED, Difference, Line
from evals.table import HEAD, SHARES, cells, differences_csv, in_words, lines_csv
from graphs._live import Screen
from graphs._markup import written
from graphs._words import visible
from state.errors import SetupError

_WIDE = 130
"""Columns that the whole table takes."""


def write_files(shown: Shown, folder: Path) -> list[Path]:
    """Page, tables and plots; plots of a set are called after it."""
    texts = {"report.html": page(shown), "table.csv": lines_csv(shown.lines)}
    texts["differences.csv"] = differences_csv(shown.differences)
    for name in dict.fromkeys(line.set for line in shown.lines):
        mine = [line for line in shown.lines if line.set == name]
        texts |= {f"{name}.cost.svg": written(cost_plot(mine)), f"{name}.steps.svg": written(size_plot(mine))}
    try:
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise SetupError(f"the report can't be written to {folder}: {error.strerror}") from error
    return [folder / file for file in texts]


def print_json(shown: Shown) -> None:
    """Everything as one JSON object."""
    lines = [{**asdict(line), "figures": line.word, "success": line.success._asdict()} for line in shown.lines]
    out = [{"set": one, "pattern": pattern, "why": why} for (one, pattern), why in shown.left_out.items()]
    found = {
        SIMULATED: shown.simulated, "settings": dict(shown.settings), "lines": lines,
        "differences": [{**asdict(one), "interval": one.interval._asdict()} for one in shown.differences],
        "left_out": out, "rows": list(shown.rows),
    }  # fmt: skip
    print(json.dumps(found, indent=2, ensure_ascii=False))


def print_tables(shown: Shown) -> None:
    """Set by set: each class, what was not tried, and how patterns differ from the first of the table."""
    for name in shown.sets:
        mine = [line for line in shown.lines if line.set == name]
        for kind in dict.fromkeys(line.kind for line in mine):
            print(f"\n{name}{'' if kind == ALL else f', {kind}'}{kind_of(mine)}, {by(mine)}")
            _print_table([HEAD, *(cells(line) for line in mine if line.kind == kind)])
        for why, out in shown.reasons(name).items():
            print(f"not tried: {', '.join(out)}: {why}")
        _print_differences(mine, [one for one in shown.differences if one.set == name])
    wrong = [row for row in shown.rows if is_measured(row) and not row["success"]]
    if unmeasured := sum(not is_measured(row) for row in shown.rows):
        why = "they never began, no model could be asked, or a scorer failed"
        print(f"\n{unmeasured} runs say nothing of their pattern: {why}")
    if wrong:
        print(f"\n{len(wrong)} runs were not right; for example: {shown.open_with} {wrong[0]['run']}")


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    """As it is where it fits the screen, else what it takes below what came of it."""
    screen = Screen()
    if not screen.file.isatty() or screen.width >= _WIDE:
        parts = [list(rows)]
    else:
        parts = [[row[:SHARES] for row in rows], [row[:2] + row[SHARES:] for row in rows]]
    for part in parts:
        widths = [max(cell_len(row[place]) for row in part) for place in range(len(part[0]))]
        for row in part:
            cells = (
                f"{visible(cell)}{' ' * (width - cell_len(cell))}" for cell, width in zip(row, widths, strict=True)
            )
            print("  ".join(cells).rstrip())


def _print_differences(lines: Sequence[Line], found: Sequence[Difference]) -> None:
    first = [one for one in found if lines and one.than == lines[0].pattern]
    if first:
        print(f"\nmore often right than {lines[0].pattern}, with 95 % interval:")
        print("\n".join(in_words(one) for one in first))
