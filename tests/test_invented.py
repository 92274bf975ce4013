"""Numbers of an answer that stand nowhere."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nodes.invented import invented_numbers


def result(output: Any, **more: Any) -> Any:
    return {"status": "done", "args": {}, "output": output, "artefact": None, **more}


def test_a_number_that_stands_in_no_result_and_not_in_the_task_is_named() -> None:
    found = invented_numbers("It costs 1,250 euros, refund 37.", ["order 1250"], {"a": result({"price": 1250})})
    assert found == ["37"]


def test_rounded_numbers_shares_as_percentages_list_marks_and_single_digits_are_no_inventions() -> None:
    results = {"a": result([3.14159, 0.425]), "b": result("12°C")}
    assert invented_numbers("1. pi is 3.14\n2. it is 42.5 percent, 12 degrees, 3 times", [], results) == []


def test_where_a_result_lies_outside_the_state_nothing_is_said() -> None:
    assert invented_numbers("77", [], {"a": result("…", artefact="x")}) == []


def test_numbers_of_failed_steps_do_not_count_as_seen() -> None:
    assert invented_numbers("77", [], {"a": result(77, status="failed")}) == ["77"]


@given(st.lists(st.integers(10, 10**6) | st.floats(10, 1e5, allow_nan=False).map(lambda x: round(x, 3)), max_size=6))
def test_an_answer_made_of_results_never_has_an_invented_number(numbers: list[float]) -> None:
    answer = f"I found {' and '.join(map(str, numbers))}."
    assert invented_numbers(answer, [], {"a": result(numbers)}) == []
