"""The held-out loss: what it is, worked out in plain NumPy, and that it leaves training alone."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file

from firth.errors import OptionError
from firth.models.classifier import FastTextClassifier
from firth.models.fasttext import FastText
from firth.models.trained_recipe import is_finite
from firth.models.word2vec import Word2Vec
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

ONE = Runtime(1)
OBJECTIVES: list[dict[str, Any]] = [
    {"objective": "negative-sampling"},
    {"objective": "negative-sampling", "shared_negatives": 0},
    {"objective": "hierarchical-softmax"},
    {"objective": "softmax"},
]


def corpus(*lines: str) -> Corpus:
    return Corpus.of(["\n".join(lines)], tokenizer=Tokenizer(mode="whitespace"))


def random_text(sentences: int, seed: int = 0) -> Corpus:
    rng = np.random.default_rng(seed)
    words = np.array(["tea", "cup", "milk", "rain", "cloud", "wind", "storm"])
    return corpus(*(" ".join(rng.choice(words, 6)) for _ in range(sentences)))


TEXT = corpus(*["tea with milk", "milk with tea", "rain and wind", "wind and rain"] * 5)
OTHER = corpus("rain with tea", "strangers", "tea strangers wind")


def state(folder: Path) -> dict[str, NDArray[np.float32]]:
    """The arrays at the end of a training."""
    (path,) = folder.glob("state-*.safetensors")
    return load_file(path)


def cross_entropy(hidden: NDArray[Any], outputs: NDArray[Any], target: int) -> float:
    scores = outputs.astype(np.float64) @ hidden.astype(np.float64)
    return float(np.log(np.exp(scores).sum()) - scores[target])


def pairs(sentence: list[int], window: int) -> list[tuple[int, int]]:
    return [(i, j) for i, j in itertools.permutations(range(len(sentence)), 2) if abs(i - j) <= window]


def test_the_held_out_loss_of_skip_gram_is_that_of_the_textbook(tmp_path: Path):
    recipe = Word2Vec(dim=4, window=2, dynamic_window=False, subsample=0, min_count=1, objective="softmax", epochs=2)
    made = recipe.fit(TEXT, runtime=ONE, held_out=OTHER, checkpoint=tmp_path / "c")
    arrays = state(tmp_path / "c")
    losses = []
    for sentence in (["rain", "with", "tea"], ["tea", "wind"]):  # strangers are left out before windows are laid
        ids = [made.vocabulary.id(word) for word in sentence]
        losses += [cross_entropy(arrays["inputs"][ids[j]], arrays["outputs"], ids[i]) for i, j in pairs(ids, 2)]
    assert len(losses) == 8
    assert len(made.metadata["held_out_loss"]) == 2
    assert made.metadata["held_out_loss"][-1] == pytest.approx(np.mean(losses), rel=1e-6)


def test_the_held_out_loss_of_fasttext_is_that_of_means_of_rows(tmp_path: Path):
    recipe = FastText(
        dim=4, window=2, dynamic_window=False, subsample=0, min_count=1, buckets=50, objective="softmax", epochs=1
    )
    made = recipe.fit(TEXT, runtime=ONE, held_out=OTHER)
    assert made.output is not None
    outputs = made.output.rows.take(range(len(made)))
    losses = []
    for sentence in (["rain", "with", "tea"], ["tea", "wind"]):
        ids = [made.vocabulary.id(word) for word in sentence]
        losses += [cross_entropy(made[sentence[i]], outputs, ids[j]) for i, j in pairs(ids, 2)]
    assert made.metadata["held_out_loss"] == [pytest.approx(np.mean(losses), rel=1e-6)]


def test_the_held_out_loss_of_the_classifier_is_that_of_lines(tmp_path: Path):
    lines = ["__label__drink hot tea", "__label__sky hot sun"] * 20
    recipe = FastTextClassifier(dim=4, epochs=3)
    made = recipe.fit(corpus(*lines), runtime=ONE, held_out=corpus("__label__sky new sun", "tea without a label"))
    assert made.output is not None
    hidden = made.rows.take([made.vocabulary.id(word) for word in ("sun", "</s>")]).mean(axis=0)
    loss = cross_entropy(hidden, made.output.rows.take([0, 1]), made.output.labels.id("__label__sky"))  # type: ignore[union-attr]
    assert made.metadata["held_out_loss"][-1] == pytest.approx(loss, rel=1e-6)


@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
@pytest.mark.parametrize("options", OBJECTIVES, ids=lambda options: "-".join(map(str, options.values())))
@pytest.mark.parametrize("kind", [Word2Vec, FastText])
def test_a_held_out_text_changes_no_bit_of_the_vectors(kind, architecture, options):
    more = {"buckets": 300} if kind is FastText else {}
    recipe = kind(dim=20, min_count=1, epochs=2, subsample=1e-2, architecture=architecture, **options, **more)
    text, other = random_text(200), random_text(40, seed=1)
    plain = recipe.fit(text, runtime=ONE)
    watched = recipe.fit(text, runtime=ONE, held_out=other)
    first, second = (made.rows.block(0, made.rows.shape[0]) for made in (plain, watched))
    assert first.tobytes() == second.tobytes()
    assert watched.metadata["loss"] == plain.metadata["loss"]
    assert len(watched.metadata["held_out_loss"]) == 2
    assert "held_out_loss" not in plain.metadata


@pytest.mark.parametrize("kind", [Word2Vec, FastText])
def test_taking_the_loss_changes_no_bit_and_is_the_same_with_threads(kind):
    recipe = kind(dim=20, min_count=1, epochs=1, **({"buckets": 300} if kind is FastText else {}))
    text = random_text(20_000)
    tokens = text.tokens()
    network, schedule = recipe._prepare(text, tokens, None, ONE)
    for block in schedule.blocks():
        network.train(block)
    before = {name: array.tobytes() for name, array in network.arrays.items()}
    apart = network.held_out(random_text(20_000, seed=1).tokens())
    losses = {apart.loss(Runtime(threads)) for threads in (1, 2, 2, 1)}
    assert len(losses) == 1
    assert {name: array.tobytes() for name, array in network.arrays.items()} == before


def test_a_text_of_the_same_kind_has_a_loss_near_that_of_training():
    made = Word2Vec(dim=16, min_count=1, epochs=3, shared_negatives=0).fit(
        random_text(3000), runtime=ONE, held_out=random_text(3000, seed=1)
    )
    assert made.metadata["held_out_loss"][-1] == pytest.approx(made.metadata["loss"][-1], rel=0.02)


def test_the_metadata_name_the_held_out_text():
    made = Word2Vec(dim=4, min_count=1, subsample=0, epochs=1).fit(TEXT, runtime=ONE, held_out=OTHER)
    assert made.metadata["held_out"] == {"fingerprint": OTHER.fingerprint, "tokens": 7}


@pytest.mark.parametrize("recipe", [Word2Vec(min_count=1, subsample=0), FastText(min_count=1, buckets=10)])
@pytest.mark.parametrize("lines", [(), ("strangers only here",), ("tea", "milk")])
def test_a_held_out_text_of_strangers_or_of_lone_words_is_refused(recipe, lines):
    with pytest.raises(OptionError, match="the held-out text has nothing to predict"):
        recipe.fit(TEXT, runtime=ONE, held_out=corpus(*lines))


def test_numbers_that_are_none_are_found_anywhere():
    array = np.ones((3, 4), np.float32)
    assert is_finite(array)
    array[2, 1] = np.inf
    assert not is_finite(array)


def test_the_metadata_name_recipe_tokenizer_corpus_and_versions():
    metadata = Word2Vec(dim=4, min_count=1, epochs=1).fit(random_text(20), runtime=Runtime(1)).metadata
    assert metadata["recipe"]["name"] == "word2vec"
    assert metadata["tokenizer"]["mode"] == "whitespace"
    assert metadata["corpus"]["tokens"] > 0
    assert metadata["versions"].keys() == {"firth", "numpy", "numba"}
