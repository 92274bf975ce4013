"""What a stop condition may look at."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from typing_extensions import TypedDict

from nodes.executor import is_open
from nodes.questions import count_asked
from nodes.run import Run
from state.channels import Approvals, Asks, Counts, Plans, Reflections, Results, Thoughts
from state.plan import Plan, Step
from state.request import Request
from state.result import FINISHED, Result
from state.stop import Stop
from state.thought import Thought
from state.usage import Usage
from state.verdict import Reflection, Verdict

UNKNOWN = float("nan")
"""A number that is not known yet: it is neither above nor below anything."""


@dataclass(frozen=True)
class Look:
    """The results of the current plan, every version and result so far, counts, verdict, and the run's limits."""

    steps: Mapping[str, Step]
    results: list[Result]
    left: int
    verdict: Verdict | None
    trouble: Stop | None
    counts: Mapping[str, int]
    run: Run
    plans: list[Plan]
    everything: Mapping[str, Result]
    thoughts: list[Thought] = field(default_factory=list)
    asks: list[dict[str, Any]] = field(default_factory=list)
    asked: int = 0
    """How many questions a person has answered."""
    reflections: list[Reflection] = field(default_factory=list)

    @cached_property
    def by_status(self) -> dict[str, list[Result]]:
        """Results of the current plan by their status."""
        found: dict[str, list[Result]] = {}
        for result in self.results:
            found.setdefault(result["status"], []).append(result)
        return found

    def having(self, *statuses: str) -> list[Result]:
        """Results of the current plan with one of these statuses."""
        return [result for status in statuses for result in self.by_status.get(status, [])]

    def failures(self, *classes: str) -> list[Result]:
        """Results of the current plan that failed in one of these classes."""
        return [result for result in self.results if result["failure"] and result["failure"]["cls"] in classes]

    @cached_property
    def numbers(self) -> dict[str, float]:
        """What a condition in words may name; `state/stop_text.py` says what each is."""
        usage, counts = self.run.meter.usage(), self.counts
        scores = (self.verdict or {"scores": {}})["scores"]
        return {
            **{name: counts.get(name, 0) for name in ("iterations", "replans", "reflections", "attempts")},
            **{name: usage[name] for name in ("tool_calls", "model_calls", "retries", "tokens", "money", "seconds")},
            "failures": self.run.meter.failures,
            "steps": len(self.steps),
            "done": len(self.having(*FINISHED)),
            "failed": len(self.having("failed", "blocked")),
            "left": self.left,
            "score": min(scores.values(), default=UNKNOWN),
        }  # fmt: skip


Condition = Callable[[Look], Stop | None]
"""Pure: the stop that is due, or None."""


class LookInput(TypedDict):
    """The slice of state that is looked at."""

    request: Request
    plans: Plans
    results: Results
    asks: Asks
    approvals: Approvals
    verdict: Verdict | None
    trouble: Stop | None
    counts: Counts
    usage: Usage
    thoughts: Thoughts
    reflections: Reflections


def look_at(state: LookInput | Any, run: Run) -> Look:
    """The state as conditions see it."""
    steps, results = state["plans"][-1]["steps"] if state["plans"] else [], state["results"]
    return Look(
        {step["id"]: step for step in steps},
        [results[step["id"]] for step in steps if step["id"] in results],
        sum(is_open(step, results) for step in steps),
        state["verdict"], state["trouble"], state["counts"], run, state["plans"], results, state["thoughts"],
        state["asks"], count_asked(state["approvals"]), state["reflections"],
    )  # fmt: skip
