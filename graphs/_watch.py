"""What someone who watches a run knows: the plan, and what became of each step so far, from the stream's parts."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from state.channels import grow
from state.plan import Plan, Step, needs
from state.report import Report
from state.result import FINISHED, Result, is_finished, why

STATES = {
    "done": "done", "degraded": "fallback", "failed": "failed", "blocked": "blocked", "skipped": "skipped",
    "waiting": "asks you", "unknown": "unknown", "not_run": "waits",
}  # fmt: skip
"""How each status of a result is called on the screen."""
_PHASES = {
    "request": "planning", "plan": "running", "plan_rejected": "planning again", "plan_failed": "deciding",
    "reply_rejected": "asking the model again", "verdict": "deciding", "reflection": "planning again",
    "stop": "answering", "pause": "a person is needed", "answer": "running", "step_started": "running",
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One step as it is shown; `seconds` is None before it has begun, `waits` are the steps it waits for."""

    step: str
    tool: str
    state: str
    seconds: float | None
    waits: list[str]
    note: str


@dataclass
class Watch:
    """Follows one run. Parts that it doesn't know are ignored."""

    task: str = ""
    pattern: str = ""
    began: float = field(default_factory=time.time)
    phase: str = "starting"
    plans: list[Plan] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    running: dict[str, float] = field(default_factory=dict)
    """Step ids and when they began, in seconds since the epoch."""
    parts: dict[str, int] = field(default_factory=dict)
    report: Report | None = None
    called: list[Mapping[str, Any]] = field(default_factory=list)
    """Events of calls of models that no node has yet stored the usage of."""

    def recall(self, values: Mapping[str, Any]) -> None:
        """Takes over what a thread holds from before."""
        request = values.get("request") or {}
        self.task, self.pattern = request.get("task", self.task), request.get("pattern", self.pattern)
        self.plans, self.results = list(values.get("plans") or []), dict(values.get("results") or {})
        self.report = values.get("report")
        for event in values.get("events") or []:
            self.phase = _PHASES.get(event["event"], self.phase)

    def learn(self, values: Mapping[str, Any]) -> None:
        """Takes from what a thread holds what a stream that was joined late has not said."""
        self._planned(values.get("plans") or [])
        known = {*self.results, *self.running}
        self.results |= {name: one for name, one in (values.get("results") or {}).items() if name not in known}

    def see(self, mode: str, part: Any) -> None:
        """Takes in one part of a stream of modes custom and updates."""
        if mode == "custom" and isinstance(part, Mapping) and "event" in part:
            self._event(part)
        elif mode == "updates":
            for name, update in part.items():
                if isinstance(update, Mapping):
                    self._update(name, update)
                elif "[" in name and isinstance(update, list):  # some parts of a map step
                    step = name.partition("[")[0]
                    self.parts[step] = self.parts.get(step, 0) + sum(one["status"] == "done" for one in update)

    def rows(self, now: float | None = None) -> list[Row]:
        """The steps of the current plan, and before them the finished ones of earlier plans."""
        return [self._row(step, now or time.time()) for step in self.steps().values()]

    def steps(self) -> dict[str, Step]:
        """Every step that still counts, by id."""
        current = {step["id"] for step in self.plans[-1]["steps"]} if self.plans else set()
        every = {step["id"]: step for plan in self.plans for step in plan["steps"]}
        return {name: step for name, step in every.items() if name in current or is_finished(name, self.results)}

    def _event(self, event: Mapping[str, Any]) -> None:
        self.phase = _PHASES.get(event["event"], self.phase)
        if event["event"] == "model_called":
            self.called.append(event)
        if event["event"] == "step_started":
            self.running[event["step"]] = event.get("time") or time.time()
            self.results.pop(event["step"], None)
            self.parts.pop(event["step"], None)

    def _update(self, name: str, update: Mapping[str, Any]) -> None:
        if name == "intake":  # everything begins anew
            self.task, self.pattern = update["request"]["task"], update["request"]["pattern"]
            self.plans, self.results, self.running, self.report = [], {}, {}, None
            return
        if "hash" in update and "step" in update:
            self._finished({update["step"]: update})
        if "usage" in update and "hash" not in update:  # a node's, not that of a step
            self.called = []
        self._planned(update.get("plans") or [])
        self._finished(update.get("results") or {})
        self.report = update.get("report") or self.report

    def _planned(self, plans: Sequence[Plan]) -> None:
        """As the channel grows; a stream that begins again says what is known already."""
        for plan in plans:
            last = self.plans[-1] if self.plans else None
            if last is None or plan["version"] > last["version"]:
                self.plans.append(plan)
            elif plan["version"] == last["version"]:
                known = {step["id"] for step in last["steps"]}
                fresh = [step for step in plan["steps"] if step["id"] not in known]
                self.plans = grow(self.plans, [[{**plan, "steps": fresh}]])

    def _finished(self, results: Mapping[str, Any]) -> None:
        self.results |= results
        for name in results:
            self.running.pop(name, None)

    def _row(self, step: Step, now: float) -> Row:
        name = step["id"]
        waits = [other for other in needs(step) if not is_finished(other, self.results)]
        if name in self.running:
            done = f"{self.parts[name]} parts done" if name in self.parts else ""
            return Row(name, step["tool"], "running", now - self.running[name], [], done)
        result = self.results.get(name)
        if result is None:
            return Row(name, step["tool"], "waits" if waits else "next", None, waits, "")
        ran = result["attempts"] or result["status"] in FINISHED
        seconds = result["ended"] - result["started"] if ran else None
        waits = waits if result["status"] in ("not_run", "blocked") else []
        return Row(name, step["tool"], STATES[result["status"]], seconds, waits, _note(result))


def _note(result: Result) -> str:
    if result["status"] == "done" and not result["note"]:
        output = result["output"]
        return output if isinstance(output, str) else repr(output)
    return why(result)
