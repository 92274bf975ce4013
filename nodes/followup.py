"""What a follow-up knows of the requests before it on its thread."""

from nodes.solving import SOLVE_STEP
from nodes.trust import heard
from state.errors import shorten
from state.report import Report
from state.request import Earlier, Request
from tools.catalogue import Catalogue

EARLIER = 3
"""How many earlier requests of a thread a follow-up knows."""
ANSWER_KEPT = 1000
"""Characters of an earlier task or answer that it knows."""


def earlier_requests(before: Request | None, report: Report | None) -> list[Earlier]:
    """What a follow-up knows of its thread: the last few tasks, answers and stops; counters and plans are fresh."""
    if not before or not report:
        return []
    told: Earlier = {
        "task": shorten(before["task"], ANSWER_KEPT),
        "answer": shorten(report["answer"], ANSWER_KEPT),
        "stop": report["stop"]["reason"],
    }
    return [*before["earlier"], told][-EARLIER:]


def heard_before(before: Request | None, report: Report | None, tools: Catalogue) -> bool:
    """Whether earlier answers may hold untrusted data; what a tool gave that is no longer there may be any."""
    if not before or not report:
        return False
    results = {one["step"]: one for one in report["results"]}
    gone = any(one["attempts"] and one["tool"] not in {*tools, SOLVE_STEP} for one in report["results"])
    return bool(before.get("heard") or gone or heard(report["plans"], results, tools))
