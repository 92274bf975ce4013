"""A program for kill tests: runs a pattern on a SQLite file with tools that leave a trace, and dies where it is told.

Run as `python -m tests.support.killed FOLDER MODE`; FOLDER/setup.json says what to do. Prints the report as JSON.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

import graphs
from tests.support.scripted_model import ScriptedModel
from tools.tool import Tool, from_function

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
SETUP: dict[str, Any] = json.loads((FOLDER / "setup.json").read_text()) if len(sys.argv) > 1 else {}
THREAD: Any = {"configurable": {"thread_id": "t"}}


def trace(line: str) -> None:
    """Keeps a line that no kill can undo."""
    with (FOLDER / "trace").open("a") as file:
        file.write(line + "\n")
        file.flush()
        os.fsync(file.fileno())


def die_at(point: str) -> None:
    """Ends this process at once if this is the point, and only once."""
    if SETUP.get("die_at") == point and not (FOLDER / "died").exists():
        (FOLDER / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)


async def look(name: str, seconds: float = 0.0, after: Any = None) -> str:
    """Looks something up."""
    trace(f"start {name}")
    await asyncio.sleep(seconds / 2)  # storing what finished takes a few milliseconds
    die_at(f"in {name}")
    await asyncio.sleep(seconds / 2)
    trace(f"end {name}")
    return f"result of {name}"


async def pay(amount: int) -> dict[str, int]:
    """Pays."""
    die_at("before effect")
    trace(f"paid {amount}")
    die_at("after effect")
    return {"paid": amount}


async def find_payment(args: dict[str, Any], key: str) -> Any:
    """Whether the payment was made."""
    lines = (FOLDER / "trace").read_text().splitlines()
    return {"paid": args["amount"]} if f"paid {args['amount']}" in lines else None


def tools() -> list[Tool]:
    """A read and a write, the write with a look-up if the setup says so."""
    lookup = find_payment if SETUP.get("lookup") else None
    return [from_function(look, effect="read"), from_function(pay, effect="write", timeout=0.5, lookup=lookup)]


async def main(mode: str) -> None:
    """Starts the task, or goes on with it: with nothing, or with an answer to what is open."""
    model = ScriptedModel()
    model.reply(*SETUP["replies"][mode])
    context = {"model": model, "tools": tools(), "writes": "allow", "home": str(FOLDER / "home")}
    context |= SETUP.get("settings", {})
    async with AsyncSqliteSaver.from_conn_string(str(FOLDER / "runs.db")) as saver:
        graph = graphs.load(SETUP["pattern"], checkpointer=saver)
        given: Any = {"task": "pay it"} if mode == "start" else None
        if mode.startswith("answer"):
            state = await graph.aget_state(THREAD)
            word = mode.partition(" ")[2]
            given = Command(resume={one.id: {"decisions": [{"type": word}]} for one in state.interrupts})
        out = await graph.ainvoke(given, THREAD, context=context)
    print(json.dumps(out["report"]))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[2]))
