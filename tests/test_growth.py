"""A run grows in step with its steps; time is shown by benchmarks/growth.py, never asserted."""

import pytest

from benchmarks.growth import measured

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("check_after", ["plan", "step"])
async def test_a_run_of_four_times_the_steps_keeps_four_times_the_bytes_and_no_longer_replanning_prompt(
    check_after: str,
) -> None:
    short, long = await measured(100, check_after), await measured(400, check_after)
    assert long.size / 400 <= 1.1 * short.size / 100
    (plan, replan, answer), (longer_plan, longer_replan, longer_answer) = short.prompts, long.prompts
    assert longer_plan == plan
    assert longer_replan <= 1.1 * replan
    assert longer_answer <= 4.4 * answer
