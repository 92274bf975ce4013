"""Forks: an earlier point of a run becomes the beginning of a thread of its own; the old thread stays as it is.

The request keeps its id, so the journal knows every write that was made before. The state is copied, not the chain of
checkpoints: that works on every saver, and in between two checkpoints as well.
"""

import asyncio
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from langgraph.types import StateSnapshot

from graphs._leg import Job, kept_graph
from graphs._saved import Home, metadata
from nodes.frame import kept_values
from nodes.recording import redacted
from nodes.replay import Entry, read_lines
from nodes.stricter import stricter
from nodes.undone import undone_by
from state.context import Context
from state.errors import InputError, shorten
from state.plan import Step, needs
from state.result import FINISHED

EXECUTE, THINK = "execute", "think"


@dataclass(frozen=True)
class Point:
    """Where a run can be forked: the state there, the nodes that ran right before, and what is to run again."""

    name: str
    what: str
    snapshot: StateSnapshot
    before: str
    values: Mapping[str, Any]
    until: str
    """When all that counts had happened."""
    again: frozenset[str] = frozenset()
    question: bool = False


async def afork(graph: Any, config: Any, at: int | str, into: Any) -> Point:
    """Copies the state at a point of a thread into the new thread that `into` names."""
    points = await fork_points(graph, config)
    wanted = str(at)
    point = next((point for point in points if point.name == wanted), None)
    point = point or await _at_checkpoint(graph, config, wanted)
    if point is None:
        known = ", ".join(point.name for point in points) or "nothing, since no plan was made"
        raise InputError(f"there is no point {shorten(wanted)!r} to fork at; there are: {known}, and checkpoints by id")
    if (await graph.aget_state(into)).created_at:
        raise InputError(f"the thread {into['configurable']['thread_id']!r} is there already; give a new name")
    request = point.values["request"]
    settings = _settings(graph.bound or Context(), request["settings"])
    point = replace(point, values={**point.values, "request": {**request, "settings": settings}})
    unrecorded = {**request, "settings": {**settings, "record": None}}
    last = (await graph.aget_state(config)).values.get("results") or {}
    values = _without_undone(point.values, last)
    await graph.aupdate_state(into, {**values, "request": unrecorded}, as_node=point.before)
    return point


def _settings(context: Context, frozen: Mapping[str, Any]) -> dict[str, Any]:
    """What holds in the fork: what forbids more; and the limits that are set for it, which may be wider than before."""
    limits = {name: getattr(context.limits, name) for name in context.limits.model_fields_set}
    return {**frozen, **stricter(context, frozen), "limits": {**frozen["limits"], **limits}}


def _without_undone(values: Mapping[str, Any], last: Mapping[str, Any]) -> dict[str, Any]:
    """The state without steps whose writes were undone after it, and what was built on them: they run again."""
    results = values.get("results") or {}
    steps = [step for plan in values.get("plans") or [] for step in plan["steps"]]
    again = {one for name in results if undone_by(name, last) for one in _and_after(name, steps)}
    return {**values, "results": {name: result for name, result in results.items() if name not in again}}


async def fork_points(graph: Any, config: Any) -> list[Point]:
    """Every named point of a thread: each version of the plan, each step that ran, each question, in order of time."""
    history = [snapshot async for snapshot in graph.aget_state_history(config)][::-1]
    points: dict[str, Point] = {}
    for place in range(1, len(history)):
        snapshot = history[place]
        if snapshot.values.get("request"):
            found = [*_at(_point(history, place)), *_before_steps(_point(history, place - 1), snapshot)]
            points = {**{point.name: point for point in found}, **points}
    return sorted(points.values(), key=lambda point: (point.until, point.snapshot.created_at or ""))


def _point(history: list[StateSnapshot], place: int) -> Point:
    here, older = history[place], history[max(0, place - 1)]
    return Point("", "", here, _ran(older), here.values, here.created_at or "")


def _ran(older: StateSnapshot) -> str:
    return older.next[0] if older.next else "__start__"


def _at(here: Point) -> Iterable[Point]:
    """A plan that is about to run, and questions that are open."""
    plans, tasks = here.values.get("plans") or [], here.snapshot.tasks
    if _executes(here.snapshot) and plans:
        version = plans[-1]["version"]
        yield replace(here, name=str(version), what=f"plan {version} before it runs")
    if _comes(THINK, here.snapshot):
        turn = len(here.values.get("thoughts") or []) + 1
        yield replace(here, name=f"turn{turn}", what=f"before turn {turn} is thought")
    for interrupt in (one for task in tasks for one in task.interrupts):
        ask = interrupt.value
        yield replace(here, name=ask["id"], what=f"the question about {_about(ask)}", question=True)


def _executes(snapshot: StateSnapshot) -> bool:
    return _comes(EXECUTE, snapshot)


def _comes(node: str, snapshot: StateSnapshot) -> bool:
    """Whether this node is next, also where the pattern is a part of another."""
    return any(name.rpartition(".")[2] == node for name in snapshot.next)


def _about(ask: Mapping[str, Any]) -> str:
    if ask["step"]:
        return f"step {ask['step']}"
    return f"plan {ask['action_requests'][0]['args']['version']}" if ask["kind"] == "plan" else "what the task lacks"


def _before_steps(begun: Point, ended: StateSnapshot) -> Iterable[Point]:
    """Steps that got their first result in the round between the two; what did not depend on them stays."""
    if not _executes(begun.snapshot):
        return
    steps = [step for plan in ended.values["plans"] for step in plan["steps"]]
    fresh = ended.values["results"].keys() - begun.values.get("results", {}).keys()
    for name in (step["id"] for step in steps if step["id"] in fresh):
        again = _and_after(name, steps)
        values = _without(again, begun.values, ended.values)
        until = ended.created_at or ""
        yield replace(begun, name=name, what=f"before step {name}", values=values, until=until, again=again)


def _and_after(name: str, steps: list[Step]) -> frozenset[str]:
    found = {name}
    while more := {step["id"] for step in steps if found & set(needs(step))} - found:
        found |= more
    return frozenset(found)


def _without(again: frozenset[str], begun: Mapping[str, Any], ended: Mapping[str, Any]) -> dict[str, Any]:
    """The state before a round with what the round did that is not to be done again."""
    done = {n: r for n, r in ended["results"].items() if n not in again and r["status"] in FINISHED}
    return {**begun, "results": {**begun.get("results", {}), **done}}


async def _at_checkpoint(graph: Any, config: Any, name: str) -> Point | None:
    if len(name) < 8:
        return None
    place = {"configurable": {**config["configurable"], "checkpoint_id": name}}
    snapshot = await graph.aget_state(place)
    if not snapshot.parent_config or not snapshot.values.get("request"):
        return None
    older = await graph.aget_state(snapshot.parent_config)
    return Point(name, f"checkpoint {name}", snapshot, _ran(older), snapshot.values, snapshot.created_at or "")


def fork_kept(job: Job, at: str, new: str, overrides: dict[str, Any], answered: list[str]) -> str:
    """Forks a kept run with its recording; says what was done. Questions `answered` must have been asked in it."""

    async def fork() -> Point:
        async with kept_graph(job, overrides) as graph:
            into = {"configurable": {"thread_id": new}, "metadata": metadata(job.pattern, job.settings)}
            old = {"configurable": {"thread_id": job.thread}}
            if answered:
                _check_asked(answered, await fork_points(graph, old))
            point = await afork(graph, old, at, into)
        if job.home:
            await asyncio.to_thread(_copy, job.home, job.thread, new, point)
        return point

    return f"forked from {job.thread} at {asyncio.run(fork()).what}"


def _check_asked(answered: list[str], points: list[Point]) -> None:
    asked = [point.name for point in points if point.question]
    for name in answered:
        if name not in asked:
            raise InputError(f"nobody asks {shorten(name)!r}; asked were: {', '.join(asked) or 'no questions'}")


def _copy(home: Home, thread: str, new: str, point: Point) -> None:
    """The recording up to the point, without what is to run again; and the state there, where a replay begins."""
    old = home.recording(thread)
    if not old.exists():
        return
    until, run = datetime.fromisoformat(point.until).timestamp(), point.values["request"]["id"]
    kept = [entry for entry in read_lines(str(old)) if entry["run"] == run and _counts(entry, until, point.again)]
    kept.append({"run": run, "at": time.time(), "fork": {"before": point.before, "values": redacted(point.values)}})
    kept[-1]["fork"]["artefacts"] = kept_values(point.values, home.folder)
    home.recording(new).write_text(
        "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in kept), encoding="utf-8"
    )


def _counts(entry: Entry, until: float, again: frozenset[str]) -> bool:
    return entry["at"] <= until and entry.get("step") not in again
