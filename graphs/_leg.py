"""One leg of a run: from its start, or from an answer, to its end, a pause, or Ctrl-C."""

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from graphs import load
from graphs._exchanges import show_exchange
from graphs._kept_lessons import store_of
from graphs._live import View
from graphs._partial import partial_report
from graphs._saved import Home, home_of, metadata, saver, started_with, whole_settings
from graphs._watch import Watch
from nodes.run import settle
from state.context import Context, env, make_context
from state.errors import SetupError, shorten
from state.masking import is_masked
from state.report import Report

SIGNALS = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}
"""What ends a run early, with a report of what is finished; a second one ends the process at once."""


@dataclass
class Job:
    """What is to be run; `home` is None for a run that is not kept."""

    pattern: str
    thread: str
    settings: dict[str, Any]
    home: Home | None
    watch: Watch = field(default_factory=Watch)
    not_taken: list[str] = field(default_factory=list)
    """Settings of this call that do not hold, since the run began with others."""
    taken_in: Callable[[], None] = lambda: None
    """Called when the request was found sound; before that there is nothing to be kept."""

    @property
    def context(self) -> Context:
        """The settings of the run; a run that is kept is recorded, unless it is said otherwise."""
        record = None if self.home is None else str(self.home.recording(self.thread))
        return make_context(**{"record": record, **self.settings})

    @property
    def config(self) -> Any:
        """As LangGraph takes it."""
        if self.home is None:
            return {}
        return {"configurable": {"thread_id": self.thread}, "metadata": metadata(self.pattern, self.settings)}


@dataclass(frozen=True)
class Ended:
    """How a leg ended; `interrupts` are open questions, `cut` is the signal that ended it early."""

    report: Report
    interrupts: list[Any]
    cut: int = 0


def run_leg(job: Job, given: Any, view: View) -> Ended:
    """Runs a leg to its end and leaves nothing behind; after a signal stuck threads are not waited for."""
    job.settings = whole_settings(job.settings)
    runner = asyncio.Runner()
    ended: Ended | None = None
    try:
        ended = runner.run(_leg(job, given, view))
        return ended
    finally:
        if ended is None or not ended.cut:
            runner.close()


def recall(job: Job, overrides: dict[str, Any]) -> tuple[Ended | None, bool]:
    """Fills a job from its kept thread: (how it stands, whether there is anything to go on with)."""

    async def look() -> tuple[Ended | None, bool]:
        async with kept_graph(job, overrides) as graph:
            snapshot = await graph.aget_state(job.config)
        job.watch.recall(snapshot.values)
        job.not_taken = _not_taken(job, overrides, snapshot.values.get("request"))
        report = snapshot.values.get("report")
        stands = Ended(report, list(snapshot.interrupts)) if report else None
        return stands, bool(snapshot.next)

    return asyncio.run(look())


def _not_taken(job: Job, overrides: dict[str, Any], request: Any) -> list[str]:
    frozen = request["settings"] if request else {}
    given = job.context
    holds = settle(given, frozen) if request else given
    lines = [_not_this_server(job, overrides)]
    for name in (name for name in overrides if name in frozen):
        asked, now = (_named(name, settings, overrides) for settings in (given, holds))
        if asked != now:
            said = f"{shorten(str(asked))!r} does not hold, the run began with {shorten(str(now))!r}"
            lines.append(f"setting {name}: {said}; a resume can forbid more, never less")
    return [line for line in lines if line]


def _named(name: str, settings: Context, overrides: dict[str, Any]) -> Any:
    """A setting; of the limits those that this call names."""
    found = getattr(settings, name)
    return {one: getattr(found, one) for one in overrides["limits"]} if name == "limits" else found


def _not_this_server(job: Job, overrides: dict[str, Any]) -> str:
    """What to say where the environment names another server than the run began with."""
    began, here = job.settings.get("base_url"), env("LLM_BASE_URL", "OPENAI_BASE_URL")
    if "base_url" in overrides or not began or not here or is_masked(began) or began == here:
        return ""
    return f"base_url: the run goes on with {began}, not with that of the environment; --base-url takes another"


def _laid_over(before: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The settings with those of this call; a limit that it does not name stays."""
    limits = {**(before.get("limits") or {}), **(given.get("limits") or {})}
    return {**before, **given, **({"limits": limits} if limits else {})}


@asynccontextmanager
async def kept_graph(job: Job, overrides: dict[str, Any]) -> AsyncIterator[Any]:
    """The pattern of a kept run on its saver; fills the job with what the run was started with."""
    home = job.home or home_of(overrides)
    async with saver(home, make=False) as found:
        before = await started_with(found, job.thread, home)
        job.pattern, job.settings = before["pattern"], _laid_over(before["settings"], overrides)
        yield load(job.pattern, checkpointer=found, context=job.context)


async def _leg(job: Job, given: Any, view: View) -> Ended:
    async with _graph(job) as graph:
        with view:
            cut = await _cuttable(job, _follow(graph, job, given, view))
        values, interrupts, left = await _stands(graph, job)
        if cut and (left or job.watch.report is None):
            return Ended(partial_report(job, values, f"interrupted by {SIGNALS[cut]}"), interrupts, cut)
        if (report := values.get("report")) is None:
            raise SetupError("the run ended without a report; please report this")
        return Ended(report, interrupts)


@asynccontextmanager
async def _graph(job: Job) -> AsyncIterator[Any]:
    home = job.home or home_of(job.settings)
    async with store_of(home, job.context, kept=job.home is not None) as lessons:
        if job.home is None:
            yield load(job.pattern, store=lessons, context=job.context)
            return
        async with saver(job.home) as found:
            yield load(job.pattern, checkpointer=found, store=lessons, context=job.context)


async def _follow(graph: Any, job: Job, given: Any, view: View) -> None:
    """Goes through the stream and shows each part."""
    ticking = asyncio.create_task(view.tick(job.watch))
    try:
        async with aclosing(graph.astream(given, job.config, stream_mode=["custom", "updates"])) as parts:
            async for mode, part in parts:
                if mode == "custom" and "exchange" in part:
                    show_exchange(part["exchange"])
                    continue
                if mode == "custom" and part.get("event") == "request":
                    job.taken_in()
                job.watch.see(mode, part)
                view.show(job.watch, mode, part)
    finally:
        ticking.cancel()


async def _stands(graph: Any, job: Job) -> tuple[dict[str, Any], list[Any], bool]:
    """What the run holds now, its open questions, and whether anything is left to do."""
    if job.home is None:
        return {"report": job.watch.report}, [], False
    snapshot = await graph.aget_state(job.config)
    return snapshot.values, list(snapshot.interrupts), bool(snapshot.next)


async def _cuttable(job: Job, work: Any) -> Any:
    """Waits for the work; gives the signal that cancelled it, or 0."""
    task = asyncio.ensure_future(work)
    with _on_signal(asyncio.get_running_loop(), task) as pressed:
        try:
            await task
        except asyncio.CancelledError:
            if not pressed:
                raise
    return pressed[0] if pressed else 0


@contextmanager
def _on_signal(loop: asyncio.AbstractEventLoop, task: asyncio.Future[Any]) -> Iterator[list[int]]:
    # A plain signal handler: the loop's own kind never runs while something blocks the loop.
    pressed: list[int] = []

    def handle(number: int, frame: Any) -> None:
        pressed.append(number)
        if len(pressed) > 1:
            os.write(2, b"\x1b[?25h\n" if os.isatty(2) else b"\n")  # the table had hidden the cursor
            os._exit(128 + number)
        loop.call_soon_threadsafe(task.cancel)

    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return
    before = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        yield pressed
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
