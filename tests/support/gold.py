"""Public task sets in tests: where they are, and what is wrong with runs that an oracle drove."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from evals.oracle import MODEL_CALLS
from evals.runner import Record
from evals.tasks import Task
from graphs import names

DATA = Path(os.environ.get("FORETHOUGHT_DATA") or "not named")
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="needs the public task sets: FORETHOUGHT_DATA names no folder"
)

CALL_TOOLS = [pattern for pattern in names() if pattern in MODEL_CALLS and pattern != "plan_and_solve"]
"""Patterns that run the gold plan with the tools of a task."""
IN_TURNS = ("react", "combined")
"""Those of them that make one call a turn."""
PLANNING = [pattern for pattern in CALL_TOOLS if pattern != "workflow"]
"""Those of them in which the oracle plans."""
SOLVED = {
    "one_shot": 84, "plan_and_execute": 99, "self_reflection": 99, "rewoo": 84, "react": 99, "plan_act_reflect": 99,
    "combined": 99,
}  # fmt: skip
"""Of the 100 problems of PlanBench, those that end in a valid plan when the recorded model plans."""


def wrong(tasks: Sequence[Task], records: Sequence[Record]) -> list[str]:
    """Runs that were not right, or took more or fewer calls than the gold plan needs."""
    lines = []
    for task, record in zip(tasks, records, strict=True):
        counts = (record["model_calls"], record["tool_calls"], record["steps"])
        right = (MODEL_CALLS[record["pattern"]](len(task.gold)), len(task.gold), len(task.gold))
        if not record["success"] or record["stop"] != "done" or counts != right:
            lines.append(f"{record['task']} ({record['pattern']}): {counts} for {right}; {record['problems'][:2]}")
    return lines
