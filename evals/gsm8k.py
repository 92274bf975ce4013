"""GSM8K (Cobbe et al. 2021, arXiv:2110.14168): word problems with calculator steps, as pure arithmetic.

The tool is the project's own calculator. A number of an expression that an earlier step gave, and that the question
does not name, is a reference to that step. Right is a run whose answer gives the right number.
"""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from evals.answers import number_is
from evals.tasks import Made, Task, data_folder, json_lines, same_outputs
from state.plan import StepDraft
from tools.catalogue import catalogue
from tools.settings import ToolSettings
from tools.tool import Tool

Row = dict[str, Any]
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?|\.\d+")


def rows(folder: str | Path | None = None) -> Iterator[Row]:
    """The rows as published."""
    return json_lines(data_folder(folder) / "gsm8k" / "test_400.jsonl")


def is_sound(row: Row) -> bool:
    """Whether the last calculator step gives the answer; in the other rows it was worked out in words."""
    return _value(row["steps"][-1]["result"]) == _value(row["answer"])


def tasks(folder: str | Path | None = None) -> Iterator[Task]:
    """Every problem, also those whose gold steps do not lead to the answer."""
    tools = tuple(catalogue(["calculator"], ToolSettings()).values())
    for row in rows(folder):
        yield _task(row, tools)


def _task(row: Row, tools: tuple[Tool, ...]) -> Task:
    expected = {f"s{place}": Made(_plain(step["result"])) for place, step in enumerate(row["steps"], 1)}
    return Task(
        f"gsm8k-{row['id']}", row["question"], tools, tuple(_gold(row)), lambda: dict(expected), same_outputs,
        judge=number_is(float(_value(row["answer"]))),
    )  # fmt: skip


def _gold(row: Row) -> Iterator[StepDraft]:
    """The calculator steps; the last, which gives the answer, comes after all that nothing else builds on."""
    asked = {_value(text) for text in _NUMBER.findall(row["question"])}
    seen: dict[Fraction, str] = {}
    loose: list[str] = []
    for place, step in enumerate(row["steps"], 1):
        expression = _referring(step["expr"], seen)
        loose = [name for name in loose if f"steps.{name}}}" not in expression]
        after = loose if place == len(row["steps"]) else []
        yield StepDraft(id=f"s{place}", tool="calculator", args={"expression": expression}, after=after)
        loose = [*loose, f"s{place}"]
        if (value := _value(step["result"])) not in asked:
            seen[value] = f"s{place}"


def _referring(expression: str, seen: Mapping[Fraction, str]) -> str:
    """The expression with a reference in the place of each number that an earlier step gave."""

    def put(found: re.Match[str]) -> str:
        step = seen.get(_value(found[0]))
        return f"${{steps.{step}}}" if step else found[0]

    alone = _NUMBER.fullmatch(expression)  # as a reference it would be the number itself, and no expression
    return expression if alone else _NUMBER.sub(put, expression)


def _value(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


def _plain(text: str) -> int | float:
    """The result as the calculator gives it: whole numbers whole."""
    value = _value(text)
    return value.numerator if value.denominator == 1 else float(value)
