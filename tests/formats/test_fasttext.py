"""fastText's files, read: golden numbers of its own program, memory mapping, and damaged files."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from firth.errors import FormatError
from firth.formats.registry import load, save
from firth.models.classifier_model import Classifier
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary
from firth.vectors.rows import DenseRows
from firth.vectors.subwords import Output, SubwordVectors
from firth.vectors.words import WordVectors

GOLDEN = ["crime-and-punishment.bin", "lee_fasttext.bin", "toy-model.bin", "toy-model-pretrained.bin"]

LABELS = Vocabulary(["__label__a", "__label__b"], [4, 3])


@pytest.fixture
def vectors(data: Path) -> Path:
    return data / "fixtures" / "vectors"


def save_model(path: Path, input_rows: int = 13) -> None:
    """Saves a supervised model of three words, two labels and ten buckets."""
    rows = np.ones((13, 5), np.float32)
    output = Output(DenseRows(rows[:2]), LABELS, "supervised", "softmax")
    made = SubwordVectors(Vocabulary(["</s>", "tea", "rain"], [9, 5, 2]), rows, Subwords(2, 3, 10), output=output)
    made.rows = DenseRows(rows[:input_rows])
    save(made, path)


@pytest.mark.parametrize("name", ["crime-and-punishment", "lee_fasttext", "toy-model"])
def test_a_model_gives_the_vectors_that_its_own_program_wrote_beside_it(vectors: Path, name: str) -> None:
    composed, printed = load(vectors / f"{name}.bin"), load(vectors / f"{name}.vec")
    assert composed.vocabulary.words == printed.vocabulary.words
    np.testing.assert_allclose(composed.matrix, printed.matrix, rtol=1e-4, atol=1e-5)  # five digits


def test_ngrams_have_the_vectors_that_fasttext_prints(vectors: Path) -> None:
    opened = load(vectors / "crime-and-punishment.bin")
    blocks = (vectors / "fb-ngrams.txt").read_text(encoding="utf-8").split("<start>\n")[1:]
    checked = 0
    for block in blocks:
        word, _, *lines = block.removesuffix("<end>\n").splitlines()
        printed = {line.rsplit(" ", 6)[0]: np.array(line.split(" ")[-6:-1], float) for line in lines}
        pairs = opened.subwords.pairs(word)
        assert {ngram for ngram, _ in pairs} == set(printed)
        for ngram, row in pairs:
            ours = opened.rows.take([len(opened) + row])[0]
            np.testing.assert_allclose(ours, printed[ngram], rtol=1e-4, atol=1e-6)
            checked += 1
    assert checked > 60


def test_the_input_matrix_is_mapped_and_not_read(vectors: Path) -> None:
    rows = load(vectors / "toy-model.bin").rows
    assert isinstance(rows, DenseRows)
    assert not rows.array.flags.owndata
    assert not rows.array.flags.writeable


def test_a_part_of_a_model_is_plain_vectors(vectors: Path) -> None:
    whole = load(vectors / "crime-and-punishment.bin")
    part = load(vectors / "crime-and-punishment.bin", limit=20)
    assert type(part) is WordVectors
    np.testing.assert_allclose(part.matrix, whole.matrix[:20], rtol=1e-6)
    wanted = whole.vocabulary[50]
    some = load(vectors / "crime-and-punishment.bin", vocabulary=[wanted, "absent"])
    assert some.vocabulary.words == (wanted,)
    np.testing.assert_allclose(some[wanted], whole[wanted], rtol=1e-6)


def test_a_packed_model_opens(vectors: Path, tmp_path: Path) -> None:
    (tmp_path / "a.bin.gz").write_bytes(gzip.compress((vectors / "toy-model.bin").read_bytes()))
    assert np.array_equal(load(tmp_path / "a.bin.gz").matrix, load(vectors / "toy-model.bin").matrix)


@pytest.mark.parametrize(
    "place, value, problem",
    [
        (4, struct.pack("<i", 99), "version 99"),
        (8, struct.pack("<i", 0), "0 numbers"),
        (8, struct.pack("<i", 10**9), "numbers are not possible"),
        (32, struct.pack("<i", 9), "loss has the number 9"),
        (36, struct.pack("<i", 9), "model has the number 9"),
        (48, struct.pack("<i", 10**9), "n-grams of"),
        (64, struct.pack("<3i", 2**31 - 1, 2**31 - 1, 0), "does not fit"),
        (64, struct.pack("<3i", 5, -1, 6), "cannot have"),
        (84, struct.pack("<q", 10**12), "the pruned index"),
    ],
)
def test_a_false_header_is_refused(tmp_path: Path, place: int, value: bytes, problem: str) -> None:
    save_model(tmp_path / "a.bin")
    raw = bytearray((tmp_path / "a.bin").read_bytes())
    raw[place : place + len(value)] = value
    (tmp_path / "a.bin").write_bytes(raw)
    with pytest.raises(FormatError, match=problem):
        load(tmp_path / "a.bin")


def test_a_matrix_that_is_too_small_or_followed_by_more_is_refused(tmp_path: Path) -> None:
    save_model(tmp_path / "a.bin", input_rows=12)
    with pytest.raises(FormatError, match="need 13 rows, but there are 12"):
        load(tmp_path / "a.bin")
    save_model(tmp_path / "a.bin")
    with open(tmp_path / "a.bin", "ab") as file:
        file.write(b"more")
    with pytest.raises(FormatError, match="4 bytes follow"):
        load(tmp_path / "a.bin")


@pytest.mark.parametrize("name", GOLDEN)
def test_a_damaged_model_loads_or_raises_our_error(
    data: Path, check_damaged: Callable[[bytes], None], name: str
) -> None:
    path = data / "fixtures" / "vectors" / name
    check_damaged(path.read_bytes())


def test_buckets_of_word_ngrams_need_rows_even_without_character_ngrams(tmp_path: Path) -> None:
    save_model(tmp_path / "a.bin")
    raw = bytearray((tmp_path / "a.bin").read_bytes())
    struct.pack_into("<i", raw, 8 + 4 * 5, 2)  # wordNgrams
    struct.pack_into("<3i", raw, 8 + 4 * 8, 10**9, 0, 0)  # bucket, minn, maxn
    (tmp_path / "a.bin").write_bytes(raw)
    with pytest.raises(FormatError, match="do not fit together"):
        load(tmp_path / "a.bin")
    struct.pack_into("<i", raw, 8 + 4 * 5, 1)  # without word n-grams the buckets are not used
    (tmp_path / "a.bin").write_bytes(raw)
    assert Classifier(load(tmp_path / "a.bin")).predict("tea rain")


def test_a_pruned_model_with_a_huge_table_of_buckets_is_refused(tmp_path: Path) -> None:
    rows = np.ones((5, 2), np.float32)
    output = Output(DenseRows(rows[:2]), LABELS, "supervised", "softmax")
    subwords = Subwords(2, 3, 100, pruned={bucket: bucket % 3 for bucket in range(100)})
    save(SubwordVectors(["tea", "rain"], rows, subwords, output=output), tmp_path / "a.bin")
    assert "teapot" in load(tmp_path / "a.bin")
    raw = bytearray((tmp_path / "a.bin").read_bytes())
    struct.pack_into("<i", raw, 8 + 4 * 8, 50_000_000)
    (tmp_path / "a.bin").write_bytes(raw)
    with pytest.raises(FormatError, match="pruned index names buckets"):
        load(tmp_path / "a.bin")
