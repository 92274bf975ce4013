"""Traces and metrics by OpenTelemetry: run -> plan version -> step -> tool call, and the calls of models.

The ids of the spans of a run, a plan and a step follow from the request, so that a run taken up by another process
stays one trace; these spans are sent when they end. Nothing of OpenTelemetry is imported unless it is asked for.
Leaves out: where it is sent (`nodes/telemetry_out.py`), and logs. Names are those of gen_ai.* where there is one.
"""

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from state.context import Context
from state.errors import BudgetSpent, InputError
from state.events import Event
from state.extras import extra
from state.plan import digest
from state.result import Result

if TYPE_CHECKING:
    from nodes.calls import Call
    from nodes.run import Run
    from nodes.telemetry_out import Signals
    from state.report import Report

_ENDPOINTS = (
    "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER",
)  # fmt: skip
Labels = dict[str, Any]
_OPEN = ("waiting", "unknown", "not_run")
_USED = ("tokens", "money", "seconds", "model_calls", "tool_calls", "retries")
_LONGEST = 20_000
"""Characters of content in one attribute."""
_ID = re.compile(r"[0-9a-f]{32}")
_OFF: AbstractContextManager[None] = nullcontext()


def telemetry_of(context: Context) -> "Telemetry | None":
    """What a run reports to, or None where nobody asked for it."""
    if context.telemetry is False:
        return None
    found = _signals() if context.telemetry or wanted() else None
    if found is None and context.telemetry:
        raise InputError(f"telemetry=True needs {extra('otel')}")
    return Telemetry(found) if found else None


def wanted() -> bool:
    """Whether the environment says where telemetry goes."""
    off = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return not off and any(os.environ.get(name, "none") not in ("", "none") for name in _ENDPOINTS)


@lru_cache(maxsize=1)
def _signals() -> "Signals | None":
    """One for the process; None without the extra."""
    try:
        from nodes.telemetry_out import Signals
    except ModuleNotFoundError:
        return None
    try:
        return Signals()
    except ValueError as error:
        raise InputError(f"telemetry can't be set up: {error}; check the variables OTEL_*") from error


def stop() -> None:
    """Sends what is left and forgets the set-up; the end of the process does the first by itself."""
    if _signals.cache_info().currsize and (found := _signals()):
        found.shut_down()
    _signals.cache_clear()


def tool_call(run: "Run", planned: "Call", attempt: int) -> AbstractContextManager[None]:
    """Around one try of a tool."""
    return run.telemetry.tool_call(run, planned, attempt) if run.telemetry else _OFF


def model_call(run: "Run", role: str, model: str, step: str, asked: Any, kept: Any) -> AbstractContextManager[None]:
    """Around one request to a model; its reply will be `kept.reply`."""
    return run.telemetry.model_call(run, role, model, step, asked, kept) if run.telemetry else _OFF


class Telemetry:
    """What is told to OpenTelemetry, and when."""

    def __init__(self, signals: "Signals") -> None:
        self._out = signals

    @contextmanager
    def tool_call(self, run: "Run", planned: "Call", attempt: int) -> Iterator[None]:
        """A span within that of the step; current while the tool runs."""
        tool, step = planned.tool.name, planned.step["id"]
        labels: Labels = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "forethought.step": step}
        labels |= {"forethought.attempt": attempt, "forethought.effect": planned.tool.effect}
        labels |= self._content(run, {"gen_ai.tool.call.arguments": planned.args})
        began, parent = time.monotonic(), self._within(run, f"step {step}")
        with self._out.span(f"execute_tool {tool}", parent, labels | self._of(run)) as span:
            outcome = "done"
            try:
                yield
            except BaseException as error:
                outcome = self._failed(span, error, run)
                raise
            finally:
                self._out.count("tool.calls", {"tool": tool, "outcome": outcome})
                self._out.took("tool.duration", time.monotonic() - began, {"tool": tool, "outcome": outcome})

    @contextmanager
    def model_call(self, run: "Run", role: str, model: str, step: str, asked: Any, kept: Any) -> Iterator[None]:
        """A span within that of the step, of the plan that is written, or of the plan at hand."""
        version = run.plan_version + (role == "planner")
        if role == "planner":
            self._out.begin(run.request["id"], version, time.time())
        name = f"step {step}" if step else f"plan {version}" if version else "run"
        labels = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model, "forethought.role": role}
        labels |= self._content(run, {"gen_ai.input.messages": [[m.type, m.content] for m in asked]})
        began, outcome = time.monotonic(), "done"
        parent = self._within(run, name)
        with self._out.span(f"chat {model}", parent, labels | self._of(run), client=True) as span:
            try:
                yield
                self._replied(span, role, model, kept.reply, run)
            except BaseException as error:
                outcome = self._failed(span, error, run)
                raise
            finally:
                about = {"role": role, "model": model, "outcome": outcome}
                self._out.count("model.calls", about)
                self._out.took("model.duration", time.monotonic() - began, about)

    def step_ended(self, run: "Run", record: Result) -> None:
        """The span of a step, unless another round may change what became of it."""
        status, seconds = record["status"], record["ended"] - record["started"]
        about = {"tool": record["tool"], "status": status}
        self._out.count("steps", about)
        if status in _OPEN:
            return
        self._out.took("step.duration", seconds, about)
        labels: Labels = {"forethought.step": record["step"], "gen_ai.tool.name": record["tool"]}
        labels |= {"forethought.status": status, "forethought.attempts": record["attempts"]}
        if record["failure"]:
            labels["error.type"] = record["failure"]["cls"]
            labels |= self._content(run, {"forethought.failure": record["failure"]["message"]})
        labels |= self._content(run, {"forethought.result": record["output"]})
        parent = self._parent(run, f"plan {run.plan_version}")
        bad = status in ("failed", "blocked")
        self._sent(run, f"step {record['step']}", parent, labels, record["started"], record["ended"], bad)

    def run_ended(self, run: "Run", report: "Report") -> None:
        """The spans of the run and of its plans."""
        request, ended, now = run.request, report["stop"], time.time()
        versions = {plan["version"]: plan for plan in report["plans"]}
        begun = self._out.begun(request["id"])
        for version in sorted({*versions, *begun}):
            steps = versions[version]["steps"] if version in versions else []
            size: Labels = {"forethought.plan.steps": len(steps), "forethought.plan.version": version}
            start, end = _span_of_plan(version, begun, report, request["started"], now)
            self._sent(run, f"plan {version}", self._parent(run, "run"), size, start, end, not steps)
        about = {"pattern": request["pattern"], "reason": ended["reason"], "kind": ended["kind"]}
        self._out.count("runs", about)
        self._out.took("run.duration", report["usage"]["seconds"], about)
        used = report["usage"]
        labels: Labels = {f"forethought.usage.{name}": value for name, value in used.items() if name in _USED}
        labels |= {"forethought.stop.reason": ended["reason"], "forethought.stop.kind": ended["kind"]}
        labels |= {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": request["pattern"]}
        labels |= self._content(run, {"forethought.task": request["task"], "forethought.answer": report["answer"]})
        bad = ended["kind"] in ("failure", "budget")
        self._sent(run, "run", None, labels, request["started"], now, bad, f"invoke_agent {request['pattern']}")

    def saw(self, event: Event) -> None:
        """What of the event log is a metric."""
        if event["event"] in ("tool_out", "tool_back"):
            self._out.healthy(event["evidence"][0], event["event"] == "tool_back")
        if event["event"] == "failure":
            self._out.count("failures", {"class": event["evidence"][2], "decision": event["next"]})

    def _replied(self, span: Any, role: str, model: str, reply: Any, run: "Run") -> None:
        used = getattr(reply, "usage_metadata", None) or {}
        for kind in ("input", "output"):
            if (tokens := used.get(f"{kind}_tokens")) is not None:
                span.set_attribute(f"gen_ai.usage.{kind}_tokens", tokens)
                self._out.tokens(tokens, {"gen_ai.token.type": kind, "gen_ai.request.model": model, "role": role})
        span.set_attributes(self._content(run, {"gen_ai.output.messages": getattr(reply, "content", reply)}))

    def _failed(self, span: Any, error: BaseException, run: "Run") -> str:
        """The class of a failure; its words may hold content."""
        from nodes.failures import classify, one_line

        cancelled = not isinstance(error, Exception)
        cls = "budget" if isinstance(error, BudgetSpent) else "cancelled" if cancelled else classify(error)
        span.set_attribute("error.type", cls)
        self._out.mark_bad(span, one_line(error) if run.context.telemetry_content else cls)
        return cls

    def _of(self, run: "Run") -> Labels:
        return {"forethought.run": run.request["id"], "forethought.plan.version": run.plan_version}

    def _content(self, run: "Run", values: Labels) -> Labels:
        """Content as attributes, without keys, where a setting allows it."""
        if not run.context.telemetry_content:
            return {}
        from state.masking import without_keys

        texts = {
            key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
            for key, value in values.items()
        }
        return {key: without_keys(text)[:_LONGEST] for key, text in texts.items()}

    def _within(self, run: "Run", name: str) -> Any:
        """The span that is open here if it belongs to this run, such as the tool that asks a model; else by name."""
        return self._out.current(_trace_id(run)) or self._parent(run, name)

    def _parent(self, run: "Run", name: str) -> Any:
        return self._out.parent(_trace_id(run), _span_id(run, name))

    def _sent(
        self, run: "Run", name: str, parent: Any, labels: Labels, start: float, end: float, bad: bool,
        shown: str = "",
    ) -> None:  # fmt: skip
        ids = (_trace_id(run), _span_id(run, name))
        self._out.send(shown or name, ids, parent, self._of(run) | labels, (start, max(start, end)), bad)


def _trace_id(run: "Run") -> int:
    """The request's id itself, so that a trace is found by the id of its run."""
    text = run.request["id"]
    return int(text if _ID.fullmatch(text) else digest(text), 16)


def _span_id(run: "Run", name: str) -> int:
    return int(digest([run.request["id"], name])[:16], 16) or 1


def _span_of_plan(
    version: int, begun: dict[int, float], report: "Report", first: float, last: float
) -> tuple[float, float]:
    """From when it was asked for to the last of its steps, as far as this process saw it."""
    own = [result for result in report["results"] if result["plan_version"] == version]
    start = begun.get(version) or min((result["started"] for result in own), default=first)
    following = begun.get(version + 1) or last
    return start, max((result["ended"] for result in own), default=following)
