"""What a turn of reasoning brings."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nodes.gain import gains


def turns(*outputs: Any, effect: str = "read", texts: tuple[str, ...] = ()) -> tuple[Any, Any]:
    names = [f"t{place}" for place, _ in enumerate(outputs, 1)]
    thoughts = [{"step": name, "text": (texts or ("",) * len(names))[place]} for place, name in enumerate(names)]
    results = {
        name: {"step": name, "status": "done", "output": output, "effect": effect}
        for name, output in zip(names, outputs, strict=True)
    }
    return thoughts, results


def test_a_turn_gains_its_new_entities_by_the_number_of_turns_so_far() -> None:
    assert gains(*turns("Paris 12", "Paris 12 Rome", "Paris")) == [2.0, 0.5, 0.0]


def test_a_new_constraint_in_the_thought_counts() -> None:
    assert gains(*turns("Paris", "Paris", texts=("", "It must be under 10 euros"))) == [1.0, 0.5]


def test_chinese_results_count_by_their_runs_of_characters() -> None:
    assert gains(*turns("巴黎，多云", "巴黎，多云", "巴黎，晴天")) == [2.0, 0.0, 1 / 3]


def test_each_write_is_something_new_however_short_its_receipt() -> None:
    assert min(gains(*turns("ok", "ok", "ok", "ok", effect="write"))) >= 0.25


def test_a_failed_turn_brings_nothing_and_a_turn_that_has_not_run_is_not_counted() -> None:
    thoughts, results = turns("Paris", "Rome", "Oslo")
    results["t2"]["status"] = "failed"
    del results["t3"]
    assert gains(thoughts, results) == [1.0, 0.0]


@given(st.lists(st.text(alphabet="abcde 12 ", max_size=12), max_size=8))
def test_saying_the_same_again_never_gains(outputs: list[str]) -> None:
    again = gains(*turns(*outputs, *outputs))[len(outputs) :]
    assert all(gain == 0 for gain in again)
