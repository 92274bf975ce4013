"""Where boxes and lines go: nothing overlaps, everything is there, lines end at boxes."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphs._layered import Layout, arranged

SIZE = (200.0, 80.0)


@st.composite
def graphs_to_draw(draw: st.DrawFn, most: int = 40) -> tuple[list[str], list[tuple[str, str]], bool]:
    """Any graph, also with cycles, loops, doubled links and ends that are not there."""
    names = [f"s{place}" for place in range(draw(st.integers(1, most)))]
    end = st.sampled_from([*names, "nowhere"])
    return names, draw(st.lists(st.tuples(end, end), max_size=2 * most)), draw(st.booleans())


def arrange(names: list[str], links: list[tuple[str, str]], down: bool) -> Layout:
    return arranged(names, links, SIZE, down=down, between=40.0)


def check(layout: Layout, names: list[str], links: list[tuple[str, str]]) -> None:
    assert list(layout.boxes) == names
    for (ax, ay), (bx, by) in combinations(layout.boxes.values(), 2):
        assert abs(ax - bx) > SIZE[0] - 0.001 or abs(ay - by) > SIZE[1] - 0.001
    for x, y in layout.boxes.values():
        assert x >= 0 and y >= 0 and x + SIZE[0] <= layout.width and y + SIZE[1] <= layout.height
    assert set(layout.lines) == {(a, b) for a, b in links if a != b and {a, b} <= set(names)}
    for (source, target), points in layout.lines.items():
        assert on_the_frame(points[0], layout.boxes[source]) and on_the_frame(points[-1], layout.boxes[target])
        assert all(-0.001 <= x <= layout.width and -0.001 <= y <= layout.height for x, y in points)


def on_the_frame(point: tuple[float, float], corner: tuple[float, float]) -> bool:
    x, y = point[0] - corner[0], point[1] - corner[1]
    inside = -0.001 <= x <= SIZE[0] + 0.001 and -0.001 <= y <= SIZE[1] + 0.001
    return inside and (min(abs(x), abs(x - SIZE[0])) < 0.001 or min(abs(y), abs(y - SIZE[1])) < 0.001)


@given(graphs_to_draw())
@settings(deadline=None)
def test_any_graph_is_laid_out_whole_and_without_overlap(drawn: tuple[list[str], list[tuple[str, str]], bool]) -> None:
    names, links, down = drawn
    check(arrange(names, links, down), names, links)


@pytest.mark.parametrize("count", [1, 2, 60, 200])
@pytest.mark.parametrize("shape", ["chain", "fan", "alone", "all"])
def test_plans_up_to_two_hundred_steps_are_laid_out(count: int, shape: str) -> None:
    names = [f"s{place}" for place in range(count)]
    links = {
        "chain": list(pairwise(names)), "fan": [(names[0], name) for name in names[1:]],
        "alone": [], "all": list(combinations(names[: min(count, 60)], 2)),
    }[shape]  # fmt: skip
    check(arrange(names, links, down=True), names, links)


@given(graphs_to_draw(most=15))
@settings(max_examples=50, deadline=None)
def test_what_waits_comes_later_unless_it_leads_back(drawn: tuple[list[str], list[tuple[str, str]], bool]) -> None:
    names, links, _ = drawn
    ahead = [(a, b) for a, b in links if {a, b} <= set(names) and names.index(a) < names.index(b)]
    boxes = arrange(names, ahead, down=True).boxes
    assert all(boxes[a][1] + SIZE[1] < boxes[b][1] for a, b in ahead)


def test_an_empty_graph_has_no_boxes() -> None:
    assert arrange([], [], down=False).boxes == {}


def test_a_link_over_a_layer_bends_round_its_box() -> None:
    names, links = ["a", "b", "c"], [("a", "b"), ("b", "c"), ("a", "c")]
    layout = arrange(names, links, down=False)
    x, y = layout.boxes["b"]
    around = [point for point in layout.lines["a", "c"] if x <= point[0] <= x + SIZE[0]]
    assert around and not any(y <= point[1] <= y + SIZE[1] for point in around)
