"""Where the boxes of a plan stand on the page, and the lines between them: drawn here as for every other picture."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from graphs._drawing import Drawing, drawing_of_steps
from graphs._layered import Layout, arranged
from graphs._svg import curve
from state.plan import Step

WIDTH, HEIGHT, BETWEEN = 216.0, 88.0, 44.0
"""Of a box as the style sheet makes it; and the room between layers."""


def graph_of(steps: Sequence[Step]) -> dict[str, Any]:
    """Both ways to lay it out, of which the page takes the one that fits its width."""
    drawing = drawing_of_steps(steps)
    return {
        "box": [WIDTH, HEIGHT],
        "nodes": [
            {"id": node.name, "lines": node.lines, "write": node.write, "tip": node.tip} for node in drawing.nodes
        ],
        "across": _laid_out(drawing, down=False),
        "down": _laid_out(drawing, down=True),
    }


def _laid_out(drawing: Drawing, *, down: bool) -> dict[str, Any]:
    layout = _layout(tuple(n.name for n in drawing.nodes), tuple((e.source, e.target) for e in drawing.edges), down)
    dashed = {(edge.source, edge.target) for edge in drawing.edges if edge.dashed}
    lines = [
        {"from": a, "to": b, "path": curve(points, down), "dashed": (a, b) in dashed}
        for (a, b), points in layout.lines.items()
    ]
    return {"width": layout.width, "height": layout.height, "boxes": layout.boxes, "lines": lines}


@lru_cache(maxsize=256)  # a page that watches asks several times a second
def _layout(names: tuple[str, ...], links: tuple[tuple[str, str], ...], down: bool) -> Layout:
    return arranged(names, links, (WIDTH, HEIGHT), down=down, between=BETWEEN)
