"""GloVe's records: bytes by hand, round trips, and files that lie."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from firth.errors import FormatError, OptionError
from firth.formats import glove_binary
from firth.formats.glove_binary import Records
from firth.models.count_matrix import CountMatrix
from firth.text.vocabulary import Vocabulary

WORDS = Vocabulary(["ice", "steam", "water"], [5, 4, 3])
MATRIX = csr_matrix([[0.0, 0.5, 3.0], [0.5, 0.0, 0.0], [3.0, 0.0, 1 / 3]])
BYTES = b"".join(
    struct.pack("<iid", *record) for record in [(1, 2, 0.5), (1, 3, 3.0), (2, 1, 0.5), (3, 1, 3.0), (3, 3, 1 / 3)]
)


def counts(matrix: csr_matrix = MATRIX, words: Vocabulary = WORDS) -> CountMatrix:
    return CountMatrix(matrix, words, words)


def test_a_matrix_becomes_records_of_sixteen_bytes_with_ids_from_one(tmp_path):
    glove_binary.write(counts(), tmp_path / "cooccurrence.bin")
    assert (tmp_path / "cooccurrence.bin").read_bytes() == BYTES


@pytest.mark.parametrize("name", ["c.bin", "c.bin.gz", "c.bin.xz"])
def test_what_was_written_is_read_again_packed_or_not(tmp_path, name):
    glove_binary.write(counts(), tmp_path / name)
    found = glove_binary.read(tmp_path / name, WORDS)
    assert (found.matrix != MATRIX).nnz == 0
    assert found.value("ice", "water") == 3.0
    assert found.value("water", "water") == 1 / 3


def test_records_may_come_in_any_order_and_twice(tmp_path):
    records = [(3, 1, 2.0), (1, 3, 3.0), (3, 1, 1.0), (1, 2, 0.5)]
    (tmp_path / "c.bin").write_bytes(b"".join(struct.pack("<iid", *record) for record in records))
    found = glove_binary.read(tmp_path / "c.bin", WORDS).matrix.toarray()
    np.testing.assert_array_equal(found, [[0, 0.5, 3], [0, 0, 0], [3, 0, 0]])


def test_records_come_in_blocks_as_often_as_they_are_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(glove_binary, "BLOCK", 32)
    (tmp_path / "c.bin").write_bytes(BYTES)
    records = Records(tmp_path / "c.bin", WORDS)
    for _ in range(2):
        batches = list(records)
        assert [len(rows) for rows, _, _ in batches] == [2, 2, 1]
        assert np.concatenate([columns for _, columns, _ in batches]).tolist() == [1, 2, 0, 0, 2]
    assert (glove_binary.read(tmp_path / "c.bin", WORDS).matrix != MATRIX).nnz == 0


@given(
    st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 5)), st.floats(1e-300, 1e300), min_size=1, max_size=20)
)
@settings(deadline=None, max_examples=30)
def test_a_round_trip_changes_no_bit(tmp_path_factory, cells):
    words = Vocabulary(list("abcdef"))
    rows, columns = zip(*cells)
    matrix = csr_matrix((list(cells.values()), (rows, columns)), shape=(6, 6))
    path = tmp_path_factory.mktemp("round") / "c.bin"
    glove_binary.write(counts(matrix, words), path)
    found = glove_binary.read(path, words).matrix
    assert found.toarray().tobytes() == matrix.toarray().tobytes()


def test_a_file_that_ends_inside_a_record_is_refused(tmp_path):
    (tmp_path / "c.bin").write_bytes(BYTES[:-1])
    with pytest.raises(FormatError, match="79 bytes are not a whole number of records"):
        Records(tmp_path / "c.bin", WORDS)
    (tmp_path / "c.bin.gz").write_bytes(gzip.compress(BYTES[:-1]))
    with pytest.raises(FormatError, match="79 bytes are not a whole number of records"):
        list(Records(tmp_path / "c.bin.gz", WORDS))


@pytest.mark.parametrize("record", [(0, 1, 1.0), (4, 1, 1.0), (-1, 1, 1.0), (1, 4, 1.0), (1, 2**31 - 1, 1.0)])
def test_an_id_beyond_the_words_is_refused_with_its_place(tmp_path, record):
    (tmp_path / "c.bin").write_bytes(BYTES + struct.pack("<iid", *record))
    with pytest.raises(FormatError, match=r"byte 80: the (row|column) -?\d+ is not an id from 1 to 3"):
        glove_binary.read(tmp_path / "c.bin", WORDS)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf"), -float("inf")])
def test_a_count_without_a_logarithm_is_refused_with_its_place(tmp_path, value):
    (tmp_path / "c.bin").write_bytes(struct.pack("<iid", 1, 2, value) + BYTES)
    with pytest.raises(FormatError, match=r"byte 0: the count .* is not a number above 0"):
        glove_binary.read(tmp_path / "c.bin", WORDS)


def test_an_empty_file_is_an_empty_matrix(tmp_path):
    (tmp_path / "c.bin").touch()
    assert glove_binary.read(tmp_path / "c.bin", WORDS).matrix.nnz == 0


def test_standard_input_cannot_be_read_twice():
    with pytest.raises(OptionError, match="read twice"):
        Records("-", WORDS)


def test_only_a_square_matrix_can_be_written(tmp_path):
    tall = CountMatrix(csr_matrix(np.ones((3, 1))), WORDS, Vocabulary(["solid"]))
    with pytest.raises(OptionError, match="3 × 1"):
        glove_binary.write(tall, tmp_path / "c.bin")
    assert not (tmp_path / "c.bin").exists()


def test_a_negative_count_is_not_written_and_leaves_no_file(tmp_path):
    with pytest.raises(OptionError, match="logarithm"):
        glove_binary.write(counts(csr_matrix(-np.eye(3))), tmp_path / "c.bin")
    assert not (tmp_path / "c.bin").exists()


def test_zeros_are_left_out(tmp_path):
    matrix = MATRIX.copy()
    matrix.data[0] = 0.0
    glove_binary.write(counts(matrix), tmp_path / "c.bin")
    assert (tmp_path / "c.bin").read_bytes() == BYTES[16:]
    assert matrix.nnz == 5


def test_words_and_their_counts_make_a_round_trip(tmp_path):
    words = Vocabulary(["the", "آب", "caf\udce9"], [9, 4, 1])
    glove_binary.write_words(words, tmp_path / "vocab.txt")
    assert (tmp_path / "vocab.txt").read_bytes() == "the 9\nآب 4\n".encode() + b"caf\xe9 1\n"
    assert glove_binary.read_words(tmp_path / "vocab.txt") == words


@pytest.mark.parametrize("line", [b"water", b"water x", b" 3", b"water 3 ", b"\n", b"water " + b"9" * 30])
def test_a_line_that_is_no_word_and_count_is_named(tmp_path, line):
    (tmp_path / "vocab.txt").write_bytes(b"ice 5\n" + line + b"\n")
    with pytest.raises(FormatError, match=r"vocab.txt:2: expected a word, a space and a count"):
        glove_binary.read_words(tmp_path / "vocab.txt")


def test_a_word_that_stands_twice_is_refused(tmp_path):
    (tmp_path / "vocab.txt").write_text("ice 5\nsteam 4\nice 3\n")
    with pytest.raises(FormatError, match="'ice' is listed twice"):
        glove_binary.read_words(tmp_path / "vocab.txt")


def test_a_word_with_a_blank_cannot_be_listed(tmp_path):
    with pytest.raises(FormatError, match="'New York'"):
        glove_binary.write_words(Vocabulary(["New York"]), tmp_path / "vocab.txt")


def test_raw_parameters_are_doubles_of_all_words_and_then_of_all_contexts(tmp_path):
    numbers = np.arange(18, dtype=np.float64).reshape(6, 3)  # three words of dim 2 with a bias, twice
    (tmp_path / "vectors.bin").write_bytes(numbers.tobytes())
    found = glove_binary.read_parameters(tmp_path / "vectors.bin", WORDS)
    np.testing.assert_array_equal(found.words, numbers[:3])
    np.testing.assert_array_equal(found.contexts, numbers[3:])
    glove_binary.write_parameters(found, tmp_path / "again.bin")
    assert (tmp_path / "again.bin").read_bytes() == numbers.tobytes()
    vectors = glove_binary.read_vectors(tmp_path / "vectors.bin", WORDS)
    np.testing.assert_array_equal(vectors["steam"], (numbers[1] + numbers[4])[:2])
    with pytest.raises(FormatError, match="144 bytes are not two rows of float64 for each of 5 words"):
        glove_binary.read_parameters(tmp_path / "vectors.bin", Vocabulary(list("abcde")))
    (tmp_path / "nan.bin").write_bytes(np.full(18, np.nan).tobytes())
    with pytest.raises(FormatError, match="not finite"):
        glove_binary.read_parameters(tmp_path / "nan.bin", WORDS)


def test_a_vocabulary_without_words_fits_no_parameters(tmp_path):
    (tmp_path / "vectors.bin").write_bytes(bytes(64))
    with pytest.raises(FormatError, match="has no words"):
        glove_binary.read_parameters(tmp_path / "vectors.bin", Vocabulary([]))
