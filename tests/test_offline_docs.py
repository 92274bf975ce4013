"""docs/offline.md: every example gives the plan that stands beside it."""

import re
from pathlib import Path

import pytest

from tests.support.offline import described, lines, planned
from tests.test_offline_tools import OWN
from tools.catalogue import describe

PAGE = Path(__file__).parent.parent / "docs" / "offline.md"
ROW = re.compile(r"^\| (?P<request>[^|]+) \| (?P<plan>`.+`) \|$", re.MULTILINE)
EXAMPLES = [(row["request"], row["plan"]) for row in ROW.finditer(PAGE.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("request_", "plan"), EXAMPLES)
def test_an_example_gives_its_plan(request_: str, plan: str) -> None:
    tools = [*described(), *(describe(tool) for tool in OWN)]
    assert lines(planned(request_, tools=tools)) == [line.strip("`") for line in plan.split("<br>")]


def test_there_are_examples_in_both_languages() -> None:
    assert len(EXAMPLES) >= 40
    assert sum(any(character > "\u3400" for character in request) for request, _ in EXAMPLES) >= 8
