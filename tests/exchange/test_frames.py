"""Frames of Arrow, pandas and polars, in and out, with the real packages."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest

import firth
from firth.errors import OptionError
from firth.evaluate.score import Score
from firth.exchange.frames import corpus_from_frame, encode_frame, to_frame
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary, to_word
from firth.vectors.conversions import FrameLibrary
from firth.vectors.words import WordVectors

pa = pytest.importorskip("pyarrow", reason="needs pip install 'firth[arrow]'")
ROWS = np.random.default_rng(5).normal(size=(4, 3)).astype(np.float32)
TEA = WordVectors(Vocabulary(["the", "tea", "چای", "می\u200cنوشم"], [9, 5, 2, 2]), ROWS)
LIBRARIES = get_args(FrameLibrary)


def needs(library: str) -> Any:
    return pytest.importorskip({"arrow": "pyarrow"}.get(library, library))


def column(frame: Any, name: str) -> list[Any]:
    values = frame[name]
    return values.to_list() if hasattr(values, "to_list") else values.to_pylist()


@pytest.mark.parametrize("library", LIBRARIES)
def test_vectors_make_a_round_trip_through_a_frame(library: FrameLibrary) -> None:
    needs(library)
    frame = TEA.to_frame(library)
    assert column(frame, "word") == list(TEA)
    assert column(frame, "count") == [9, 5, 2, 2]
    assert np.array_equal(np.array([list(row) for row in column(frame, "vector")], np.float32), ROWS)
    back = WordVectors.from_frame(frame)
    assert back.vocabulary.words == TEA.vocabulary.words
    assert back.vocabulary.counts.tolist() == [9, 5, 2, 2]
    assert np.array_equal(back.matrix, ROWS)
    assert back.most_similar("tea") == TEA.most_similar("tea")


def test_arrow_shares_the_memory_of_the_vectors_both_ways() -> None:
    table = TEA.to_frame("arrow")
    values = table.column("vector").chunk(0).values.to_numpy()
    assert np.shares_memory(values, ROWS)
    back = WordVectors.from_frame(table)
    assert np.shares_memory(back.matrix, ROWS)
    words = np.frombuffer(table.column("word").chunk(0).buffers()[2], np.uint8)
    assert np.shares_memory(back.vocabulary.blob, words)


def test_polars_and_pandas_share_what_they_can() -> None:
    polars, _ = needs("polars"), needs("pandas")
    frame = TEA.to_frame("polars")
    assert frame.schema["vector"] == polars.Array(polars.Float32, 3)
    assert np.shares_memory(frame["vector"].to_arrow().flatten().to_numpy(), ROWS)
    assert all(np.shares_memory(row, ROWS) for row in TEA.to_frame("pandas")["vector"])


def test_a_part_of_a_table_is_that_part() -> None:
    back = WordVectors.from_frame(TEA.to_frame("arrow").slice(1, 2))
    assert back.vocabulary.words == ("tea", "چای")
    assert np.array_equal(back.matrix, ROWS[1:3])
    several = pa.concat_tables([TEA.to_frame("arrow").slice(0, 2), TEA.to_frame("arrow").slice(2, 2)])
    assert np.array_equal(WordVectors.from_frame(several).matrix, ROWS)


def test_frames_of_lists_with_other_names_and_types_are_read() -> None:
    pandas, polars = needs("pandas"), needs("polars")
    frame = pandas.DataFrame({"token": ["a", "b"], "emb": [[1, 2], [3, 4]], "n": [1, 7]})
    vectors = WordVectors.from_frame(frame, word="token", vector="emb", count="n")
    assert vectors.vocabulary.words == ("b", "a")  # by falling count
    assert vectors["a"].tolist() == [1, 2]
    lists = polars.DataFrame({"word": ["a", "b"], "vector": [[1.5, 2.0], [3.0, 4.0]]})
    assert WordVectors.from_frame(lists)["a"].tolist() == [1.5, 2.0]
    assert WordVectors.from_frame(lists).vocabulary.counts is None
    category = frame.astype({"token": "category"})
    assert WordVectors.from_frame(category, word="token", vector="emb", count=None).vocabulary.words == ("a", "b")


class OnlyCapsules:
    """A frame of a package that nobody knows, with Arrow's interface."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def test_any_package_with_arrows_interface_is_read() -> None:
    assert WordVectors.from_frame(OnlyCapsules(TEA.to_frame("arrow"))).vocabulary.words == TEA.vocabulary.words


@pytest.mark.parametrize(
    "table,problem",
    [
        ({"w": ["a"], "vector": [[1.0]]}, r"no column 'word'\. Its columns are 'w', 'vector'"),
        ({"word": ["a", "a"], "vector": [[1.0], [2.0]]}, "the word 'a' stands twice"),
        ({"word": ["a", None], "vector": [[1.0], [2.0]]}, "'word' has no value in row 1"),
        ({"word": ["a", "b"], "vector": [[1.0], [2.0, 3.0]]}, "vectors of 1 and of 2 numbers"),
        ({"word": ["a", "b"], "vector": [[1.0], None]}, "'vector' has no value in row 1"),
        ({"word": ["a"], "vector": [[None, 1.0]]}, "1 of them missing"),
        ({"word": ["a"], "vector": [["x"]]}, "vectors of numbers are needed"),
        ({"word": ["a"], "vector": [1.0]}, "lists of numbers are needed"),
        ({"word": [1], "vector": [[1.0]]}, "type int64, but texts are needed"),
        ({"word": ["a"], "vector": [[1.0]], "count": ["x"]}, "counts are needed"),
        ({"word": ["a"], "vector": [[1.0]], "count": [-1]}, "counts must be at least 0"),
    ],
)
def test_a_frame_that_holds_no_vectors_is_an_error_with_the_place(table: dict[str, Any], problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        WordVectors.from_frame(pa.table(table))


def frame_with(places: list[int], data: bytes = b"tearain") -> Any:
    """A frame whose column of two texts has these offsets. Arrow does not check what it reads from a file."""
    table = pa.table({"word": pa.array(["tea", "rain"], pa.large_string()), "vector": [[1.0], [2.0]]})
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    content = bytes(stream.getvalue())
    before, after = (np.array(one, np.int64).tobytes() for one in ([0, 3, 7], places))
    assert content.count(before) == content.count(b"tearain") == 1
    content = content.replace(before, after).replace(b"tearain", data)
    return pa.ipc.open_stream(pa.py_buffer(content)).read_all()


@pytest.mark.parametrize(
    "places,data",
    [([0, 3, 1 << 40], b"tearain"), ([0, -7, 7], b"tearain"), ([0, 7, 3], b"tearain"), ([0, 3, 7], b"\xff\xfearain")],
)
def test_a_damaged_column_of_texts_is_an_error_and_no_crash(places: list[int], data: bytes) -> None:
    for read in (WordVectors.from_frame, lambda frame: corpus_from_frame(frame, "word").tokens()):
        with pytest.raises(OptionError, match="the column 'word' of the frame is damaged"):
            read(frame_with(places, data))


def test_codes_of_no_text_are_an_error() -> None:
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 9], pa.int32()), pa.array(["tea"]), safe=False)
    with pytest.raises(OptionError, match="the column 'word' of the frame is damaged"):
        WordVectors.from_frame(pa.table({"word": codes, "vector": [[1.0], [2.0]]}))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e300])
def test_a_vector_that_is_not_finite_is_an_error_with_its_row(number: float) -> None:
    with pytest.raises(OptionError, match="'vector' has a vector in row 1 that is not finite"):
        WordVectors.from_frame(pa.table({"word": ["tea", "rain"], "vector": [[1.0, 2.0], [3.0, number]]}))


def test_bytes_behind_the_offsets_of_words_are_no_offsets() -> None:
    offsets = pa.py_buffer(np.array([0, 3, 6], np.int64).tobytes() + b"odd")
    words = pa.Array.from_buffers(pa.large_string(), 2, [None, offsets, pa.py_buffer(b"teacup")])
    table = pa.table({"word": words, "vector": [[1.0], [2.0]]})
    assert WordVectors.from_frame(table).vocabulary.words == ("tea", "cup")
    assert WordVectors.from_frame(table.slice(1)).vocabulary.words == ("cup",)


def test_categories_and_views_of_texts_are_read() -> None:
    polars = needs("polars")
    frame = polars.DataFrame({"word": polars.Series(["tea", "rain"], dtype=polars.Categorical), "vector": [[1.0], [2]]})
    assert WordVectors.from_frame(frame).vocabulary.words == ("tea", "rain")
    if not hasattr(pa, "string_view"):
        return  # before version 16
    table = pa.table({"word": pa.array(["tea", "a word of some length"], pa.string_view()), "vector": [[1.0], [2.0]]})
    assert WordVectors.from_frame(table).vocabulary.words == ("tea", "a word of some length")


def test_numbers_that_arrow_does_not_have_are_an_error() -> None:
    pandas = needs("pandas")
    with pytest.raises(OptionError, match="cannot be read as Arrow"):
        WordVectors.from_frame(pandas.DataFrame({"word": ["tea"], "vector": [[1.0]], "count": [10**30]}))


def test_words_that_are_not_utf8_are_marked_with_a_warning() -> None:
    vectors = WordVectors([to_word(b"caf\xe9"), "tea"], np.eye(2))
    with pytest.warns(UserWarning, match=r"1 words are not UTF-8.*caf\\xe9"):
        frame = vectors.to_frame("arrow")
    assert column(frame, "word") == ["caf?", "tea"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_texts_of_a_frame_are_encoded_beside_its_other_columns(library: FrameLibrary) -> None:
    needs(library)
    texts = ["the tea", "می‌نوشم چای", "nothing known"]
    source = encode_frame(TEA, texts, library=library)
    assert column(source, "text") == texts
    found = np.array([list(row) for row in column(source, "vector")], np.float32)
    assert np.array_equal(found, TEA.encode(texts))
    again = encode_frame(TEA, source, vector="second", normalize=True)
    assert type(again) is type(source)
    names = again.column_names if library == "arrow" else list(again.columns)
    assert names == ["text", "vector", "second"]
    with pytest.raises(OptionError, match="has a column 'vector' already"):
        encode_frame(TEA, source)


@pytest.mark.parametrize("library", LIBRARIES)
def test_neighbors_and_scores_are_frames(library: FrameLibrary) -> None:
    needs(library)
    near = TEA.most_similar("tea", topn=2)
    frame = to_frame(near, library)
    assert column(frame, "word") == [word for word, _ in near]
    assert column(frame, "cosine") == [cosine for _, cosine in near]
    both = to_frame(dict(zip(["tea", "the"], TEA.most_similar_each(["tea", "the"], topn=2))), library)
    assert column(both, "query") == ["tea", "tea", "the", "the"]
    assert column(both, "rank") == [1, 2, 1, 2]
    scores = [
        Score("similarity", "men", "spearman", 0.5, (0.4, 0.6), 9, 10),
        Score("analogy", "x", "accuracy", None, None, 0, 7),
    ]
    table = to_frame(scores, library)
    assert column(table, "name") == ["men", "x"]
    assert column(table, "coverage") == [0.9, 0.0]
    assert column(table, "high")[0] == 0.6
    missing = column(table, "value")[1]
    assert missing is None or np.isnan(missing)


def test_an_array_of_vectors_is_a_frame() -> None:
    assert to_frame(ROWS, "arrow").column_names == ["vector"]


@pytest.mark.parametrize("wrong", [3, "tea", [], {"tea": 3}, object()])
def test_what_has_no_frame_is_an_error(wrong: Any) -> None:
    if wrong == []:
        assert to_frame(wrong, "arrow").num_rows == 0  # no scores
        return
    with pytest.raises(OptionError, match="has no frame"):
        to_frame(wrong, "arrow")


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_column_is_a_corpus(library: FrameLibrary) -> None:
    needs(library)
    table = pa.table({"body": ["Hot tea.", "Cold rain. Hot sun."], "tag": ["drink", "sky"]})
    frame = (
        table if library == "arrow" else table.to_pandas() if library == "pandas" else needs("polars").from_arrow(table)
    )
    corpus = firth.Corpus.from_frame(frame, "body", tags="tag", tokenizer=Tokenizer(mode="whitespace"))
    assert list(corpus.texts()) == ["Hot tea.", "Cold rain. Hot sun."]
    assert corpus.vocabulary.words[0] == "Hot"
    assert corpus.tags == ["drink", "sky"]
    model = firth.Counts(kind="document-term").fit(corpus_from_frame(frame, "body"))
    assert model is not None


def test_a_missing_text_is_an_error_with_its_row() -> None:
    with pytest.raises(OptionError, match=r"'text' has no value in row 1\. Drop or fill"):
        firth.Corpus.from_frame(pa.table({"text": ["tea", None]}))
    with pytest.raises(OptionError, match="is no frame"):
        firth.Corpus.from_frame("tea")


def test_a_shipped_model_is_a_frame_without_a_copy_of_its_words() -> None:
    vectors = firth.load("svd-en")
    back = WordVectors.from_frame(vectors.to_frame("arrow"))
    assert back.vocabulary.words == vectors.vocabulary.words
    assert back.most_similar("king") == vectors.most_similar("king")
