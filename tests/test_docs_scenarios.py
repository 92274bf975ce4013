"""docs/scenarios.md: a column for every pattern, a reason for every empty cell, a test behind every other."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from graphs import names

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
SCENARIOS = [f"S{number}" for number in range(1, 12)]


def table(first: str) -> list[list[str]]:
    """The rows of the table whose head begins with this word, head first, without its line of dashes."""
    lines = re.search(rf"^\| {first} \|.*\n(?:\|.*\n)+", PAGE, re.MULTILINE)
    assert lines, f"there is no table that begins with {first!r}"
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[0].splitlines()]
    return [rows[0], *rows[2:]]


HEAD, *ROWS = table(r"scenario \| one_shot")
CELLS = [
    (row[0].split()[0], pattern, cell, row[-1].strip("`"))
    for row in ROWS
    for pattern, cell in zip(HEAD[1:-1], row[1:-1], strict=True)
]
FILLED = [cell for cell in CELLS if cell[2] != "—"]
EMPTY = [(scenario, pattern) for scenario, pattern, cell, _ in CELLS if cell == "—"]


@pytest.fixture(scope="module")
def collected() -> str:
    """The ids of all tests of scenarios."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, "tests/scenarios"], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_the_matrix_has_a_row_for_every_scenario_and_a_column_for_every_pattern() -> None:
    assert [row[0].split()[0] for row in ROWS] == SCENARIOS
    assert [*HEAD] == ["scenario", *names(), "tests"]


def test_every_cell_is_one_of_the_words_that_the_page_explains() -> None:
    explained = re.findall(r"^- \*\*(.+?)\*\*:", PAGE, re.MULTILINE)
    assert {cell for _, _, cell, _ in CELLS} <= set(explained)


@pytest.mark.parametrize(("scenario", "pattern", "cell", "file"), FILLED)
def test_behind_a_filled_cell_stands_a_test_of_that_scenario_in_that_pattern(
    scenario: str, pattern: str, cell: str, file: str, collected: str
) -> None:
    assert (ROOT / file).read_text(encoding="utf-8").startswith(f'"""{scenario}: ')
    assert re.search(rf"^{re.escape(file)}::.*\[(.*-)?{pattern}(-.*)?\]$", collected, re.MULTILINE)


def test_every_empty_cell_has_its_reason_and_every_reason_an_empty_cell() -> None:
    _, *reasons = table(r"scenario \| patterns")
    given = {
        (scenario, pattern)
        for scenarios, patterns, reason in reasons
        for scenario in scenarios.split(", ")
        for pattern in (names() if patterns == "all" else patterns.split(", "))
        if len(reason) > 20
    }
    assert given == set(EMPTY)
