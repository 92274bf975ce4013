"""The list of runs: one short line for each thread of the server, the newest first."""

from typing import Any

from langgraph_sdk.client import LangGraphClient

from graphs._words import one_line

MOST = 100
_FIELDS: Any = ["thread_id", "status", "metadata", "interrupts", "created_at", "updated_at"]
_OF_VALUES = {
    "task": "values.request.task", "pattern": "values.request.pattern",
    "kind": "values.report.stop.kind", "reason": "values.report.stop.reason",
}  # fmt: skip
"""All that the list takes from what a thread holds, which as a whole may be megabytes."""


async def list_runs(api: LangGraphClient) -> list[dict[str, Any]]:
    """Threads that hold a run, or that one was meant for."""
    found: Any = await api.threads.search(
        limit=MOST, sort_by="updated_at", sort_order="desc", select=_FIELDS, extract=_OF_VALUES
    )
    return [_line(thread) for thread in found]


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
