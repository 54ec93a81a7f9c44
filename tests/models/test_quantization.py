"""Small models: what stays, what is lost, and what fastText makes of the files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firth.errors import OptionError
from firth.formats.registry import load, save
from firth.models.quantization import prune, quantize, quantize_rows
from firth.runtime import Runtime
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary
from firth.vectors.rows import DenseRows, ProductRows
from firth.vectors.subwords import Output, SubwordVectors


def make_rows(count: int, dim: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((count, dim)) * rng.gamma(2, 1, (count, 1))).astype(np.float32)


def make_vocabulary(count: int) -> Vocabulary:
    return Vocabulary(["</s>", *(f"word{i}" for i in range(1, count))], range(2 * count, count, -1))


def make_model(
    kind: str = "skipgram", loss: str = "ns", dim: int = 16, words: int = 300, buckets: int = 500
) -> SubwordVectors:
    labels = Vocabulary(["__label__a", "__label__b"], [4, 3]) if kind == "supervised" else None
    output = Output(DenseRows(make_rows(2 if labels else words, dim, seed=1)), labels, kind, loss)  # type: ignore[arg-type]
    return SubwordVectors(
        make_vocabulary(words), make_rows(words + buckets, dim), Subwords(3, 4, buckets), output=output
    )


def cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


@pytest.mark.parametrize("norms", [False, True])
@pytest.mark.parametrize(("dim", "dsub", "worst"), [(16, 1, 0.999), (16, 2, 0.97), (15, 2, 0.97), (9, 4, 0.7)])
def test_quantized_rows_point_almost_where_the_rows_do(dim: int, dsub: int, worst: float, norms: bool) -> None:
    rows = make_rows(3000, dim)
    small = quantize_rows(rows, dsub, norms)
    assert small.codes.shape == (3000, -(-dim // dsub))
    assert (small.norm_codes is not None) == norms
    assert cosine(small.take(range(3000)), rows).mean() > worst


def test_the_norm_of_a_row_survives() -> None:
    rows = make_rows(3000, 16)
    norms = np.linalg.norm(quantize_rows(rows).take(range(3000)), axis=1)
    np.testing.assert_allclose(norms, np.linalg.norm(rows, axis=1), rtol=0.15, atol=0.1)


def test_codes_do_not_depend_on_threads_and_repeat_with_the_seed() -> None:
    rows = make_rows(70_000, 4)
    one, two = (quantize_rows(rows, runtime=Runtime(threads)) for threads in (1, 2))
    other = quantize_rows(rows, seed=2, runtime=Runtime(2))
    assert np.array_equal(one.codes, two.codes)
    assert np.array_equal(one.centroids, two.centroids)
    assert np.array_equal(one.norm_codes, two.norm_codes)  # type: ignore[arg-type]
    assert not np.array_equal(one.codes, other.codes)


def test_fewer_rows_than_centroids_are_kept_almost_exactly() -> None:
    rows = make_rows(100, 6)
    np.testing.assert_allclose(quantize_rows(rows).take(range(100)), rows, rtol=1e-4, atol=1e-5)


def test_rows_that_are_no_numbers_are_named() -> None:
    rows = make_rows(300, 4)
    rows[17, 2] = np.nan
    with pytest.raises(OptionError, match="row 17 has the norm nan"):
        quantize_rows(rows)
    with pytest.raises(OptionError, match="dsub is 0, but must be at least 1"):
        quantize_rows(make_rows(300, 4), dsub=0)


def test_subvectors_may_be_longer_than_rows(tmp_path: Path) -> None:
    small = quantize(make_model("supervised", "softmax", dim=3), dsub=8, output=True)
    assert isinstance(small.rows, ProductRows)
    assert (small.rows.dsub, small.rows.codes.shape) == (8, (800, 1))
    save(small, tmp_path / "a.ftz")
    assert np.array_equal(load(tmp_path / "a.ftz").matrix, small.matrix)
    save(load(tmp_path / "a.ftz"), tmp_path / "b.ftz")
    assert (tmp_path / "a.ftz").read_bytes() == (tmp_path / "b.ftz").read_bytes()


@pytest.mark.parametrize("keep", [350, 300])
def test_word_vectors_keep_their_words_and_these_keep_their_vectors(keep: int) -> None:
    made = make_model()
    small = prune(made, keep)
    assert small.vocabulary == made.vocabulary
    np.testing.assert_allclose(small.matrix, made.matrix, rtol=1e-4, atol=1e-5)
    norms = np.linalg.norm(made.rows.take(range(300, 800)), axis=1)
    assert set(small.subwords.pruned or {}) == set(np.argsort(-norms)[: keep - 300].tolist())
    assert quantize(made, keep).metadata["quantized"]["mean_cosine"] > 0.98


def test_word_vectors_without_room_for_all_words_keep_the_first() -> None:
    made = make_model()
    small = prune(made, 120)
    assert small.vocabulary.words == made.vocabulary.words[:120]
    np.testing.assert_allclose(small.matrix, made.matrix[:120], rtol=1e-5, atol=1e-6)


def test_pruning_a_classifier_keeps_the_longest_rows_and_the_end_of_a_sentence() -> None:
    made = make_model("supervised", "softmax")
    made.rows.array[0] = 0  # type: ignore[attr-defined]
    small = prune(made, 200)
    norms = np.linalg.norm(made.rows.take(range(800)), axis=1)
    kept = set(np.argsort(-norms)[:199].tolist()) | {0}
    assert small.rows.shape == (200, 16)
    assert set(small.vocabulary) == {made.vocabulary[id] for id in kept if id < 300}
    assert small.subwords.pruned is not None
    assert set(small.subwords.pruned) == {id - 300 for id in kept if id >= 300}
    for word in list(small.vocabulary)[:50]:
        own = made.rows.take([made.vocabulary.id(word)])[0]
        assert np.array_equal(small.rows.take([small.vocabulary.id(word)])[0], own)
    for bucket, row in small.subwords.pruned.items():
        assert np.array_equal(small.rows.take([len(small) + row]), made.rows.take([300 + bucket]))
    assert small.output is made.output
    words = prune(make_model(), 350).output
    assert words is not None
    assert words.rows.shape[0] == 300


@pytest.mark.parametrize("kind", ["skipgram", "supervised"])
def test_pruning_twice_is_pruning_once(kind: str) -> None:
    made = make_model(kind)
    once, twice = prune(made, 100), prune(prune(made, 310), 100)
    assert once.vocabulary == twice.vocabulary
    assert once.subwords.pruned == twice.subwords.pruned
    np.testing.assert_allclose(once.rows.take(range(100)), twice.rows.take(range(100)), rtol=1e-4, atol=1e-5)
    assert prune(made, 800) is made
    with pytest.raises(OptionError, match="Keep at least 1"):
        prune(made, 0)


@pytest.mark.parametrize("kind", ["skipgram", "supervised"])
@pytest.mark.parametrize("cutoff", [None, 400])
@pytest.mark.parametrize("output", [False, True])
def test_a_quantized_model_comes_back_from_its_file(
    tmp_path: Path, kind: str, cutoff: int | None, output: bool
) -> None:
    small = quantize(make_model(kind), cutoff, output=output)
    for name in ("a.ftz", "folder"):
        save(small, tmp_path / name)
        again = load(tmp_path / name)
        assert isinstance(again.rows, ProductRows)
        assert np.array_equal(again.matrix, small.matrix)
        assert again.subwords.pruned == small.subwords.pruned
        assert isinstance(again.output.rows, ProductRows) == output
        assert again.output.rows.shape[0] == (2 if kind == "supervised" else len(small) if output else 0)


def test_the_loss_is_told_and_is_small() -> None:
    made = make_model()
    small = quantize(made, dsub=1)
    told = small.metadata["quantized"]
    measured = cosine(made.matrix.astype(float), small.matrix.astype(float))
    assert told["mean_cosine"] == pytest.approx(measured.mean(), abs=1e-6)
    assert told["worst_cosine"] == pytest.approx(measured.min(), abs=1e-6)
    assert told["mean_cosine"] > 0.999
    with pytest.raises(OptionError, match="already"):
        quantize(small)


@pytest.mark.parametrize(("kind", "loss"), [("supervised", "softmax"), ("skipgram", "ns"), ("cbow", "hs")])
@pytest.mark.parametrize("cutoff", [None, 400])
def test_fasttext_opens_our_small_models_and_has_the_same_vectors(
    tmp_path: Path, kind: str, loss: str, cutoff: int | None
) -> None:
    fasttext = pytest.importorskip("fasttext")
    small = quantize(make_model(kind, loss), cutoff, dsub=3)
    save(small, tmp_path / "small.ftz")
    theirs = fasttext.load_model(str(tmp_path / "small.ftz"))
    for word in [*small.vocabulary[:20], "word9999", "unseen"]:
        np.testing.assert_allclose(theirs.get_word_vector(word), small.of([word])[0] if word in small else 0, atol=1e-6)
