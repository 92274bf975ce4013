"""A real OTLP/HTTP collector endpoint on loopback: takes what is sent to /v1/traces and /v1/metrics and reads it."""

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """`url` is what OTEL_EXPORTER_OTLP_ENDPOINT names; `spans` and `metrics` are what came."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.metrics: dict[str, list[Any]] = {}
        self.resources: list[dict[str, Any]] = []
        self.raw = b""
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                packed = self.headers.get("Content-Encoding") == "gzip"
                collector.take(self.path, gzip.decompress(data) if packed else data)
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def take(self, path: str, data: bytes) -> None:
        """One export."""
        self.raw += data
        if path == "/v1/traces":
            for whole in ExportTraceServiceRequest.FromString(data).resource_spans:
                self.resources.append(attributes(whole.resource))
                self.spans += [span for scope in whole.scope_spans for span in scope.spans]
        elif path == "/v1/metrics":
            for whole in ExportMetricsServiceRequest.FromString(data).resource_metrics:
                for metric in (metric for scope in whole.scope_metrics for metric in scope.metrics):
                    kind = metric.WhichOneof("data")
                    self.metrics[metric.name] = list(getattr(metric, kind).data_points)

    def named(self, name: str) -> Any:
        """The one span of that name."""
        [found] = [span for span in self.spans if span.name == name]
        return found

    def tree(self, parent: bytes = b"") -> dict[str, Any]:
        """Names of spans, each with those within it."""
        return {span.name: self.tree(span.span_id) for span in self.spans if span.parent_span_id == parent}

    def points(self, name: str) -> list[dict[str, Any]]:
        """The labels of every point of a metric, with its value or count."""
        return [{**attributes(point), "value": _value(point)} for point in self.metrics.get(name, [])]

    def close(self) -> None:
        """Ends the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def attributes(owner: Any) -> dict[str, Any]:
    """Attributes as a mapping."""
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in owner.attributes}


def _value(point: Any) -> float:
    if hasattr(point, "bucket_counts"):
        return int(point.count)
    return float(getattr(point, point.WhichOneof("value")))
