"""An earlier request of a thread that had not come to its end is dropped: what is told of it, and of what it wrote."""

from state.errors import SetupError, shorten
from state.plan import canonical
from state.report import Report
from state.request import Dropped, Request
from tools.journal import Entry, Journal


def dropped(before: Request | None, report: Report | None, journal: Journal) -> Dropped | None:
    """What to tell of it, or None where it had come to its end. Blocks: call it in a thread."""
    if not before or (report and report["stop"]["kind"] != "pause"):
        return None
    how = "waited for a person" if report else "was cut off"
    told = None if report else before.get("dropped")  # which nobody has been told yet
    so_far: Dropped = told or {"said": [], "writes": []}
    return {
        "said": [*so_far["said"], f"the earlier request {before['id']} {how} and is dropped"],
        "writes": [*so_far["writes"], *_written(before, journal)],
    }


def _written(before: Request, journal: Journal) -> list[str]:
    if not before["settings"].get("journal"):
        return []
    try:
        return [_of(entry, journal) for entry in journal.entries(before["id"]) if not journal.is_undone(entry)]
    except SetupError as error:
        return [f"what the dropped request {before['id']} wrote is not known: {error}"]


def _of(entry: Entry, journal: Journal) -> str:
    call = f"{entry['tool']} with {shorten(canonical(entry['args']), 300)}"
    where = f"step {entry['step']} of the dropped request {entry['request']}"
    if entry["state"] == "done":
        return f"{where}: {call} was done, and is done once more if this request does it too"
    end = f" (it ended since: {said})" if (said := journal.end_of(entry)) else ""
    return f"{where}: nobody knows whether {call} happened{end}; look there, since this request may do it once more"
