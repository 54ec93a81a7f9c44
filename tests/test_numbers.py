"""The same bits for one, two and four threads, wherever the docs promise it, and logs that do not overflow.

Trainings with several threads update rows without locks and promise no bits; see docs/word2vec.md. That a biLM gives a
sentence the same vectors in any batch is in neural/inference/test_embed.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firth
from firth.runtime import Runtime

THREADS = (1, 2, 4)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lines of words with the frequencies of Zipf's law."""
    path = tmp_path_factory.mktemp("numbers") / "text.txt"
    words = np.minimum(np.random.default_rng(1).zipf(1.4, 12_000), 300).reshape(-1, 12)
    path.write_text("".join(" ".join(f"w{word}" for word in line) + "\n" for line in words))
    return path


def bits(model: Any) -> dict[str, bytes]:
    """The arrays of a model as bytes."""
    return {name: np.asarray(array).tobytes() for name, array in model.to_parts().arrays.items()}


RECIPES: dict[str, Callable[[], Any]] = {
    "co-occurrence": lambda: firth.Counts(kind="co-occurrence", window=4),
    "ppmi": lambda: firth.Counts(kind="ppmi"),
    "tf-idf": lambda: firth.Counts(kind="tf-idf"),
    "svd": lambda: firth.Counts(kind="svd", dim=8),
    "ngram": lambda: firth.Ngram(order=3),
    "phrases": lambda: firth.Phrases(threshold=0.5, delta=1),
}


@pytest.mark.parametrize("name", RECIPES)
def test_one_two_and_four_threads_give_the_same_bits(text: Path, name: str) -> None:
    models = [RECIPES[name]().fit(firth.Corpus(text, threads=count), runtime=Runtime(count)) for count in THREADS]
    first, *others = map(bits, models)
    assert first
    assert all(other == first for other in others)


def test_neighbors_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(2).standard_normal((3000, 16)).astype(np.float32)
    answers = []
    for count in THREADS:
        monkeypatch.setenv("FIRTH_THREADS", str(count))
        vectors = firth.WordVectors([f"w{i}" for i in range(3000)], rows)
        answers.append([vectors.most_similar(f"w{i}", topn=5) for i in range(20)])
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_the_probability_of_a_very_long_sentence_is_a_finite_logarithm(text: Path) -> None:
    model = firth.Ngram(order=2).fit(text)
    score = model.score(["unseen"] * 5_000)
    assert score.log_prob < math.log(5e-324)  # as a probability it would be 0
    assert math.isfinite(score.log_prob)
    assert math.isfinite(model.perplexity([["unseen"] * 5_000]).value)
