"""The report of an eval: tables on the screen, files beside the rows."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from evals.page import Shown, kind_of, page
from evals.plots import cost_plot, size_plot
from evals.summary import ALL, SIMULATED, Difference, Line
from evals.table import HEAD, cells, differences_csv, lines_csv, told
from graphs._listing import print_columns
from graphs._markup import written
from state.errors import SetupError


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
            print(f"\n{name}{'' if kind == ALL else f', {kind}'}{kind_of(mine)}")
            print_columns([HEAD, *(cells(line) for line in mine if line.kind == kind)])
        for why, out in shown.reasons(name).items():
            print(f"not tried: {', '.join(out)}: {why}")
        _print_differences(mine, [one for one in shown.differences if one.set == name])
    wrong = [row for row in shown.rows if not row["success"]]
    if wrong:
        print(f"\n{len(wrong)} runs were not right; for example: {shown.open_with} {wrong[0]['run']}")


def _print_differences(lines: Sequence[Line], found: Sequence[Difference]) -> None:
    first = [one for one in found if lines and one.than == lines[0].pattern]
    if first:
        print(f"\nmore often right than {lines[0].pattern}, with 95 % interval:")
        print("\n".join(told(one) for one in first))
