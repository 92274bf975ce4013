"""A condition may come from a model: none of them can hang the process or eat its memory."""

import ast
import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphs
from state.conditions import SECONDS, accept, evaluated
from tools.tool import read

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


LONG = list(range(60_000))


@pytest.mark.parametrize(
    "expression",
    [
        "all(a in output for a in [b for b in output if b > 59000])",
        "all([sorted(output) == output for a in output])",
        "len([output.count(a) for a in output]) > 0",
    ],
)
def test_a_condition_whose_operations_each_go_through_a_long_result_is_given_up(expression: str) -> None:
    began = time.thread_time()
    with pytest.raises(ValueError, match="could not be evaluated"):
        evaluated(expression, {"output": LONG})
    assert time.thread_time() - began < 2 * SECONDS


@pytest.mark.parametrize("expression", ["sum([output for a in output], []) == 0", "sum(['a', 'b']) == 'ab'"])
def test_a_sum_is_of_numbers(expression: str) -> None:
    with pytest.raises(ValueError, match="sum is for numbers"):
        evaluated(expression, NAMES)


async def test_the_loop_goes_on_while_a_condition_is_decided(tmp_path: Path) -> None:
    async def rows() -> list[int]:
        """Many rows."""
        return [number * 7919 % 9973 for number in range(9_990)]

    step = {"id": "a", "tool": "rows", "args": {}, "accept": ["all([sorted(output)[0] == 0 for a in output])"]}
    context = {"plan": {"goal": "g", "steps": [step]}, "tools": [read(rows)], "home": str(tmp_path)}
    run = asyncio.ensure_future(graphs.load("workflow", context=context).ainvoke({"task": "t"}))
    beats, began = 0, time.thread_time()
    while not run.done():
        await asyncio.sleep(0.01)
        beats += 1
    report = (await run)["report"]
    assert report["stop"]["reason"] == "unverified", report["stop"]
    assert "it takes more than 2 s" in report["results"][0]["checks"][0]["evidence"]
    assert beats > 20 and time.thread_time() - began < SECONDS  # what the thread of the loop itself did


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
