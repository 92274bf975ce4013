"""A bound of time ends work that goes on, and no work that was only held up."""

import pytest

from state import time_bound
from state.time_bound import TookTooLong, at_most, look_at_clock


class Clock:
    """Goes on by what is said."""

    now = 0.0

    def thread_time(self) -> float:
        """The seconds so far."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time_bound, "time", clock)
    return clock


def works(clock: Clock, seconds: float, step: float = 0.01) -> None:
    for _ in range(round(seconds / step)):
        clock.now += step
        look_at_clock()


def test_work_that_goes_on_is_ended_and_says_after_what_time(clock: Clock) -> None:
    with pytest.raises(TookTooLong, match=r"it takes more than 0\.5 s"), at_most(0.5):
        works(clock, 0.6)
    works(clock, 9.0)


def test_one_long_pause_as_of_a_sweep_of_the_memory_ends_no_work(clock: Clock) -> None:
    with at_most(0.5):
        works(clock, 0.2)
        clock.now += 10.0
        works(clock, 0.2)


def test_the_shorter_of_two_bounds_counts_and_what_the_inner_took_counts_for_both(clock: Clock) -> None:
    with pytest.raises(TookTooLong, match=r"0\.5 s"), at_most(0.5), at_most(2.0):
        works(clock, 0.6)
    with pytest.raises(TookTooLong, match="2 s"), at_most(2.0):
        for _ in range(5):
            with at_most(0.5):
                works(clock, 0.45)
