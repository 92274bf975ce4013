"""What a user's task says to be right: a condition that code can decide, a Python function, or the answer itself."""

import importlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from math import isfinite
from pathlib import Path
from typing import Any

from evals.answers import NO_ANSWER, answer_of, last_number, number_is, plain_text
from evals.tasks import Task
from state.conditions import evaluated, free_names, unparsable
from state.errors import InputError, offer, shorten
from state.json_text import from_json
from state.report import Report
from state.result import FINISHED

Judge = Callable[[Task, Report], list[str]]
"""What is wrong with a run; empty when it was right."""
UNJUDGED = "not judged: "
"""How a problem begins that is the scorer's own: it says nothing about the run."""
SCORER_SECONDS = 60.0
NAMES = ("answer", "number", "expected", "outputs", "tools", "stop", "model_calls", "tool_calls")
"""What a condition may be about."""


def judge_of(check: str | None, scorer: str | None, expected: Any, folder: Path, at: Callable[[str], str]) -> Judge:
    """A judge by condition and function, both of which must hold, else by what is expected.

    `folder` is where a function is looked for first, `at` says where a key stands.
    """
    judges: list[Judge] = []
    if check is not None:
        judges.append(_by_condition(check, expected, at("check")))
    if scorer is not None:
        judges.append(_by_function(scorer, folder, at("scorer")))
    if not judges:
        judges.append(_by_expected(expected, at("expected")))
    return lambda task, report: [line for judge in judges for line in judge(task, report)]


def _by_condition(text: str, expected: Any, where: str) -> Judge:
    if why := unparsable(text):
        raise InputError(f"{where}: {why.replace('output > 0', 'number == expected')}")
    if unknown := sorted(free_names(text) - set(NAMES)):
        raise InputError(f"{where}: {text!r} names {unknown[0]!r}, which is not there; {offer(unknown[0], NAMES)}")

    def judge(task: Task, report: Report) -> list[str]:
        names = _names(report, expected)
        try:
            holds = evaluated(text, names)
        except ValueError as error:
            return [f"check: {error}"]
        return [] if holds else [f"check: {text} does not hold, with answer = {shorten(names['answer'])}"]

    return judge


def _names(report: Report, expected: Any) -> dict[str, Any]:
    finished = [one for one in report["results"] if one["status"] in FINISHED]
    answer = answer_of(report)
    return {
        "answer": answer, "number": None if answer is None else last_number(answer), "expected": expected,
        "outputs": [one["output"] for one in finished], "tools": [one["tool"] for one in finished],
        "stop": report["stop"]["reason"], "model_calls": report["usage"]["model_calls"],
        "tool_calls": report["usage"]["tool_calls"],
    }  # fmt: skip


def _by_function(name: str, folder: Path, where: str) -> Judge:
    """The function, imported from the folder of the file or from anywhere on the path."""
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise InputError(f"{where}: {shorten(name)!r} names no function; right would be module:function")
    if (beside := str(folder.resolve())) not in sys.path:
        sys.path.insert(0, beside)
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"{where}: {shorten(name)!r} can't be imported: {error}; right would be module:function"
        ) from error
    if not callable(found):
        raise InputError(f"{where}: {name!r} is a {type(found).__name__}; right would be a function of task and report")

    def judge(task: Task, report: Report) -> list[str]:
        try:
            with redirect_stdout(sys.stderr), _in_time():  # standard output is the report's
                return _said(found(task.text, report), name)
        except Exception as error:
            return [f"{UNJUDGED}the scorer {name} failed: {type(error).__name__}: {shorten(str(error))}"]

    return judge


@contextmanager
def _in_time() -> Iterator[None]:
    """Ends a scorer that goes on for ever, where the system can: it holds up everything."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(*_: Any) -> None:
        raise TimeoutError(f"it was not done in {SCORER_SECONDS:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SCORER_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _said(said: Any, name: str) -> list[str]:
    """What a scorer gave, as problems."""
    if isinstance(said, bool):
        return [] if said else [f"{name} says that it is wrong"]
    lines = [said] if isinstance(said, str) else said
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        return [f"{UNJUDGED}the scorer {name} gave {shorten(said)}; right would be True, False, or what was wrong"]
    return [line for line in lines if line]


def _by_expected(expected: Any, where: str) -> Judge:
    if isinstance(expected, int | float) and not isinstance(expected, bool):
        return number_is(_finite(expected, where))
    if isinstance(expected, str) and not plain_text(expected):
        raise InputError(
            f"{where}: {expected!r} can't be right, as every answer has a word; right would be what one says"
        )

    def judge(task: Task, report: Report) -> list[str]:
        said = answer_of(report)
        if said is None:
            return [f"{NO_ANSWER}, right is {shorten(expected)}"]
        same = plain_text(said) == plain_text(expected) or _value(said, expected) == expected
        return [] if same else [f"the answer is {shorten(said)}, right is {shorten(expected)}"]

    return judge


def _finite(expected: float, where: str) -> float:
    try:
        if isfinite(number := float(expected)):
            return number
    except OverflowError:
        pass
    raise InputError(
        f"{where}: {shorten(expected)} can't be told apart from other numbers; right would be one below 1e308"
    )


def _value(said: Any, expected: Any) -> Any:
    """The answer as what is expected: where that is no text, the JSON that a text holds."""
    if isinstance(expected, str | bool) or not isinstance(said, str):
        return said
    try:
        return from_json(said)
    except ValueError:
        return said
