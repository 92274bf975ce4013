"""The list of kept runs."""

import asyncio
import time
from datetime import datetime
from typing import Any

from graphs import load
from graphs._listing import print_columns
from graphs._options import settings_of
from graphs._saved import Home, Saver, home_of, saver, settings_in, threads
from graphs._words import as_json, one_line
from state.stop import StopReason
from state.usage import no_usage

Row = dict[str, Any]
_HEAD = ("thread", "when", "pattern", "stop", "versions", "cost", "task")


def show_runs(limit: int, as_lines_of_json: bool, more: list[str]) -> None:
    """Prints the newest runs; --json gives a list."""
    home = home_of(settings_of(more=more))
    rows = asyncio.run(_rows(home, limit))
    if as_lines_of_json:
        print(as_json(rows, indent=2))
    elif rows:
        print_columns([_HEAD, *(_cells(row) for row in rows)])
    else:
        print(f"no run has been kept yet in {home}")


async def _rows(home: Home, limit: int) -> list[Row]:
    async with saver(home, make=False) as found:
        every = [await _row(found, thread) async for thread in threads(found, limit)]
    return [row for row in every if row is not None]


async def _row(found: Saver, thread: str) -> Row | None:
    """A run in short; None for a thread that this command did not start."""
    config: Any = {"configurable": {"thread_id": thread}}
    kept = await found.aget_tuple(config)
    before = settings_in(kept.metadata) if kept else None
    if kept is None or before is None:
        return None
    snapshot = await load(before["pattern"], checkpointer=found).aget_state(config)
    request, report = snapshot.values.get("request") or _unbegun(kept), snapshot.values.get("report")
    usage = snapshot.values.get("usage") or no_usage()
    return {
        "thread": thread, "task": request.get("task", ""), "pattern": before["pattern"],
        "started": request.get("started"), "stop": stop_of(snapshot, report),
        "plan_versions": len(snapshot.values.get("plans") or []), "model_calls": usage["model_calls"],
        "tokens": usage["tokens"], "unknown_tokens": usage["unknown_tokens"], "money": usage["money"],
        "unknown_money": usage["unknown_money"], "seconds": round(usage["seconds"], 1),
    }  # fmt: skip


def _unbegun(kept: Any) -> Row:
    """What is known of a run that was cut off before its request was taken in."""
    values = kept.checkpoint["channel_values"]
    given = {**values, **(values.get("__start__") or {})}
    return {"task": given.get("task", ""), "started": datetime.fromisoformat(kept.checkpoint["ts"]).timestamp()}


def stop_of(snapshot: Any, report: Any) -> str:
    """Why a run ended or what it waits for; `interrupted` if it was cut off."""
    going_on = bool(snapshot.next) and not snapshot.interrupts
    return str(StopReason.INTERRUPTED if going_on or not report else report["stop"]["reason"])


def _cells(row: Row) -> tuple[str, ...]:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(row["started"])) if row["started"] else "-"
    cost = f"{row['money']:.6g}" if not row["unknown_money"] else "unknown"
    versions, task = str(row["plan_versions"]), one_line(row["task"], 80)
    return (row["thread"], when, row["pattern"], row["stop"], versions, cost, task)
