"""Where the boxes and lines of a drawing go: layers by longest path, few crossings, no overlap (Sugiyama et al. 1981).

All boxes have one size. Left out: ports, and shortening of long lines beyond what the straight middle gives.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

Point = tuple[float, float]
Link = tuple[int, int]
MARGIN, GAP, LANE = 16.0, 18.0, 12.0
"""Around everything; between boxes of a layer; beside a line that passes through a layer."""
_MOST_BENDS = 3_000
"""So many bends are given out, short lines first; the lines after that go straight, behind the boxes."""
_SWEEPS = 6


@dataclass(frozen=True)
class Layout:
    """Left upper corners of the boxes by name, and the points of each line from box to box."""

    down: bool
    width: float
    height: float
    boxes: dict[str, Point]
    lines: dict[tuple[str, str], list[Point]]


@dataclass
class _Graph:
    """Nodes by number, bends after them; every link of a chain leads one layer on, if it has bends at all."""

    real: int
    layers: list[list[int]]
    chains: dict[Link, list[int]]
    before: dict[int, list[int]]
    after: dict[int, list[int]]


def arranged(
    names: Sequence[str], links: Iterable[tuple[str, str]], size: tuple[float, float], *, down: bool, between: float
) -> Layout:
    """Layers from left to right, or `down`; `size` is that of a box, `between` the room between layers."""
    number = {name: place for place, name in enumerate(names)}
    wanted = [(number[a], number[b]) for a, b in dict.fromkeys(links) if a in number and b in number and a != b]
    back = _leading_back(len(names), wanted)
    graph = _layered(len(names), [link[::-1] if link in back else link for link in wanted])
    _untangle(graph)
    breadth, length = size if down else (size[1], size[0])
    middle = _middles(graph, breadth)
    layer = {item: depth for depth, items in enumerate(graph.layers) for item in items}
    start = {item: MARGIN + layer[item] * (length + between) for item in layer}

    def turned(along: float, across: float) -> Point:
        return (across, along) if down else (along, across)

    def line(link: Link) -> list[Point]:
        ahead = link not in back
        chain = graph.chains[link if ahead else link[::-1]]
        shift = 0.0 if ahead else min(12.0, breadth / 4)
        first = (start[chain[0]] + length, middle[chain[0]] + shift)
        last = (start[chain[-1]], middle[chain[-1]] + shift)
        bends = [p for i in chain[1:-1] for p in ((start[i], middle[i]), (start[i] + length, middle[i]))]
        points = [turned(*point) for point in (first, *bends, last)]
        return points if ahead else points[::-1]

    corners = {name: turned(start[i], middle[i] - breadth / 2) for name, i in number.items()}
    along = 2 * MARGIN + len(graph.layers) * (length + between) - (between if graph.layers else 0)
    across = max((middle[i] + (breadth / 2 if i < len(names) else LANE) for i in middle), default=0) + MARGIN
    lines = {(names[a], names[b]): line((a, b)) for a, b in wanted}
    return Layout(down, *turned(along, across), corners, lines)


def _leading_back(count: int, links: list[Link]) -> set[Link]:
    """The links that close a cycle, as a walk in depth from the first node finds them."""
    after = _neighbours(links)[1]
    seen, open_, back = set[int](), set[int](), set[Link]()
    for root in range(count):
        stack = [(root, iter(after.get(root, [])))] if root not in seen else []
        seen.add(root)
        open_.add(root)
        while stack:
            node, ahead = stack[-1]
            if (found := next(ahead, None)) is None:
                open_.discard(node)
                stack.pop()
            elif found in open_:
                back.add((node, found))
            elif found not in seen:
                seen.add(found)
                open_.add(found)
                stack.append((found, iter(after.get(found, []))))
        open_.discard(root)
    return back


def _neighbours(links: Iterable[Link]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    before: dict[int, list[int]] = {}
    after: dict[int, list[int]] = {}
    for a, b in links:
        after.setdefault(a, []).append(b)
        before.setdefault(b, []).append(a)
    return before, after


def _layered(count: int, links: list[Link]) -> _Graph:
    """Each node one layer behind the last that it waits for; links over several layers get a bend in each."""
    links = list(dict.fromkeys(links))
    depth = _depths(count, links)
    layers: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
    for node in range(count):
        layers[depth[node]].append(node)
    chains, total = {}, count
    for a, b in sorted(links, key=lambda link: depth[link[1]] - depth[link[0]]):
        bends = depth[b] - depth[a] - 1
        bends = bends if total - count + bends <= _MOST_BENDS else 0
        for place in range(bends):
            layers[depth[a] + 1 + place].append(total + place)
        chains[a, b] = [a, *range(total, total + bends), b]
        total += bends
    short = [pair for (a, b), c in chains.items() for pair in pairwise(c) if len(c) == depth[b] - depth[a] + 1]
    return _Graph(count, layers, chains, *_neighbours(short))


def _depths(count: int, links: list[Link]) -> list[int]:
    before, after = _neighbours(links)
    missing = [len(before.get(node, [])) for node in range(count)]
    depth, ready = [0] * count, [node for node in range(count) if not missing[node]]
    for node in ready:  # grows as it goes
        for found in after.get(node, []):
            depth[found] = max(depth[found], depth[node] + 1)
            missing[found] -= 1
            if not missing[found]:
                ready.append(found)
    return depth


def _untangle(graph: _Graph) -> None:
    """Orders each layer by the mean place of its neighbours, to and fro."""
    for sweep in range(_SWEEPS):
        near = graph.after if sweep % 2 else graph.before
        place = {item: at for items in graph.layers for at, item in enumerate(items)}
        for items in graph.layers[::-1] if sweep % 2 else graph.layers:
            own = {item: _mean([place[i] for i in near.get(item, [])], place[item]) for item in items}
            items.sort(key=own.__getitem__)
            place |= {item: at for at, item in enumerate(items)}


def _middles(graph: _Graph, breadth: float) -> dict[int, float]:
    """Across the layers: as near to the neighbours as the room that each needs allows."""
    half = {item: (breadth + GAP if item < graph.real else LANE) / 2 for items in graph.layers for item in items}
    middle = {item: float(at) for items in graph.layers for at, item in enumerate(items)}
    for sweep in range(_SWEEPS + 1):
        for items in graph.layers[::-1] if sweep % 2 else graph.layers:
            near = (graph.before, graph.after) if sweep == _SWEEPS else ((graph.after if sweep % 2 else graph.before),)
            wanted = [_mean([middle[i] for n in near for i in n.get(item, [])], middle[item]) for item in items]
            gaps = [half[a] + half[b] for a, b in pairwise(items)]
            middle |= zip(items, _apart(wanted, gaps), strict=True)
    least = min((middle[i] - (breadth / 2 if i < graph.real else LANE) for i in middle), default=0)
    return {item: at - least + MARGIN for item, at in middle.items()}


def _mean(values: list[float], default: float) -> float:
    return sum(values) / len(values) if values else default


def _apart(wanted: list[float], gaps: list[float]) -> list[float]:
    """In this order and at least `gaps` apart, nearest to what is wanted: least squares by pooling neighbours."""
    offsets = list(accumulate(gaps, initial=0.0))[: len(wanted)]
    pools: list[tuple[float, int]] = []
    for value, offset in zip(wanted, offsets, strict=True):
        total, size = value - offset, 1
        while pools and pools[-1][0] / pools[-1][1] >= total / size:
            more, others = pools.pop()
            total, size = total + more, size + others
        pools.append((total, size))
    flat = [total / size for total, size in pools for _ in range(size)]
    return [value + offset for value, offset in zip(flat, offsets, strict=True)]
