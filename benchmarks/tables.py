"""The tables of what was measured: medians of the rounds, as ratios where a machine's own speed would only mislead."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.workloads import JOBS

Row = dict[str, Any]
Column = Callable[["Medians", str], str]
_SHORT, _LONG = ("W1", "W2", "W3"), ("W4-50", "W4-100", "W4-200")


class Medians:
    """What was measured, by contestant and job."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows: dict[tuple[str, str], list[Row]] = {}
        for row in rows:
            self._rows.setdefault((row["name"], row["job"]), []).append(row)
        self.names = list(dict.fromkeys(row["name"] for row in rows))
        self.load = statistics.median(row["load"] for row in rows)

    def of(self, name: str, job: str, key: str) -> float:
        """The median; not a number where that was not measured."""
        found = [row[key] for row in self._rows.get((name, job), [])]
        return statistics.median(found) if found else float("nan")

    def tokens(self, name: str, job: str) -> float:
        """Tokens in and out."""
        return self.of(name, job, "prompt") + self.of(name, job, "completion")

    def rounds(self) -> int:
        """How many rounds there were."""
        return max(map(len, self._rows.values()))

    def wrong(self) -> list[str]:
        """Who gave a wrong answer where."""
        return [f"{name} on {job}" for (name, job), rows in self._rows.items() if not all(row["right"] for row in rows)]


def show(rows: Sequence[Row]) -> None:
    """Prints every table as Markdown."""
    found = Medians(rows)
    print(f"{found.rounds()} interleaved rounds, medians; load of the machine {found.load:.1f} (median).")
    print(f"Wrong answers: {', '.join(found.wrong()) or 'none'}.\n")
    for title, columns in _TABLES.items():
        _table(title, found, columns)


def _each(found: Medians, name: str, jobs: Sequence[str], key: str, scale: float = 1.0, digits: int = 1) -> str:
    return " / ".join(_number(found.of(name, job, key) * scale, digits) for job in jobs)


def _wall(job: str, *, waits: bool = False) -> Column:
    """Wall time over the least that it could be."""
    return lambda found, name: _ratio(found.of(name, job, "wall"), JOBS[job].bound(waits=waits))


def _table(title: str, found: Medians, columns: Mapping[str, Column]) -> None:
    rows = [[name, *(column(found, name) for column in columns.values())] for name in found.names]
    print(f"### {title}\n")
    print("| " + " | ".join(["contestant", *columns]) + " |")
    print("|" + "---|" * (len(columns) + 1))
    for row in rows:
        if any(cell.strip("-/ ") for cell in row[1:]):
            print("| " + " | ".join(row) + " |")
    print()


def _ratio(one: float, other: float, digits: int = 2) -> str:
    return _number(one / other, digits)


def _number(value: float, digits: int = 1) -> str:
    return "-" if value != value else f"{value:,.{digits}f}"


def _share(found: Medians, name: str) -> str:
    return _number(100 * found.of(name, "W4-200", "shared") / found.of(name, "W4-200", "prompt"), 0)


def _tokens(found: Medians, name: str) -> str:
    return " / ".join(_number(found.tokens(name, job) / 1e3) for job in _LONG)


def _growth(found: Medians, name: str) -> str:
    return _ratio(found.tokens(name, "W4-200"), found.tokens(name, "W4-100"))


def _over_floor(found: Medians, name: str) -> str:
    return _ratio(found.tokens(name, "W4-200"), found.tokens("floor", "W4-200"))


def _cpu(found: Medians, name: str) -> str:
    return " / ".join(_number(found.of(name, job, "cpu") * 1e3 / JOBS[job].steps, 2) for job in _LONG)


def _over_agent(found: Medians, name: str) -> str:
    return _ratio(found.of(name, "W4-200", "cpu"), found.of("create_agent", "W4-200", "cpu"), 3)


_TABLES: dict[str, dict[str, Column]] = {
    "Wall time over the least time": {
        "calls of a model W1/W2/W3": lambda found, name: _each(found, name, _SHORT, "calls", digits=0),
        "W1, model 200 ms": _wall("W1-200ms"),
        "W2": _wall("W2"),
        "W3": _wall("W3"),
        "W3 uneven": _wall("W3s"),
        "W5, over a plan that is waited for": _wall("W5", waits=True),
        "W5, s to the first call of the tool": lambda found, name: _each(found, name, ["W5"], "first", digits=2),
    },
    "Chains of 50, 100, 200 steps with results of 2 KB": {
        "thousand tokens": _tokens,
        "growth 100 to 200": _growth,
        "at 200 over the floor": _over_floor,
        "of them made": lambda found, name: _each(found, name, ["W4-200"], "completion", 1e-3),
        "% of the prompts in a prefix sent before": _share,
        "CPU ms a step": _cpu,
        "CPU at 200 over create_agent": _over_agent,
        "MB over import": lambda found, name: _each(found, name, ["W4-200"], "memory"),
        "MB kept": lambda found, name: _each(found, name, _LONG, "bytes", 1e-6, 2),
    },
    "W1, nothing waits": {
        "wall ms": lambda found, name: _each(found, name, ["W1"], "wall", 1e3),
        "CPU ms a step": lambda found, name: _each(found, name, ["W1"], "cpu", 1e3 / 8, 2),
        "tokens in": lambda found, name: _each(found, name, ["W1"], "prompt", digits=0),
        "tokens out": lambda found, name: _each(found, name, ["W1"], "completion", digits=0),
    },
}
