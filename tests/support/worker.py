"""One leg of a run with a write that has a real effect, in a process that dies or fails at a named point of it.

The points: before intent, after intent (before the effect), after effect, after result (in the journal), before
checkpoint (the step's result is about to be kept). Meant for the fork server of `multiprocessing`, which loads it once.
"""

import asyncio
import json
import os
import resource
import signal
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import httpx
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

import graphs
from state.errors import ToolFailed
from tests.support.scripted_model import ScriptedModel
from tools.journal import Journal
from tools.mail import tools as mail_tools
from tools.settings import ToolSettings
from tools.tool import Tool, ToolEnv, read, write

for name in ("one_shot", "plan_and_execute"):
    graphs.load(name)  # else every forked process would import it anew
THREAD: Any = {"configurable": {"thread_id": "t"}}
WRITES: dict[str, Any] = {
    "row": ("insert_row", lambda name: {"name": name}),
    "mail": ("send_mail", lambda name: {"to": "team@example.org", "subject": name, "body": "once"}),
    "POST": ("post", lambda name: {"name": name}),
}
"""The write of each kind of effect: its tool, and its arguments from a name that only this run has."""


@dataclass(frozen=True)
class Leg:
    """What one process does; at the point it meets its fault, which only one leg of a run does."""

    folder: str
    do: Literal["start", "resume", "fork", "approve", "reject"]
    pattern: str
    effect: str
    address: str
    replies: Sequence[Any]
    point: str = ""
    fault: Literal["killed", "tool fails", "disk full"] = "killed"
    database: str | None = None
    together: Any = None
    out: str = "report.json"
    finished: list[str] = field(default_factory=list)

    def at(self, point: str) -> None:
        """Meets the fault if this is the point, and no leg has met it before."""
        marker = Path(self.folder) / "happened"
        if self.point != point or marker.exists():
            return
        marker.touch()
        if self.fault == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fault == "disk full":  # no file takes a byte more, also for root
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
            return
        raise ToolFailed("busy", "transient") if point == "after intent" else ConnectionError("the line went dead")


def look(name: str) -> str:
    """Looks; there is nothing where the name is bad."""
    if name == "bad":
        raise ToolFailed("there is nothing")
    return name


def tools(leg: Leg) -> list[Tool]:
    """A look-up and the three writes; a mail server can't be asked what it took, a database and a service can."""

    def insert_row(name: str) -> str:
        """Inserts a row."""
        with closing(sqlite3.connect(leg.address, timeout=30, isolation_level=None)) as db:
            db.execute("INSERT INTO effects VALUES (?)", (name,))
        return name

    async def row(args: dict[str, Any], key: str) -> str | None:
        with closing(sqlite3.connect(leg.address, timeout=30)) as db:
            found = db.execute("SELECT name FROM effects WHERE name=?", (args["name"],)).fetchone()
        return found[0] if found else None

    async def post(name: str) -> str:
        """Posts."""
        async with httpx.AsyncClient(trust_env=False) as client:
            (await client.post(leg.address, json=name)).raise_for_status()
        return name

    async def posted(args: dict[str, Any], key: str) -> str | None:
        async with httpx.AsyncClient(trust_env=False) as client:
            return args["name"] if args["name"] in (await client.get(leg.address)).json() else None

    mail = mail_tools(ToolSettings(root=".", home=leg.folder, smtp=leg.address)) if leg.effect == "mail" else []
    writes = [write(insert_row, lookup=row, timeout=5.0), write(post, lookup=posted, timeout=5.0), *mail]
    return [read(look), *(_failing(one, leg) for one in writes)]


def _failing(tool: Tool, leg: Leg) -> Tool:
    async def run(args: dict[str, Any], env: ToolEnv) -> Any:
        leg.at("after intent")
        output = await tool.run(args, env)
        leg.at("after effect")
        return output

    return replace(tool, run=run)


def _fail_in_journal(leg: Leg) -> None:
    claim, finish = Journal.claim, Journal.finish

    def dying_claim(*given: Any) -> Any:
        leg.at("before intent")
        return claim(*given)

    def dying_finish(*given: Any) -> None:
        finish(*given)
        leg.at("after result")
        leg.finished.append("the write")

    Journal.claim, Journal.finish = dying_claim, dying_finish  # type: ignore[method-assign]


async def _run(leg: Leg) -> dict[str, Any]:
    class Saver(AsyncSqliteSaver):
        async def aput_writes(self, *given: Any, **more: Any) -> None:
            if leg.finished:
                leg.at("before checkpoint")
            await super().aput_writes(*given, **more)

    model = ScriptedModel()
    model.reply(*leg.replies)
    context = {
        "model": model, "tools": tools(leg), "writes": "allow", "home": f"{leg.folder}/home", "database": leg.database,
    }  # fmt: skip
    async with Saver.from_conn_string(f"{leg.folder}/runs.db") as saver:
        graph = graphs.load(leg.pattern, checkpointer=saver)
        given, config = await _from_where(graph, leg)
        if leg.together is not None:
            await asyncio.to_thread(leg.together.wait, 30)
        report: dict[str, Any] = (await graph.ainvoke(given, config, context=context))["report"]
    return report


async def _from_where(graph: Any, leg: Leg) -> tuple[Any, Any]:
    if leg.do == "start":
        return {"task": "do it"}, THREAD
    if leg.do == "resume":
        return None, THREAD
    if leg.do == "fork":  # from the moment when the plan had been made
        kept = [state async for state in graph.aget_state_history(THREAD)]
        return None, next(state for state in reversed(kept) if state.values.get("plans")).config
    state = await graph.aget_state(THREAD)
    return Command(resume={one.id: {"decisions": [{"type": leg.do}]} for one in state.interrupts}), THREAD


def work(leg: Leg) -> None:
    """Runs the leg and leaves its report in the folder."""
    _fail_in_journal(leg)
    report = asyncio.run(_run(leg))
    (Path(leg.folder) / leg.out).write_text(json.dumps(report))
