"""What a request is known by from its beginning: its id, its places, its journal, and its first event."""

import os
import uuid
from contextlib import suppress

from langgraph.runtime import Runtime

from nodes.run import resumable
from state.context import Context
from state.errors import SetupError
from state.events import Event, event_record
from state.report import Report
from state.request import Request
from tools.catalogue import Catalogue
from tools.journals import database_of, journal_of


def request_id(runtime: Runtime[Context]) -> str:
    """An id that follows from the checkpoint of the input: a resume that begins anew is the same request."""
    begun = runtime.execution_info
    if begun is None or not resumable():
        return uuid.uuid4().hex
    return uuid.uuid5(uuid.NAMESPACE_OID, f"{begun.thread_id} {begun.checkpoint_ns} {begun.task_id}").hex


def places_of(context: Context) -> dict[str, str | None]:
    """Folders and database as they are now: a resume must find the same journal and write to the same files."""
    documents = None if context.documents is None else os.path.abspath(context.documents)
    return {
        "root": os.path.abspath(context.root),
        "documents": documents,
        "home": os.path.abspath(context.home_folder()),
        "database": database_of(context),
        "record": os.path.abspath(context.record) if context.record else None,
    }


def begun_in_journal(request: str, context: Context, tools: Catalogue) -> bool:
    """Whether the journal knows of this request; one that can't be used is said before the first write."""
    if (
        context.dry_run
        or context.shadow
        or context.writes == "deny"
        or not any(one.effect == "write" for one in tools.values())
    ):
        return False
    with suppress(SetupError):
        journal_of(context).begin(request)
        return True
    return False


def first_event(request: Request, before: Request | None, report: Report | None) -> Event:
    """The beginning, and what becomes of an earlier request of this thread that had not come to its end."""
    waited = "waited for a person" if report and report["stop"]["kind"] == "pause" else ""
    how = waited if report else "was cut off"
    reason = f"the earlier request {before['id']} {how} and is dropped" if before and how else ""
    return event_record(request["id"], "request", reason=reason, evidence=[request["pattern"]], next="planner")
