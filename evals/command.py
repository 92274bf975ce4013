"""What `forethought eval` does: chooses, runs what has no row yet, writes the report."""

import asyncio
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from evals.answering import Answering
from evals.experiment import Conditions, Trial, carry_out, left, rows_of
from evals.own_tasks import ENDINGS, own
from evals.page import Shown
from evals.progress import Told
from evals.rows import Row, RowFile, is_unjudged
from evals.sets import TaskSet, patterns_named, public
from evals.summary import differences, lines
from evals.written import print_json, print_tables, write_files
from graphs._options import pinned, settings_of
from graphs._saved import Home, alone
from state.context import env, make_context
from state.errors import InputError, SetupError
from state.json_text import from_json
from state.masking import without_passwords
from state.plan import digest

ABOUT, ROWS = "eval.json", "rows.jsonl"


@dataclass(frozen=True)
class Asked:
    """What was asked for on the command line."""

    sets: Sequence[str]
    patterns: Sequence[str]
    number: int | None
    seed: int
    noise: float
    noise_seed: int
    at_once: int
    out: str | None
    as_json: bool
    only_report: bool = False


def compare(asked: Asked, options: Mapping[str, Any]) -> int:
    """Runs the eval to its end and prints what came of it; the exit code is 0 whatever that is."""
    settings = pinned(settings_of(**options))
    answering = Answering(str(settings.pop("model")), asked.noise, asked.noise_seed)
    sets, patterns = chosen(asked), patterns_named(asked.patterns)
    answering.check(sets)
    left_out = {(one.name, name): why for one in sets for name in patterns if (why := answering.why_not(name, one))}
    if len(left_out) == len(sets) * len(patterns):
        (name, pattern), why = next(iter(left_out.items()))
        raise InputError(f"nothing is left to try: {pattern} on {name}: {why}")
    answering.check_model(settings)
    folder = _folder(asked, answering, settings)
    given = Conditions(Home(str(folder)), answering.name, answering.label, answering.simulated, settings)
    trials = [trial for one in sets for trial in _trials(one, patterns, answering)]
    with ExitStack() as held:
        held.enter_context(alone(given.home, "eval"))
        _keep_about(folder, answering, settings)
        rows = _run([] if asked.only_report else trials, trials, given, RowFile(folder / ROWS), asked.at_once)
        _tell(rows, patterns, left_out, folder, _about(answering, settings) | _size(asked), asked.as_json)
    return 0


def _trials(one: TaskSet, patterns: Sequence[str], answering: Answering) -> Iterable[Trial]:
    """Every dialogue of a set through every pattern that is tried on it."""
    begun = {dialogue.id: dialogue.begin() for dialogue in one.dialogues}
    tasks = [task for turns in begun.values() for task in turns]
    turns = {name: tuple((task.id, task.mark) for task in found) for name, found in begun.items()}
    tried = [pattern for pattern in patterns if not answering.why_not(pattern, one)]
    models = {pattern: answering.model(tasks, pattern) for pattern in tried}
    for dialogue in one.dialogues:  # task by task, so that what is there after a kill compares all patterns
        for pattern in tried:
            yield Trial(one.name, dialogue, pattern, models[pattern], turns[dialogue.id], one.judged == "own")


def chosen(asked: Asked) -> list[TaskSet]:
    """The sets by name, or by the path of a file; `NAME:20` takes 20 of its tasks."""
    if not asked.sets:
        from evals.sets import SETS

        raise InputError(f"name what to try: {', '.join(SETS)}, or a file of your own tasks in .yaml or .jsonl")
    found: dict[str, TaskSet] = {}
    for text in asked.sets:
        name, number = _numbered(text)
        one = own(name) if name.endswith(ENDINGS) else public(name)
        if one.name in found:
            raise InputError(f"two of the sets are called {one.name!r}; name each once, and files differently")
        found[one.name] = one.sample(asked.number if number is None else number, asked.seed)
    return list(found.values())


def _numbered(text: str) -> tuple[str, int | None]:
    name, colon, number = text.rpartition(":")
    if not colon or Path(text).exists():
        return text, None
    if not number.isdigit() or int(number) < 1:
        raise InputError(f"{text!r} takes {number!r} tasks; right would be a whole number from 1, as in gsm8k:20")
    return name, int(number)


def _folder(asked: Asked, answering: Answering, settings: Mapping[str, Any]) -> Path:
    """Where it is kept: the same call finds the same folder."""
    if asked.out is not None and not asked.out.strip():
        raise InputError("-o names no folder; right would be a name, such as -o results, or no -o")
    if asked.out is not None:
        folder = Path(asked.out)
    else:
        context = make_context(**settings)
        folder = Path(context.home_folder()) / "evals" / digest([_about(answering, settings), sorted(asked.sets)])[:10]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(f"the eval can't be kept in {folder}: {error.strerror}; -o names another folder") from error
    return folder.resolve()


def _about(answering: Answering, settings: Mapping[str, Any]) -> dict[str, str]:
    """What every row of a folder has in common."""
    words = {
        name: value if isinstance(value, str) else json.dumps(value, default=str) for name, value in settings.items()
    }
    return {
        "model": answering.label,
        **{name: without_passwords(words[name]) for name in sorted(words) if name != "root"},
    }


def _size(asked: Asked) -> dict[str, str]:
    number = "all" if asked.number is None else str(asked.number)
    return {"sets": ", ".join(asked.sets), "tasks of each": number, "seed of the choice": str(asked.seed)}


def _keep_about(folder: Path, answering: Answering, settings: Mapping[str, Any]) -> None:
    """Rows of one folder must be comparable: once there is one, another model or setting needs another folder."""
    file, now = folder / ABOUT, _about(answering, settings)
    if not file.is_file() or not (folder / ROWS).is_file():
        file.write_text(json.dumps(now, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return
    try:
        before = dict(from_json(file.read_text(encoding="utf-8")))
    except ValueError as error:
        raise SetupError(f"{file} can't be read: {error}; take another folder with -o") from error
    if name := next((name for name in (*before, *now) if before.get(name) != now.get(name)), None):
        was, is_now = (repr(one[name]) if name in one else "not set" for one in (before, now))
        raise InputError(f"{folder} holds an eval with {name} {was}, now it is {is_now}; take another folder with -o")


def _run(
    wanted: Sequence[Trial], trials: Sequence[Trial], given: Conditions, file: RowFile, at_once: int
) -> list[Row]:  # fmt: skip
    """The rows of all trials that have one, after those that are wanted and had none were run."""
    before = file.read()
    todo, done = left(wanted, before), len(trials) - len(left(trials, before))
    print(f"{len(todo)} runs to do, {done} done before, in {given.home.folder}", file=sys.stderr)
    try:
        with Told(len(todo)) as told:
            asyncio.run(carry_out(todo, given, file, at_once=at_once, told=told))
    except BaseException:
        print("what has ended is kept; the same command goes on", file=sys.stderr)
        raise
    kept = file.read()
    rows = [row for trial in trials for row in rows_of(trial, kept) if row]
    for row in rows:
        for why in filter(is_unjudged, row["problems"]):
            print(f"{row['pattern']} on {row['task']}: {why}", file=sys.stderr)
    return rows


def _tell(
    rows: Sequence[Row], patterns: Iterable[str], left_out: Mapping[tuple[str, str], str], folder: Path,
    settings: Mapping[str, str], as_json: bool,
) -> None:  # fmt: skip
    order = list(patterns)
    elsewhere = "FORETHOUGHT_DATABASE= " if env("FORETHOUGHT_DATABASE") else ""  # runs of an eval are in its folder
    opened = f"{elsewhere}forethought show --set home={quote(str(folder))}"
    shown = Shown(rows, lines(rows, order), differences(rows, order), left_out, settings, opened)
    written = write_files(shown, folder)
    if as_json:
        print_json(shown)
    else:
        print_tables(shown)
    print("\n".join(["", *(f"written: {path}" for path in written)]), file=sys.stderr)
