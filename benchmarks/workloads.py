"""The work that every contestant does: steps that need each other, one tool, and the least time that it can take.

Step `n` gives `n` plus what the steps it needs have given, so that a wrong order, a step that was left out or a value
that was mixed up shows in the answer. Nothing but the standard library: the server and every contestant read this.
"""

import asyncio
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

Needs = Mapping[int, tuple[int, ...]]

_DIAMOND: Needs = {
    1: (), 2: (1,), 3: (1,), 4: (1,), 5: (1,), 6: (2, 3), 7: (4, 5), 8: (6,), 9: (6, 7), 10: (7,), 11: (8, 9, 10),
    12: (11,),
}  # fmt: skip
_UNEVEN = (0.5, 2.0, 1.0, 0.5)
"""How long the tool takes in an uneven job, in turn."""
_MARK = re.compile(r"\[job (\w+) (\d+) (\d+)\]")
_GIVEN = re.compile(r"\bv(\d+)=(\d+)\.")
_FILL = "all work and no play makes a dull result "


@dataclass(frozen=True)
class Job:
    """A shape of so many steps, each of whose results has so many characters; seconds of a model and of the tool."""

    name: str
    shape: str
    size: int
    pad: int = 0
    model: float = 0.0
    tool: float = 0.0

    @property
    def task(self) -> str:
        """The job in words, with the mark by which the server knows it."""
        mark = f"[job {self.shape} {self.size} {self.pad}]"
        return f"Run every step of the {mark} with the tool work and give its answer."

    @cached_property
    def needs(self) -> Needs:
        """Which steps each step needs."""
        if self.shape == "chain":
            return {n: ((n - 1,) if n > 1 else ()) for n in range(1, self.size + 1)}
        if self.shape == "fan":
            return {n: () for n in range(1, self.size + 1)}
        return _DIAMOND

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return len(self.needs)

    @cached_property
    def values(self) -> dict[int, int]:
        """What each step gives."""
        values: dict[int, int] = {}
        for step, needed in self.needs.items():
            values[step] = step + sum(values[other] for other in needed)
        return values

    @property
    def answer(self) -> str:
        """The right answer."""
        return self.answer_from(self.values) or ""

    def answer_from(self, values: Mapping[int, int]) -> str | None:
        """What the steps that no other needs have given, together; None while one of them is missing."""
        needed = {other for others in self.needs.values() for other in others}
        last = [step for step in self.needs if step not in needed]
        return f"ANSWER={sum(values[step] for step in last)}" if values.keys() >= set(last) else None

    def seconds(self, step: int) -> float:
        """How long the tool takes for a step."""
        return self.tool * (_UNEVEN[(step + step // 4) % 4] if self.shape == "uneven" else 1.0)

    def result(self, step: int, evidence: str) -> str:
        """What the tool gives for a step, from what it was given."""
        head = f"v{step}={step + sum(given_in(evidence).values())}. "
        return head + (_FILL * (self.pad // len(_FILL) + 1))[: max(0, self.pad - len(head))]

    def bound(self, *, waits: bool) -> float:
        """The least seconds with two calls of a model: where steps wait for the plan, or begin while it is written."""
        ends: dict[int, float] = {}
        for place, step in enumerate(self.needs, 1):
            told = self.model if waits else self.model * place / self.steps
            ends[step] = self.seconds(step) + max([told, *(ends[other] for other in self.needs[step])])
        return max(ends.values()) + self.model


@dataclass
class Now:
    """The job that runs, and when the tool was first called in it."""

    job: Job
    first: float = 0.0

    async def work(self, step: int, evidence: str) -> str:
        """The one tool."""
        self.first = self.first or time.perf_counter()
        if seconds := self.job.seconds(step):
            await asyncio.sleep(seconds)
        return self.job.result(step, evidence)


def given_in(text: str) -> dict[int, int]:
    """The values that a text holds, by step."""
    return {int(step): int(value) for step, value in _GIVEN.findall(text)}


def job_in(text: str) -> Job | None:
    """The job that a text names."""
    mark = _MARK.search(text)
    return Job("", mark[1], int(mark[2]), int(mark[3])) if mark else None


JOBS = {
    job.name: job
    for job in (
        Job("W1", "chain", 8), Job("W1-200ms", "chain", 8, model=0.2), Job("W2", "fan", 8, model=0.2, tool=0.2),
        Job("W3", "diamond", 12, model=0.2, tool=0.2), Job("W3s", "uneven", 12, model=0.2, tool=0.2),
        Job("W4-50", "chain", 50, pad=2048), Job("W4-100", "chain", 100, pad=2048),
        Job("W4-200", "chain", 200, pad=2048),
        Job("W5", "diamond", 12, model=2.0, tool=0.2),
    )
}  # fmt: skip
