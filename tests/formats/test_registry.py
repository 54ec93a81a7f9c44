"""Formats are detected by content, never by name; every format of vectors round-trips."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from firth.errors import FirthError, FormatError, OptionError
from firth.formats.registry import FORMATS, detect, load, save
from firth.text.subwords import Subwords
from firth.vectors.rows import ProductRows
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

VECTOR_FORMATS = ["word2vec", "word2vec-binary", "glove", "vec"]

SMALL = WordVectors(["tea", "rain", "سلام"], np.array([[0.1, -2.0], [3e-8, 4.0], [np.pi, 1e20]], np.float32))

PLAIN = WordVectors(["tea", "rain"], np.array([[1, 2.5], [3, 4]], np.float32))

ARPA = rb"""
\data\
ngram 1=3

\1-grams:
-0.5 <s>
-0.5 tea
-0.5 </s>

\end\
"""


def are_equal(a: WordVectors, b: WordVectors) -> bool:
    return a.vocabulary.words == b.vocabulary.words and a.matrix.tobytes() == b.matrix.tobytes()


@pytest.mark.parametrize("format", ["native", "word2vec", "word2vec-binary", "glove", "vec", "fasttext"])
def test_detection_ignores_the_name(tmp_path: Path, format: str) -> None:
    save(PLAIN, tmp_path / "model.jpg", format=format)
    assert detect(tmp_path / "model.jpg") == format
    assert load(tmp_path / "model.jpg").matrix.tolist() == PLAIN.matrix.tolist()


@pytest.mark.parametrize("format", VECTOR_FORMATS)
def test_what_is_written_comes_back_bit_for_bit_and_is_recognized(tmp_path: Path, format: str) -> None:
    save(SMALL, tmp_path / "file", format=format)
    assert detect(tmp_path / "file") == format
    assert are_equal(load(tmp_path / "file"), SMALL)


@pytest.mark.parametrize("format", VECTOR_FORMATS)
@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
def test_a_packed_file_opens_like_the_file_in_it(tmp_path: Path, format: str, ending: str) -> None:
    path = tmp_path / f"file{ending}"
    save(SMALL, path, format=format)
    assert detect(path) == format
    assert are_equal(load(path), SMALL)


words = st.lists(st.binary(min_size=1, max_size=6).map(lambda raw: raw.decode("utf-8", "surrogateescape")), max_size=6)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words, st.data(), st.sampled_from(VECTOR_FORMATS))
def test_a_round_trip_keeps_every_bit_or_names_the_word_that_cannot_be_held(
    tmp_path: Path, words: list[str], data: st.DataObject, format: str
) -> None:
    words = list(dict.fromkeys(words)) or ["one"]
    numbers = st.floats(width=32, allow_nan=False)
    vectors = WordVectors(words, data.draw(arrays.arrays(np.float32, (len(words), 3), elements=numbers)))
    try:
        save(vectors, tmp_path / "file", format=format)
    except FormatError as error:
        named = [word for word in words if repr(word) in str(error)]
    else:
        named = []
    assert named or are_equal(load(tmp_path / "file", format=format), vectors)


@pytest.mark.parametrize("format", VECTOR_FORMATS)
def test_a_damaged_file_loads_or_raises_our_error(tmp_path: Path, format: str) -> None:
    rng = np.random.default_rng(3)
    save(SMALL, tmp_path / "whole", format=format)
    whole = (tmp_path / "whole").read_bytes()
    for i in range(120):
        damaged = bytearray(whole[: rng.integers(len(whole))] if i % 3 == 0 else whole)
        for _ in range(rng.integers(1, 4)):
            if damaged:
                damaged[rng.integers(len(damaged))] = rng.integers(256)
        (tmp_path / "file").write_bytes(damaged)
        with contextlib.suppress(FirthError):
            assert load(tmp_path / "file").matrix.shape[1] >= 1


@pytest.mark.parametrize(
    "name, format",
    [
        ("a.txt", "word2vec"),
        ("a.txt.gz", "word2vec"),
        ("glove.a.txt", "glove"),
        ("a.vec.zst", "vec"),
        ("a.bin", "word2vec-binary"),
        ("a", "native"),
    ],
)
def test_the_ending_chooses_the_format_to_write(tmp_path: Path, name: str, format: str) -> None:
    save(PLAIN, tmp_path / name)
    assert detect(tmp_path / name) == format


def test_subword_vectors_called_bin_are_a_fasttext_model(tmp_path: Path) -> None:
    save(SubwordVectors(["tea"], np.ones((11, 2), np.float32), Subwords(3, 3, 10)), tmp_path / "a.bin")
    assert detect(tmp_path / "a.bin") == "fasttext"


def test_quantized_rows_can_be_written_as_ftz_and_as_text(tmp_path: Path) -> None:
    rows = ProductRows(np.zeros((1, 1), np.uint8), np.ones(512, np.float32), 2, 2)
    made = SubwordVectors(["tea"], rows, Subwords(0, 0, 0))
    save(made, tmp_path / "a.ftz")
    assert load(tmp_path / "a.ftz").rows.dtype_name == rows.dtype_name
    save(made, tmp_path / "a.vec")
    assert load(tmp_path / "a.vec")["tea"].tolist() == [1, 1]


def test_an_arpa_file_is_known_by_its_first_section(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(ARPA)
    assert detect(tmp_path / "model") == "arpa"
    assert load(tmp_path / "model").order == 1
    with pytest.raises(OptionError, match="limit"):
        load(tmp_path / "model", limit=3)


def test_places_that_hold_no_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no such file"):
        load(tmp_path / "absent")
    with pytest.raises(OptionError, match="no such file"):
        load(tmp_path / "absent", format="glove")
    with pytest.raises(FormatError, match=r"no config\.json"):
        load(tmp_path)
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(FormatError, match="the file is empty"):
        load(tmp_path / "empty")


def test_invalid_options_are_refused(tmp_path: Path) -> None:
    save(PLAIN, tmp_path / "a.txt")
    for wrong in ({"limit": 0}, {"format": "poem"}, {"vocabulary": tmp_path / "absent"}):
        with pytest.raises(OptionError):
            load(tmp_path / "a.txt", **wrong)
    with pytest.raises(OptionError, match=r"the ending \.poem"):
        save(PLAIN, tmp_path / "a.poem")
    with pytest.raises(OptionError, match="cannot be written as arpa"):
        save(PLAIN, tmp_path / "a.arpa")
    with pytest.raises(OptionError, match="no format is called"):
        save(PLAIN, tmp_path / "a", format="poem")


def test_a_wrong_explicit_format_is_an_error(tmp_path: Path) -> None:
    save(WordVectors(["tea", "rain"], np.full((2, 9), 0.125)), tmp_path / "a.txt")
    for format in ("word2vec-binary", "fasttext", "ftz", "native"):
        with pytest.raises(FormatError):
            load(tmp_path / "a.txt", format=format)


def test_every_golden_file_is_known_or_refused_with_a_reason(data: Path) -> None:
    kinds = {}
    for path in sorted((data / "fixtures" / "vectors").iterdir()):
        try:
            kinds[path.name] = detect(path)
        except FormatError:
            kinds[path.name] = "refused"
    assert kinds.pop("fb-ngrams.txt") in FORMATS  # lines of n-grams and numbers, told apart only when they are read
    assert {name: kind for name, kind in kinds.items() if kind == "refused"} == {
        "crime-and-punishment.txt": "refused",
        "toy-data.txt": "refused",
    }


def test_words_in_another_encoding_are_read_as_they_were_meant(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("2 2\ncafé 1 2\nthé 3 4\n".encode("latin-1"))
    assert load(tmp_path / "a.txt", encoding="latin-1")["café"].tolist() == [1, 2]
    assert "café" not in load(tmp_path / "a.txt")
    with pytest.raises(OptionError, match="the words cannot be decoded as 'utf-8'"):
        load(tmp_path / "a.txt", encoding="utf-8")
    with pytest.raises(OptionError, match="cannot be decoded as 'poem'"):
        load(tmp_path / "a.txt", encoding="poem")
