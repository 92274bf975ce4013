"""docs/evals.md: a column for every pattern, counts as the data has them, a test or a reason behind every cell."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evals import asynchow, bfcl, fewshots, gsm8k, mathqa, mbpp, nestful, nestools, planbench, tau
from evals.nestful_defects import STRICT, STRUCTURE
from graphs import names
from tests.support.gold import DATA, SOLVED, needs_data

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "evals.md").read_text(encoding="utf-8")


def few_shots(name: str) -> tuple[int, int]:
    texts = fewshots.texts(name, DATA)
    return len(texts), len(texts.keys() - fewshots.DEFECTIVE.keys())


def whole(tasks: list[object]) -> tuple[int, int]:
    return len(tasks), len(tasks)


def turns() -> tuple[int, int]:
    count = {one.id: len(one.begin()) for one in bfcl.dialogues(DATA)}
    return sum(count.values()), sum(number for name, number in count.items() if name not in bfcl.DEFECTIVE)


COUNTS: dict[str, Callable[[], tuple[int, int]]] = {
    "nestful": lambda: (len(list(nestful.tasks(DATA))), 300 - len(STRUCTURE)),
    "nestful strict": lambda: (len(list(nestful.tasks(DATA))), 300 - len({*STRUCTURE, *STRICT})),
    "nestools": lambda: whole(list(nestools.tasks(DATA))),
    "mathqa": lambda: whole(list(mathqa.tasks(DATA))),
    "asynchow": lambda: whole(list(asynchow.tasks(DATA))),
    "gsm8k": lambda: (len(list(gsm8k.tasks(DATA))), sum(map(gsm8k.is_sound, gsm8k.rows(DATA)))),
    "bfcl": turns,
    "tau": lambda: (len(list(tau.tasks(DATA))), len({task.id for task in tau.tasks(DATA)} - tau.DEFECTIVE.keys())),
    "rewoo": lambda: few_shots("rewoo"),
    "llmcompiler": lambda: few_shots("llmcompiler"),
    "planbench": lambda: whole(list(planbench.tasks(DATA))),
    "mbpp": lambda: whole(list(mbpp.tasks(folder=DATA))),
}


def table(first: str) -> list[list[str]]:
    """The rows of the table whose head begins with this, head first, without its line of dashes."""
    lines = re.search(rf"^\| {first} \|.*\n(?:\|.*\n)+", PAGE, re.MULTILINE)
    assert lines, f"there is no table that begins with {first!r}"
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[0].splitlines()]
    return [rows[0], *rows[2:]]


HEAD, *ROWS = table(r"set \| tasks")
CELLS = [(row[0], pattern, cell) for row in ROWS for pattern, cell in zip(HEAD[3:-1], row[3:-1], strict=True)]
TESTS = {row[0]: re.findall(r"`([^`]+)`", row[-1]) for row in ROWS}


@pytest.fixture(scope="module")
def collected() -> str:
    """The ids of all tests that a row names, slow ones too."""
    files = sorted({name.partition("::")[0] for tests in TESTS.values() for name in tests})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", ""]
    done = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_the_matrix_has_a_row_for_every_set_and_a_column_for_every_pattern() -> None:
    assert [row[0] for row in ROWS] == list(COUNTS)
    assert ["set", "tasks", "sound", *names(), "tests"] == HEAD


@needs_data
@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row[0]))
def test_the_counts_are_those_of_the_data(row: list[str]) -> None:
    assert tuple(map(int, row[1:3])) == COUNTS[row[0]]()


def test_every_cell_is_one_of_the_words_that_the_page_explains() -> None:
    explained = {*re.findall(r"^- \*\*(.+?)\*\*:", PAGE, re.MULTILINE)} - {"N of 100"}
    measured = {cell for name, _, cell in CELLS if name == "planbench" and cell != "—"}
    assert {cell for _, _, cell in CELLS} - measured <= explained
    assert {pattern: cell for name, pattern, cell in CELLS if name == "planbench" and cell != "—"} == {
        pattern: f"{solved} of 100" for pattern, solved in SOLVED.items()
    }


def test_behind_every_filled_cell_stands_a_test_of_that_set_in_that_pattern(collected: str) -> None:
    lines = collected.splitlines()
    missing = [
        (name, pattern)
        for name, pattern, cell in CELLS
        if cell != "—" and not any(runs(line, name, pattern) for line in lines)
    ]
    assert missing == []


def runs(line: str, name: str, pattern: str) -> bool:
    """Whether a collected test is one that the row names, for the pattern, and for the set where it is for several."""
    test, _, rest = line.partition("[")
    ids = rest.rstrip("]").split("-")
    of_sets = test.endswith(("every_one_is_right_with_exact_counts", "published_plans_run_with_exact_counts"))
    return test in TESTS[name] and pattern in ids and (not of_sets or name in ids)


def test_every_empty_cell_has_its_reason_and_every_reason_an_empty_cell() -> None:
    _, *reasons = table(r"sets \| patterns")
    given = [
        (name, pattern)
        for sets, patterns, reason in reasons
        for name in sets.split(", ")
        for pattern in patterns.split(", ")
        if len(reason) > 20
    ]
    assert sorted(given) == sorted((name, pattern) for name, pattern, cell in CELLS if cell == "—")


def test_every_row_that_is_left_out_is_named() -> None:
    _, *named = table(r"set \| rows")
    said = " ".join(row for _, row, _ in named)
    assert all(name in said for name in bfcl.DEFECTIVE)
    assert all(f"_{name.rpartition('_')[2]}`" in said for name in tau.DEFECTIVE)
    assert f"{len(STRUCTURE)} rows" in said and f"{len(STRICT)} rows" in said
    assert all(name.rpartition("-")[2] in said for name in fewshots.DEFECTIVE)
