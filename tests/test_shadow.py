"""Shadow mode decides and logs and acts on nothing; a replanner's view of results does not grow with the run."""

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import graphs
from nodes.views import bounded
from tests.support.plans import by_step, plan, step
from tests.support.scripted_model import ScriptedModel
from tools.tool import read, write


async def test_shadow_mode_runs_look_ups_and_logs_each_write_without_making_it(
    scripted_model: ScriptedModel, home: Path
) -> None:
    done: list[int] = []

    def price(item: str) -> int:
        """A price."""
        return 5

    def pay(amount: int) -> int:
        """Pays."""
        done.append(amount)
        return amount

    scripted_model.reply(plan(
        step("a", "price", {"item": "pen"}),
        step("b", "pay", {"amount": "${steps.a}"}),
        step("c", "pay", {"amount": "${steps.b}"}),
    ))  # fmt: skip
    context = {"model": scripted_model, "tools": [read(price), write(pay)], "shadow": True}
    out = await graphs.load("one_shot").ainvoke({"task": "pay"}, context=context)
    results = by_step(out["report"])
    assert done == []
    assert (results["a"]["status"], results["b"]["status"], results["c"]["status"]) == ("done", "skipped", "skipped")
    assert results["b"]["note"] == "shadow mode: pay would have run"
    assert "shadow mode: b, c would have changed something and did not" in out["report"]["stop"]["message"]
    assert [e["evidence"] for e in out["events"] if e["event"] == "shadow_write"] == [[{"amount": 5}]]
    assert any("shadow mode" in note for note in out["report"]["notes"])
    assert not (home / "journal.db").exists()


@given(st.dictionaries(st.text(min_size=1, max_size=6), st.text(max_size=3000) | st.integers(), max_size=200))
def test_what_a_replanner_sees_of_results_is_bounded(outputs: dict[str, Any]) -> None:
    shown = bounded(outputs, 6000)
    assert sum(len(str(value)) for value in shown.values()) <= 6000 + 40 * len(shown)
    assert len(shown) <= 60
    assert bounded(outputs, 10**9) == outputs
