"""What came of a run, as its report says it, without what the other parts of the page show already."""

from typing import Any

from graphs._summary import answer_alone, estimated
from state.report import Report

_ELSEWHERE = ("plans", "results", "open_requests", "request")


def outcome_of(report: Report | None) -> dict[str, Any] | None:
    """The report's other fields; None while there is none."""
    if report is None:
        return None
    told = {name: value for name, value in report.items() if name not in _ELSEWHERE}
    estimate = report["estimate"]
    return {**told, "answer": answer_alone(report), "would_take": estimated(estimate) if estimate else ""}
