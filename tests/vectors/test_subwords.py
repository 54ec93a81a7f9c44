"""Vectors of words composed from the rows of their character n-grams."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firth.errors import OptionError, UnknownWord
from firth.formats.registry import load
from firth.runtime import Runtime
from firth.text.normalize import Normalizer
from firth.text.subwords import Subwords
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary
from firth.vectors.rows import CENTROIDS, DenseRows, ProductRows
from firth.vectors.subwords import Output, SubwordVectors


def subword_vectors(words: tuple[str, ...] = ("tea", "teapot", "</s>", "چای"), buckets: int = 50) -> SubwordVectors:
    rows = np.random.default_rng(1).standard_normal((len(words) + buckets, 6)).astype(np.float32)
    return SubwordVectors(words, rows, Subwords(3, 5, buckets))


def test_a_words_vector_is_the_mean_of_its_own_row_and_its_ngrams_rows() -> None:
    vectors = subword_vectors()
    ids = [1, *(4 + vectors.subwords.rows(b"teapot"))]
    np.testing.assert_allclose(vectors["teapot"], vectors.rows.take(ids).mean(axis=0), rtol=1e-6)
    np.testing.assert_array_equal(vectors["</s>"], vectors.rows.take([2])[0])
    unseen = vectors.rows.take(4 + vectors.subwords.rows(b"teapots")).mean(axis=0)
    np.testing.assert_allclose(vectors["teapots"], unseen, rtol=1e-6, atol=1e-7)


def test_the_matrix_of_known_words_has_the_bits_of_the_words_one_by_one() -> None:
    words = tuple(f"word{i}" for i in range(5000))
    vectors = subword_vectors(words)
    again = subword_vectors(words)
    again.runtime = Runtime(3)
    np.testing.assert_array_equal(again.matrix, np.stack([vectors[word] for word in words]))
    np.testing.assert_array_equal(vectors.take([4999, 3]), again.take([4999, 3]))


def test_ngrams_are_read_from_a_memory_map_at_an_odd_place(tmp_path: Path) -> None:
    vectors = subword_vectors()
    array = vectors.rows.block(0, 54)
    (tmp_path / "rows").write_bytes(b"x" + array.tobytes())
    mapped = np.memmap(tmp_path / "rows", np.float32, "r", offset=1, shape=array.shape)
    again = SubwordVectors(vectors.vocabulary, mapped, vectors.subwords)
    np.testing.assert_array_equal(again["teapots"], vectors["teapots"])
    np.testing.assert_array_equal(again.matrix, vectors.matrix)


def test_a_word_without_any_ngram_is_unknown() -> None:
    vectors = subword_vectors()
    assert ("teacup" in vectors, "" in vectors, "tea" in vectors) == (True, False, True)
    with pytest.raises(UnknownWord):
        vectors[""]
    assert vectors.embed([["", "teacup"]])[0].shape == (2, 6)
    assert len(vectors.embed([["", "teacup"]], unknown="skip")[0]) == 1


def test_an_unseen_word_has_neighbors_among_the_seen_ones() -> None:
    vectors = subword_vectors()
    near = vectors.most_similar("teapots", topn=4)
    assert near[0][0] == "teapot"
    assert len(near) == 4


def test_shares_of_a_words_pieces_add_up_to_one() -> None:
    vectors = subword_vectors()
    for word in ("teapot", "teapots"):
        shares = vectors.explain(word)
        assert sum(share.share for share in shares) == pytest.approx(1)
        assert [share.ngram for share in shares if not share.own] == vectors.subwords.ngrams(word)
        rows = vectors.rows.take([share.row for share in shares])
        np.testing.assert_allclose(rows.mean(axis=0), vectors[word], rtol=1e-5, atol=1e-7)
    assert [share.own for share in vectors.explain("</s>")] == [True]
    with pytest.raises(UnknownWord):
        vectors.explain("")


def test_product_quantized_rows_compose_as_their_numbers_do() -> None:
    rng = np.random.default_rng(0)
    centroids = rng.standard_normal(CENTROIDS * 6).astype(np.float32)
    rows = ProductRows(rng.integers(0, 256, (54, 3)).astype(np.uint8), centroids, 6, 2)
    words = ("tea", "teapot", "</s>", "چای")
    quantized = SubwordVectors(words, rows, Subwords(3, 5, 50))
    dense = SubwordVectors(words, rows.block(0, 54), Subwords(3, 5, 50))
    np.testing.assert_array_equal(quantized.matrix, dense.matrix)
    np.testing.assert_array_equal(quantized["unseen"], dense["unseen"])


def test_subword_vectors_taken_apart_and_put_together_are_the_same() -> None:
    output = Output(
        DenseRows(np.ones((2, 6), np.float32)), Vocabulary(["__label__a", "__label__b"]), "supervised", "hs"
    )
    plain = subword_vectors()
    pruned = Subwords(3, 5, 50, {3: 1, 40: 0}, sentence_end=True)
    vectors = SubwordVectors(plain.vocabulary, plain.rows, pruned, output=output, metadata={"fasttext": {"ws": 5}})
    again = SubwordVectors.from_parts(vectors.to_parts())
    assert again.subwords == vectors.subwords
    assert again.metadata == vectors.metadata
    assert again.output is not None
    assert again.output.labels == output.labels
    assert (again.output.model, again.output.loss) == ("supervised", "hs")
    np.testing.assert_array_equal(again.output.rows.take([1]), output.rows.take([1]))
    np.testing.assert_array_equal(again.matrix, vectors.matrix)
    assert SubwordVectors.from_parts(plain.to_parts()).output is None


def test_subword_vectors_need_rows_for_their_ngrams() -> None:
    with pytest.raises(OptionError, match="need 12 rows, but there are 3"):
        SubwordVectors(["a", "b"], np.zeros((3, 4)), Subwords(3, 6, 10))


def test_quantized_subword_vectors_still_answer_for_unseen_words() -> None:
    small = subword_vectors().quantize("int8")
    assert isinstance(small, SubwordVectors)
    np.testing.assert_allclose(small["teapots"], subword_vectors()["teapots"], atol=0.02)
    restricted = subword_vectors().restrict(["tea", "unseen"])
    np.testing.assert_array_equal(restricted["tea"], subword_vectors()["tea"])


@pytest.mark.parametrize("name", ["crime-and-punishment", "toy-model"])
def test_composed_vectors_are_those_that_fasttext_wrote(data: Path, name: str) -> None:
    model, written = (load(data / "fixtures/vectors" / f"{name}.{end}") for end in ("bin", "vec"))
    assert isinstance(model, SubwordVectors)
    np.testing.assert_allclose(model.matrix, written.matrix, atol=5e-6)


def test_an_unseen_word_is_normalized_before_its_ngrams_are_taken() -> None:
    fold = Tokenizer(normalizer=Normalizer(fold_case=True))
    vectors = SubwordVectors(["tea"], np.arange(22).reshape(11, 2), Subwords(3, 3, 10)).with_tokenizer(fold)
    assert vectors["TEA"].tolist() == vectors["tea"].tolist()
    assert vectors["TEAPOT"].tolist() == vectors["teapot"].tolist()
    assert [share.ngram for share in vectors.explain("Tea")] == ["tea", "<te", "tea", "ea>"]
    assert "Teapot" in vectors


def test_vectors_for_all_composes_unseen_words() -> None:
    vectors = subword_vectors()
    some = vectors.vectors_for_all(["teapots", "tea"])
    assert some.vocabulary.words == ("teapots", "tea")
    np.testing.assert_array_equal(some["teapots"], vectors["teapots"])
