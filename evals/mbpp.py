"""MBPP (Austin et al. 2021) as Reflexion ran it (Shinn et al. 2023): recorded answers, and the unit tests that decide.

The tests run where all code runs that nobody vouches for: in the sandbox of `run_tests`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evals.recorded import Attempted
from evals.tasks import Made, Task, data_folder, json_lines
from state.plan import StepDraft
from state.result import FINISHED, Result
from tools.code import tools
from tools.settings import ToolSettings
from tools.tool import Tool

Row = dict[str, Any]
BY = ("gpt-4 one-shot", "gpt-4 reflexion")
"""The two runs whose last answers were recorded."""


def rows(folder: str | Path | None = None) -> Iterator[Row]:
    """The rows as recorded."""
    return json_lines(data_folder(folder) / "reflexion" / "mbpp_replay.jsonl")


def tasks(*runs: str, folder: str | Path | None = None) -> Iterator[Attempted]:
    """Every problem with the answers of these runs, one after the other; of both if none is named."""
    [run_tests] = [tool for tool in tools(ToolSettings()) if tool.name == "run_tests"]
    for row in rows(folder):
        yield _task(row, [one for by in runs or BY for one in row["attempts"] if one["by"] == by], run_tests)


def _task(row: Row, answers: list[Row], run_tests: Tool) -> Attempted:
    steps = tuple(
        StepDraft(
            id="tests", tool=run_tests.name, args={"code": one["solution"], "tests": [row["test"]]}, accept=["passed"]
        )
        for one in answers
    )
    expected = {"tests": Made({"passed": answers[-1]["reran_passed"]})}
    text = f"{row['name']}: complete this function.\n{row['prompt']}"
    return Attempted(
        row["name"], text, (run_tests,), steps[-1:], lambda: dict(expected), _passed, {"tests": [row["test"]]}, steps
    )


def _passed(task: Task, results: Sequence[Result]) -> list[str]:
    done = [one["output"] for one in results if one["status"] in FINISHED]
    return [] if done and done[-1]["passed"] else ["the tests did not pass"]
