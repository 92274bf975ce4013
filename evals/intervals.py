"""Intervals of shares by closed formulas: Wilson's for one, Newcombe's for the difference of two on the same tasks.

Both hold at small numbers and near 0 and 1, where the usual normal interval does not.
"""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

Z = 1.959963984540054
"""For 95 %."""


class Interval(NamedTuple):
    """A share, or a difference of shares, with its 95 % interval."""

    value: float
    low: float
    high: float


def wilson(right: int, number: int) -> Interval:
    """The share of `right` among `number` (Wilson 1927); of nothing nothing is known."""
    if not number:
        return Interval(0.0, 0.0, 1.0)
    share = right / number
    middle = (share + Z * Z / (2 * number)) / (1 + Z * Z / number)
    half = Z * sqrt(share * (1 - share) / number + Z * Z / (4 * number * number)) / (1 + Z * Z / number)
    return Interval(share, max(0.0, middle - half), min(1.0, middle + half))


def paired_difference(pairs: Sequence[tuple[bool, bool]]) -> Interval:
    """How much larger the share of the first is than that of the second, on the same tasks (Newcombe 1998, method 10).

    Statistics in Medicine 17: 2635-2650.
    """
    number = len(pairs)
    first, second = (wilson(sum(pair[place] for pair in pairs), number) for place in (0, 1))
    tied = 2 * _correlation(pairs)
    below, above = first.value - first.low, second.high - second.value
    low = sqrt(below * below - tied * below * above + above * above)
    below, above = second.value - second.low, first.high - first.value
    high = sqrt(above * above - tied * above * below + below * below)
    value = first.value - second.value
    return Interval(value, max(-1.0, value - low), min(1.0, value + high))


def _correlation(pairs: Sequence[tuple[bool, bool]]) -> float:
    """How far the two go together, from -1 to 1, held back where there are few pairs."""
    both, one, other, none = (
        pairs.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))
    )
    spread = sqrt((both + one) * (other + none) * (both + other) * (one + none))
    together = float(both * none - one * other)
    if together > 0:
        together = max(together - len(pairs) / 2, 0.0)
    return together / spread if spread else 0.0
