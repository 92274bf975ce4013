"""The list of runs: one short line for each thread of the server, the newest first."""

import asyncio
from typing import Any

from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import NotFoundError, UnprocessableEntityError

from graphs._words import one_line
from page.server import ours

MOST = 100
READ, SIDE_BY_SIDE = 30, 6
"""Where a server's list can't say what threads hold, so many are read for it, so many of them at a time."""
_FIELDS: Any = ["thread_id", "status", "metadata", "interrupts", "created_at", "updated_at"]
_OF_VALUES = {
    "task": "values.request.task", "pattern": "values.request.pattern",
    "kind": "values.report.stop.kind", "reason": "values.report.stop.reason",
}  # fmt: skip
"""All that the list takes from what a thread holds, which as a whole may be megabytes."""
_NEWEST: Any = {"limit": MOST, "sort_by": "updated_at", "sort_order": "desc"}


async def list_runs(api: LangGraphClient) -> list[dict[str, Any]]:
    """Threads that hold a run, or that one was meant for."""
    found: Any
    try:
        found = await api.threads.search(**_NEWEST, select=_FIELDS, extract=_OF_VALUES)
    except UnprocessableEntityError:  # Aegra selects and extracts nothing
        found = await api.threads.search(**_NEWEST)
        for at in range(0, min(len(found), READ), SIDE_BY_SIDE):
            await asyncio.gather(*(_read(api, thread) for thread in found[at : min(at + SIDE_BY_SIDE, READ)]))
    return [_line(thread) for thread in found]


async def _read(api: LangGraphClient, thread: dict[str, Any]) -> None:
    """Extracts from a thread what its line needs."""
    state: Any = await api.threads.get_state(thread["thread_id"])
    values = ours(state.get("values"))
    request, stop = values.get("request") or {}, (values.get("report") or {}).get("stop") or {}
    thread["extracted"] = {
        "task": request.get("task"), "pattern": request.get("pattern"),
        "kind": stop.get("kind"), "reason": stop.get("reason"),
    }  # fmt: skip
    thread["interrupts"] = {task["id"]: task.get("interrupts") or [] for task in state.get("tasks") or []}


async def stamp_of(api: LangGraphClient, thread: str) -> str:
    """What changes when a thread does."""
    found: Any
    try:
        found = await api.threads.search(ids=[thread], select=["thread_id", "status", "updated_at"])
    except UnprocessableEntityError:
        try:
            found = [await api.threads.get(thread)]
        except NotFoundError:
            found = []
    return f"{found[0]['status']} {found[0]['updated_at']}" if found else "gone"


def _line(thread: dict[str, Any]) -> dict[str, Any]:
    said, metadata = thread.get("extracted") or {}, thread.get("metadata") or {}
    ended = said.get("reason") and thread["status"] != "busy"
    return {
        "thread": thread["thread_id"], "status": thread["status"],
        "task": one_line(said.get("task") or metadata.get("task") or "", 300),
        "pattern": str(said.get("pattern") or metadata.get("graph_id") or ""),
        "stop": {"kind": said["kind"], "reason": said["reason"]} if ended else None,
        "open": sum(map(len, (thread.get("interrupts") or {}).values())),
        "updated": thread.get("updated_at"), "created": thread.get("created_at"),
    }  # fmt: skip
