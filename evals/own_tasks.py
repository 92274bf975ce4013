"""Tasks of the user's own, from a YAML or JSONL file: each says by a condition, a function or an answer what is right.

Every error names the file, the line, the value, and what would be right, before anything runs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evals.judging import Judge, judge_of
from evals.sets import TaskSet, alone
from evals.tasks import Task
from nodes.constraints import valid_constraints
from nodes.inputs import looked_up
from nodes.intake import valid_task
from nodes.strict_files import at_line, file_text, first_fault, read_json
from nodes.strict_yaml import Lines, Place, YamlFault, read_yaml
from state.context import make_context
from state.errors import InputError, offer, shorten
from state.plan import canonical
from tools.catalogue import catalogue
from tools.settings import ToolSettings

ENDINGS = (".yaml", ".yml", ".jsonl")
_MOST = 50_000_000
LONGEST_ID = 200
EVALS_OWN = {"model", "home", "record", "replay", "root"}
"""Settings that an eval makes itself for each run."""


class TaskDraft(BaseModel):
    """One task as it stands in the file."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True, populate_by_name=False)

    task: str = Field(min_length=1)
    """What to do, in words."""
    id: str = ""
    """Its name; without one, its number in the file."""
    kind: str = Field(default="", alias="class")
    """The class that it is counted in."""
    check: str | None = None
    """A condition over `answer`, `number` (that the answer ends with), `expected`, `outputs` and `tools` (of the
    finished steps, in their order), `stop`, `model_calls`, `tool_calls`."""
    scorer: str | None = None
    """A Python function as module:function, which gets task and report, and gives True, or what was wrong."""
    expected: Any = None
    """What is right; alone, the answer must be it: the number that it gives, a text but for case and blanks."""
    tools: list[str] | None = None
    """The tools in use, as the setting `tools`; without it, those of a run."""
    inputs: dict[str, Any] = Field(default_factory=dict)
    """Values that the task uses by name."""
    constraints: Any = None
    """What must hold throughout."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Settings of a run, such as answer_schema."""
    files: str | None = None
    """A folder, beside the file, of which each run gets a copy as its root."""


KEYS = [field.alias or name for name, field in TaskDraft.model_fields.items()]


def own(path: str) -> TaskSet:
    """The tasks of a file. Blocking."""
    text = file_text(path, ENDINGS, "file of tasks", _MOST)
    found = list(_lines_of(text, path) if path.endswith(".jsonl") else _whole(text, path))
    if not found:
        raise InputError(f"{path}: there is no task in it; right would be a list of {{task: ..., expected: ...}}")
    tasks = [_task(value, place, path, lines, number) for number, (value, place, lines) in enumerate(found, 1)]
    _told_apart(tasks, [at_line(path, lines.get(place, 0)) for _, place, lines in found])
    return TaskSet(Path(path).stem, tuple(map(alone, tasks)), "own")


Found = tuple[Any, Place, Lines]
"""A task as it was read, its place, and the lines of its parts."""


def _lines_of(text: str, path: str) -> Iterable[Found]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield read_json(line)[0], (), {(): number}
            except YamlFault as error:
                raise InputError(f"{at_line(path, number)}: {error}; right would be one JSON object a line") from error


def _whole(text: str, path: str) -> Iterable[Found]:
    """A list of tasks, or a mapping with `tasks` and with `defaults` for all of them."""
    try:
        value, lines = read_yaml(text)
    except YamlFault as error:
        raise InputError(f"{at_line(path, error.line)}: {error}") from error
    given = value if isinstance(value, dict) else {"tasks": value}
    if wrong := next((name for name in given if name not in ("tasks", "defaults")), None):
        raise InputError(
            f"{at_line(path, lines.get((wrong,), 0))}: there is no key {wrong!r}; {offer(wrong, ('tasks', 'defaults'))}"
        )
    tasks, defaults = given.get("tasks"), given.get("defaults") or {}
    if not isinstance(tasks, list) or not isinstance(defaults, dict):
        raise InputError(f"{path}: tasks is {shorten(tasks)}; right would be a list of {{task: ..., expected: ...}}")
    start: Place = ("tasks",) if isinstance(value, dict) else ()
    for number, one in enumerate(tasks):
        merged = {**defaults, **one} if isinstance(one, dict) else one
        yield merged, (*start, number), lines


def _task(value: Any, place: Place, path: str, lines: Lines, number: int) -> Task:
    """The task, with everything in it that can be wrong looked at."""
    here = at_line(path, lines.get(place, 0))
    if not isinstance(value, dict):
        raise InputError(f"{here}: {shorten(value)} is no task; right would be {{task: ..., expected: ...}}")
    mine = {where[len(place) :]: line for where, line in lines.items() if where[: len(place)] == place}
    try:
        draft = TaskDraft.model_validate(value)
    except ValidationError as error:
        raise InputError(first_fault(error, path, mine, lambda where: KEYS if len(where) == 1 else ())) from error

    def at(key: str) -> str:
        return f"{at_line(path, mine.get((key,), mine.get((), 0)))}: {key}"

    settings = {**draft.settings, **({} if draft.tools is None else {"tools": draft.tools})}
    tools = _check_settings(settings, at)
    _check_request(draft, tools, _folder(draft, path, at), at)
    given = {"inputs": draft.inputs} | ({} if draft.constraints is None else {"constraints": draft.constraints})
    return Task(
        draft.id or str(number), draft.task, (), (), dict, lambda task, results: [], {"tools": None, **settings},
        given=given, files=_folder(draft, path, at), kind=draft.kind, judge=_judge(draft, path, here, at),
        source=canonical(value),
    )  # fmt: skip


def _check_settings(settings: Mapping[str, Any], at: Callable[[str], str]) -> list[str]:
    """The names of the tools in use, as far as they are known before servers and documents are opened."""
    names: list[str] = []
    key = "settings"
    try:
        if theirs := sorted(EVALS_OWN & settings.keys()):
            raise InputError(
                f"{theirs[0]} is the eval's own; right would be an option of the command, or no {theirs[0]}"
            )
        given = make_context(**settings).tools
        key = "tools"
        for name in (one for one in given or () if isinstance(one, str) and ":" not in one):
            names += catalogue([name], ToolSettings())
    except InputError as error:
        raise InputError(f"{at(key)}: {error}") from error
    return names


def _check_request(draft: TaskDraft, tools: Sequence[str], folder: str, at: Callable[[str], str]) -> None:
    """What intake would refuse, before anything runs."""
    key = "id"
    try:
        if len(draft.id) > LONGEST_ID or not draft.id.isprintable():
            raise InputError(
                f"{shorten(draft.id)!r} is no id; right would be at most {LONGEST_ID} printable characters"
            )
        key = "task"
        valid_task(draft.task)
        key = "constraints"
        valid_constraints(draft.constraints, tools)
        key = "inputs"
        with TemporaryDirectory() as empty:
            looked_up(draft.inputs, ToolSettings(root=folder or empty, home=empty))
    except InputError as error:
        raise InputError(f"{at(key)}: {error}") from error


def _folder(draft: TaskDraft, path: str, at: Callable[[str], str]) -> str:
    if draft.files is None:
        return ""
    folder = Path(path).parent / draft.files
    if not folder.is_dir():
        raise InputError(
            f"{at('files')}: there is no folder {shorten(str(folder))!r}; it is looked for beside the file"
        )
    return str(folder.resolve())


def _told_apart(tasks: Sequence[Task], places: Sequence[str]) -> None:
    known: dict[str, str] = {}
    for task, place in zip(tasks, places, strict=True):
        if task.id in known:
            raise InputError(f"{place}: there is a task {task.id!r} already, at {known[task.id]}; give it another id")
        known[task.id] = place


def _judge(draft: TaskDraft, path: str, here: str, at: Callable[[str], str]) -> Judge:
    if draft.check is None and draft.scorer is None and draft.expected is None:
        raise InputError(f"{here}: nothing says what is right; give one of: expected, check, scorer")
    return judge_of(draft.check, draft.scorer, draft.expected, Path(path).parent, at)
