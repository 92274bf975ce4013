"""Carries out an eval: every task through every pattern, many at once, each run kept, each finished one at once.

What has a row is not run again, so the same call after a kill goes on. A dialogue that was cut off begins anew, since
the world that it changed is gone.
"""

import asyncio
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from evals.rows import Key, Row, RowFile, is_measured, row_not_begun, row_of
from evals.runner import run_task
from evals.tasks import Dialogue, Task
from graphs import load
from graphs._saved import Home, metadata, saver, valid_thread
from state.errors import InputError

Saver = BaseCheckpointSaver[Any]
LIMITS: Mapping[str, int] = {"steps": 200, "iterations": 200, "same_call": 200}
"""Limits that say how long a task may be, and not how often a pattern may try again: those stay as they are set."""


@dataclass(frozen=True)
class Trial:
    """One dialogue of a set, or one task that stands alone, through one pattern."""

    set: str
    dialogue: Dialogue
    pattern: str
    model: Any
    """As the setting `model` takes it."""
    turns: tuple[tuple[str, str], ...]
    """Name and mark of each of its tasks."""
    own: bool = False
    """Whether the run works in a folder of its own."""

    @property
    def run(self) -> str:
        """The name of its thread."""
        return valid_thread(f"{self.pattern}/{self.set}/{self.dialogue.id}")


@dataclass(frozen=True)
class Conditions:
    """What is the same for every run of an eval: where it is kept, who is asked, with which settings."""

    home: Home
    name: str
    label: str
    """How the model is called, and how in every output: what is simulated says so."""
    simulated: bool
    settings: Mapping[str, Any]

    def context_of(self, trial: Trial) -> dict[str, Any]:
        """The settings of one run; every exchange is recorded, so that it can be looked at later."""
        limits = {**LIMITS, **(self.settings.get("limits") or {})}
        record = str(self.home.recording(trial.run))
        return {
            "record": record, "writes": "allow", "self_critique": True, **self.settings, "limits": limits,
            "home": self.home.folder, "lessons": "off", "model": trial.model,
        }  # fmt: skip


def rows_of(trial: Trial, rows: Mapping[Key, Row]) -> list[Row | None]:
    """The row of each turn as it is now; None where there is none, or only one of a task that was another then."""
    kept = [(rows.get((trial.set, name, trial.pattern)), mark) for name, mark in trial.turns]
    return [row if row and row["mark"] == mark else None for row, mark in kept]


def left(trials: Iterable[Trial], rows: Mapping[Key, Row]) -> list[Trial]:
    """The trials of which a turn has no row yet, or one that says nothing about its pattern."""
    return [one for one in trials if not all(row and is_measured(row) for row in rows_of(one, rows))]


async def carry_out(
    trials: Sequence[Trial], given: Conditions, file: RowFile, *, at_once: int, told: Callable[[list[Row]], None]
) -> None:
    """Runs the trials; each one's rows are kept, then told, as soon as it has ended."""
    slots = asyncio.Semaphore(at_once)
    async with saver(given.home) as found:

        async def one(trial: Trial) -> None:
            async with slots:
                rows = await _rows(trial, given, found)
                await asyncio.to_thread(file.add, rows)
                told(rows)

        try:
            async with asyncio.TaskGroup() as group:
                for trial in trials:
                    group.create_task(one(trial))
        except ExceptionGroup as several:  # what went wrong first ends it; what has ended is kept
            raise several.exceptions[0] from several


async def _rows(trial: Trial, given: Conditions, found: Saver) -> list[Row]:
    """One row for each turn of the trial."""
    await found.adelete_thread(trial.run)
    given.home.recording(trial.run).unlink(missing_ok=True)
    graph, context = load(trial.pattern, checkpointer=found), given.context_of(trial)
    rows: list[Row] = []
    named: Any = {"set": trial.set, "model": given.label, "simulated": given.simulated, "run": trial.run}
    for task in trial.dialogue.begin():
        try:
            if trial.own:
                context["root"] = await asyncio.to_thread(_new_root, given.home, trial, task)
            shown = {**context, "model": given.name}
            del shown["record"]
            config: Any = {"configurable": {"thread_id": trial.run}, "metadata": metadata(trial.pattern, shown)}
            made = await run_task(task, graph, trial.pattern, context, config)
        except (InputError, OSError) as error:  # one task that can't be run leaves the others theirs
            return [*rows, row_not_begun(error, task, trial.pattern, **named)]
        rows.append(row_of(made, task, **named))
    return rows


def _new_root(home: Home, trial: Trial, task: Task) -> str:
    """An own folder for a run, with a copy of what the task brings: no run finds what another one left. Blocking."""
    folder = Path(home.folder) / "roots" / home.recording(trial.run).stem
    shutil.rmtree(folder, ignore_errors=True)
    if task.files:
        shutil.copytree(task.files, folder)
    else:
        folder.mkdir(parents=True)
    return str(folder)
