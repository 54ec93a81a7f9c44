"""fastText's files, written: byte-for-byte round trips of every version, loss and quantization."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from firth.errors import FormatError
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


def quantized_rows(rows: int, dim: int, dsub: int, norms: bool, seed: int = 0) -> ProductRows:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, (rows, -(-dim // dsub)), np.uint8)
    centroids = rng.standard_normal(256 * dim).astype(np.float32)
    if not norms:
        return ProductRows(codes, centroids, dim, dsub)
    return ProductRows(
        codes, centroids, dim, dsub, rng.integers(0, 256, rows, np.uint8), rng.random(256).astype(np.float32)
    )


def build_model(rows: Rows, output: Rows, pruned: dict[int, int] | None = None, **facts: object) -> SubwordVectors:
    """Three words, two labels and ten buckets."""
    return SubwordVectors(
        Vocabulary(["</s>", "tea", "caf\udc82"], [9, 5, 2]),
        rows,
        Subwords(2, 3, 10, pruned),
        output=Output(output, Vocabulary(["__label__a", "__label__b"], [4, 3]), "supervised", "softmax"),
        metadata={"fasttext": {"version": 12, "tokens": 16, "ws": 7, **facts}},
    )


def dense_rows(rows: int, seed: int = 0) -> DenseRows:
    return DenseRows(np.random.default_rng(seed).standard_normal((rows, 5)).astype(np.float32))


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_models_are_written_back_byte_for_byte(vectors: Path, tmp_path: Path, name: str) -> None:
    assert detect(vectors / name) == "fasttext"
    save(load(vectors / name), tmp_path / name)
    assert (tmp_path / name).read_bytes() == (vectors / name).read_bytes()
    save(load(vectors / name), tmp_path / "folder")
    save(load(tmp_path / "folder"), tmp_path / name)
    assert (tmp_path / name).read_bytes() == (vectors / name).read_bytes()


@pytest.mark.parametrize("version", [11, 12, fasttext.OLDEST])
@pytest.mark.parametrize("loss", ["hs", "ns", "softmax", "ova"])
@pytest.mark.parametrize("kind", ["cbow", "skipgram", "supervised"])
def test_every_version_loss_and_model_comes_back(tmp_path: Path, version: int, loss: str, kind: str) -> None:
    made = build_model(dense_rows(13), dense_rows(3, seed=1), version=version, maxn=3)
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
    output = dense_rows(2) if output_norms is None else quantized_rows(2, 5, 2, output_norms)
    made = build_model(quantized_rows(5, 5, dsub, norms), output, pruned={7: 1, 2: 0})
    save(made, tmp_path / "a.ftz")
    again = load(tmp_path / "a.ftz")
    assert again.subwords.pruned == {7: 1, 2: 0}
    assert again.rows.take(range(5)).tobytes() == made.rows.take(range(5)).tobytes()
    assert again.output.rows.take([0, 1]).tobytes() == output.take([0, 1]).tobytes()
    save(again, tmp_path / "b.ftz")
    assert (tmp_path / "a.ftz").read_bytes() == (tmp_path / "b.ftz").read_bytes()


def test_the_head_of_a_file_is_as_fasttext_lays_it_out(tmp_path: Path) -> None:
    save(build_model(dense_rows(13), dense_rows(2)), tmp_path / "a.bin")
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


def test_ngrams_without_buckets_are_not_written(tmp_path: Path) -> None:
    made = SubwordVectors(["tea"], [[1.0]], Subwords(3, 6, 0), metadata={"fasttext": {"wordNgrams": 2}})
    save(made, tmp_path / "a.bin")
    written = load(tmp_path / "a.bin").metadata["fasttext"]  # fastText would divide by zero buckets
    assert (written["maxn"], written["wordNgrams"], written["bucket"]) == (0, 1, 0)


def test_rows_that_are_not_quantized_are_no_ftz(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="product-quantized"):
        save(build_model(dense_rows(13), dense_rows(2)), tmp_path / "a.ftz")
    with pytest.raises(FormatError, match="zero byte"):
        save(WordVectors(["a\0b"], [[1.0]]), tmp_path / "a.bin", format="fasttext")


def test_a_damaged_quantized_model_loads_or_raises_our_error(
    tmp_path: Path, check_damaged: Callable[[bytes], None]
) -> None:
    path = tmp_path / "quantized"
    rows, output = quantized_rows(5, 5, 2, True), quantized_rows(2, 5, 2, True)
    save(build_model(rows, output, pruned={7: 1, 2: 0}), path, format="ftz")
    check_damaged(path.read_bytes())
