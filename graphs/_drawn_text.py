"""Drawings as text that other programs draw: Mermaid and DOT. Nothing that was handed in can become their syntax."""

import re
from collections.abc import Iterable

from graphs._drawing import LOOKS, Drawing, Node
from graphs._words import one_line

_PLAIN = re.compile(r"[^\w .,:()/+*=-]|_{2,}", re.ASCII)
_LONGEST = 60


def mermaid(drawing: Drawing) -> str:
    """A flowchart; boxes with a double side change something."""
    name = _names(drawing)
    used = dict.fromkeys(node.state for node in drawing.nodes)
    lines = [f"%% {_entities(one_line(drawing.title, 200))}", "flowchart TD"]
    for node in drawing.nodes:
        opens, closes = ("[[", "]]") if node.write else ("[", "]")
        text = "<br/>".join(map(_entities, _words(node)))
        lines.append(f'  {name[node.name]}{opens}"{text}"{closes}{_class(node, used)}')
    for edge in drawing.edges:
        lines.append(f"  {name[edge.source]} {'-.->' if edge.dashed else '-->'} {name[edge.target]}")
    lines += [f'  key["{_entities(_key(drawing))}"]:::key', "  classDef key fill:none,stroke:none"]
    for place, state in enumerate(used):
        look = LOOKS[state]
        dashes = f",stroke-dasharray:{look.dashes}" if look.dashes else ""
        lines.append(f"  classDef s{place} fill:{_pale(look.light)},stroke:{look.light},color:#1f2328{dashes}")
    return "\n".join(lines) + "\n"


def dot(drawing: Drawing) -> str:
    """A digraph for Graphviz; boxes with a double frame change something."""
    name = _names(drawing)
    label = _quoted([one_line(drawing.title, 200), _key(drawing)])
    lines = ["digraph plan {", f"  graph [rankdir=TB, label={label}, fontname=Helvetica]"]
    lines += ["  node [shape=box, style=filled, fontname=Helvetica, fontsize=11]"]
    for node in drawing.nodes:
        look = LOOKS[node.state]
        style = "filled,dashed" if look.dashes else "filled"
        colours = f'color="{look.light}", fillcolor="{_pale(look.light)}", style="{style}"'
        write = ", peripheries=2" if node.write else ""
        lines.append(f"  {name[node.name]} [label={_quoted(_words(node))}, {colours}{write}]")
    for edge in drawing.edges:
        dashed = " [style=dashed]" if edge.dashed else ""
        lines.append(f"  {name[edge.source]} -> {name[edge.target]}{dashed}")
    return "\n".join([*lines, "}"]) + "\n"


def _words(node: Node) -> list[str]:
    """The lines of a box; state and effect are words too."""
    marks = [word for word in (node.state, "write" if node.write else "") if word]
    title = f"{node.title} ({', '.join(marks)})" if marks else node.title
    return [one_line(line, _LONGEST) for line in (title, *node.lines)]


def _key(drawing: Drawing) -> str:
    frame = {"thick": "double frame"}
    return ", ".join(f"{frame.get(name, name)}: {meaning}" for name, meaning in drawing.keys.items())


def _names(drawing: Drawing) -> dict[str, str]:
    """Names of our own: an id could be a word of the language."""
    return {node.name: f"n{place}" for place, node in enumerate(drawing.nodes, start=1)}


def _class(node: Node, used: Iterable[str]) -> str:
    return f":::s{list(used).index(node.state)}"


def _entities(text: str) -> str:
    """Mermaid has no escapes, only numbered characters; letters of any language stay."""
    return "".join(f"#{ord(c)};" if ord(c) < 128 and _PLAIN.match(c) else c for c in text)


def _quoted(lines: Iterable[str]) -> str:
    """A DOT string; `&` begins an entity there, a backslash an escape."""
    escaped = (line.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"{}"'.format("\\n".join(escaped))


def _pale(colour: str) -> str:
    """The colour at an eighth on white."""
    parts = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{255 - (255 - part) // 8:02x}" for part in parts)
