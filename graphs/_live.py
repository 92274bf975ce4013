"""How a run is shown while it runs: a table that changes on a terminal, one line an event elsewhere."""

import asyncio
import os
import time
from typing import Any, Protocol

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from graphs._watch import Row, Watch
from graphs._words import one_line, visible
from state.plan import Plan, Step, needs
from state.result import why

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
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="crop")

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
    """The plan as a table, under two lines about the run; no line is wider than the terminal."""
    now = now or time.time()
    version = f" · plan {watch.plans[-1]['version']}" if watch.plans else ""
    state = f"{watch.pattern}{version} · {watch.phase} · {now - watch.began:.0f} s"
    head = [_cell(one_line(watch.task, 200), width, "bold"), _cell(state, width, "dim")]
    return Text("\n").join([*head, *_table(watch.rows(now), width)])


def _table(rows: list[Row], width: int) -> list[Text]:
    """A line for each step; in a narrow terminal what it waits for stands below it."""
    wide, gap = width >= WIDE, "  " if width >= WIDE else " "
    cells = [[visible(row.step), visible(row.tool), row.state, _seconds(row)] for row in rows]
    sizes = [max(map(cell_len, column)) for column in zip(["step", "tool", "state", "time"], *cells, strict=True)]
    for column in (0, 1):
        sizes[column] = min(sizes[column], width // 4)
    left = width - sum(sizes) - 4 * len(gap)
    table = [_row(["step", "tool", "state", "time"], sizes, gap, "dim")] if rows else []
    if table and wide and any(map(_note, rows)):
        table[0] = Text(gap).join([table[0], _cell("result", left, "dim")])
    for row, words in zip(rows, cells, strict=True):
        line, note = _row(words, sizes, gap, _STYLES[row.state]), _note(row)
        table.append(Text(gap).join([line, _cell(note, left)]) if wide and note else line)
        if note and not wide:
            table.append(_cell(f"  {note}", width, "dim"))
    return table


def _row(words: list[str], sizes: list[int], gap: str, style: str) -> Text:
    """The last cell ends at the right; only the state has the style, except in the head."""
    styles = [style if style == "dim" or place == 2 else "" for place in range(4)]
    cells = [_cell(word, size, mark, pad=True) for word, size, mark in zip(words, sizes, styles, strict=True)]
    cells[-1] = Text(words[-1].rjust(sizes[-1]), styles[-1])
    return Text(gap).join(cells)


def _cell(text: str, width: int, style: str = "", *, pad: bool = False) -> Text:
    """The text cut to a width in columns, of which a Chinese character takes two."""
    cell = Text(text, style, no_wrap=True)
    cell.truncate(max(1, width), overflow="ellipsis", pad=pad)
    return cell


def _seconds(row: Row) -> str:
    return "" if row.seconds is None else f"{max(0.0, row.seconds):.1f} s"


def _note(row: Row) -> str:
    return f"after {', '.join(map(visible, row.waits))}" if row.waits else one_line(row.note, 200)


def lines(watch: Watch, mode: str, part: Any) -> list[str]:
    """What happened, in words; empty for what needs no line."""
    if mode == "custom":
        return [found] if (found := _event(watch, part)) else []
    updates = [update for name, update in part.items() if isinstance(update, dict) and name != "intake"]
    return [_plan(plan) for update in updates for plan in update.get("plans") or [] if plan["steps"]]


def _event(watch: Watch, event: Any) -> str:
    kind, step, reason = event["event"], visible(event["step"]), one_line(event["reason"])
    if kind in ("plan", "model_called"):  # the line of a plan is made of the plan itself
        return ""
    if kind == "request":
        return f"{watch.pattern or event['evidence'][0]}: planning{f' ({reason})' if reason else ''}"
    if step and kind.startswith("step_"):
        return _step(watch, step, kind.removeprefix("step_"), event, reason)
    if kind == "failure" and (result := watch.results.get(event["step"])) and reason.startswith(one_line(why(result))):
        reason = ""  # the line about the step has said it
    if kind == "critique":
        reason = "; ".join([reason, *(one_line(problem) for problem in event["evidence"][1:])])
    if kind == "stop":  # the report says why right after
        reason = reason.partition(":")[0]
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
