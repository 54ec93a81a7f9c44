"""Words and their vectors: look-up, neighbors, analogies, pieces of words."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from firth.errors import FirthError, OptionError, UnknownWord
from firth.formats.registry import load
from firth.runtime import Runtime
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary
from firth.vectors.rows import CENTROIDS, DenseRows, Int8Rows, ProductRows
from firth.vectors.subwords import Output, SubwordVectors
from firth.vectors.words import WordVectors

ROYAL = WordVectors(
    Vocabulary(["man", "king", "woman", "queen", "tea", "zero"], [9, 7, 6, 4, 2, 1]),
    np.array([[3, 0, 1], [3, 2, 1], [-3, 0, 1], [-3, 2, 1], [0, -1, 4], [0, 0, 0]], np.float32),
)


def random_vectors(seed: int = 0, size: int = 300, dim: int = 20) -> WordVectors:
    matrix = np.random.default_rng(seed).standard_normal((size, dim)).astype(np.float32)
    return WordVectors(Vocabulary([f"w{i}" for i in range(size)], range(size, 0, -1)), matrix)


def subword_vectors(words: tuple[str, ...] = ("tea", "teapot", "</s>", "چای"), buckets: int = 50) -> SubwordVectors:
    rows = np.random.default_rng(1).standard_normal((len(words) + buckets, 6)).astype(np.float32)
    return SubwordVectors(words, rows, Subwords(3, 5, buckets))


def words_of(near: list[tuple[str, float]]) -> list[str]:
    return [word for word, _ in near]


def test_a_word_is_a_row_and_words_are_a_matrix() -> None:
    assert ROYAL["king"].tolist() == [3, 2, 1]
    assert ROYAL[["tea", "king"]].tolist() == [[0, -1, 4], [3, 2, 1]]
    assert list(ROYAL)[:2] == ["man", "king"]
    assert ("king" in ROYAL, "duke" in ROYAL, len(ROYAL), ROYAL.dim) == (True, False, 6, 3)
    assert ROYAL.key_to_index["tea"] == 4
    assert ROYAL.index_to_key[4] == "tea"
    assert ROYAL.get_vector("tea", norm=True) @ ROYAL.get_vector("tea", norm=True) == pytest.approx(1)


def test_an_unknown_word_is_named_with_near_spellings() -> None:
    for ask in (lambda: ROYAL["quen"], lambda: ROYAL.most_similar("quen"), lambda: ROYAL.similarity("man", "quen")):
        with pytest.raises(UnknownWord, match="Near spellings: 'queen'"):
            ask()


def test_words_and_rows_must_be_as_many() -> None:
    with pytest.raises(OptionError, match="3 words need as many rows, but there are 2"):
        WordVectors(["a", "b", "c"], np.zeros((2, 4)))


def test_king_less_man_plus_woman_is_queen() -> None:
    assert words_of(ROYAL.most_similar(["king", "woman"], ["man"], topn=1)) == ["queen"]
    assert words_of(ROYAL.analogy("man", "king", "woman", topn=1)) == ["queen"]
    assert words_of(ROYAL.analogy("man", "king", "woman", topn=1, method="3cosmul")) == ["queen"]
    with pytest.raises(OptionError, match="3cosadd"):
        ROYAL.analogy("man", "king", "woman", method="3cosdiv")  # type: ignore[arg-type]


def test_a_row_of_zeros_is_near_to_nothing_and_never_nan() -> None:
    assert ROYAL.similarity("zero", "king") == 0
    assert ROYAL.most_similar("zero", topn=2) == [("man", 0.0), ("king", 0.0)]
    assert np.isfinite(ROYAL.unit).all()
    assert np.isfinite(ROYAL.distances("zero")).all()
    assert np.isfinite([score for _, score in ROYAL.most_similar_cosmul("zero")]).all()


def test_answers_can_be_kept_to_some_words() -> None:
    assert words_of(ROYAL.most_similar("king", restrict_vocab=3)) == ["man", "woman"]
    assert words_of(ROYAL.most_similar("king", allowed=["queen", "tea", "nobody"])) == ["tea", "queen"]
    assert words_of(ROYAL.most_similar("king", allowed=lambda word: word.endswith("n"), topn=2)) == ["man", "queen"]
    assert set(words_of(ROYAL.most_similar("king", min_count=4))) == {"man", "woman", "queen"}
    assert words_of(ROYAL.most_similar("king", min_count=4, allowed=["tea", "queen"])) == ["queen"]
    assert words_of(ROYAL.most_similar_cosmul("king", allowed=["queen", "tea"])) == ["tea", "queen"]
    assert ROYAL.most_similar("king", topn=0) == []
    with pytest.raises(OptionError, match="no counts"):
        WordVectors(["a"], [[1.0]]).most_similar("a", min_count=2)


def test_terms_may_be_vectors_and_may_have_weights() -> None:
    vectors = random_vectors()
    query = 0.5 * vectors.get_vector("w1", norm=True) - 2 * vectors.get_vector("w2", norm=True)
    expected = [pair for pair in vectors.similar_by_vector(query, topn=12) if pair[0] not in ("w1", "w2")]
    found = vectors.most_similar([("w1", 0.5), ("w2", -2.0)])
    assert words_of(found) == words_of(expected)[:10]
    assert words_of(vectors.most_similar(vectors["w7"], topn=1)) == ["w7"]


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(0, 299), min_size=1, max_size=20), st.integers(1, 15))
def test_many_queries_at_once_are_answered_as_one_by_one(ids: list[int], topn: int) -> None:
    vectors = random_vectors()
    words = [f"w{id}" for id in ids]
    assert vectors.most_similar_each(words, topn) == [vectors.most_similar(word, topn=topn) for word in words]


def test_no_queries_have_no_answers_and_no_words_are_an_error() -> None:
    assert ROYAL.most_similar_each([]) == []
    for ask in (ROYAL.most_similar, ROYAL.most_similar_cosmul, lambda: ROYAL.doesnt_match([]), lambda: ROYAL.mean([])):
        with pytest.raises(OptionError, match="no words"):
            ask()
    with pytest.raises(OptionError, match="no words"):
        ROYAL.n_similarity(["king"], [])


def test_every_question_is_answered_as_gensim_answers_it() -> None:
    gensim = pytest.importorskip("gensim.models.keyedvectors")
    vectors = random_vectors(3)
    theirs = gensim.KeyedVectors(20)
    theirs.add_vectors(list(vectors), vectors.matrix)

    def same(ours: list[tuple[str, float]], other: list[tuple[str, float]]) -> None:
        assert words_of(ours) == words_of(other)
        np.testing.assert_allclose([c for _, c in ours], [c for _, c in other], atol=1e-6)

    same(vectors.most_similar("w5"), theirs.most_similar("w5"))
    same(vectors.most_similar(["w5", "w6"], ["w7"], 25), theirs.most_similar(["w5", "w6"], ["w7"], 25))
    weighted = [("w5", 0.3), "w6"], [("w9", -0.7)]
    same(vectors.most_similar(*weighted), theirs.most_similar(*weighted))
    mixed = [vectors["w8"], "w6"]
    same(vectors.most_similar(mixed, restrict_vocab=100), theirs.most_similar(mixed, restrict_vocab=100))
    same(vectors.most_similar_cosmul(["w5", "w6"], ["w7"]), theirs.most_similar_cosmul(["w5", "w6"], ["w7"]))
    same(vectors.similar_by_vector(vectors["w3"]), theirs.similar_by_vector(vectors["w3"]))
    some = ["w1", "w2", "w3", "w4"]
    assert vectors.doesnt_match(some) == theirs.doesnt_match(some)
    assert vectors.similarity("w1", "w2") == pytest.approx(theirs.similarity("w1", "w2"), abs=1e-6)
    assert vectors.distance("w1", "w2") == pytest.approx(theirs.distance("w1", "w2"), abs=1e-6)
    assert vectors.n_similarity(some, ["w9", "w8"]) == pytest.approx(theirs.n_similarity(some, ["w9", "w8"]), abs=1e-6)
    np.testing.assert_allclose(vectors.distances("w1"), theirs.distances("w1"), atol=1e-6)
    np.testing.assert_allclose(vectors.distances("w1", some), theirs.distances("w1", some), atol=1e-6)
    assert vectors.closer_than("w1", "w2") == theirs.closer_than("w1", "w2")
    assert vectors.rank("w1", "w2") == theirs.rank("w1", "w2")
    np.testing.assert_allclose(
        vectors.get_mean_vector(["w1", "w2", "nobody"], [1, 3, 1], post_normalize=True),
        theirs.get_mean_vector(["w1", "w2", "nobody"], [1, 3, 1], post_normalize=True),
        atol=1e-6,
    )


def test_a_memory_map_is_searched_as_an_array_is(tmp_path: Path) -> None:
    vectors = random_vectors()
    (tmp_path / "rows").write_bytes(b"xyz" + vectors.matrix.tobytes())
    mapped = np.memmap(tmp_path / "rows", np.float32, "r", offset=3, shape=vectors.matrix.shape)
    assert WordVectors(vectors.vocabulary, mapped).most_similar("w1") == vectors.most_similar("w1")


def test_similarities_are_cosines_of_every_pair() -> None:
    table = ROYAL.similarities(["man", "king", "zero"])
    assert table[0, 1] == pytest.approx(ROYAL.similarity("man", "king"))
    np.testing.assert_array_equal(table, table.T)
    assert table[2].tolist() == [0, 0, 0]


def test_sentences_become_arrays_and_unknown_words_what_the_caller_says() -> None:
    sentences = [["king", "of", "tea"], [], ["of"]]
    zeros = ROYAL.embed(sentences)
    assert [array.shape for array in zeros] == [(3, 3), (0, 3), (1, 3)]
    assert zeros[0].tolist() == [[3, 2, 1], [0, 0, 0], [0, -1, 4]]
    assert [array.tolist() for array in ROYAL.embed(sentences, unknown="skip")] == [[[3, 2, 1], [0, -1, 4]], [], []]
    with pytest.raises(UnknownWord, match="'of'"):
        ROYAL.embed(sentences, unknown="error")
    with pytest.raises(OptionError, match="'mean'"):
        ROYAL.embed(sentences, unknown="mean")  # type: ignore[arg-type]
    assert [array.shape for array in ROYAL.embed([[], []])] == [(0, 3), (0, 3)]


def test_a_restriction_keeps_vectors_counts_and_order() -> None:
    some = ROYAL.restrict(["tea", "duke", "king", "king"])
    assert some.vocabulary == Vocabulary(["king", "tea"], [7, 2])
    np.testing.assert_array_equal(some["tea"], ROYAL["tea"])
    assert isinstance(ROYAL.quantize("int8").restrict(["tea"]).rows, Int8Rows)


@pytest.mark.parametrize("dtype, worst, size", [("float16", 0.999999, 2), ("int8", 0.9999, 1)])
def test_quantized_rows_are_smaller_and_say_how_far_they_are_off(dtype: str, worst: float, size: int) -> None:
    vectors = random_vectors()
    small = vectors.quantize(dtype)  # type: ignore[arg-type]
    assert small.rows.nbytes <= size * vectors.matrix.size + 4 * len(vectors)
    cosines = (small.unit.astype(np.float64) * vectors.unit).sum(axis=1)
    assert small.metadata["quantized"]["worst_cosine"] == pytest.approx(cosines.min(), abs=1e-6)
    assert cosines.min() > worst
    assert "quantized" not in vectors.metadata
    with pytest.raises(OptionError):
        vectors.quantize("int4")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="too large"):
        WordVectors(["a"], [[1e9]]).quantize("float16")


def test_vectors_taken_apart_and_put_together_are_the_same() -> None:
    for vectors in (ROYAL, ROYAL.quantize("int8"), ROYAL.quantize("float16")):
        again = WordVectors.from_parts(vectors.to_parts())
        assert again.vocabulary == vectors.vocabulary
        assert again.metadata == vectors.metadata
        np.testing.assert_array_equal(again.matrix, vectors.matrix)


def test_vectors_introduce_themselves() -> None:
    vectors = WordVectors(["<unk>", "چای", "caf\udc82"], np.zeros((3, 2)), metadata={"source": "tea.txt"})
    assert repr(vectors) == "WordVectors(3 words × 2, float64, 48 bytes: <unk>, چای, caf?)"
    page = vectors._repr_html_()
    assert "&lt;unk&gt;" in page
    assert '<td dir="auto">' in page
    console = Console(width=60, record=True, file=io.StringIO())
    console.print(vectors)
    assert "tea.txt" in console.export_text()
    assert repr(WordVectors([], np.zeros((0, 2)))) == "WordVectors(0 words × 2, float64, 0 bytes)"


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


def test_faiss_answers_behind_the_same_call() -> None:
    pytest.importorskip("faiss")
    vectors = random_vectors()
    assert vectors.most_similar("w1", engine="faiss") == vectors.most_similar("w1")
    with pytest.raises(OptionError, match="engine"):
        vectors.most_similar("w1", engine="annoy")  # type: ignore[arg-type]


def test_without_faiss_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(FirthError, match=r"firth\[ann\]"):
        random_vectors().most_similar("w1", engine="faiss")


@pytest.mark.parametrize("name", ["crime-and-punishment", "toy-model"])
def test_composed_vectors_are_those_that_fasttext_wrote(data: Path, name: str) -> None:
    model, written = (load(data / "fixtures/vectors" / f"{name}.{end}") for end in ("bin", "vec"))
    assert isinstance(model, SubwordVectors)
    np.testing.assert_allclose(model.matrix, written.matrix, atol=5e-6)
