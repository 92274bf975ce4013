"""The summary as text and as CSV. What is simulated says so in every line; what is unknown is not 0."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

from evals.intervals import Interval
from evals.summary import AVERAGED, MEASURED, Difference, Line

HEAD = (
    "pattern", "by", "tasks", "right", "95 %", "steps", "calls", "tools", "tokens in", "out", "cached", "seconds",
    "cost",
)  # fmt: skip
SHARES = 5
"""How many columns there are before those of what it takes."""
_DIGITS = {"seconds": 2, "money": 6}


def cells(line: Line) -> tuple[str, ...]:
    """One line of the table; averages are those of a task."""
    tasks = f"{line.number}" + (f" (+{line.unmeasured} not measured)" if line.unmeasured else "")
    shares = (percent(line.success.value), between(line.success))
    if not line.number:
        shares = ("unknown", "unknown")
    by = line.model if line.word == MEASURED else line.word
    return (line.pattern, by, tasks, *shares, *(average(line, name) for name, _ in AVERAGED))


def average(line: Line, name: str) -> str:
    """The average of a task as it is told."""
    value = line.averages[name]
    if value is None:
        return "unknown"
    return f"{value:.{_DIGITS[name]}g}" if name == "money" else f"{value:,.{_DIGITS.get(name, 1)}f}"


def percent(share: float) -> str:
    """A share as it is told."""
    return f"{100 * share:.1f} %"


def between(interval: Interval) -> str:
    """An interval of shares as it is told."""
    return f"{100 * interval.low:.1f} to {100 * interval.high:.1f} %"


def in_words(difference: Difference) -> str:
    """A difference in words, in percentage points."""
    low, high = (f"{100 * end:+.1f}" for end in difference.interval[1:])
    verdict = "" if difference.told_apart else "; may be chance"
    said = f"{difference.pattern} - {difference.than}: {100 * difference.interval.value:+.1f} points, {low} to {high}"
    return f"{said}{verdict} ({difference.number} tasks, {difference.word})"


def lines_csv(lines: Iterable[Line]) -> str:
    """The lines with every figure, a row each; an unknown one is an empty field."""
    head = ("set", "class", "pattern", "model", "figures", "tasks", "unmeasured", "right", "share", "low", "high")
    rows = [
        (line.set, line.kind, line.pattern, line.model, line.word, line.number, line.unmeasured, line.right,
         *(line.success if line.number else (None, None, None)), *line.averages.values())
        for line in lines
    ]  # fmt: skip
    return _csv((*head, *(name for name, _ in AVERAGED)), rows)


def differences_csv(found: Iterable[Difference]) -> str:
    """Every two patterns of a set, a row each."""
    head = ("set", "pattern", "than", "figures", "tasks", "difference", "low", "high")
    rows = [(one.set, one.pattern, one.than, one.word, one.number, *one.interval) for one in found]
    return _csv(head, rows)


def _csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    return text.getvalue()
