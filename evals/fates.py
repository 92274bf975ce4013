"""What becomes of one fault in an otherwise right plan, kind by kind: `python -m evals.fates`. Simulated.

Each gold call in turn is made wrong; the plan runs once, and nothing is planned anew after it has begun.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from evals import bfcl, mathqa, nestful
from evals.faults import MALFORMED, WEIGHTS, Fault, faulty, written
from evals.nestful_defects import STRICT, STRUCTURE
from evals.oracle import ROLES, Broken, OracleModel
from evals.runner import Record, run_tasks
from evals.tasks import Task, by_text
from evals.truth import mended
from state.errors import InputError
from state.plan import StepDraft

FATES = ("sent back", "a step failed", "silent", "harmless")
"""Sent back to the planner before anything ran; seen by code when it ran; not seen, and wrong; not seen, and right."""
SETS: Mapping[str, Callable[[], Sequence[Task]]] = {
    "bfcl_whole": lambda: list(bfcl.whole_dialogues()),
    "nestful_strict": lambda: mended(
        [task for task in nestful.tasks() if task.id not in {*STRUCTURE, *STRICT}],
    ),
    "mathqa": lambda: mended(list(mathqa.tasks())),
}


def one_fault(task: Task, place: int, seed: int) -> tuple[str, Task]:
    """The kind of the fault that is made of one call of a task, and the task with that plan for its gold one."""
    faults = [(step, Fault("", (step,))) for step in task.gold]
    wrong = faulty(task.gold[place], task, 1.0, [task.id, seed])
    faults[place] = (task.gold[place], wrong)
    return wrong.kind, replace(task, gold=tuple(written(faults)))


def spoilt(tasks: Sequence[Task], kinds: Mapping[str, tuple[str, Sequence[StepDraft]]]) -> OracleModel:
    """Plans with the one fault, and rightly when the plan comes back."""

    def plan(task: Task, fences: Any, prompt: str) -> Any:
        kind, gold = kinds[task.id]
        if fences.get("findings") or fences.get("reply"):
            return ROLES["planner"](task, fences, prompt)
        listed = [{"name": step.tool} for step in gold]  # it believes in the tool that it invents
        wrong = ROLES["planner"](replace(task, gold=tuple(gold)), {**fences, "tools": listed}, prompt)
        return Broken(json.dumps(wrong)[:-20]) if kind == MALFORMED else wrong

    return OracleModel(known=by_text(tasks), roles={**ROLES, "planner": plan})


def fates(tasks: Callable[[], Sequence[Task]], seed: int) -> Iterator[tuple[str, str]]:
    """The kind and the fate of a fault in each call of each task, in worlds that are as new."""
    most = max(len(task.gold) for task in tasks())
    for place in range(most):
        here = [task for task in tasks() if len(task.gold) > place]
        made = {task.id: one_fault(task, place, seed) for task in here}
        kinds = {name: (kind, other.gold) for name, (kind, other) in made.items()}
        records = asyncio.run(run_tasks(here, "one_shot", settings={"model": spoilt(here, kinds)}))
        yield from ((kinds[record["task"]][0], fate(record)) for record in records)


def fate(record: Record) -> str:
    """What became of the fault of a run."""
    if record["model_calls"] > 1:
        return "sent back"
    if record["report"]["stop"]["kind"] != "success":
        return "a step failed"
    return "harmless" if record["success"] else "silent"


def main(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(SETS)}.")] = "bfcl_whole",
    seeds: Annotated[int, typer.Option(help="How many faults of each call are tried.", min=1)] = 3,
) -> None:
    """Prints the table in Markdown. No model is asked."""
    if name not in SETS:
        raise InputError(f"there is no set {name!r} here; there are: {', '.join(SETS)}")
    counts = Counter(found for seed in range(seeds) for found in fates(SETS[name], seed))
    print(f"| {name} (simulated) | faults | {' | '.join(FATES)} |\n|{'---|' * (len(FATES) + 2)}")
    for kind in [*WEIGHTS, "all"]:
        told = [sum(n for (k, f), n in counts.items() if f == fate and kind in (k, "all")) for fate in FATES]
        shares = [f"{100 * one / sum(told):.0f} %" for one in told] if sum(told) else ["—"] * len(told)
        print(f"| {kind} | {sum(told)} | {' | '.join(shares)} |")


if __name__ == "__main__":
    typer.run(main)
