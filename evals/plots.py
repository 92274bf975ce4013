"""Success against what it costs, and against the size of the task, as SVG; simulated points are hollow and say so."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from evals.summary import ALL, MEASURED, SIMULATED, Line
from evals.table import percent
from graphs._markup import el
from graphs._svg import framed, text

WIDTH, HEIGHT = 860.0, 460.0
_LEFT, _TOP, _RIGHT, _BOTTOM = 70.0, 64.0, 230.0, 56.0
_ACROSS, _DOWN = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
_ROW = 14.0
COLOURS = ("#0b7285", "#c2410c", "#7048e8", "#2b8a3e", "#c2255c", "#a16207", "#1c7ed6")
"""Seen on light and on dark; the same one comes again with dashes, and every point has its name beside it."""
COSTS = {
    "money": "cost of a task", "tokens": "tokens of a task, in and out", "model_calls": "model calls of a task",
}  # fmt: skip


@dataclass(frozen=True)
class Point:
    """A pattern at a place across, with its success and the interval of that."""

    name: str
    across: float
    line: Line


def cost_plot(lines: Sequence[Line], dark: bool = True) -> Element:
    """Success of each pattern of one set against what a task costs: money if that is known of all, else tokens."""
    whole = [line for line in lines if line.kind == ALL and line.number]
    unit = next((unit for unit in COSTS if all(_cost(line, unit) is not None for line in whole)), "model_calls")
    points = [Point(line.pattern, _cost(line, unit) or 0.0, line) for line in whole]
    most = max((point.across for point in points), default=0.0) or 1.0
    ticks = [(step, f"{step:.3g}") for step in _steps(most)]
    top = ticks[-1][0]
    drawn = [_dot(point, point.across / top, _look(place)) for place, point in enumerate(points)]
    labels = _labels([(point.across / top, point) for point in points])
    title = f"{_set(lines)}: success against {COSTS[unit]}"
    return _plot(title, lines, [(at / top, word) for at, word in ticks], [*drawn, *labels], dark)


def size_plot(lines: Sequence[Line], dark: bool = True) -> Element:
    """Success of each pattern of one set against the class of the task: how many steps it takes, if not named."""
    kinds = list(dict.fromkeys(line.kind for line in lines if line.kind != ALL)) or [ALL]
    places = {kind: (place + 0.5) / len(kinds) for place, kind in enumerate(kinds)}
    patterns = list(dict.fromkeys(line.pattern for line in lines))
    apart = 0.5 / len(kinds) / len(patterns or kinds)
    drawn: list[Element] = []
    ends: list[tuple[float, Point]] = []
    for place, pattern in enumerate(patterns):
        mine = [line for line in lines if line.pattern == pattern and line.kind in places and line.number]
        aside = apart * (place - (len(patterns) - 1) / 2)  # so that intervals do not stand on one another
        points = [Point(pattern, places[line.kind] + aside, line) for line in mine]
        drawn += [_path(points, _look(place)), *(_dot(point, point.across, _look(place)) for point in points)]
        ends += [(points[-1].across, points[-1])] if points else []
    title = f"{_set(lines)}: success against the steps that a task takes"
    return _plot(title, lines, [(places[kind], kind) for kind in kinds], [*drawn, *_labels(ends)], dark)


def _set(lines: Sequence[Line]) -> str:
    return lines[0].set if lines else "nothing"


def _cost(line: Line, unit: str) -> float | None:
    if unit != "tokens":
        return line.averages[unit]
    taken, given = line.averages["tokens_in"], line.averages["tokens_out"]
    return None if taken is None or given is None else taken + given


def _steps(most: float) -> list[float]:
    """Round numbers from 0 up to the first that is not below `most`."""
    size = (
        10.0 ** (len(f"{int(most)}") - 1) if most >= 1 else 10.0 ** -next(n for n in range(1, 20) if most * 10**n >= 1)
    )
    step = next(size * part for part in (0.2, 0.5, 1.0, 2.0, 5.0) if size * part * 6 >= most)
    return [step * place for place in range(int(most / step - 1e-9) + 2)]


def _look(place: int) -> tuple[str, str | None]:
    return COLOURS[place % len(COLOURS)], "6 4" if place >= len(COLOURS) else None


def _x(share: float) -> float:
    return _LEFT + share * _ACROSS


def _y(share: float) -> float:
    return _TOP + (1 - share) * _DOWN


def _dot(point: Point, at: float, look: tuple[str, str | None]) -> Element:
    """The point with its interval; hollow where it is simulated."""
    colour, line, success = look[0], point.line, point.line.success
    said = f"{point.name}, {line.kind}: {percent(success.value)}, {line.number} tasks, {line.word}"
    bar = el("path", d=f"M{_x(at):.1f} {_y(success.low):.1f}V{_y(success.high):.1f}", stroke=colour, stroke_width=1.2)
    fill = "none" if line.simulated else colour
    dot = el("circle", cx=_x(at), cy=_y(success.value), r=4.5, fill=fill, stroke=colour, stroke_width=2)
    return el("g", el("title", said), bar, dot)


def _path(points: Sequence[Point], look: tuple[str, str | None]) -> Element:
    path = "L".join(f"{_x(point.across):.1f} {_y(point.line.success.value):.1f}" for point in points)
    return el("path", d=f"M{path}" if path else "M0 0", fill="none", stroke=look[0], stroke_dasharray=look[1])


def _labels(points: Iterable[tuple[float, Point]]) -> Iterator[Element]:
    """A name for each point at the right side, with a thread to it; none stands on another."""
    placed = sorted(enumerate(points), key=lambda one: -one[1][1].line.success.value)
    free, taken = _TOP - 4, len(placed) * _ROW
    for place, (at, point) in placed:
        wanted = _y(point.line.success.value)
        free = max(free, min(wanted, _TOP + _DOWN - taken))
        taken -= _ROW
        colour, dashes = _look(place)
        thread = f"M{_x(at) + 6:.1f} {wanted:.1f}L{_x(1) + 16:.1f} {free:.1f}H{_x(1) + 22:.1f}"
        yield el("path", d=thread, fill="none", stroke=colour, stroke_width=0.6, stroke_dasharray=dashes, opacity=0.7)
        word = f"{point.name} {percent(point.line.success.value)}"
        yield text(_x(1) + 26, free + 4, word)
        free += _ROW


def _plot(
    title: str, lines: Sequence[Line], ticks: Sequence[tuple[float, str]], drawn: Sequence[Element], dark: bool
) -> Element:
    """Axes, scales and title around what is drawn."""
    by = next((line.model for line in lines), "")
    words = {line.word for line in lines} - {MEASURED}
    hollow = f"; hollow points are {SIMULATED}, no model was asked" if SIMULATED in words else ""
    under = f"by {by}; bars are 95 % intervals{hollow}"
    said = f"{title}{f' ({min(words)})' if words else ''}"
    head = [text(16, 24, said, "ft-title"), text(16, 42, under, "ft-soft")]
    return framed([*head, *_axes(ticks), *drawn], WIDTH, HEIGHT, said, dark)


def _axes(ticks: Sequence[tuple[float, str]]) -> Iterator[Element]:
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        line = f"M{_LEFT:.0f} {_y(share):.1f}H{_x(1):.1f}"
        yield el("path", d=line, class_="ft-line", stroke_width=0.5, opacity=0.5)
        yield text(_LEFT - 8, _y(share) + 4, f"{100 * share:.0f} %", "ft-soft", text_anchor="end")
    for at, word in ticks:
        yield el("path", d=f"M{_x(at):.1f} {_y(0):.1f}v5", class_="ft-line")
        yield text(_x(at), _y(0) + 20, word, "ft-soft", text_anchor="middle")
