"""What `run`, `plan` and `resume` do: start or go on, ask people between the legs, tell how it ended."""

import os
import signal
import sys
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from langgraph.types import Command

from graphs import load
from graphs._delete import drop_refused
from graphs._leg import Ended, Job, recall, run_leg
from graphs._live import LineView, Screen, view_on
from graphs._onward import onward, what_is_kept
from graphs._options import constraints_of, inputs_of, pinned, settings_of, task_text
from graphs._prompting import Answers, person_at, read_answers
from graphs._saved import alone, check_any, home_of, new_thread, valid_thread
from graphs._summary import plan_summary, summary
from graphs._words import as_json
from nodes.intake import valid_task
from state.errors import ForethoughtError, InputError, SetupError
from state.report import Report
from state.stop import StopReason, exit_code


@dataclass(frozen=True)
class How:
    """How the command talks: JSON or words, with or without a person."""

    as_json: bool
    yes: bool
    prompts: bool

    @property
    def console(self) -> Screen:
        """Where everything but the report goes; with --json that is standard error."""
        return Screen(stderr=self.as_json)

    def answers(self, given: list[str]) -> Answers:
        """Where a paused run gets its answers from."""
        console = self.console
        person = self.prompts and sys.stdin.isatty() and console.file.isatty()
        return Answers(read_answers(given), self.yes, person_at(console) if person else None)


def start(
    task: str | None, pattern: str | None, thread: str | None, inputs: str | None, constraints: list[str],
    options: dict[str, Any], how: How,
) -> int:  # fmt: skip
    """Begins a task."""
    settings = pinned(settings_of(**options))
    pattern = pattern or ("workflow" if settings.get("plan") else "plan_and_execute")
    load(pattern)
    given = _given(task, settings, inputs, constraints)
    kept = not settings.get("dry_run")
    job = Job(
        pattern, valid_thread(new_thread() if thread is None else thread), settings, home_of(settings) if kept else None
    )
    job.watch.task, job.watch.pattern = given.get("task", ""), pattern
    with alone(job.home, job.thread) if job.home else nullcontext():
        try:
            return _legs(job, given, how, how.answers([]))
        except InputError:
            drop_refused(job)
            raise


def _given(task: str | None, settings: dict[str, Any], inputs: str | None, constraints: list[str]) -> dict[str, Any]:
    """What goes into the graph; a saved plan brings its own task."""
    if task is None and not settings.get("plan"):
        raise InputError("Missing argument 'TASK': say what to do in words, or give a saved plan with --plan FILE")
    said = {} if task is None else {"task": valid_task(task_text(task))}
    return {**said, "inputs": inputs_of(inputs), "constraints": constraints_of(constraints)}


def go_on(thread: str, given: list[str], options: dict[str, Any], how: How) -> int:
    """Goes on with a kept run; one that has ended only shows its report again."""
    overrides = settings_of(**options)
    home, answers = home_of(overrides), how.answers(given)
    check_any(home, thread)
    with alone(home, thread):
        return _go_on(Job("", valid_thread(thread), {}, home), overrides, how, answers)


def fork_off(
    thread: str, at: str, into: str | None, given: list[str], options: dict[str, Any], how: How
) -> int:  # fmt: skip
    """Goes on from an earlier point of a kept run, in a thread of its own."""
    from graphs._fork import fork_kept

    overrides, answers = settings_of(**options), how.answers(given)
    home, new = home_of(overrides), valid_thread(new_thread() if into is None else into)
    check_any(home, thread)
    with alone(home, new):
        old = Job("", valid_thread(thread), {}, home)
        how.console.print(fork_kept(old, at, new, overrides, list(answers.given)), soft_wrap=True)
        job = Job("", new, {}, home)
        recall(job, overrides)
        _print(job.not_taken, sys.stderr)
        code = _legs(job, None, how, answers)
    if answers.given:
        print(f"nobody asked {', '.join(answers.given)}", file=sys.stderr)
    return code


def _go_on(job: Job, overrides: dict[str, Any], how: How, answers: Answers) -> int:
    stands, left = recall(job, overrides)
    _print(job.not_taken, sys.stderr)
    answers.check(stands.interrupts if stands else [])
    if stands and not left:
        print(f"the run {job.thread!r} has ended; this is its report", file=sys.stderr)
        return _told(job, stands, how)
    if stands and stands.interrupts:
        return _answered(job, stands, how, answers)
    return _legs(job, None, how, answers)


def _answered(job: Job, stands: Ended, how: How, answers: Answers) -> int:
    """Goes on from open questions, if there is an answer to any of them."""
    try:
        found = answers.to(stands.interrupts)
    except KeyboardInterrupt:
        return _told(job, Ended(stands.report, stands.interrupts, signal.SIGINT), how)
    return _legs(job, Command(resume=found), how, answers) if found else _told(job, stands, how)


def _legs(job: Job, given: Any, how: How, answers: Answers) -> int:
    """Runs leg after leg while there are answers to what is asked in between."""
    console = how.console
    job.taken_in = partial(console.print, f"thread {job.thread}", soft_wrap=True) if job.home else job.taken_in
    if not isinstance(given, dict):  # it was taken in before
        job.taken_in()
    ended = _leg(job, given, console)
    while ended.interrupts and not ended.cut:
        try:
            found = answers.to(ended.interrupts)
        except KeyboardInterrupt:
            ended = Ended(ended.report, ended.interrupts, signal.SIGINT)
            break
        if not found:
            break
        if how.yes:
            console.print("approved by --yes")
        ended = _leg(job, Command(resume=found), console)
    return _told(job, ended, how)


def _leg(job: Job, given: Any, console: Screen) -> Ended:
    try:
        lines = job.settings.get("debug")  # what is shown between would break a table
        return run_leg(job, given, LineView(console) if lines else view_on(console, console.file))
    except ForethoughtError:
        raise
    except Exception as error:
        if job.home is None:
            raise
        text = f"{type(error).__name__}: {error} (--debug shows where); {what_is_kept(job)}"
        raise SetupError(text) from error


def _told(job: Job, ended: Ended, how: How) -> int:
    """Prints the report and gives the exit code; after a signal the process ends here, whatever still hangs in it."""
    report = ended.report
    questions = [interrupt.value for interrupt in ended.interrupts]
    report = {**report, "open_requests": questions} if questions else report
    with suppress(BrokenPipeError):
        _print_report(report, how)
        _print(onward(job, ended, report), file=sys.stderr if how.as_json else sys.stdout)
    if not ended.cut:
        return exit_code(report["stop"])
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(128 + ended.cut)


def _print_report(report: Report, how: How) -> None:
    if how.as_json:
        utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
        print(as_json(report, indent=2, ascii_only=not utf8), flush=True)
        return
    dry = report["stop"]["reason"] == StopReason.PLANNED
    print(f"\n{plan_summary(report) if dry else summary(report)}", flush=True)


def _print(lines: Iterable[str], file: Any) -> None:
    for line in lines:
        print(line, file=file)
    file.flush()
