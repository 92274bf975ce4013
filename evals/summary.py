"""What the rows of an eval come to: a line for each set, class of task and pattern, and how patterns differ."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from evals.intervals import Interval, paired_difference, wilson
from evals.rows import Row, is_measured

ALL = "all"
"""The class that holds every task of a set."""
SIMULATED, RECORDED, MEASURED = "simulated", "recorded", "measured"
"""What kind of figures these are: of no model, of what a model said then, of a model that was asked."""
Columns = tuple[tuple[str, Callable[[Row], float | None]], ...]
AVERAGED: Columns = (
    ("steps", lambda row: row["steps"]),
    ("model_calls", lambda row: row["model_calls"]),
    ("tool_calls", lambda row: row["tool_calls"]),
    ("tokens_in", lambda row: row["tokens_in"]),
    ("tokens_out", lambda row: row["tokens_out"]),
    ("cached", lambda row: row["cached"]),
    ("seconds", lambda row: row["seconds"]),
    ("money", lambda row: row["money"]),
)
"""What is told as the average of a task; unknown as soon as one task did not say."""


@dataclass(frozen=True)
class Line:
    """A pattern on the tasks of one class of a set."""

    set: str
    kind: str
    pattern: str
    model: str
    simulated: bool
    number: int
    right: int
    unmeasured: int
    """Runs in which no model could be asked, or a scorer failed: they count in nothing else here."""
    averages: dict[str, float | None]

    @property
    def word(self) -> str:
        """What kind of figures these are."""
        return word_for(self.model, self.simulated)

    @property
    def success(self) -> Interval:
        """The share of tasks that were right."""
        return wilson(self.right, self.number)


@dataclass(frozen=True)
class Difference:
    """How much more often `pattern` was right than `than`, on the tasks that both were tried on."""

    set: str
    pattern: str
    than: str
    word: str
    number: int
    interval: Interval

    @property
    def told_apart(self) -> bool:
        """Whether the interval does not hold 0."""
        return self.interval.low > 0 or self.interval.high < 0


def word_for(model: str, simulated: bool) -> str:
    """What kind of figures a row holds."""
    return SIMULATED if simulated else RECORDED if model == RECORDED else MEASURED


def lines(rows: Sequence[Row], patterns: Sequence[str]) -> list[Line]:
    """Each set as a whole, then class by class; patterns in this order."""
    found: list[Line] = []
    for name in dict.fromkeys(row["set"] for row in rows):
        mine = [row for row in rows if row["set"] == name]
        kinds = list(dict.fromkeys(row["kind"] for row in mine))
        for kind in [ALL, *(sorted(kinds) if len(kinds) > 1 else [])]:
            for pattern in patterns:
                some = [row for row in mine if row["pattern"] == pattern and kind in (ALL, row["kind"])]
                found += [_line(some, kind)] if some else []
    return found


def _line(rows: Sequence[Row], kind: str) -> Line:
    first, measured = rows[0], [row for row in rows if is_measured(row)]
    averages = {name: _average([value(row) for row in measured]) for name, value in AVERAGED}
    right, unmeasured = sum(row["success"] for row in measured), len(rows) - len(measured)
    return Line(
        first["set"], kind, first["pattern"], first["model"], first["simulated"], len(measured), right, unmeasured,
        averages,
    )  # fmt: skip


def _average(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if values and len(known) == len(values) else None


def differences(rows: Sequence[Row], patterns: Sequence[str]) -> list[Difference]:
    """Every two patterns of each set, the later one of the table against the earlier one."""
    found: list[Difference] = []
    for name in dict.fromkeys(row["set"] for row in rows):
        mine = [row for row in rows if row["set"] == name and is_measured(row)]
        for than, pattern in combinations(patterns, 2):
            pairs = list(_pairs(mine, pattern, than))
            if pairs:
                word = word_for(mine[0]["model"], mine[0]["simulated"])
                found.append(Difference(name, pattern, than, word, len(pairs), paired_difference(pairs)))
    return found


def _pairs(rows: Iterable[Row], pattern: str, than: str) -> Iterable[tuple[bool, bool]]:
    by: dict[str, dict[str, bool]] = {pattern: {}, than: {}}
    for row in rows:
        by.get(row["pattern"], {})[row["task"]] = row["success"]
    return [(by[pattern][task], by[than][task]) for task in by[pattern] if task in by[than]]
