"""A condition may come from a model: none of them can hang the process or eat its memory."""

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.conditions import accept, evaluated

NAMES: dict[str, Any] = {"output": list(range(5000)), "text": "a" * 5000}


@pytest.mark.parametrize(
    "expression",
    [
        "[[[0] * 9999] * 9999] * 9999 == output",
        "'a' * 9999 == text",
        "sum([sum([1 for b in output]) for a in output]) > 0",
        "len([a for a in output for b in output]) > 0",
        "10 ** 2000 * 10 ** 2000 > 1",
        "9 ** 9 ** 9 > 1",
        "1 << 99999999 > 1",
    ],
)
def test_an_expression_that_would_take_for_ever_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match="could not be evaluated"):
        evaluated(expression, NAMES)


def test_a_condition_that_costs_too_much_is_unverified() -> None:
    assert accept("[[0] * 9999] * 9999 == output", [1])["outcome"] == "unverified"


@pytest.mark.parametrize(
    "expression", ["sum([a * 2 for a in output]) > 5", "all([a >= 0 for a in output])", "2.5 * 2 == 5"]
)
def test_what_looks_at_each_item_of_a_long_result_is_evaluated(expression: str) -> None:
    assert evaluated(expression, NAMES)


PARTS = st.sampled_from(["output", "text", "3", "[0]", "'x'", "9999", "1.5"])


@given(
    st.recursive(
        PARTS,
        lambda part: st.tuples(part, st.sampled_from(["*", "+", "**", "%", "<<"]), part).map(
            lambda three: f"({three[0]} {three[1]} {three[2]})"
        ),
        max_leaves=8,
    )
)
def test_no_arithmetic_of_any_parts_makes_something_huge(expression: str) -> None:
    ast.parse(expression)
    try:
        value = evaluated(expression, NAMES)
    except ValueError:
        return
    assert len(str(value)) < 1_000_000
