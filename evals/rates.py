"""How often a noisy oracle is wrong, and how well its critic sees it; every decision follows from a seed."""

import json
from dataclasses import dataclass
from typing import Any

from evals.faults import MALFORMED, Fault, chance, choose, faulty
from evals.oracle import Broken
from evals.tasks import Task
from state.errors import InputError
from state.plan import StepDraft


@dataclass(frozen=True)
class Noise:
    """How often the oracle is wrong, and how well its critic sees it."""

    p: float = 0.09
    """Probability of a fault in each call of a gold plan."""
    seed: int = 0
    recall: float = 0.75
    """Share of wrong results that the critic sees; a blind critic has 0."""
    false_alarm: float = 0.05
    """Share of right results that the critic calls wrong; a harsh critic has much."""
    gain: float = 0.6
    """After feedback `p` is this many times as large."""
    pattern: str = ""
    """Part of what faults follow from; without it every pattern meets the same ones at its first attempt."""
    texts: tuple[str, ...] = ()
    """Malformed replies; without any, the right reply breaks off in the middle."""
    again: int = 0
    """How often the very same was asked before in this run, as by who tries again and tells nothing."""

    def __post_init__(self) -> None:
        for name in ("p", "recall", "false_alarm"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} is {getattr(self, name)}; it is a probability, from 0 to 1")
        if self.gain < 0:
            raise InputError(f"gain is {self.gain}; after feedback faults are so many times as frequent, from 0 up")

    def about(self, task: Task, *what: Any) -> list[Any]:
        """The seed of one decision."""
        return [task.id, self.pattern, *what, self.again, self.seed]

    def draw(self, task: Task, *what: Any) -> float:
        """The number that one decision follows from."""
        return chance(*self.about(task, *what))

    def fault(self, task: Task, step: StepDraft, told: Any) -> Fault:
        """What becomes of one gold call in an attempt that was told this of earlier ones."""
        p = self.p * self.gain if told else self.p
        return faulty(step, task, min(p, 1.0), self.about(task, told))

    def broken(self, task: Task, told: Any, right: Any) -> Broken:
        """A reply that can't be read."""
        if self.texts:
            return Broken(choose(self.texts, self.about(task, told, MALFORMED)))
        text = json.dumps(right, ensure_ascii=False)
        return Broken(text[: len(text) // 2])
