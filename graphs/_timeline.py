"""The time line of a run: a bar for each step that ran, as SVG and as text; long waits are cut out and named."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from rich.cells import cell_len

from graphs._drawing import LOOKS, duration, state_of, took
from graphs._markup import el
from graphs._svg import clipped, framed, marked, sign, text
from graphs._words import one_line, visible
from state.result import Result

_LABEL, _ROW, _TOP, _SIDE = 240.0, 22.0, 58.0, 16.0
_LONG_WAIT = 0.25
"""A wait longer than this share of the work, and than a second, is cut to it."""


@dataclass(frozen=True)
class Bar:
    """A step as it ran, in seconds from the beginning; `at` and `to` are shares of the shown width."""

    step: str
    tool: str
    state: str
    seconds: float
    begins: float
    at: float
    to: float
    slow: bool


@dataclass(frozen=True)
class Wait:
    """Where nothing ran for long: in the middle of the shown width at `at`."""

    at: float
    seconds: float


def bars(results: Sequence[Result]) -> tuple[list[Bar], list[Wait]]:
    """The steps that ran in the order of their start, and the waits that were cut."""
    ran = sorted((one for one in results if one["attempts"]), key=lambda one: (one["started"], one["ended"]))
    if not ran:
        return [], []
    cuts = _cuts(ran)
    first = ran[0]["started"]
    total = _shown(max(one["ended"] for one in ran), cuts) - first or 1.0

    def share(moment: float) -> float:
        return min(1.0, max(0.0, (_shown(moment, cuts) - first) / total))

    shown = [
        Bar(r["step"], r["tool"], state_of(r), took(r), r["started"] - first, share(r["started"]),
            share(r["started"] + took(r)), r["slow"])
        for r in ran
    ]  # fmt: skip
    return shown, [Wait((share(begin) + share(end)) / 2, end - begin) for begin, end, _ in cuts]


def _cuts(ran: Sequence[Result]) -> list[tuple[float, float, float]]:
    """Begin, end and what is taken out of each long time in which no step ran."""
    gaps, busy, until = [], 0.0, ran[0]["started"]
    for one in ran:
        end = one["started"] + took(one)
        if one["started"] > until:
            gaps.append((until, one["started"]))
        busy += max(0.0, end - max(until, one["started"]))
        until = max(until, end)
    most = max(_LONG_WAIT * busy, 1.0)
    return [(begin, end, end - begin - most) for begin, end in gaps if end - begin > most]


def _shown(moment: float, cuts: Sequence[tuple[float, float, float]]) -> float:
    """The moment on an axis from which the cuts are taken out evenly."""
    out = (taken * min(1.0, max(0.0, (moment - begin) / (end - begin))) for begin, end, taken in cuts)
    return moment - sum(out)


def timeline_lines(results: Sequence[Result], width: int = 80) -> list[str]:
    """One line a step: id, tool, a bar, seconds and how it came out."""
    shown, waits = bars(results)
    labels = [one_line(f"{visible(bar.step)} {visible(bar.tool)}", 30) for bar in shown]
    room = max((cell_len(label) for label in labels), default=0)
    broad = max(10, width - room - 24)
    lines = []
    for label, bar in zip(labels, shown, strict=True):
        start = min(broad - 1, int(bar.at * broad))
        length = max(1, min(broad - start, round((bar.to - bar.at) * broad)))
        drawn = (" " * start + "█" * length).ljust(broad)
        lines.append(f"{label}{' ' * (room - cell_len(label))}  {drawn} {_told(bar)}")
    lines += [f"(cut out: {duration(wait.seconds)} in which no step ran)" for wait in waits]
    return lines or ["no step ran"]


def timeline_svg(results: Sequence[Result], width: float = 1000.0, dark: bool = True) -> Element:
    """The same as a picture."""
    shown, waits = bars(results)
    height = _TOP + _ROW * len(shown) + 16
    left, broad = _SIDE + _LABEL, width - _LABEL - 2 * _SIDE - 130
    parts = [text(_SIDE, 24, "time line" if shown else "time line: no step ran", "ft-title")]
    for wait in waits:
        x = left + wait.at * broad
        parts.append(
            el("path", d=f"M{x:.1f} {_TOP - 6:.0f}V{height - 12:.0f}", class_="ft-line", stroke_dasharray="1 4")
        )
        parts.append(text(x, _TOP - 12, f"{duration(wait.seconds)} cut out", "ft-soft", text_anchor="middle"))
    parts += [_row(bar, _TOP + _ROW * place, left, broad) for place, bar in enumerate(shown)]
    return framed(parts, width, height, "time line", dark)


def _row(bar: Bar, y: float, left: float, broad: float) -> Element:
    x, length = left + bar.at * broad, max(2.0, (bar.to - bar.at) * broad)
    label = text(_SIDE + 17, y + 12, clipped(f"{bar.step} {bar.tool}", _LABEL - 24))
    frame = el(
        "rect", x=x, y=y + 2, width=length, height=_ROW - 8, rx=2, class_="ft-box", stroke_width=1.3,
        stroke_dasharray=LOOKS[bar.state].dashes or None,
    )  # fmt: skip
    tip = el("title", f"{bar.step} {bar.tool}: {bar.state}, after {duration(bar.begins)}, for {duration(bar.seconds)}")
    word = text(x + length + 6, y + 12, _told(bar), "ft-word")
    return marked(bar.state, tip, sign(bar.state, _SIDE, y + 2), label, frame, word)


def _told(bar: Bar) -> str:
    return f"{duration(bar.seconds)} {bar.state}{', slow' if bar.slow else ''}"
