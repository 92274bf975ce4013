"""The table of the article made again, and what becomes of one fault: both as docs/noise.md shows them."""

import re
from pathlib import Path

import pytest

from evals.fates import FATES, SETS, fates
from evals.faults import WEIGHTS
from evals.published import CLASSES, PATTERNS, line, share
from tests.support.gold import needs_data
from tests.test_worlds import needs_tools

PAGE = (Path(__file__).parent.parent / "docs" / "noise.md").read_text(encoding="utf-8")


def test_the_page_has_the_figures_of_others_as_the_code_has_them_and_one_of_ours_beside_each() -> None:
    rows = re.findall(r"^\| (\w+) \| ([^|]*) \| (\w+) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", PAGE, re.MULTILINE)
    found = {(row[0], row[2]): row for row in rows if row[2] in PATTERNS}
    assert set(found) == {(one.name, pattern) for one in CLASSES for pattern in PATTERNS}
    for one in CLASSES:
        for pattern in PATTERNS:
            _, here, _, published, reference, ours = found[one.name, pattern]
            others = [one.published.get(pattern), one.reference.get(pattern)]
            assert [published, reference] == ["—" if share is None else f"{share:.1f} %" for share in others]
            assert (here, bool(re.fullmatch(r"\d+\.\d % \(\d+\.\d to \d+\.\d %\)", ours))) == (one.here, True)
    assert "reference (simulated) | ours, 95 % (simulated)" in PAGE


@needs_data
@needs_tools
@pytest.mark.slow
def test_a_line_of_the_table_is_measured() -> None:
    simple, right = CLASSES[0], share(CLASSES[0], "one_shot", 8, p=0.0)
    assert right.value == 1.0
    assert line(simple, "one_shot", right).startswith(
        f"| simple | {simple.here} | one_shot | 87.3 % | 75.9 % | 100.0 %"
    )
    assert share(CLASSES[0], "one_shot", 16, p=0.9).value < 0.5


@needs_data
@pytest.mark.slow
@pytest.mark.timeout(180)
def test_where_every_tool_answers_whatever_it_gets_no_fault_makes_a_step_fail() -> None:
    found = list(fates(lambda: SETS["nestful_strict"]()[:40], seed=0))
    kinds, ends = {kind for kind, _ in found}, [fate for _, fate in found]
    assert kinds <= set(WEIGHTS) and set(ends) <= set(FATES)
    assert {kind for kind, fate in found if fate == "sent back"} >= {"invented tool", "missing argument", "malformed"}
    assert {fate for kind, fate in found if kind in ("invented tool", "malformed")} == {"sent back"}
    assert ends.count("silent") > ends.count("a step failed") == 0
