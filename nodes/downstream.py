"""What happens to results that were built on one which no longer counts."""

from collections.abc import Mapping, Sequence

from state.plan import Step, needs
from state.result import Result, failure


def no_longer_count(steps: Sequence[Step], results: Mapping[str, Result], bad: set[str], why: str) -> dict[str, Result]:
    """Reads built on bad results, marked as blocked. Writes stay what they are: done."""
    marked: dict[str, Result] = {}
    for step in steps if bad else []:
        result, rests_on = results.get(step["id"]), bad & set(needs(step))
        if result and step["id"] not in bad and rests_on and result["effect"] == "read":
            reason = f"needs step {min(rests_on)!r}, {why}"
            marked[step["id"]] = {**result, "status": "blocked", "failure": failure("upstream", reason)}
            bad = bad | {step["id"]}
    return marked
