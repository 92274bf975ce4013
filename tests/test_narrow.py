"""Pages of a run and of an eval in a real browser, on a desk and as narrow as a phone, light and dark."""

from itertools import product
from pathlib import Path

import pytest

from graphs.cli import execute
from tests.support.browser import Watched, chromium

pytestmark = pytest.mark.slow

TASKS = """
tasks:
  - {task: what is 17 * 23, expected: 391}
  - {task: what is 5 + 5, expected: 11}
"""
BROKEN = """() => [...document.querySelectorAll("td:not(.long), th")].flatMap(cell => {
  const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), broken = [];
  for (let text; (text = walk.nextNode());)
    for (const word of text.data.matchAll(/\\w+/g)) {
      const range = document.createRange();
      range.setStart(text, word.index); range.setEnd(text, word.index + word[0].length);
      if (range.getClientRects().length > 1) broken.push(word[0]);
    }
  return broken;
})"""
BEYOND = """() => [...document.querySelectorAll(".scroll")].filter(one => one.querySelector("table")).map(one => {
  one.scrollLeft = one.scrollWidth;
  const last = [...one.querySelectorAll("tr > :last-child")].map(cell => cell.getBoundingClientRect().right);
  return Math.max(...last) - innerWidth;
})"""


@pytest.fixture(params=["report", "eval"])
def sheet(request: pytest.FixtureRequest, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page of a run, or of an eval, as the command writes it."""
    monkeypatch.chdir(tmp_path)
    if request.param == "report":
        assert execute(("run", "write hello to a.txt", "--yes", "--thread", "mine")) == 0
        assert execute(("report", "mine", "-o", "mine.html")) == 0
        return tmp_path / "mine.html"
    (tmp_path / "tasks.yaml").write_text(TASKS)
    execute(("eval", "tasks.yaml", "--patterns", "one_shot,direct"))
    return next(tmp_path.rglob("report.html"))


def test_no_word_of_a_table_is_broken_and_its_last_column_can_be_reached(sheet: Path) -> None:
    shades = set()
    with chromium() as browser:
        for width, scheme in product((400, 1200), ("light", "dark")):
            watched = Watched(browser, viewport={"width": width, "height": 900}, color_scheme=scheme)
            page = watched.page
            page.goto(sheet.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") == width, "only tables and drawings scroll"
            assert page.evaluate(BROKEN) == []
            beyond = page.evaluate(BEYOND)
            assert beyond and max(beyond) <= 0
            shades.add(page.locator(".scroll").first.evaluate("one => getComputedStyle(one).backgroundImage"))
            watched.close()
    assert len(shades) == 2, "a shade at the edge, of either scheme, says that there is more"
