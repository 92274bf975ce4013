"""Whether an answer is the right one: the number that it ends with, or its text, in whatever words."""

import re
from collections.abc import Callable
from math import isclose
from typing import Any

from evals.tasks import Task
from nodes.views import answering
from state.errors import shorten
from state.references import as_text
from state.report import Report

_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])[-+]?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+)(?![A-Za-z_]*\d)"
)
"""A number that is no part of a word; `10-4` holds a 10 and a 4."""


NO_ANSWER = "the run gave no answer"


def numbers(text: Any) -> list[float]:
    """The numbers of a text in their order; commas between thousands are no marks of their own."""
    if isinstance(text, int | float) and not isinstance(text, bool):
        return [float(text)]
    return [float(found.replace(",", "")) for found in _NUMBER.findall(as_text(text).replace("\u2212", "-"))]


def last_number(answer: Any) -> float | None:
    """The number that an answer ends with."""
    return next(reversed(numbers(answer)), None)


def answer_of(report: Report) -> Any:
    """What a run gave as its answer, None where it gave none.

    Where a run failed, code writes into the answer why it did and what is missing: numbers there answer nothing.
    """
    answer = report["answer"]
    if report["stop"]["kind"] == "success" or report["answered_by"] != "code" or not isinstance(answer, str):
        return answer
    outputs = answering(report["plans"], {one["step"]: one for one in report["results"]})
    return "\n".join(map(as_text, outputs.values())) if outputs else None


def number_is(right: float, *, within: float = 0.0) -> Callable[[Task, Report], list[str]]:
    """A judge that wants this number as the last of the answer, or as the last that the task does not name itself.

    So `7 dozens in 4 weeks` answers how many dozens there are in 4 weeks. `within` is a share of the number.
    """

    def judge(task: Task, report: Report) -> list[str]:
        given = answer_of(report)
        if given is None:
            return [f"{NO_ANSWER}, right is {right:g}"]
        found = numbers(given)
        fresh = [number for number in found if number not in numbers(task.text)]
        said = [*found[-1:], *fresh[-1:]]
        if any(isclose(number, right, rel_tol=within, abs_tol=1e-9) for number in said):
            return []
        gives = " or ".join(f"{number:g}" for number in dict.fromkeys(said)) or "no number"
        return [f"the answer gives {gives}, right is {right:g}: {shorten(as_text(given))}"]

    return judge


def plain_text(answer: Any) -> str:
    """An answer without what does not count: case, blanks, the last stop."""
    return " ".join(as_text(answer).lower().split()).rstrip(".。")


def same_text(task: Task, report: Report) -> list[str]:
    """A judge that wants the gold answer as a text, whatever its case, blanks and last stop."""
    right, given = as_text(task.answer()), answer_of(report)
    if given is None:
        return [f"{NO_ANSWER}, right is {shorten(right)}"]
    said = as_text(given)
    same = plain_text(said) == plain_text(right)
    return [] if same else [f"the answer is {shorten(said)}, right is {shorten(right)}"]
