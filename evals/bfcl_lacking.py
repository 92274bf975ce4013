"""BFCL multi-turn with something missing: turns that ask for a function that is not offered, or leave a value out.

Which, the variants of the set in the package bfcl-eval say; what the turn should come to, the recorded base set.
"""

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evals.bfcl import HOW, turns
from evals.tasks import Task, json_lines
from state.errors import InputError
from state.plan import StepDraft
from state.references import each_text

Row = dict[str, Any]


def missing_functions(folder: str | Path | None = None) -> Iterator[tuple[Task, tuple[str, ...]]]:
    """Turns whose gold calls a function that is not offered, each with the names of what is left out.

    The turns before it have been called as gold has them.
    """
    variants = _variants("miss_func")
    for name, turn in turns(folder):
        for place, left_out in variants[_number(name)]["missed_function"].items():
            task = turn(int(place) - 1)
            if set(left_out) & {step.tool for step in task.gold}:
                tools = tuple(tool for tool in task.tools if tool.name not in left_out)
                yield replace(task, tools=tools), tuple(left_out)


def missing_parameters(folder: str | Path | None = None) -> Iterator[tuple[Task, str, Any]]:
    """Turns that leave a value out, each with the input that it becomes and what the user says when asked.

    Only those in which the next turn of the variant holds the very text of one argument.
    """
    variants, answers = _variants("miss_param"), _variants("miss_param", "possible_answer/")
    for name, turn in turns(folder):
        row, place = variants[_number(name)], answers[_number(name)]["ground_truth"].index([])
        said = [" ".join(one["content"] for one in part) for part in row["question"][place : place + 2]]
        if found := _left_out(turn(place), *said):
            yield _asking(turn(place), said[0], *found), *found


def _number(name: str) -> str:
    """What rows of one dialogue have in common in every variant."""
    return name.rpartition("_")[2]


def _variants(kind: str, under: str = "") -> dict[str, Row]:
    """Rows of a variant by their number."""
    found = find_spec("bfcl_eval")
    if found is None or not found.origin:
        raise InputError(f"the variants of BFCL are not here; {HOW}")
    path = Path(found.origin).parent / "data" / under / f"BFCL_v4_multi_turn_{kind}.json"
    return {_number(row["id"]): row for row in json_lines(path)}


def _left_out(task: Task, asked: str, answered: str) -> tuple[str, str] | None:
    """The argument and the text that the question does not hold and the answer to it does."""
    texts = [(name, value) for step in task.gold for name, value in step.args.items() if isinstance(value, str)]
    known = [(name, text) for name, text in texts if text and text in answered and text not in asked]
    return max(known, key=lambda pair: len(pair[1]), default=None)


def _asking(task: Task, text: str, argument: str, value: str) -> Task:
    """The task with a reference to an input wherever gold has the value."""
    put = f"${{steps.inputs.{argument}}}"

    def filled(step: StepDraft) -> StepDraft:
        return step.model_copy(update={"args": each_text(step.args, lambda one: put if one == value else one)})

    return replace(task, text=text, gold=tuple(map(filled, task.gold)))
