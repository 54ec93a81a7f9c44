"""Words and their vectors: look-up, sentences as arrays, restriction, quantization, parts."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from firth.errors import OptionError, UnknownWord
from firth.evaluate.lookup import Lookup
from firth.formats.registry import load, save
from firth.models.word2vec import Word2Vec
from firth.text.corpus import Corpus
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary
from firth.vectors.rows import Int8Rows
from firth.vectors.words import WordVectors

ROYAL = WordVectors(
    Vocabulary(["man", "king", "woman", "queen", "tea", "zero"], [9, 7, 6, 4, 2, 1]),
    np.array([[3, 0, 1], [3, 2, 1], [-3, 0, 1], [-3, 2, 1], [0, -1, 4], [0, 0, 0]], np.float32),
)


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
    matrix = np.random.default_rng(0).standard_normal((300, 20)).astype(np.float32)
    vectors = WordVectors([f"w{i}" for i in range(300)], matrix)
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


def test_a_folded_model_answers_in_any_case() -> None:
    fold = Tokenizer(normalizer=Normalizer(fold_case=True))
    lists = [["london", "is", "big"], ["paris", "is", "big"]] * 20
    vectors = Word2Vec(dim=4, min_count=1, epochs=1).fit(Corpus.of(lists, tokenizer=fold))
    assert vectors["London"].tolist() == vectors["london"].tolist() == vectors.get_vector("LONDON").tolist()
    assert ("London" in vectors, "Rome" in vectors) == (True, False)
    assert vectors.most_similar("London") == vectors.most_similar("london")
    assert vectors.most_similar(["London", "Big"], ["Paris"]) == vectors.most_similar(["london", "big"], ["paris"])
    assert vectors.similarity("London", "PARIS") == vectors.similarity("london", "paris")
    assert vectors.rank("London", "Paris") == vectors.rank("london", "paris")
    assert vectors.embed(["London is"])[0].tolist() == vectors[["london", "is"]].tolist()
    assert Lookup(vectors, case_insensitive=False).find("London") == vectors.vocabulary.find("london")
    with pytest.raises(UnknownWord, match=r"'Londn' is not in the vocabulary\. Near spellings: 'london'"):
        vectors["Londn"]


def test_a_persian_model_answers_to_arabic_letters() -> None:
    persian = Tokenizer(normalizer=Normalizer.persian())
    vectors = WordVectors(["کتاب", "علی"], [[1, 0], [0, 1]], metadata={"tokenizer": persian.as_dict()})
    assert vectors["كتاب"].tolist() == [1, 0]
    assert vectors.most_similar("كتاب")[0][0] == "علی"


def test_vectors_of_other_tools_keep_words_as_they_are_unless_asked() -> None:
    vectors = WordVectors(["london", "tea"], [[1, 0], [0, 1]])
    assert "London" not in vectors
    folded = vectors.with_tokenizer(Tokenizer(normalizer=Normalizer(fold_case=True)))
    assert ("London" in folded, "London" in vectors) == (True, False)


def test_a_function_is_a_tokenizer_of_vectors() -> None:
    vectors = WordVectors(["北京"], [[1, 2]])
    split = vectors.with_tokenizer(lambda text: [text[:1], text[1:]])
    assert split.embed(["去北京"])[0].tolist() == [[0, 0], [1, 2]]


def test_a_word_of_the_vocabulary_is_not_normalized() -> None:
    fold = Tokenizer(normalizer=Normalizer(fold_case=True))
    vectors = WordVectors(["us", "US"], [[1, 0], [0, 1]]).with_tokenizer(fold)
    assert (vectors["US"].tolist(), vectors["Us"].tolist()) == ([0, 1], [1, 0])


def test_a_stored_tokenizer_is_saved_with_the_vectors(tmp_path: Path) -> None:
    fold = Tokenizer(normalizer=Normalizer(fold_case=True))
    save(WordVectors(["london"], [[1, 0]]).with_tokenizer(fold), tmp_path / "vectors")
    assert load(tmp_path / "vectors")["London"].tolist() == [1, 0]


def test_an_array_of_the_vectors_is_their_matrix() -> None:
    np.testing.assert_array_equal(np.asarray(ROYAL), ROYAL.matrix)
    assert np.asarray(ROYAL) is ROYAL.matrix
    assert np.array(ROYAL) is not ROYAL.matrix
    assert np.asarray(ROYAL, np.float64).dtype == np.float64


@pytest.mark.parametrize("query", [0, None, b"king", ["king", 5], [b"king"], 1.5])
def test_what_is_no_word_is_refused(query: Any) -> None:
    with pytest.raises(OptionError, match=r"the query is .*, but must be text or a list of words"):
        ROYAL[query]


def test_counts_of_words() -> None:
    assert ROYAL.count("queen") == 4
    with pytest.raises(UnknownWord):
        ROYAL.count("duke")
    with pytest.raises(OptionError, match="no counts"):
        WordVectors(["tea"], [[1, 0]]).count("tea")


def test_vectors_are_added_and_replaced_without_a_change_of_the_old_ones() -> None:
    more = ROYAL.add(["tea", "duke", "duke"], [[1, 1, 1], [2, 2, 2], [3, 3, 3]])
    assert more.vocabulary.words == (*ROYAL.vocabulary.words, "duke")
    assert (more["tea"].tolist(), more["duke"].tolist(), more["king"].tolist()) == ([1, 1, 1], [3, 3, 3], [3, 2, 1])
    assert ROYAL["tea"].tolist() == [0, -1, 4]
    assert (more.count("king"), more.count("duke")) == (7, 0)
    assert ROYAL.add([], np.zeros((0, 3))).matrix.tolist() == ROYAL.matrix.tolist()
    for rows in ([[1, 2]], [[1, 2, 3], [1, 2, 3]], [["a", "b", "c"]]):
        with pytest.raises(OptionError, match="the vectors"):
            ROYAL.add(["duke"], rows)  # type: ignore[arg-type]


def test_vectors_for_all_keep_the_order_of_the_words() -> None:
    some = ROYAL.vectors_for_all(["tea", "duke", "king", "tea"])
    assert some.vocabulary.words == ("tea", "king")
    assert some.matrix.tolist() == ROYAL[["tea", "king"]].tolist()


def test_two_sets_of_vectors_are_intersected_or_merged() -> None:
    other = WordVectors(["tea", "duke"], [[9, 9, 9], [8, 8, 8]])
    replaced, merged = ROYAL.intersect(other), ROYAL.merge(other)
    assert replaced.vocabulary.words == ROYAL.vocabulary.words
    assert (replaced["tea"].tolist(), replaced["king"].tolist()) == ([9, 9, 9], ROYAL["king"].tolist())
    assert merged.vocabulary.words == (*ROYAL.vocabulary.words, "duke")
    assert (merged["tea"].tolist(), merged["duke"].tolist()) == (ROYAL["tea"].tolist(), [8, 8, 8])
    with pytest.raises(OptionError, match="the other vectors have 1 numbers each, but these have 3"):
        ROYAL.merge(WordVectors(["duke"], [[1]]))


def test_vectors_of_an_empty_word_or_of_none_are_shown():
    assert repr(WordVectors([""], [[1.0]])) == "WordVectors(1 words × 1, float64, 8 bytes)"
    assert repr(WordVectors([], np.zeros((0, 2), np.float32))) == "WordVectors(0 words × 2, float32, 0 bytes)"


def test_a_notebook_shows_the_loss_of_trained_vectors() -> None:
    vectors = WordVectors(["tea"], [[1, 2]], metadata={"loss": [3.0, 2.0]})
    assert "training: 2 epochs, loss 3.0000 to 2.0000" in vectors._repr_html_()
    assert "training" not in WordVectors(["tea"], [[1, 2]])._repr_html_()
    unstable = WordVectors(["tea"], [[1, 2]], metadata={"loss": [3.0, float("nan")]})
    assert "<svg" not in unstable._repr_html_()
