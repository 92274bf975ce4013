"""Whether an answer is the right one: the number that it ends with, or its text, in whatever words."""

import re
from collections.abc import Callable
from math import isclose
from typing import Any

from evals.tasks import Task
from state.errors import shorten
from state.references import as_text
from state.report import Report

_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])[-+]?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+)(?![A-Za-z_]*\d)"
)
"""A number that is no part of a word; `10-4` holds a 10 and a 4."""


def last_number(answer: Any) -> float | None:
    """The number that an answer ends with; commas between thousands are no marks of their own."""
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        return float(answer)
    found = _NUMBER.findall(as_text(answer).replace("\u2212", "-"))
    return float(found[-1].replace(",", "")) if found else None


def number_is(right: float, *, within: float = 0.0) -> Callable[[Task, Report], list[str]]:
    """A judge that wants this number at the end of the answer; `within` is a share of it."""

    def judge(task: Task, report: Report) -> list[str]:
        said = last_number(report["answer"])
        if said is not None and isclose(said, right, rel_tol=within, abs_tol=1e-9):
            return []
        return [f"the answer ends with {said}, right is {right:g}: {shorten(as_text(report['answer']))}"]

    return judge


def plain_text(answer: Any) -> str:
    """An answer without what does not count: case, blanks, the last stop."""
    return " ".join(as_text(answer).lower().split()).rstrip(".。")


def same_text(task: Task, report: Report) -> list[str]:
    """A judge that wants the gold answer as a text, whatever its case, blanks and last stop."""
    right, said = as_text(task.answer()), as_text(report["answer"])
    same = plain_text(said) == plain_text(right)
    return [] if same else [f"the answer is {shorten(said)}, right is {shorten(right)}"]
