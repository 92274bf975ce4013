"""Replays a recorded run: the same pattern with the same request, and nothing outside is touched."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from graphs import load
from nodes.recorded import Recorded, read_run
from state.clock import recorded_time
from state.errors import ForethoughtError, InputError, shorten
from state.report import Report
from tools.artefacts import keep

_THREAD: Any = {"configurable": {"thread_id": "replay"}}


@dataclass(frozen=True)
class Replayed:
    """How a replay went: the first exchange and the end that were not as recorded, empty where they were."""

    exchange: str
    end: str
    report: Report
    exchanges: dict[str, int]
    calls: list[list[Any]]
    """Step, tool and arguments of each call that was served."""
    ran_out: bool
    """Whether the recording was cut off, and the replay with it."""

    @property
    def difference(self) -> str:
        """The first thing that was not as recorded."""
        return self.exchange or self.end

    @property
    def same(self) -> bool:
        """Whether everything came as it was recorded."""
        return not self.difference


async def replay(file: str | Path, *, run: str | None = None, context: Mapping[str, Any] | None = None) -> Replayed:
    """Replays a run of a recording; `context` brings what no recording can hold: own tools and stop conditions."""
    try:
        recorded = await asyncio.to_thread(read_run, file, run)
        with TemporaryDirectory(prefix="forethought-") as home, recorded_time(recorded.now):
            report = await _through(recorded, home, context or {})
        return Replayed(
            recorded.other_exchange(), recorded.other_end(report), report, recorded.exchanges, recorded.served,
            recorded.ran_out,
        )  # fmt: skip
    except ForethoughtError:
        raise
    except Exception as error:  # whatever an edit or damage makes of it: nothing but the recording is at work here
        why = shorten(f"{type(error).__name__}: {error}", 300)
        raise InputError(f"replay: {str(file)!r} is damaged or was edited, it can't be replayed: {why}") from error


async def _through(recorded: Recorded, home: str, own: Mapping[str, Any]) -> Report:
    """The run from its request to its end, or to the question that nobody answered."""
    request, kept = recorded.request, recorded.told["kept"]
    context = recorded.context(home, own)
    graph = load(request["pattern"], context=context, checkpointer=InMemorySaver() if kept else None)
    given: Any = {"task": request["task"]}
    for value in recorded.artefacts:
        await asyncio.to_thread(keep, value, home)
    if recorded.fork:
        await graph.aupdate_state(_THREAD, {**recorded.fork["values"], "request": request}, recorded.fork["before"])
        given = None
    while True:
        out = await graph.ainvoke(given, _THREAD if kept else None)
        asked = out.get("__interrupt__", ())
        answers = {one.id: answer for one in asked if (answer := recorded.answer(one.value["id"]))}
        if not answers:
            report: Report = out["report"]
            return report
        given = Command(resume={name: _as_given(answer["given"]) for name, answer in answers.items()})
        for answer in answers.values():
            graph = graph.with_context(answer.get("settings", {}))


def _as_given(answer: dict[str, Any]) -> dict[str, Any]:
    if answer["type"] == "respond":
        answer = {"type": "respond", "message": answer["value"]}
    edited = {"type": "edit", "edited_action": {"args": answer.get("args")}}
    return {"decisions": [edited if answer["type"] == "edit" else answer]}
