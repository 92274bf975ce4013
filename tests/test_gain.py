"""What a turn of reasoning brings."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.gain import Gained, gains


def turns(*outputs: Any, effect: str = "read", texts: tuple[str, ...] = (), parts: int = 0) -> tuple[Any, Any]:
    names = [f"t{place}" for place, _ in enumerate(outputs, 1)]
    thoughts = [{"step": name, "text": (texts or ("",) * len(names))[place]} for place, name in enumerate(names)]
    results = {
        name: {
            "step": name, "status": "done", "output": output, "effect": effect, "parts": [{}] * parts,
            "call": f"call {name}", "tool": "look_up",
        }
        for name, output in zip(names, outputs, strict=True)
    }  # fmt: skip
    return thoughts, results


def test_a_turn_gains_what_was_not_seen_before() -> None:
    seen = "the weather of Paris is 12 degrees"
    assert gains(*turns(seen, f"{seen}, in Rome 15", seen)) == [5.0, 2.0, 0.0]


def test_a_new_constraint_in_the_thought_counts() -> None:
    assert gains(*turns("Paris and Rome", "Paris and Rome", texts=("", "It must be under 10 euros"))) == [3.0, 1.0]


@pytest.mark.parametrize(
    "outputs",
    [
        ["город Москва, столица", "город Казань, столица", "город Пермь, столица"],
        ["これは東京です、首都です", "これは京都です、古都です", "これは大阪です、商都です"],
        ["서울은 큰 도시입니다 하나", "부산은 큰 도시입니다 둘", "대구는 큰 도시입니다 셋"],
        ["巴黎今天的天气是多云十二度", "罗马今天的天气是晴天十五度", "奥斯陆今天的天气是小雪三度"],
        ["A", "B", "C"],
        [False, False, True],
        ["no", "no", "yes"],
        [0, 0, 1],
    ],
    ids=["Cyrillic", "kana", "Korean", "Han", "grades", "booleans", "yes and no", "numbers"],
)
def test_answers_in_every_script_and_short_ones_to_other_questions_are_news(outputs: list[Any]) -> None:
    assert min(gains(*turns(*outputs))) >= 1


def test_each_write_is_something_new_however_short_its_receipt() -> None:
    assert min(gains(*turns("ok", "ok", "ok", "ok", effect="write"))) == 1


def test_a_turn_that_made_many_calls_is_held_to_bring_more() -> None:
    assert gains(*turns("something about Oslo", parts=20)) == [0.15]


def test_a_failed_turn_and_one_that_has_not_run_are_not_counted() -> None:
    thoughts, results = turns("the city of Paris", "the city of Rome", "the city of Oslo")
    results["t2"]["status"] = "failed"
    del results["t3"]
    assert gains(thoughts, results) == [3.0]


def test_the_first_result_of_a_tool_is_new_whatever_it_says() -> None:
    thoughts, results = turns("the report was approved", "the report was approved")
    results["t2"]["tool"] = "ask_legal"
    assert gains(thoughts, results)[1] == 1.0


def test_turns_that_come_one_by_one_gain_what_they_gain_together_also_when_an_earlier_result_is_another() -> None:
    thoughts, results = turns("in Paris it rains", "in Rome it rains too", "in Paris it rains no more")
    gained = Gained()
    grown = [gains(thoughts[:many], results, gained) for many in (1, 2, 3)]
    assert grown == [gains(thoughts, results)[:many] for many in (1, 2, 3)]
    results["t1"] = {**results["t1"], "output": "in Oslo it snows and nothing more is known"}
    assert gains(thoughts, results, gained) == gains(thoughts, results) != grown[-1]


@given(st.lists(st.text(alphabet="abcde 12 ", min_size=14, max_size=30), max_size=8))
def test_saying_the_same_again_never_gains(outputs: list[str]) -> None:
    again = gains(*turns(*outputs, *outputs))[len(outputs) :]
    assert all(gain == 0 for gain in again)
