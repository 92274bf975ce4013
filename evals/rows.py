"""What came of one task in one pattern, kept as a line of JSON as soon as the run has ended.

A line that a kill cut off is taken away when the file is read; its task runs again.
"""

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import Lock

from typing_extensions import TypedDict

from evals.judging import UNJUDGED
from evals.runner import Record
from evals.tasks import Task
from nodes.failures import one_line
from state.errors import SetupError
from state.json_text import from_json
from state.stop import StopReason
from state.usage import added, no_calls


class Row(TypedDict):
    """One run; None is what nobody said, and no zero. `run` is the thread that `forethought show` opens.

    `simulated`: no model was asked, an oracle answered. `mark` says whether the task is still the same, `kind`
    its class; `cached` is part of `tokens_in`.
    """

    set: str
    task: str
    mark: str
    kind: str
    pattern: str
    model: str
    simulated: bool
    success: bool
    problems: list[str]
    stop: str
    steps: int
    model_calls: int
    tool_calls: int
    tokens_in: int | None
    tokens_out: int | None
    cached: int | None
    seconds: float
    money: float | None
    run: str


Key = tuple[str, str, str]
NOT_BEGUN = "not_begun"
"""The stop of a run that was refused before it began; no run itself ends so."""
NOT_BEGUN_BECAUSE = "not begun: "


def row_of(record: Record, task: Task, *, set: str, model: str, simulated: bool, run: str) -> Row:
    """The row of a run that has ended."""
    usage = record["report"]["usage"]
    used = no_calls()
    for role in usage["roles"].values():
        used = added(used, role)
    return {
        "set": set, "task": task.id, "mark": task.mark, "kind": task.size, "pattern": record["pattern"], "model": model,
        "simulated": simulated, "success": record["success"], "problems": record["problems"], "stop": record["stop"],
        "steps": record["steps"], "model_calls": record["model_calls"], "tool_calls": record["tool_calls"],
        "tokens_in": used["tokens_in"], "tokens_out": used["tokens_out"], "cached": used["cached"],
        "money": used["money"], "seconds": usage["seconds"], "run": run,
    }  # fmt: skip


def row_not_begun(
    why: Exception, task: Task, pattern: str, *, set: str, model: str, simulated: bool, run: str
) -> Row:  # fmt: skip
    """The row of a run that was refused before it began."""
    return {
        "set": set, "task": task.id, "mark": task.mark, "kind": task.size, "pattern": pattern, "model": model,
        "simulated": simulated, "success": False, "problems": [f"{NOT_BEGUN_BECAUSE}{one_line(why)}"],
        "stop": NOT_BEGUN, "steps": 0, "model_calls": 0, "tool_calls": 0, "tokens_in": 0, "tokens_out": 0, "cached": 0,
        "money": 0.0, "seconds": 0.0, "run": run,
    }  # fmt: skip


def key_of(row: Row) -> Key:
    """What a row is the only one of."""
    return row["set"], row["task"], row["pattern"]


def is_measured(row: Row) -> bool:
    """Whether the row says something about its pattern: not where it never began, where no model could be asked, or
    where a scorer failed."""
    return row["stop"] not in (StopReason.MODEL_FAILED, NOT_BEGUN) and not any(map(is_unjudged, row["problems"]))


def is_unjudged(problem: str) -> bool:
    """Whether a problem is the scorer's or the task's own."""
    return problem.startswith((UNJUDGED, NOT_BEGUN_BECAUSE))


class RowFile:
    """The rows of an eval, in the order in which their runs ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()

    def read(self) -> dict[Key, Row]:
        """The last row of each task in each pattern; takes an unfinished line away."""
        if not self.path.is_file():
            return {}
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            os.truncate(self.path, len(whole))
        return {key_of(row): row for row in self._rows(whole.decode())}

    def _rows(self, text: str) -> Iterable[Row]:
        for number, line in enumerate(text.splitlines(), 1):
            try:
                row: Row = from_json(line)
                missing = Row.__annotations__.keys() - row.keys()
            except (ValueError, AttributeError):
                missing = {"everything"}
            if missing:
                what = ", ".join(sorted(missing))
                raise SetupError(f"{self.path}, line {number} is no row of an eval: it lacks {what}")
            yield row

    def add(self, rows: Sequence[Row]) -> None:
        """Adds rows at once, so that they are kept together or not at all. Blocking."""
        text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
