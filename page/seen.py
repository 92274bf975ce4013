"""One run as its page knows it: what the thread holds, and what the stream has said since."""

from collections.abc import Mapping
from typing import Any

from graphs._watch import Watch
from page.graph import graph_of
from page.outcome import outcome_of
from page.server import Thread
from page.steps import bars_of, steps_of
from page.versions import mark_of, versions_of
from state.clock import now
from state.events import Event
from state.plan import digest

ENDED = "final"
"""The state of a run that goes on no more and waits for nobody."""


class Seen:
    """Collects what happens, and says what is new since it was asked last."""

    def __init__(self, thread: Thread) -> None:
        self._told: dict[str, str] = {}
        self._versions: tuple[Any, dict[str, Any]] = None, {}
        self._events_told = 0
        self._error = ""
        self.heard = False
        """Whether the stream says what a watch understands."""
        self.events: dict[tuple[Any, ...], Event] = {}
        self.watch = Watch()
        self.reread(thread)

    def reread(self, thread: Thread) -> None:
        """Takes what the thread holds; between two runs that is right, whatever a stream has said."""
        running = self.watch.running if thread.active else {}
        self.thread, self.watch, self.heard = thread, Watch(), False
        self.watch.recall(thread.values)
        self._asked: dict[str, Any] = thread.values.get("request") or {}
        self.watch.running = {name: at for name, at in running.items() if name not in self.watch.results}
        for event in thread.values.get("events") or []:
            self._saw(event)

    def fill(self, thread: Thread) -> None:
        """Takes what the thread holds and the stream has not said, while a run goes on."""
        if not self.heard:  # another client started it with other modes, so that the stream never says it
            self.reread(thread)
            return
        self.thread = thread
        self.watch.learn(thread.values)

    def see(self, mode: str, part: Any) -> None:
        """Takes one part of a stream."""
        if mode == "error":
            self._error = _message(part)
        elif mode in ("custom", "updates") and isinstance(part, Mapping):
            self.heard = True
            self.watch.see(mode, part)
            self._asked = part.get("intake", {}).get("request") or self._asked
            if mode == "custom" and "event" in part:
                self._saw(part)  # type: ignore[arg-type]

    def _saw(self, event: Event) -> None:
        if event["event"] == "request" and any(known["run"] != event["run"] for known in self.events.values()):
            self.events, self._events_told = {}, 0  # a follow-up on the same thread has a log of its own
        self.events.setdefault((event["time"], event["event"], event["step"], event["reason"]), event)

    def patch(self) -> dict[str, Any]:
        """The parts of the page that are not as they were told before; of steps and events only what is new of them."""
        new = {name: part for name, part in {"head": self._head(), **self._parts()}.items() if self._is_new(name, part)}
        rows = steps_of(self.watch, self._status() == ENDED, self._asked_still())
        changed = {row["id"]: row for row in rows if self._is_new(f"step {row['id']}", row)}
        if self._is_new("order", order := [row["id"] for row in rows]) or changed:
            new["steps"] = {"order": order, "rows": changed}
        events = list(self.events.values())
        if len(events) != self._events_told:
            new["events"] = {"from": self._events_told, "new": events[self._events_told :]}
            self._events_told = len(events)
        return {**new, "now": now()} if new else {}

    def _is_new(self, name: str, part: Any) -> bool:
        """Whether this was not the last thing told under that name; it counts as told from now on."""
        mark = digest(part)
        before, self._told[name] = self._told.get(name), mark
        return mark != before

    def _head(self) -> dict[str, Any]:
        thread, request = self.thread, self._asked
        last = thread.runs[0] if thread.runs else {}
        metadata = thread.thread.get("metadata") or {}
        return {
            "thread": thread.thread["thread_id"], "status": self._status(), "phase": self.watch.phase,
            "task": str(self.watch.task or metadata.get("task", "")), "error": self._wrong(),
            "pattern": str(self.watch.pattern or metadata.get("graph_id", "")),
            "began": request.get("started") or None, "run": (thread.active or last).get("run_id"),
            "assistant": last.get("assistant_id"), "context": settings_of(last),
            "constraints": request.get("constraints") or {}, "inputs": request.get("inputs") or {},
        }  # fmt: skip

    def _status(self) -> str:
        if self.thread.active:
            return "running"
        if _asks(self.thread.state):
            return "waiting"
        return "error" if self._wrong() else "cut off" if self.thread.state.get("next") else ENDED

    def _wrong(self) -> str:
        """What ended the run without a report."""
        if self.thread.active or self.thread.thread.get("status") != "error":
            return ""
        last = self.thread.runs[0] if self.thread.runs else {}
        kept = _message(last.get("error_message")) or self._error  # Aegra's streams name no reason, its runs do
        return kept or _message(self.thread.thread.get("error")) or "the run ended with an error"

    def _asked_still(self) -> list[Any]:
        values = [] if self.thread.active else [ask["value"] for ask in _asks(self.thread.state)]
        return [value.get("id") for value in values if isinstance(value, Mapping)]

    def _parts(self) -> dict[str, Any]:
        report = None if self.thread.active else self.watch.report
        if (mark := mark_of(self.watch)) != self._versions[0]:
            self._versions = mark, versions_of(self.watch)
        return {
            "graph": graph_of(list(self.watch.steps().values())), "versions": self._versions[1],
            "bars": bars_of(self.watch), "asks": [] if self.thread.active else _asks(self.thread.state),
            "outcome": outcome_of(report),
        }  # fmt: skip


def _asks(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What waits for a person; `id` is LangGraph's, which a resume takes."""
    tasks = state.get("tasks") or []
    return [{"id": one["id"], "value": one["value"]} for task in tasks for one in task["interrupts"]]


def settings_of(run: Mapping[str, Any]) -> dict[str, Any]:
    """The context that a run was started with; LangGraph's server keeps it among its arguments, Aegra beside them."""
    return dict((run.get("kwargs") or run).get("context") or {})


def _message(error: Any) -> str:
    """The text in what a server keeps of an error, whatever form it has."""
    if isinstance(error, Mapping):
        return str(error.get("message") or error.get("error") or "")
    return str(error or "")
