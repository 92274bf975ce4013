"""The report of an eval as one page of HTML that needs nothing else: tables, plots, differences, what went wrong."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from evals.plots import cost_plot, size_plot
from evals.rows import Row, is_measured
from evals.summary import ALL, MEASURED, SIMULATED, Difference, Line, word_for
from evals.table import HEAD, between, cells, percent
from graphs._markup import el
from graphs._page import sheet, table, titled

_MOST = 100
"""Runs that went wrong and are listed; the file with the rows has all."""
_SAID = (
    "No model was asked: the answers come from gold, with faults on purpose if there is noise. What is shown is how "
    "the patterns take such faults, and not how good any model is."
)
_READ = (
    "The interval says which shares the figures are compatible with (Wilson, 95 %). Two patterns differ where the "
    "interval of their difference, taken task by task (Newcombe, 95 %), does not hold 0; of twenty such intervals one "
    "misses by chance alone. Averages are those of a task; unknown is what a server did not say, or what has no price. "
    "Turns of one dialogue are not independent of each other. The pattern workflow, where it stands here, was handed "
    "the gold plan."
)


@dataclass(frozen=True)
class Shown:
    """What a report is made of; `left_out` says by set and pattern why it was not tried."""

    rows: Sequence[Row]
    lines: Sequence[Line]
    differences: Sequence[Difference]
    left_out: Mapping[tuple[str, str], str]
    settings: Mapping[str, str]
    open_with: str
    """The command that shows a run, but for its name."""

    @property
    def simulated(self) -> bool:
        """Whether any of it is."""
        return any(line.simulated for line in self.lines)

    @property
    def sets(self) -> list[str]:
        """The names of the sets, also of those on which nothing ran."""
        return list(dict.fromkeys([*(line.set for line in self.lines), *(name for name, _ in self.left_out)]))

    def reasons(self, name: str) -> dict[str, list[str]]:
        """Why patterns were not tried on a set, with their names."""
        found: dict[str, list[str]] = {}
        for (one, pattern), why in self.left_out.items():
            found.setdefault(why, []).extend([pattern] if one == name else [])
        return {why: patterns for why, patterns in found.items() if patterns}


def page(shown: Shown) -> str:
    """The whole report."""
    title = f"Patterns compared{f' ({SIMULATED})' if shown.simulated else ''}"
    parts = [el("h1", title), *([el("p", el("b", f"{SIMULATED.capitalize()}: "), _SAID)] if shown.simulated else [])]
    parts.append(el("p", _READ, class_="soft"))
    parts += titled("Settings", table(("setting", "value"), map(_pair, shown.settings.items())))
    for name in shown.sets:
        parts += _set(name, shown)
    return sheet(title, [*parts, *_wrong(shown)])


def _pair(pair: tuple[str, str]) -> list[Element]:
    return [el("td", pair[0], class_="nowrap"), el("td", pair[1], class_="code")]


def _set(name: str, shown: Shown) -> Iterable[Element]:
    mine = [line for line in shown.lines if line.set == name]
    whole = [line for line in mine if line.kind == ALL]
    yield from titled(f"{name}{kind_of(mine)}", el("p", by(mine), class_="soft"), _table(HEAD, whole))
    if mine:
        yield from (el("div", plot(mine), class_="scroll") for plot in (cost_plot, size_plot))
    for kind in dict.fromkeys(line.kind for line in mine if line.kind != ALL):
        some = _table(HEAD, [line for line in mine if line.kind == kind])
        yield el("details", el("summary", f"{name}, {kind}{kind_of(mine)}"), some)
    if out := shown.reasons(name):
        said = ((", ".join(patterns), why) for why, patterns in out.items())
        yield from titled("Not tried", table(("pattern", "why"), map(_pair, said)), level="h3")
    if found := [one for one in shown.differences if one.set == name]:
        heads = ("pattern", "than", "tasks", "points more often right", "95 %", "", "")
        yield el("details", el("summary", "every two patterns"), table(heads, map(_difference, found)))


def kind_of(lines: Sequence[Line]) -> str:
    """What is put behind the name of a set: simulated, recorded; nothing where a model was asked."""
    words = [line.word for line in lines[:1] if line.word != MEASURED]
    return f" ({words[0]})" if words else ""


def by(lines: Sequence[Line]) -> str:
    """Who answered on a set."""
    return f"by {lines[0].model}" if lines else "nothing was tried"


def _table(heads: Sequence[str], lines: Iterable[Line]) -> Element:
    return table(heads, (_cells(line) for line in lines))


def _cells(line: Line) -> list[Element]:
    return [el("td", cell, class_="nowrap") for cell in cells(line)]


def _difference(one: Difference) -> list[Element]:
    chance = "" if one.told_apart else "may be chance"
    said = (one.pattern, one.than, str(one.number), percent(one.interval.value), between(one.interval), chance)
    return [el("td", cell, class_="nowrap") for cell in (*said, one.word)]


def _wrong(shown: Shown) -> Iterable[Element]:
    wrong = [row for row in shown.rows if not row["success"]]
    if not wrong:
        return []
    mute = sum(not is_measured(row) for row in wrong)
    note = f", {mute} of them as no model could be asked or a scorer failed" if mute else ""
    said = f"{len(wrong)} of {len(shown.rows)} runs were not right{note}. Each is kept: {shown.open_with} RUN"
    more = f"; the first {_MOST} are listed" if len(wrong) > _MOST else ""
    heads = ("run", "stop", "what was wrong", "")
    return titled("What went wrong", el("p", said + more), table(heads, map(_failure, wrong[:_MOST])))


def _failure(row: Row) -> list[Element]:
    word = word_for(row["model"], row["simulated"])
    problems = el("td", "; ".join(row["problems"])[:400], class_="code long")
    return [el("td", row["run"], class_="code nowrap"), el("td", row["stop"]), problems, el("td", word)]
