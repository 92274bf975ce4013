"""AsyncHow (Lin et al. 2024, arXiv:2402.02805): everyday plans with durations; what can, happens at the same time.

The one tool takes its time by the clock of the event loop: on a virtual clock years pass in milliseconds.
"""

import asyncio
from collections.abc import Iterator, Sequence
from math import isclose
from pathlib import Path
from typing import Any

from evals.tasks import Expected, Made, Task, data_folder, json_lines
from state.plan import StepDraft
from state.result import FINISHED, Result
from tools.tool import Tool, ToolEnv

Row = dict[str, Any]
_NEAR = 1e-3
"""Seconds within which two moments are the same."""


def rows(folder: str | Path | None = None) -> Iterator[Row]:
    """The rows as published."""
    return json_lines(data_folder(folder) / "asynchow" / "dags.jsonl")


def tasks(folder: str | Path | None = None) -> Iterator[Task]:
    """Every plan of the set."""
    for place, row in enumerate(rows(folder)):
        yield _task(f"asynchow-{place}", row)


def _task(name: str, row: Row) -> Task:
    return Task(name, _text(row), (DO,), tuple(_gold(row)), lambda: schedule(row), on_time)


def _before(row: Row) -> dict[str, list[str]]:
    """What must be finished before each step, by the row's own numbers."""
    numbers = [str(place) for place in range(1, len(row["steps"]) + 1)]
    return {name: [a for a, b in row["deps"] if b == name and a != "START"] for name in numbers}


def _text(row: Row) -> str:
    lines = [f"{row['title']}. What can be done at the same time should be. The steps:"]
    for (number, before), step in zip(_before(row).items(), row["steps"], strict=True):
        after = f", after {' and '.join(before)}" if before else ""
        lines.append(f"{number}. {step.rstrip('.')} ({row['seconds'][number]:g} seconds{after})")
    return "\n".join(lines)


def _gold(row: Row) -> Iterator[StepDraft]:
    for (number, before), step in zip(_before(row).items(), row["steps"], strict=True):
        args = {"activity": step, "seconds": row["seconds"][number]}
        yield StepDraft(id=f"s{number}", tool="do", args=args, after=[f"s{name}" for name in before])


def schedule(row: Row) -> Expected:
    """When each step begins and ends if it begins as soon as it may, counted from the first one."""
    before, ends, calls = _before(row), dict[str, float](), Expected()

    def end(number: str) -> float:
        if number not in ends:
            began = max(map(end, before[number]), default=0.0)
            ends[number] = began + row["seconds"][number]
            activity = row["steps"][int(number) - 1]
            calls[f"s{number}"] = Made({"activity": activity, "began": began, "ended": ends[number]})
        return ends[number]

    if not isclose(max(map(end, before)), row["critical_path_s"], abs_tol=_NEAR):
        raise ValueError(f"{row['title']}: the critical path of the row is not that of its steps")
    return {f"s{number}": calls[f"s{number}"] for number in before}


def on_time(task: Task, results: Sequence[Result]) -> list[str]:
    """Every activity must begin when the last one it needs has ended, neither earlier nor later."""
    done = [one["output"] for one in results if one["status"] in FINISHED]
    want = sorted((made.output for made in task.expected().values()), key=_place)
    if sorted(one["activity"] for one in done) != sorted(one["activity"] for one in want):
        return [f"not the activities of the plan: {[one['activity'] for one in done]}"]
    start = min(one["began"] for one in done)
    pairs = zip(sorted(done, key=_place), want, strict=True)
    return [line for have, right in pairs if (line := _late(have, right, start))]


def in_turn(task: Task, results: Sequence[Result]) -> list[str]:
    """As `on_time`, for what does one thing at a time: nothing before what it needs, and no pause."""
    done = {one["output"]["activity"]: one["output"] for one in results if one["status"] in FINISHED}
    names = {step.id: step.args["activity"] for step in task.gold}
    if sorted(done) != sorted(set(names.values())):
        return [f"not the activities of the plan: {sorted(done)}"]
    early = [
        f"{names[step.id]!r} began before the end of {names[before]!r}"
        for step in task.gold for before in step.after
        if done[names[step.id]]["began"] < done[names[before]]["ended"] - _NEAR
    ]  # fmt: skip
    took, right = makespan(results), sum(step.args["seconds"] for step in task.gold)
    return early if isclose(took, right, rel_tol=1e-9, abs_tol=_NEAR) else [*early, f"took {took:g} s, not {right:g}"]


def makespan(results: Sequence[Result]) -> float:
    """Seconds from the first beginning to the last end."""
    outputs = [one["output"] for one in results]
    return float(max(one["ended"] for one in outputs) - min(one["began"] for one in outputs))


def _place(output: dict[str, Any]) -> tuple[str, float]:
    return output["activity"], output["began"]


def _late(have: dict[str, Any], right: dict[str, Any], start: float) -> str:
    began, ended = have["began"] - start, have["ended"] - start
    if isclose(began, right["began"], abs_tol=_NEAR) and isclose(ended, right["ended"], abs_tol=_NEAR):
        return ""
    return f"{have['activity']!r} took from {began:g} to {ended:g} s, right is {right['began']:g} to {right['ended']:g}"


async def _do(args: dict[str, Any], around: ToolEnv) -> dict[str, Any]:
    clock = asyncio.get_running_loop().time
    began = clock()
    await asyncio.sleep(args["seconds"])
    return {"activity": args["activity"], "began": began, "ended": clock()}


DO = Tool(
    "do",
    "Does one activity, which takes this many seconds.",
    {
        "type": "object",
        "properties": {"activity": {"type": "string"}, "seconds": {"type": "number", "minimum": 0}},
        "required": ["activity", "seconds"],
        "additionalProperties": False,
    },
    _do,
    timeout=1e10,
)
