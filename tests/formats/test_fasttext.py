"""fastText's files: golden numbers of its own program, byte-for-byte round trips, and files that are damaged."""

from __future__ import annotations

import contextlib
import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from firth.errors import FirthError, FormatError
from firth.formats import fasttext
from firth.formats.registry import detect, load, save
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary
from firth.vectors.rows import DenseRows, ProductRows, Rows
from firth.vectors.subwords import Output, SubwordVectors
from firth.vectors.words import WordVectors

GOLDEN = ["crime-and-punishment.bin", "lee_fasttext.bin", "toy-model.bin", "toy-model-pretrained.bin"]


@pytest.fixture
def vectors(data: Path) -> Path:
    return data / "fixtures" / "vectors"


def product(rows: int, dim: int, dsub: int, norms: bool, seed: int = 0) -> ProductRows:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, (rows, -(-dim // dsub)), np.uint8)
    centroids = rng.standard_normal(256 * dim).astype(np.float32)
    if not norms:
        return ProductRows(codes, centroids, dim, dsub)
    return ProductRows(
        codes, centroids, dim, dsub, rng.integers(0, 256, rows, np.uint8), rng.random(256).astype(np.float32)
    )


def model(rows: Rows, output: Rows, pruned: dict[int, int] | None = None, **facts: object) -> SubwordVectors:
    """Three words, two labels and ten buckets."""
    return SubwordVectors(
        Vocabulary(["</s>", "tea", "caf\udc82"], [9, 5, 2]),
        rows,
        Subwords(2, 3, 10, pruned),
        output=Output(output, Vocabulary(["__label__a", "__label__b"], [4, 3]), "supervised", "softmax"),
        metadata={"fasttext": {"version": 12, "tokens": 16, "ws": 7, **facts}},
    )


def dense(rows: int, seed: int = 0) -> DenseRows:
    return DenseRows(np.random.default_rng(seed).standard_normal((rows, 5)).astype(np.float32))


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_models_are_written_back_byte_for_byte(vectors: Path, tmp_path: Path, name: str) -> None:
    assert detect(vectors / name) == "fasttext"
    save(load(vectors / name), tmp_path / name)
    assert (tmp_path / name).read_bytes() == (vectors / name).read_bytes()
    save(load(vectors / name), tmp_path / "folder")
    save(load(tmp_path / "folder"), tmp_path / name)
    assert (tmp_path / name).read_bytes() == (vectors / name).read_bytes()


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


@pytest.mark.parametrize("version", [11, 12, fasttext.OLDEST])
@pytest.mark.parametrize("loss", ["hs", "ns", "softmax", "ova"])
@pytest.mark.parametrize("kind", ["cbow", "skipgram", "supervised"])
def test_every_version_loss_and_model_comes_back(tmp_path: Path, version: int, loss: str, kind: str) -> None:
    made = model(dense(13), dense(3, seed=1), version=version, maxn=3)
    made.output = Output(made.output.rows, made.output.labels, kind, loss)  # type: ignore[union-attr, arg-type]
    save(made, tmp_path / "a.bin")
    again = load(tmp_path / "a.bin")
    assert (again.output.model, again.output.loss) == (kind, loss)
    assert again.vocabulary == made.vocabulary
    assert again.output.labels.words == ("__label__a", "__label__b")
    assert np.array_equal(again.rows.array, made.rows.array)  # type: ignore[attr-defined]
    assert np.array_equal(again.output.rows.array, made.output.rows.array)  # type: ignore[union-attr, attr-defined]
    assert again.subwords.maxn == (0 if kind == "supervised" and version < 12 else 3)
    save(again, tmp_path / "b.bin")
    assert (tmp_path / "a.bin").read_bytes() == (tmp_path / "b.bin").read_bytes()


@pytest.mark.parametrize("norms", [False, True])
@pytest.mark.parametrize("output_norms", [None, False, True])
@pytest.mark.parametrize("dsub", [2, 5])
def test_quantized_and_pruned_models_come_back(
    tmp_path: Path, norms: bool, output_norms: bool | None, dsub: int
) -> None:
    output = dense(2) if output_norms is None else product(2, 5, 2, output_norms)
    made = model(product(5, 5, dsub, norms), output, pruned={7: 1, 2: 0})
    save(made, tmp_path / "a.ftz")
    again = load(tmp_path / "a.ftz")
    assert again.subwords.pruned == {7: 1, 2: 0}
    assert again.rows.take(range(5)).tobytes() == made.rows.take(range(5)).tobytes()
    assert again.output.rows.take([0, 1]).tobytes() == output.take([0, 1]).tobytes()
    save(again, tmp_path / "b.ftz")
    assert (tmp_path / "a.ftz").read_bytes() == (tmp_path / "b.ftz").read_bytes()


def test_the_head_of_a_file_is_as_fasttext_lays_it_out(tmp_path: Path) -> None:
    save(model(dense(13), dense(2)), tmp_path / "a.bin")
    raw = (tmp_path / "a.bin").read_bytes()
    assert struct.unpack_from("<2i12id", raw) == (793712314, 12, 5, 7, 5, 5, 5, 1, 3, 3, 10, 2, 3, 100, 1e-4)
    assert struct.unpack_from("<3iqq", raw, 64) == (5, 3, 2, 16, -1)
    assert raw[92:].startswith(b"</s>\0" + struct.pack("<qb", 9, 0) + b"tea\0")


def test_plain_vectors_become_a_model_without_ngrams(tmp_path: Path) -> None:
    plain = WordVectors(["tea", "rain"], np.eye(2, dtype=np.float32))
    save(plain, tmp_path / "a.bin", format="fasttext")
    opened = load(tmp_path / "a.bin")
    assert not opened.subwords.used
    assert np.array_equal(opened.matrix, plain.matrix)


def test_rows_that_are_not_quantized_are_no_ftz(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="product-quantized"):
        save(model(dense(13), dense(2)), tmp_path / "a.ftz")
    with pytest.raises(FormatError, match="zero byte"):
        save(WordVectors(["a\0b"], [[1.0]]), tmp_path / "a.bin", format="fasttext")


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
def test_a_head_that_lies_is_refused(tmp_path: Path, place: int, value: bytes, problem: str) -> None:
    save(model(dense(13), dense(2)), tmp_path / "a.bin")
    raw = bytearray((tmp_path / "a.bin").read_bytes())
    raw[place : place + len(value)] = value
    (tmp_path / "a.bin").write_bytes(raw)
    with pytest.raises(FormatError, match=problem):
        load(tmp_path / "a.bin")


def test_a_matrix_that_is_too_small_or_followed_by_more_is_refused(tmp_path: Path) -> None:
    made = model(dense(13), dense(2))
    made.rows = dense(12)
    save(made, tmp_path / "a.bin")
    with pytest.raises(FormatError, match="has 12 rows, but 13 are needed"):
        load(tmp_path / "a.bin")
    save(model(dense(13), dense(2)), tmp_path / "a.bin")
    with open(tmp_path / "a.bin", "ab") as file:
        file.write(b"more")
    with pytest.raises(FormatError, match="4 bytes follow"):
        load(tmp_path / "a.bin")


@pytest.mark.parametrize("name", [*GOLDEN, "quantized"])
def test_a_damaged_model_loads_or_raises_our_error(data: Path, tmp_path: Path, name: str) -> None:
    path = data / "fixtures" / "vectors" / name
    if name == "quantized":
        path = tmp_path / name
        save(model(product(5, 5, 2, True), product(2, 5, 2, True), pruned={7: 1, 2: 0}), path, format="ftz")
    whole = path.read_bytes()
    rng = np.random.default_rng(4)
    for i in range(120):
        damaged = bytearray(whole[: rng.integers(len(whole))] if i % 3 == 0 else whole)
        for _ in range(rng.integers(1, 4)):
            place = rng.integers(min(len(damaged), 300)) if i % 2 else rng.integers(len(damaged))
            damaged[place] = rng.integers(256)
        (tmp_path / "damaged").write_bytes(damaged)
        with contextlib.suppress(FirthError):
            assert load(tmp_path / "damaged").rows.shape[1] >= 1
