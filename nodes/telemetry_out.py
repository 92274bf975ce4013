"""Where traces and metrics go: an application's own OpenTelemetry set-up, else OTLP over HTTP as OTEL_* says.

Imports OpenTelemetry, the extra `otel`, and is itself imported by `nodes/telemetry.py` only when that is asked for.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from opentelemetry import metrics, trace
from opentelemetry.context import Context, get_current
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Tracer, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

NAME = "forethought"
_COUNTED = {
    "runs": "Runs that ended", "steps": "Steps by what became of them", "tool.calls": "Tries of tools",
    "model.calls": "Requests to models", "failures": "Failures by what was decided about them",
}  # fmt: skip
_TIMED = ("run.duration", "step.duration", "tool.duration", "model.duration")
_BEGUN = 1000


class Signals:
    """One tracer and the instruments."""

    def __init__(self) -> None:
        self._owned: list[Any] = []
        self._begun: dict[tuple[str, int], float] = {}
        tracing: Any = trace.get_tracer_provider()
        if isinstance(tracing, trace.ProxyTracerProvider):  # nobody has set one up
            tracing = self._own(_tracing())
        metering: Any = metrics.get_meter_provider()
        if "Proxy" in type(metering).__name__:
            metering = self._own(_metering())
        self._ids = _Ids()
        self._tracer = tracing.get_tracer(NAME, _version())
        if isinstance(self._tracer, Tracer):
            self._tracer.id_generator = self._ids  # for our spans only
        self._instruments(metering.get_meter(NAME, _version()))

    def _own(self, provider: Any) -> Any:
        self._owned.append(provider)
        return provider

    def _instruments(self, meter: Any) -> None:
        self._counters = {
            name: meter.create_counter(f"{NAME}.{name}", description=words, unit="1")
            for name, words in _COUNTED.items()
        }
        self._times = {name: meter.create_histogram(f"{NAME}.{name}", unit="s") for name in _TIMED}
        self._tokens = meter.create_histogram("gen_ai.client.token.usage", unit="{token}")
        self._health = meter.create_gauge(f"{NAME}.tool.healthy", description="0: taken out by its breaker", unit="1")

    def begin(self, run: str, version: int, at: float) -> None:
        """Remembers since when a plan version is being written; of runs that never end here only the latest."""
        while len(self._begun) >= _BEGUN:
            self._begun.pop(next(iter(self._begun)), None)
        self._begun.setdefault((run, version), at)

    def begun(self, run: str) -> dict[int, float]:
        """Since when each plan version of a run was written, as far as this process saw it; forgets it."""
        mine = [key for key in list(self._begun) if key[0] == run]
        return {key[1]: self._begun.pop(key) for key in mine}

    def count(self, name: str, labels: dict[str, Any]) -> None:
        """Counts one."""
        self._counters[name].add(1, labels)

    def took(self, name: str, seconds: float, labels: dict[str, Any]) -> None:
        """How long something took."""
        self._times[name].record(seconds, labels)

    def tokens(self, count: int, labels: dict[str, Any]) -> None:
        """Tokens of one request."""
        self._tokens.record(count, labels)

    def healthy(self, tool: str, well: bool) -> None:
        """Whether a tool is in."""
        self._health.set(int(well), {"tool": tool})

    def span(self, name: str, parent: Any, labels: dict[str, Any], *, client: bool = False) -> Any:
        """An open span that is current until it ends."""
        kind = trace.SpanKind.CLIENT if client else trace.SpanKind.INTERNAL
        return self._tracer.start_as_current_span(
            name, parent, kind, labels, record_exception=False, set_status_on_exception=False
        )

    def send(
        self, name: str, ids: tuple[int, int], parent: Any, labels: dict[str, Any], times: tuple[float, float],
        bad: bool,
    ) -> None:  # fmt: skip
        """A span that began and ended before; without a parent it is the root, linked to the caller's span."""
        start, end = (int(at * 1e9) for at in times)
        here = trace.get_current_span().get_span_context()
        links = [trace.Link(here)] if parent is None and here.is_valid else []
        with self._ids.given(*ids):
            span = self._tracer.start_span(name, Context() if parent is None else parent, links=links, start_time=start)
        span.set_attributes({key: value for key, value in labels.items() if value is not None})
        if bad:
            self.mark_bad(span, "")
        span.end(end)

    def mark_bad(self, span: Any, why: str) -> None:
        """A span that did not come out well."""
        span.set_status(trace.Status(trace.StatusCode.ERROR, why or None))

    def parent(self, trace_id: int, span_id: int) -> Context:
        """A span by its ids, as the parent of others, sampled as the whole trace is."""
        sampler = getattr(self._tracer, "sampler", None)
        sampled = sampler is None or sampler.should_sample(Context(), trace_id, "run").decision.is_sampled()
        flags = trace.TraceFlags(sampled)
        context = trace.SpanContext(trace_id, span_id, is_remote=True, trace_flags=flags)
        return trace.set_span_in_context(trace.NonRecordingSpan(context), Context())

    def current(self, trace_id: int) -> Context | None:
        """What is open here, if it belongs to this trace."""
        same = trace.get_current_span().get_span_context().trace_id == trace_id
        return get_current() if same else None

    def shut_down(self) -> None:
        """Sends what is left; what an application set up is its own to end."""
        for provider in self._owned:
            provider.shutdown()


class _Ids(RandomIdGenerator):
    """Random ids, but for one span whose ids are given."""

    def __init__(self) -> None:
        self._next = threading.local()

    @contextmanager
    def given(self, *ids: int) -> Iterator[None]:
        """The next span of this thread has this trace and span id."""
        self._next.ids = ids
        try:
            yield
        finally:
            self._next.ids = ()

    def generate_trace_id(self) -> int:
        """As OpenTelemetry asks for it."""
        ids = getattr(self._next, "ids", ())
        return ids[0] if ids else super().generate_trace_id()

    def generate_span_id(self) -> int:
        """As OpenTelemetry asks for it."""
        ids = getattr(self._next, "ids", ())
        return ids[1] if ids else super().generate_span_id()


def _version() -> str:
    try:
        return version(NAME)
    except PackageNotFoundError:  # run from its folder
        return ""


def _resource() -> Resource:
    named = os.environ.get("OTEL_SERVICE_NAME") or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    return Resource.create({"service.version": _version(), **({} if named else {"service.name": NAME})})


def _tracing() -> TracerProvider:
    provider = TracerProvider(resource=_resource())
    if os.environ.get("OTEL_TRACES_EXPORTER") != "none":
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def _metering() -> MeterProvider:
    off = os.environ.get("OTEL_METRICS_EXPORTER") == "none"
    return MeterProvider([] if off else [PeriodicExportingMetricReader(OTLPMetricExporter())], _resource())
