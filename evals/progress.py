"""How far an eval is, on standard error: a bar on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from evals.rows import Row
from graphs._live import Screen

_EVERY = 10.0
"""Seconds between two lines."""


class Told:
    """Counts the runs that have ended; used as a context manager around them."""

    def __init__(self, runs: int) -> None:
        self._screen = Screen(stderr=True)
        self._runs, self._ended, self._right = runs, 0, 0
        self._began = self._last = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> "Told":
        if self._runs and self._screen.is_terminal and not self._screen.is_dumb_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, TimeRemainingColumn(), console=self._screen)
            self._bar.start()
            self._task = self._bar.add_task("runs", total=self._runs)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()
        elif self._runs:
            self._say()

    def __call__(self, rows: Sequence[Row]) -> None:
        """One more has ended, with these rows."""
        self._ended += 1
        self._right += all(row["success"] for row in rows)
        if self._bar:
            self._bar.update(self._task, advance=1, description=f"runs, {self._right} right")
        elif time.monotonic() - self._last > _EVERY:
            self._say()

    def _say(self) -> None:
        self._last = time.monotonic()
        passed = self._last - self._began
        self._screen.print(f"[{passed:6.1f}s] {self._ended} of {self._runs} runs, {self._right} right", soft_wrap=True)
