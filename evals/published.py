"""The table of the article that describes the patterns, made again under noise: `python -m evals.published`. Simulated.

Beside each figure of ours stand the published one and that of a reference simulation with the same noise.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import typer

from evals import bfcl, conditional
from evals.intervals import Interval, wilson
from evals.noise import noisy
from evals.runner import Record, run_tasks
from evals.table import between, percent
from evals.tasks import Task

ROUNDS: Mapping[str, int] = {
    "replans": 3, "attempts": 3, "reflections": 2, "steps": 80, "iterations": 40, "failures": 20,
}  # fmt: skip
"""Three replans and three rounds, as the reference simulation has them; no other limit is met."""
PATTERNS = (
    "one_shot", "plan_and_execute", "self_reflection", "retry", "react", "plan_act_reflect", "combined",
)  # fmt: skip
"""The three of the article, then a plain way and other patterns; what calls no tool can't be tried in these worlds."""
Shares = Mapping[str, float]


class Class(NamedTuple):
    """A class of tasks: what it is here, and the figures of others by pattern, in percent."""

    name: str
    here: str
    worlds: Callable[[], Sequence[Sequence[Task]]]
    """The tasks in worlds that are as new; those that have the same text are apart."""
    published: Shares
    reference: Shares


def _dialogues(least: int, most: int) -> Callable[[], Sequence[Sequence[Task]]]:
    return lambda: [[task for task in bfcl.whole_dialogues() if least <= len(task.gold) <= most]]


def _pairs() -> Sequence[Sequence[Task]]:
    return list(zip(*(pair.worlds for pair in conditional.pairs()), strict=True))


CLASSES = (
    Class(
        "simple", "BFCL, 3 calls", _dialogues(3, 3), {"one_shot": 87.3, "plan_and_execute": 89.1},
        {"one_shot": 75.9, "plan_and_execute": 89.0, "self_reflection": 93.7},
    ),
    Class(
        "medium", "BFCL, 5 calls", _dialogues(5, 5), {"one_shot": 62.1, "plan_and_execute": 78.4},
        {"one_shot": 64.9, "plan_and_execute": 80.7, "self_reflection": 89.0},
    ),
    Class(
        "complex", "BFCL, 9 or 10 calls", _dialogues(9, 10),
        {"one_shot": 41.8, "plan_and_execute": 68.2, "self_reflection": 82.0},
        {"one_shot": 43.9, "plan_and_execute": 66.7, "self_reflection": 74.0},
    ),
    Class(
        "conditional", "pairs of worlds, 3 or 4 calls", _pairs, {"one_shot": 35.2, "plan_and_execute": 71.5}, {},
    ),
)  # fmt: skip


def share(one: Class, pattern: str, runs: int, **how: Any) -> Interval:
    """How many runs of a class were right, of at least so many; each repetition has a noise seed of its own."""
    records: list[Record] = []
    seed = 0
    while len(records) < runs:
        for tasks in one.worlds():
            settings = {"model": noisy(tasks, pattern=pattern, seed=seed, **how), "limits": ROUNDS}
            records += asyncio.run(run_tasks(tasks, pattern, settings=settings))
        seed += 1
    return wilson(sum(record["success"] for record in records), len(records))


def line(one: Class, pattern: str, ours: Interval) -> str:
    """One line of the table."""
    others = [f"{shares[pattern]:.1f} %" if pattern in shares else "—" for shares in (one.published, one.reference)]
    mine = f"{percent(ours.value)} ({between(ours)})"
    return f"| {one.name} | {one.here} | {pattern} | {' | '.join([*others, mine])} |"


def main(
    runs: Annotated[int, typer.Option(help="Runs of each pattern in each class, at least.", min=1)] = 400,
    p: Annotated[float, typer.Option(help="Probability of a fault in a call.", min=0, max=1)] = 0.09,
    pattern: Annotated[list[str] | None, typer.Option(help="These patterns only.")] = None,
) -> None:
    """Prints the table in Markdown, a line as soon as it is known. No model is asked."""
    print("| class | here | pattern | published | reference (simulated) | ours, 95 % (simulated) |")
    print("|---|---|---|---|---|---|")
    for one in CLASSES:
        for name in pattern or PATTERNS:
            print(line(one, name, share(one, name, runs, p=p)), flush=True)


if __name__ == "__main__":
    typer.run(main)
