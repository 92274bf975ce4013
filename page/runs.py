"""The list of runs: one short line for each thread of the server, the newest first."""

from typing import Any

from langgraph_sdk.client import LangGraphClient

from graphs._words import one_line
from page.server import ours

MOST = 100


async def list_runs(api: LangGraphClient) -> list[dict[str, Any]]:
    """Threads that hold a run, or that one was meant for."""
    found: Any = await api.threads.search(limit=MOST, sort_by="updated_at", sort_order="desc")
    return [_line(thread) for thread in found]


def _line(thread: dict[str, Any]) -> dict[str, Any]:
    values, metadata = ours(thread.get("values")), thread.get("metadata") or {}
    request, report = values.get("request") or {}, values.get("report") or {}
    stop = report.get("stop") if thread["status"] != "busy" else None
    return {
        "thread": thread["thread_id"], "status": thread["status"],
        "task": one_line(request.get("task") or metadata.get("task") or "", 300),
        "pattern": request.get("pattern") or metadata.get("graph_id") or "",
        "stop": {"kind": stop["kind"], "reason": stop["reason"]} if stop else None,
        "open": len([one for several in (thread.get("interrupts") or {}).values() for one in several]),
        "updated": thread.get("updated_at"), "created": thread.get("created_at"),
    }  # fmt: skip
