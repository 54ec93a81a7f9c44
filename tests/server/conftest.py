"""A server of small models for all tests; without the extra `serve` its tests are not collected."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import firth

NEEDED = ("fastapi", "uvicorn", "orjson", "prometheus_client", "httpx")
collect_ignore_glob = [] if all(map(find_spec, NEEDED)) else ["test_*.py"]


@pytest.fixture(scope="session")
def model_paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Small models of several kinds."""
    pytest.importorskip("torch")  # one of them is a biLM
    from firth.neural.architecture import Architecture
    from firth.neural.bilm import BiLM

    folder = tmp_path_factory.mktemp("served")
    text = ["strong tea and strong coffee", "powerful computers and cold rain", "hot tea in the rain"]
    vocabulary = firth.Vocabulary(["<S>", "</S>", "<UNK>", "tea", "rain", "strong", "hot"])
    bilm = BiLM(Architecture.named("tiny"), vocabulary=vocabulary)
    labeled = ["__label__hot tea", "__label__cold rain"] * 20
    classifier = firth.FastTextClassifier(dim=4, epochs=2, buckets=10)
    corpus = firth.Corpus.of(labeled, tokenizer=firth.Tokenizer(mode="whitespace"))
    models = {
        "bilm": bilm,
        "vectors": firth.WordVectors(["tea", "coffee", "rain"], [[1, 0.1], [1, 0.2], [0, 1]]),
        "ngrams": firth.Ngram(order=2).fit(firth.Corpus.of(text)),
        "classifier": classifier.fit(corpus),
    }
    for name, model in models.items():
        firth.save(model, folder / name)
    return {name: folder / name for name in models}


@pytest.fixture(scope="session")
def server(model_paths: dict[str, Path]) -> Iterator[Any]:
    """A server of small models, without a token. The first requests may wait for compilers."""
    from tests.server.running import run_server

    from firth.server.limits import Limits

    with run_server(*map(str, model_paths.values()), limits=Limits(seconds=300)) as running:
        yield running


@pytest.fixture
def wait_until() -> Callable[[Callable[[], bool]], None]:
    """Waits until something is true, at most a minute: the machine may be busy."""

    def wait(is_true: Callable[[], bool]) -> None:
        end = time.monotonic() + 60
        while not is_true():
            assert time.monotonic() < end, "it did not happen in a minute"
            time.sleep(0.005)

    return wait
