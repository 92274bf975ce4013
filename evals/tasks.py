"""A task with its tools, its gold plan and the check of what came of it; how public rows are read from files.

The data is no part of the project: its folder is given, or named by FORETHOUGHT_DATA.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from nodes.places import fingerprint
from state.context import env
from state.errors import InputError
from state.json_text import from_json
from state.plan import StepDraft, canonical, digest
from state.references import as_text
from state.report import Report
from state.result import FINISHED, Result
from tools.given_file import text_of
from tools.tool import Tool

_MOST = 1_000_000_000
"""Bytes of a file of a task set."""
JUDGING = 2
"""Goes up when a rule changes by which runs are judged: rows from before then count no more."""


class Made(NamedTuple):
    """What a gold step gives, and the arguments that it must get, where those are compared too."""

    output: Any
    args: dict[str, Any] | None = None


Expected = dict[str, Made]
"""By step id, in the order of the plan."""
SIZES: Mapping[str, float] = MappingProxyType({
    "unclassed": 0, "1-2 calls": 2, "3-4 calls": 4, "5-8 calls": 8, "9 calls or more": inf,
})  # fmt: skip
"""Classes of tasks by the number of their gold calls, with the most that each holds."""


@dataclass(frozen=True)
class Task:
    """One task; `expected` says what the gold plan gives, worked out from the public row without our executor."""

    id: str
    text: str
    tools: tuple[Tool, ...]
    gold: tuple[StepDraft, ...]
    expected: Callable[[], Expected]
    check: Callable[["Task", Sequence[Result]], list[str]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the context that belong to the task, such as its tests."""
    given: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    """What goes into the graph with the task: its inputs and constraints."""
    files: str = field(default="", kw_only=True)
    """A folder of which each run gets a copy to work in."""
    source: str = field(default="", kw_only=True)
    """What else the task was made of, where text and gold do not say it all."""
    kind: str = field(default="", kw_only=True)
    """The class that it is counted in; without one, the number of its gold calls says it."""
    judge: Callable[["Task", Report], list[str]] | None = field(default=None, kw_only=True)
    """How the whole report of a run is judged, where the results of its steps are not what counts."""

    def wrong(self, report: Report) -> list[str]:
        """What is wrong with a run; empty when it was right."""
        return self.judge(self, report) if self.judge else self.problems(report["results"])

    @property
    def mark(self) -> str:
        """The same for the same question, judged in the same way."""
        return digest([JUDGING, self.text, [step.model_dump(exclude_defaults=True) for step in self.gold], self.source])

    @property
    def size(self) -> str:
        """The class of the task."""
        return self.kind or next(name for name, most in SIZES.items() if len(self.gold) <= most)

    def problems(self, results: Sequence[Result]) -> list[str]:
        """What is wrong with the results of a run; empty when it was right."""
        try:
            return self.check(self, results)
        except LookupError as error:
            return [f"the gold plan can't be worked out, it refers to nothing: {error}"]

    def seen(self, told: Mapping[str, Any]) -> "Task":
        """The task as one may plan it who was told this; another where the gold plan follows from an observation."""
        return self

    def answer(self) -> Any:
        """The output of the last gold step."""
        return list(self.expected().values())[-1].output


class Dialogue(NamedTuple):
    """Tasks that follow one another on one thread; `begin` gives them with tools over a world that is as new."""

    id: str
    begin: Callable[[], tuple[Task, ...]]


def same_outputs(task: Task, results: Sequence[Result]) -> list[str]:
    """The same tools must have given the same outputs, as often, whatever the steps are called."""
    tools, known = {step.id: step.tool for step in task.gold}, {tool.name: tool for tool in task.tools}
    expected = task.expected()
    by_args = all(made.args is not None for made in expected.values())
    want = Counter(
        _shown(tools[name], made.output, fingerprint(known[tools[name]], made.args or {}) if by_args else "")
        for name, made in expected.items()
    )
    have = Counter(
        _shown(one["tool"], one["output"], one["call"] if by_args else "")
        for one in results
        if one["status"] in FINISHED
    )
    lost = [f"missing: {call}" for call in (want - have).elements()]
    return lost + [f"not in the gold plan: {call}" for call in (have - want).elements()]


def same_answer(task: Task, results: Sequence[Result]) -> list[str]:
    """The last result must be the gold answer; for patterns that don't call the tools of the gold plan."""
    said = [one["output"] for one in results if one["status"] in FINISHED][-1:]
    return [] if said == [as_text(task.answer())] else [f"the last result is {said}, not {as_text(task.answer())!r}"]


def _shown(tool: str, output: Any, call: str) -> str:
    """One call as a text; `call` is the fingerprint of tool and arguments."""
    return canonical([tool, output, call])


def data_folder(given: str | Path | None = None) -> Path:
    """Where the public task sets are; raises `InputError` when nobody said so or nothing is there."""
    named = given or env("FORETHOUGHT_DATA")
    if not named:
        raise InputError("where are the public task sets? Name their folder, or set FORETHOUGHT_DATA")
    if not (folder := Path(named)).is_dir():
        raise InputError(f"the folder of public task sets {str(folder)!r} is not there")
    return folder


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file with one JSON object a line."""
    for number, line in enumerate(read(path).split("\n"), 1):
        if line.strip():
            yield _json(line, f"{path}:{number}")


def read_json(path: Path) -> Any:
    """A whole JSON file."""
    return _json(read(path), str(path))


def read(path: Path) -> str:
    """The text of a file of a public task set."""
    return text_of(path, f"the task set file {str(path)!r}", _MOST)


def _json(text: str, where: str) -> Any:
    try:
        return from_json(text)
    except ValueError as error:
        raise InputError(f"{where} is no JSON: {error}; right would be the file as the task set has it") from error


def by_text(tasks: Sequence[Task]) -> Mapping[str, Task]:
    """Tasks by their text; raises `InputError` when two of them could not be told apart."""
    known: dict[str, Task] = {}
    for task in tasks:
        other = known.setdefault(task.text.strip(), task)
        if other is not task:
            raise InputError(f"tasks {other.id} and {task.id} have the same text; one of them must go")
    return known
