"""How to go on after a run: what a person can type where it waits, was cut off, hit a limit, or lost its model."""

import asyncio
import sys
from pathlib import Path
from shlex import join
from shutil import which
from typing import Any

from graphs._fork import fork_points
from graphs._leg import Ended, Job, kept_graph
from graphs._saved import home_of, saver
from graphs._summary import is_offline, open_questions
from state.limits import Limits
from state.masking import without_passwords
from state.report import Report
from state.result import FINISHED
from state.stop import StopReason


def onward(job: Job, ended: Ended, report: Report) -> list[str]:
    """What can be done next, as commands."""
    model = _look_at_the_model(job, report) if report["stop"]["reason"] == StopReason.MODEL_FAILED else []
    return [*_go_on(job, ended), *model, *_from_the_last_point(job, ended, report)]


def _resume_command(job: Job) -> str:
    """The command that goes on with this run."""
    return join([_this_command(), "resume", job.thread, *_where(job)])


def what_is_kept(job: Job) -> str:
    """What a person can do after a fault of ours or of the machine: only a run that is kept can go on."""
    try:
        kept = asyncio.run(_is_kept(job))
    except Exception:  # the same fault again, such as a full disk
        return f"if anything of it is kept, this goes on with it: {_resume_command(job)}"
    return f"what is finished is kept: {_resume_command(job)}" if kept else "nothing of it is kept; start it again"


async def _is_kept(job: Job) -> bool:
    async with saver(job.home or home_of(job.settings)) as found:
        return await found.aget_tuple({"configurable": {"thread_id": job.thread}}) is not None


def _go_on(job: Job, ended: Ended) -> list[str]:
    questions = [interrupt.value for interrupt in ended.interrupts]
    if job.home is None or not (questions or ended.cut):
        return []
    lines = open_questions(questions)
    kinds = {question["kind"] for question in questions}
    if kinds & {"approval", "plan"}:
        what = "the plan, and its writes" if "plan" in kinds else "all writes"
        lines.append(f"approve {what}: {_resume_command(job)} --yes")
    if questions:
        how = questions[0]["review_configs"][0]["allowed_decisions"][0]
        said = f"{questions[0]['id']}={how}{':TEXT' if how == 'respond' else ':JSON' if how == 'edit' else ''}"
        lines.append(f"answer one: {_resume_command(job)} --answer {said}")
    return [*lines, f"go on: {_resume_command(job)}"]


def _look_at_the_model(job: Job, report: Report) -> list[str]:
    """What to do where a model could not be asked; the offline planner has neither an endpoint nor a key."""
    if is_offline(report):
        return ["name a model: --model NAME, or LLM_MODEL_ID in the environment"]
    named = {"--model": job.settings.get("model"), "--base-url": job.settings.get("base_url")}
    options = [
        word for option, value in named.items() if isinstance(value, str) for word in (option, without_passwords(value))
    ]
    return [f"look at the endpoint and the key: {join([_this_command(), 'doctor', *options])}"]


def _from_the_last_point(job: Job, ended: Ended, report: Report) -> list[str]:
    """A fork keeps what is done where a run came to its end by a limit, or since a model failed."""
    reason, kind = report["stop"]["reason"], report["stop"]["kind"]
    if job.home is None or ended.cut or not (kind == "budget" or reason == StopReason.MODEL_FAILED):
        return []
    names = [point.name for point in asyncio.run(_points(Job("", job.thread, {}, job.home))) if not point.question]
    if not names:
        return []
    left = {result["step"] for result in report["results"] if result["status"] not in FINISHED}
    at = next((name for name in names if name in left), names[-1])
    more = f" --limit {reason}=N" if reason in Limits.model_fields else ""
    fork = [_this_command(), "fork", job.thread, "--at", at, *_where(job)]
    return [f"keep what is done and go on: {join(fork)}{more}"]


async def _points(job: Job) -> list[Any]:
    async with kept_graph(job, {}) as graph:
        return await fork_points(graph, job.config)


def _where(job: Job) -> list[str]:
    home = job.settings.get("home")
    return ["--set", f"home={home}"] if home else []


def _this_command() -> str:
    """What a person can type here: in a virtual environment that is not activated, the name alone is not found."""
    beside = Path(sys.executable).with_name("forethought")
    if which("forethought") or not beside.is_file():
        return "forethought"
    return str(beside.relative_to(Path.cwd()) if beside.is_relative_to(Path.cwd()) else beside)
