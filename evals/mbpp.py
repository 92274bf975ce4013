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

Row = dict[str, Any]
BY = ("gpt-4 one-shot", "gpt-4 reflexion")
"""The two runs whose last answers were recorded."""


def rows(folder: str | Path | None = None) -> Iterator[Row]:
    """The rows as recorded."""
    return json_lines(data_folder(folder) / "reflexion" / "mbpp_replay.jsonl")


def tasks(by: str, folder: str | Path | None = None) -> Iterator[Attempted]:
    """Every problem with the answer of one run."""
    [run_tests] = [tool for tool in tools(ToolSettings()) if tool.name == "run_tests"]
    for row in rows(folder):
        [answer] = [one for one in row["attempts"] if one["by"] == by]
        args = {"code": answer["solution"], "tests": [row["test"]]}
        step = StepDraft(id="tests", tool=run_tests.name, args=args, accept=["passed"])
        expected = {step.id: Made({"passed": answer["reran_passed"]})}
        text = f"{row['name']}: complete this function.\n{row['prompt']}"
        yield Attempted(row["name"], text, (run_tests,), (step,), lambda e=expected: dict(e), _passed, (step,))  # type: ignore[misc]


def _passed(task: Task, results: Sequence[Result]) -> list[str]:
    return [] if any(one["status"] in FINISHED for one in results) else ["the tests did not pass"]
