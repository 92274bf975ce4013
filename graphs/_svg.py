"""A drawing as SVG: only shapes and text, light or dark as the screen is; no script, nothing fetched."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element

from rich.cells import cell_len, set_cell_size

from graphs._drawing import LOOKS, Drawing, Node
from graphs._layered import Layout, Point, arranged
from graphs._markup import el
from graphs._words import one_line

WIDTH, LINE, PAD = 232.0, 16.0, 9.0
"""Of a box; of a line of text; inside the frame."""
_BETWEEN, _WIDEST, _HEAD = 46.0, 1_180.0, 34.0
_CELL = 6.7
"""Width of one column of the fixed-width font at 11 px, with room to spare; a Chinese character takes two."""
_FONT = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,'Noto Sans Mono CJK SC','Noto Sans CJK SC',monospace"


def style(dark: bool = True) -> str:
    """The one style sheet of all pictures; without `dark` it is the same on every screen."""
    rules = f".ft{{font-family:{_FONT};font-size:11px}}.ft-title,.ft-word{{font-weight:700}}"
    rules += ".ft-line,.ft-sign{fill:none}.ft path.ft-line{stroke-width:1.3}.ft-sign{stroke-width:1.7}"
    rules += ".ft-box{fill-opacity:.11}"
    rules += _colours("#1f2328", "#57606a", "#ffffff", {state: look.light for state, look in LOOKS.items()})
    if dark:
        night = _colours("#e6edf3", "#9aa4af", "#0d1117", {state: look.dark for state, look in LOOKS.items()})
        rules += f"@media screen and (prefers-color-scheme:dark){{{night}}}"
    return rules


def _colours(ink: str, soft: str, back: str, states: dict[str, str]) -> str:
    rules = f".ft text{{fill:{ink}}}.ft .ft-soft,.ft .ft-head{{fill:{soft}}}.ft .ft-back{{fill:{back}}}"
    rules += f".ft .ft-line{{stroke:{soft}}}"
    for state, colour in states.items():
        one = f".ft-{_class(state)} "
        rules += f"{one}.ft-box{{fill:{colour};stroke:{colour}}}{one}.ft-sign{{stroke:{colour}}}"
        rules += f"{one}.ft-word,{one}.ft-bar{{fill:{colour}}}"
    return rules


def svg_of(drawing: Drawing, dark: bool = True) -> Element:
    """The drawing with its title above and a legend below; across while that fits a page, else down."""
    rows = max((len(node.lines) for node in drawing.nodes), default=0) + any(node.state for node in drawing.nodes)
    size = (WIDTH, 2 * PAD + LINE * (1 + rows)) if rows else (_narrow(drawing), 2 * PAD + LINE)
    layout = _layout(drawing, size)
    width = max(layout.width, 600.0)
    lines = (_line(layout.lines[edge.source, edge.target], edge.dashed, layout.down) for edge in drawing.edges)
    boxes = (_box(node, layout.boxes[node.name], size) for node in drawing.nodes)
    keys, height = _flow(_legend(drawing), width, _HEAD + layout.height + 12)
    title = text(16, 24, clipped(drawing.title, width - 32), "ft-title")
    shown = [title, el("g", *lines, *boxes, transform=f"translate(0 {_HEAD:.0f})"), *keys]
    return framed(shown, width, height + 14, drawing.title, dark)


def _narrow(drawing: Drawing) -> float:
    """Wide enough for boxes that hold nothing but a name."""
    longest = max((cell_len(node.title) for node in drawing.nodes), default=0)
    return min(WIDTH, max(WIDTH / 2, (longest + 2) * _CELL + 2 * PAD))


def framed(shown: Iterable[Element], width: float, height: float, title: str, dark: bool) -> Element:
    """A whole picture around what is shown."""
    back = el("rect", width=width, height=height, class_="ft-back")
    return el(
        "svg", el("title", one_line(title)), el("style", style(dark)), back, *shown, xmlns="http://www.w3.org/2000/svg",
        width=width, height=height, viewBox=f"0 0 {width:.0f} {height:.0f}", class_="ft", role="img",
    )  # fmt: skip


def text(x: float, y: float, said: str, class_: str | None = None, **more: Any) -> Element:
    """One line of text."""
    return el("text", said, x=x, y=y, class_=class_, **more)


def clipped(said: str, width: float) -> str:
    """The text on one line, cut to a width in pixels."""
    cells, line = max(1, int(width / _CELL)), one_line(said, 2_000)
    return line if cell_len(line) <= cells else f"{set_cell_size(line, cells - 1).rstrip()}…"


def sign(state: str, x: float, y: float) -> Element:
    """The sign of a state, with its left upper corner there."""
    return el("path", d=LOOKS[state].sign, class_="ft-sign", transform=f"translate({x:.1f} {y:.1f})")


def marked(state: str, *children: Element) -> Element:
    """A group in the colour of a state."""
    return el("g", *children, class_=f"ft-{_class(state)}")


def _class(state: str) -> str:
    return state.replace(" ", "-") or "plain"


def _layout(drawing: Drawing, size: tuple[float, float]) -> Layout:
    names, links = [node.name for node in drawing.nodes], [(edge.source, edge.target) for edge in drawing.edges]
    across, down = (arranged(names, links, size, down=turn, between=_BETWEEN) for turn in (False, True))
    return across if across.width <= max(_WIDEST, down.width) else down


def _box(node: Node, at: Point, size: tuple[float, float]) -> Element:
    (x, y), (width, height), look = at, size, LOOKS[node.state]
    frame = el(
        "rect", x=x, y=y, width=width, height=height, rx=5, class_="ft-box", stroke_width=3.2 if node.write else 1.3,
        stroke_dasharray=look.dashes or None,
    )  # fmt: skip
    room, left, top = width - 2 * PAD, x + PAD, y + PAD + 10
    mark = "write" if node.write else ""
    title = text(left, top, clipped(node.title, room - _CELL * (len(mark) + 1)), "ft-title")
    lines = [text(left, top + LINE * place, clipped(line, room)) for place, line in enumerate(node.lines, start=1)]
    shown = [el("title", node.tip or node.title), frame, title, *lines]
    if mark:
        shown.append(text(x + width - PAD, top, mark, "ft-word", text_anchor="end"))
    if node.state:
        foot = y + height - PAD
        shown += [sign(node.state, left, foot - 10), text(left + 17, foot, node.state, "ft-word")]
    return marked(node.state, *shown)


def _line(points: list[Point], dashed: bool, down: bool) -> Element:
    """A curve through the points, and an arrow's head at its end."""
    (ax, ay), (bx, by) = points[0], points[-1]
    turn = (90 if by > ay else 270) if down else (0 if bx > ax else 180)
    head = el("path", d="M0 0-8-4-8 4Z", class_="ft-head", transform=f"translate({bx:.1f} {by:.1f}) rotate({turn})")
    line = el("path", d=curve(points, down), class_="ft-line", stroke_dasharray="5 4" if dashed else None)
    return el("g", line, head)


def curve(points: list[Point], down: bool) -> str:
    """The path of a line from box to box, as SVG writes it."""
    path = "M{:.1f} {:.1f}".format(*points[0])
    for (x, y), (u, v) in pairwise(points):
        one, two = ((x, (y + v) / 2), (u, (y + v) / 2)) if down else (((x + u) / 2, y), ((x + u) / 2, v))
        path += "C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}".format(*one, *two, u, v)
    return path


def _legend(drawing: Drawing) -> Iterator[tuple[str, Element]]:
    """What each sign, line and frame means, of those that are there."""
    for state in dict.fromkeys(node.state for node in drawing.nodes if node.state):
        yield state, marked(state, sign(state, 0, -10))
    there = {"solid": any(not edge.dashed for edge in drawing.edges), "dashed": any(e.dashed for e in drawing.edges)}
    there["thick"] = any(node.write for node in drawing.nodes)
    for name, meaning in drawing.keys.items():
        if there[name] and name == "thick":
            yield meaning, el("rect", x=0, y=-10, width=13, height=10, stroke_width=3, class_="ft-line")
        elif there[name]:
            dashes = "5 4" if name == "dashed" else None
            yield meaning, el("path", d="M-6-4H13", class_="ft-line", stroke_dasharray=dashes)


def _flow(keys: Iterable[tuple[str, Element]], width: float, y: float) -> tuple[list[Element], float]:
    """The legend in as many lines as it needs: its elements, and where it ends."""
    placed, x, y = list[Element](), 22.0, y + 10
    for word, drawn in keys:
        room = 46 + cell_len(word) * _CELL
        if x > 22 and x + room > width:
            x, y = 22.0, y + 20
        placed.append(el("g", drawn, text(19, 0, word, "ft-soft"), transform=f"translate({x:.0f} {y:.0f})"))
        x += room
    return placed, y
