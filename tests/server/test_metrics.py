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


def ask_strangely(server: RunningServer, number: int) -> None:
    """Requests with names that the server has never seen."""
    server.client.get(f"/no/such/{number}")
    server.client.request(f"STRANGE{number}", "/embed")
    server.client.get("/v1/models", headers={"host": f"host{number}.example"})
    server.client.get(f"/v1/models/model{number}")
    server.post(f"/predict/task{number}", {"inputs": "tea"})
    server.post("/embed", {"inputs": "tea", "model": f"model{number}"})
    server.post(f"/v1/models/model{number}/reload", None)


def test_labels_are_bounded(server: RunningServer) -> None:
    def series() -> set[tuple[str, tuple[str, ...]]]:
        families = parser.text_string_to_metric_families(server.client.get("/metrics").text)
        return {(one.name, tuple(one.labels.values())) for family in families for one in family.samples}

    ask_strangely(server, 0)
    server.client.get("/metrics")
    before = series()
    for number in range(1, 6):
        ask_strangely(server, number)
    assert series() == before
    routes = {labels[0] for name, labels in before if name == "firth_requests_total"}
    assert {"other", "/predict/{task}"} <= routes


def test_a_strange_status_is_counted_as_other() -> None:
    metrics = Metrics()
    metrics.note_request("/embed", 418, 0.1)
    metrics.note_batch("vectors", Computed(2, 3, 40, 0.5))
    text = metrics.page().decode()
    assert values(text, "firth_requests_total") == {("/embed", "other"): 1}
    assert values(text, "firth_batch_tokens_sum") == {("vectors",): 40}
    assert values(text, "firth_compute_seconds_total") == {("vectors",): 0.5}
