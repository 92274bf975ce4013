"""How a run is shown while it runs: a table that changes on a terminal, one line an event elsewhere."""

import asyncio
import os
import time
from typing import Any, Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from graphs._watch import Row, Watch
from graphs._words import one_line, visible
from state.plan import Plan, Step, needs

WIDE = 70
"""Columns from which on a step's note has a column of its own."""
REFRESH = 0.25
"""Seconds between two drawings."""
_STYLES = {
    "done": "green", "fallback": "yellow", "running": "cyan", "next": "cyan", "failed": "red", "blocked": "red",
    "unknown": "magenta", "asks you": "magenta", "skipped": "dim", "waits": "dim",
}  # fmt: skip


class View(Protocol):
    """Shows a run as it goes; used as a context manager around it."""

    def __enter__(self) -> "View":
        """Begins to show."""

    def __exit__(self, *failure: object) -> None:
        """Leaves the last state to be read."""

    def show(self, watch: Watch, mode: str, part: Any) -> None:
        """Something happened that the watch has taken in already."""

    async def tick(self, watch: Watch) -> None:
        """Keeps the seconds going, until it is cancelled."""


def view_on(console: Console, stream: Any) -> View:
    """The table on a terminal that can move its cursor, else lines."""
    terminal = stream.isatty() and not console.is_dumb_terminal
    return TableView(console) if terminal else LineView(console)


class Screen(Console):
    """A console that goes silent when nobody reads on; rich would end the program in the middle of a run."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def on_broken_pipe(self) -> None:
        """Called by rich."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())


class TableView:
    """Redraws the plan in place."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False)

    def __enter__(self) -> "TableView":
        self._live.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._live.stop()

    def show(self, watch: Watch, mode: str, part: Any) -> None:
        """Draws the plan as it stands."""
        self._live.update(picture(watch, self._live.console.width), refresh=True)

    async def tick(self, watch: Watch) -> None:
        """Draws it again and again."""
        while True:
            self.show(watch, "", None)
            await asyncio.sleep(REFRESH)


class LineView:
    """Prints one line for each thing that happens; goes silent when nobody reads any more."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __enter__(self) -> "LineView":
        return self

    def __exit__(self, *failure: object) -> None:
        pass

    def show(self, watch: Watch, mode: str, part: Any) -> None:
        """Prints what happened, if it is worth a line."""
        for line in lines(watch, mode, part):
            self._console.print(f"[{time.time() - watch.began:6.1f}s] {line}", soft_wrap=True)

    async def tick(self, watch: Watch) -> None:
        """Lines need no redrawing."""
        await asyncio.Event().wait()


def picture(watch: Watch, width: int, now: float | None = None) -> RenderableType:
    """The plan as a table, under one line about the run."""
    now = now or time.time()
    version = f" · plan {watch.plans[-1]['version']}" if watch.plans else ""
    title = Text(no_wrap=True, overflow="ellipsis")
    title.append(one_line(watch.task, 200), style="bold")
    state = Text(f"{watch.pattern}{version} · {watch.phase} · {now - watch.began:.0f} s", style="dim", no_wrap=True)
    return Group(title, state, _table(watch.rows(now), wide=width >= WIDE))


def _table(rows: list[Row], *, wide: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2 if wide else 1, 0, 0), header_style="dim", expand=False)
    table.add_column("step", no_wrap=True, overflow="ellipsis")
    table.add_column("tool", no_wrap=True, overflow="ellipsis")
    table.add_column("state", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    if wide:
        table.add_column("waits for / result", no_wrap=True, overflow="ellipsis", ratio=1)
    for row in rows:
        named = [Text(visible(row.step)), Text(visible(row.tool)), Text(row.state, style=_STYLES[row.state])]
        table.add_row(*named, Text(_seconds(row)), *([Text(_note(row))] if wide else []))
        if not wide and _note(row):
            table.add_row("", Text(_note(row), style="dim", no_wrap=True, overflow="ellipsis"), "", "")
    return table


def _seconds(row: Row) -> str:
    return "" if row.seconds is None else f"{max(0.0, row.seconds):.1f} s"


def _note(row: Row) -> str:
    return f"after {', '.join(map(visible, row.waits))}" if row.waits else one_line(row.note, 200)


def lines(watch: Watch, mode: str, part: Any) -> list[str]:
    """What happened, in words; empty for what needs no line."""
    if mode == "custom":
        return [found] if (found := _event(watch, part)) else []
    updates = [update for update in part.values() if isinstance(update, dict) and "request" not in update]
    return [_plan(plan) for update in updates for plan in update.get("plans") or []]


def _event(watch: Watch, event: Any) -> str:
    kind, step, reason = event["event"], visible(event["step"]), one_line(event["reason"])
    if kind == "plan":  # its line is made of the plan itself
        return ""
    if kind == "request":
        return f"{watch.pattern or event['evidence'][0]}: planning{f' ({reason})' if reason else ''}"
    if step and kind.startswith("step_"):
        return _step(watch, step, kind.removeprefix("step_"), event, reason)
    onward = f" -> {event['next']}" if event["next"] else ""
    return f"{kind.replace('_', ' ')}{f' {step}' if step else ''}{f': {reason}' if reason else ''}{onward}"


def _step(watch: Watch, step: str, state: str, event: Any, reason: str) -> str:
    tool = visible((event["evidence"] or [""])[0])
    result = watch.results.get(event["step"])
    took = f" in {result['ended'] - result['started']:.1f} s" if result and state in ("done", "degraded") else ""
    return f"{step} {tool}: {state.replace('_', ' ')}{took}{f' ({reason})' if reason else ''}"


def _plan(plan: Plan) -> str:
    return f"plan {plan['version']}: {visible('; '.join(map(_planned, plan['steps'])))}"


def _planned(step: Step) -> str:
    after = ", ".join(needs(step))
    return f"{step['id']} {step['tool']}{f' (after {after})' if after else ''}"
