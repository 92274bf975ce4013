"""What a request is known by from its beginning: its id, its places, its journal, and its first event."""

import uuid
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from langgraph.config import get_config
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from nodes.run import resumable
from state.context import Context
from state.edits import record_fault
from state.errors import InputError, SetupError, shorten
from state.events import Event, event_record
from state.paths import absolute
from state.plan import Plan
from state.report import Report
from state.request import Request
from state.result import Result
from state.stop import Stop
from tools.catalogue import Catalogue
from tools.constraints import must_be_approved
from tools.journals import database_of, journal_of
from tools.policy import forbidden, needs_approval
from tools.tool import Tool


def request_id(runtime: Runtime[Context]) -> str:
    """An id that follows from the checkpoint of the input: a resume that begins anew is the same request."""
    begun = runtime.execution_info
    if begun is None or not resumable():
        return uuid.uuid4().hex
    return uuid.uuid5(uuid.NAMESPACE_OID, f"{begun.thread_id} {begun.checkpoint_ns} {begun.task_id}").hex


def places_of(context: Context) -> dict[str, str | None]:
    """Folders and database as they are now: a resume must find the same journal and write to the same files."""
    documents = None if context.documents is None else absolute(context.documents)
    return {
        "root": absolute(context.root),
        "documents": documents,
        "home": absolute(context.home_folder()),
        "database": database_of(context),
        "record": absolute(context.record) if context.record else None,
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


def check_kept(context: Context, tools: Catalogue, constraints: dict[str, Any]) -> None:
    """Refuses to begin where a kill would lose the request together with a write that nobody was asked about.

    LangGraph's `exit` keeps nothing before the end or a pause; its `async`, the default of its server, keeps enough.
    """
    how = get_config().get("configurable", {}).get("__pregel_durability")
    if how != "exit" or not resumable() or context.dry_run or context.shadow:
        return
    if unasked := [name for name, tool in tools.items() if _is_unasked(tool, context, constraints)]:
        raise InputError(
            f"durability is 'exit', which keeps nothing of a run that is killed, and {shorten(', '.join(unasked))} may "
            "write without asking: such a run could not go on, and begun anew would write once more; right would be "
            "durability='sync', or writes='ask'"
        )


def _is_unasked(tool: Tool, context: Context, constraints: dict[str, Any]) -> bool:
    asked = needs_approval(tool, context) or must_be_approved(tool, constraints)
    return tool.effect == "write" and not asked and not forbidden(tool, context, constraints)


class _Read(TypedDict):
    """What is read of the report of an earlier request."""

    answer: Any
    stop: Stop
    plans: list[Plan]
    results: list[Result]


class Before(NamedTuple):
    """The earlier request of a thread; where it is not what a run writes, `odd` says why and the others are None."""

    request: Request | None
    report: Report | None
    odd: str = ""


def before_this(state: Mapping[str, Any]) -> Before:
    """What the thread, or the graph around this one, holds of an earlier request; anybody may have edited it."""
    request, report = state.get("request") or None, state.get("report") or None
    wrong = {"request": request and record_fault(Request, request), "report": report and record_fault(_Read, report)}
    odd = next((f"{name}: {why}" for name, why in wrong.items() if why), "")
    return Before(None, None, odd) if odd else Before(request, report)


def first_event(request: Request, odd: str) -> Event:
    """The beginning, and what becomes of an earlier request of this thread that had not come to its end."""
    dropped = request.get("dropped")
    reason = "; ".join([*dropped["said"], *dropped["writes"]]) if dropped else ""
    if odd:
        reason = f"nothing of an earlier request is told, what is left of it is not what a run writes: {odd}"
    return event_record(request["id"], "request", reason=reason, evidence=[request["pattern"]], next="planner")
