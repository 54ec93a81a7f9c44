from __future__ import annotations

import pytest
from tests.server.running import RunningServer

from firth.server.batching import Computed
from firth.server.metrics import Metrics

parser = pytest.importorskip("prometheus_client.parser", reason="reads metrics as Prometheus does")


def values(text: str, name: str) -> dict[tuple[str, ...], float]:
    families = parser.text_string_to_metric_families(text)
    samples = [sample for family in families for sample in family.samples if sample.name == name]
    return {tuple(sample.labels.values()): sample.value for sample in samples}


def test_prometheus_reads_what_the_server_counts(server: RunningServer) -> None:
    before = values(server.client.get("/metrics").text, "firth_requests_total")
    server.post("/embed", {"inputs": ["hot tea"], "model": "vectors"})
    text = server.client.get("/metrics").text
    key = ("/embed", "200")
    assert values(text, "firth_requests_total")[key] == before.get(key, 0) + 1
    assert values(text, "firth_request_seconds_count")[("/embed",)] >= 1
    assert values(text, "firth_tokens_total")[("vectors",)] >= 2
    assert values(text, "firth_queue_tokens")[("vectors",)] == 0
    assert values(text, "firth_requests_in_progress") == {(): 1}  # this one


def test_labels_are_bounded(server: RunningServer) -> None:
    for number in range(5):
        server.client.get(f"/no/such/{number}")
        server.post(f"/predict/task{number}", {"inputs": "tea"})
    text = server.client.get("/metrics").text
    routes = {route for route, _ in values(text, "firth_requests_total")}
    assert not any("such" in route or "task0" in route for route in routes)
    assert {"other", "/predict/{task}"} <= routes


def test_a_strange_status_is_counted_as_other() -> None:
    metrics = Metrics()
    metrics.note_request("/embed", 418, 0.1)
    metrics.note_batch("vectors", Computed(2, 3, 40, 0.5))
    text = metrics.page().decode()
    assert values(text, "firth_requests_total") == {("/embed", "other"): 1}
    assert values(text, "firth_batch_tokens_sum") == {("vectors",): 40}
    assert values(text, "firth_compute_seconds_total") == {("vectors",): 0.5}
