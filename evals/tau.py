"""tau-bench, retail (Yao et al. 2024, arXiv:2406.12045): a recorded world that answers only what was recorded.

Right is a run whose calls, all of which change something, are those of the gold plan.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from evals.pointers import referring
from evals.tasks import Made, Task, data_folder, json_lines, read_json, same_outputs
from state.errors import ToolFailed
from state.json_text import from_json
from state.plan import StepDraft, canonical
from tools.tool import Tool, ToolEnv

Row = dict[str, Any]
_READS = ("calculate", "find_", "get_", "list_", "think")
"""How the names of the tools begin that change nothing."""
_REFUSED = "the service itself refuses a gold call: the gift card holds too little"
DEFECTIVE: Mapping[str, str] = MappingProxyType({f"retail_train_{row}": _REFUSED for row in (24, 27, 81, 148)})
"""Gold plans that can't be carried out."""


def tasks(folder: str | Path | None = None) -> Iterator[Task]:
    """Every task of the training set, defective ones too."""
    place = data_folder(folder) / "tau"
    functions = [one["function"] for one in read_json(place / "retail_tools.json")]
    for row in json_lines(place / "retail_train.jsonl"):
        yield _task(row, functions)


def _task(row: Row, functions: list[Row]) -> Task:
    recorded = {(step["tool"], canonical(step["args"])): step for step in row["steps"]}
    tools = tuple(_tool(function, recorded) for function in functions)
    expected = {step["id"]: Made(_observed(step), step["args"]) for step in row["steps"]}
    return Task(row["id"], row["instruction"], tools, tuple(_gold(row)), lambda: dict(expected), same_outputs)


def _gold(row: Row) -> Iterator[StepDraft]:
    """The calls in their order, as each changes what the next one finds."""
    seen: dict[str, Any] = {}
    for step in row["steps"]:
        args = referring(step["args"], step["refs"], seen)
        yield StepDraft(id=step["id"], tool=step["tool"], args=args, after=list(seen)[-1:])
        seen[step["id"]] = _observed(step)


def _observed(step: Row) -> Any:
    """Observations are texts, most of them JSON."""
    try:
        return from_json(step["obs"])
    except ValueError:
        return step["obs"]


def _tool(function: Row, recorded: Mapping[tuple[str, str], Row]) -> Tool:
    name = function["name"]

    async def run(args: dict[str, Any], around: ToolEnv) -> Any:
        step = recorded.get((name, canonical(args)))
        if step is None:
            raise ToolFailed(f"{name} was not recorded with these arguments: {canonical(args)}", "not_found")
        if step["error"]:
            raise ToolFailed(step["obs"], "invalid_arguments")
        return _observed(step)

    effect = "read" if name.startswith(_READS) else "write"
    schema = {**function["parameters"], "additionalProperties": False}
    return Tool(name, function["description"], schema, run, effect=effect)  # type: ignore[arg-type]
