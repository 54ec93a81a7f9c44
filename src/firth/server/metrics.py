"""Metrics for Prometheus. Labels are names of models, addresses of the server and statuses: their number is bounded."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from firth.server.batching import Computed
from firth.server.served import ServedModels

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)
SIZES = tuple(2**power for power in range(0, 18, 2))
STATUSES = frozenset((200, 204, 307, 400, 401, 403, 404, 405, 408, 413, 415, 422, 424, 429, 499, 500, 503, 504))


class Metrics:
    """The counters of a server.

    >>> metrics = Metrics()
    >>> metrics.note_request("/embed", 200, 0.004)
    >>> 'firth_requests_total{route="/embed",status="200"} 1.0' in metrics.page().decode()
    True
    """

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter("firth_requests", "Requests answered.", ("route", "status"), registry=registry)
        self.seconds = Histogram(
            "firth_request_seconds", "Time of a request.", ("route",), buckets=SECONDS, registry=registry
        )
        self.open = Gauge("firth_requests_in_progress", "Requests in progress.", registry=registry)
        self.texts = Counter("firth_texts", "Texts computed.", ("model",), registry=registry)
        self.tokens = Counter("firth_tokens", "Tokens computed.", ("model",), registry=registry)
        self.busy = Counter("firth_compute_seconds", "Time spent computing batches.", ("model",), registry=registry)
        self.batch_tokens = Histogram(
            "firth_batch_tokens", "Tokens of a batch.", ("model",), buckets=SIZES, registry=registry
        )
        self.batch_requests = Histogram(
            "firth_batch_requests", "Requests of a batch.", ("model",), buckets=SIZES, registry=registry
        )
        self.waiting = Gauge("firth_queue_tokens", "Tokens that wait for a model.", ("model",), registry=registry)

    def watch(self, models: ServedModels) -> None:
        """Shows the length of the queues."""
        for name, served in models.models.items():
            self.waiting.labels(name).set_function(lambda batcher=served.batcher: batcher.waiting)  # type: ignore[misc]

    def note_request(self, route: str, status: int, seconds: float) -> None:
        """Counts an answered request. A route is the pattern of an address, not the address."""
        self.requests.labels(route, str(status) if status in STATUSES else "other").inc()
        self.seconds.labels(route).observe(seconds)

    def note_batch(self, name: str, computed: Computed) -> None:
        """Counts a batch of a model."""
        self.texts.labels(name).inc(computed.items)
        self.tokens.labels(name).inc(computed.tokens)
        self.busy.labels(name).inc(computed.seconds)
        self.batch_tokens.labels(name).observe(computed.tokens)
        self.batch_requests.labels(name).observe(computed.requests)

    def page(self) -> bytes:
        """All values in Prometheus' text format."""
        return generate_latest(self.registry)
