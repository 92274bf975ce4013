"""PlanBench (Valmeekam et al. 2023, arXiv:2206.10498): plans that a real model gave in rounds of feedback.

A plan is one call of one tool, which says by the rules of STRIPS whether it is valid: the acceptance of the step.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evals.recorded import Attempted
from evals.strips import Problem, Verdict, judge, read_problem
from evals.tasks import Made, Task, data_folder, json_lines, read
from nodes.reading.actions import read_actions
from state.plan import StepDraft
from state.result import FINISHED, Result
from tools.tool import Tool, ToolEnv

Row = dict[str, Any]
_SET = "mystery_blocksworld_3"


def rows(folder: str | Path | None = None) -> Iterator[Row]:
    """The rows as recorded."""
    return json_lines(data_folder(folder) / "planbench" / f"{_SET}__o1-preview_chat.jsonl")


def domain(folder: str | Path | None = None) -> str:
    """The text of the domain."""
    return read(data_folder(folder) / "planbench" / f"{_SET}_domain.pddl")


def tasks(folder: str | Path | None = None) -> Iterator[Attempted]:
    """Every problem with its attempts."""
    of_all = domain(folder)
    for row in rows(folder):
        yield _task(row, read_problem(of_all, row["problem"]))


def _task(row: Row, problem: Problem) -> Attempted:
    attempts = tuple(_attempt(one["raw"]) for one in row["attempts"])
    gold = tuple(one for one in attempts[-1:] if one)
    expected = {one.id: Made(told(judge(problem, one.args["actions"]))) for one in gold}
    text = f"Find a plan that carries this out.\n{row['problem']}"
    return Attempted(
        f"planbench-{row['id']}", text, (_tool(problem),), gold, lambda: dict(expected), _solved, attempts=attempts
    )


def _attempt(raw: str) -> StepDraft | None:
    """The reply as it was, read by our reader; None where it holds no plan."""
    try:
        args = {"actions": read_actions(raw)}
    except ValueError:
        return None
    return StepDraft(id="plan", tool="carry_out", args=args, accept=["valid"])


def _solved(task: Task, results: Sequence[Result]) -> list[str]:
    done = [one["output"] for one in results if one["status"] in FINISHED]
    return [] if done and done[-1]["valid"] else ["no valid plan was carried out"]


def told(verdict: Verdict) -> dict[str, Any]:
    """The verdict as the tool gives it."""
    unmet = [f"({' '.join(atom)})" for atom in verdict.unmet]
    return {"valid": verdict.valid, "step": verdict.step, "unmet": unmet}


def _tool(problem: Problem) -> Tool:
    async def run(args: dict[str, Any], around: ToolEnv) -> dict[str, Any]:
        return told(judge(problem, args["actions"]))

    schema = {
        "type": "object",
        "properties": {"actions": {"type": "array", "items": {"type": "string"}}},
        "required": ["actions"],
        "additionalProperties": False,
    }
    names = ", ".join(sorted(problem.actions))
    return Tool("carry_out", f"Tries a plan of actions such as (name object), of {names}.", schema, run)
