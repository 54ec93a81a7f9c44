"""Writes `.bin` and `.ftz` files, byte for byte as fastText does."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from firth.errors import FormatError
from firth.files import Name, write_bytes
from firth.formats.fasttext import ARGUMENTS, LOSSES, MAGIC, MODELS, NEWEST, OLDEST
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary, to_bytes
from firth.vectors.rows import DenseRows, ProductRows, Rows
from firth.vectors.subwords import Output, SubwordVectors
from firth.vectors.words import WordVectors

DEFAULTS = {"ws": 5, "epoch": 5, "minCount": 5, "neg": 5, "wordNgrams": 1, "lrUpdateRate": 100, "t": 1e-4}


def write(vectors: WordVectors, path: Name) -> None:
    """Writes a model as `.bin`. Plain vectors become a model without n-grams; a missing output matrix is zero."""
    if isinstance(vectors, SubwordVectors):
        subwords, output = vectors.subwords, vectors.output
    else:
        subwords, output = Subwords(0, 0, 0), None
    if subwords.units != "characters":
        problem = f"the n-grams of this model are of {subwords.units}, which files of fastText do not have"
        raise FormatError(path, problem, cure="Save it in firth's own format: a name without an ending")
    if output is None:
        zeros = np.broadcast_to(np.float32(0), (len(vectors), vectors.dim))
        output = Output(DenseRows(zeros), None, "skipgram", "ns")
    arguments = _build_arguments(vectors, subwords, output)
    with write_bytes(path) as file:
        if arguments["version"] != OLDEST:
            file.write(MAGIC + struct.pack("<i", arguments["version"]))
        file.write(struct.pack("<12id", *(arguments[name] for name in ARGUMENTS), arguments["t"]))
        _write_dictionary(file, path, vectors.vocabulary, output.labels, subwords.pruned, arguments)
        for rows, mark in ((vectors.rows, isinstance(vectors.rows, ProductRows)), (output.rows, arguments["qout"])):
            if arguments["version"] != OLDEST:
                file.write(struct.pack("<?", mark))
            if isinstance(rows, ProductRows):
                _write_quantized(file, rows)
            else:
                _write_dense(file, rows)


def write_quantized(vectors: WordVectors, path: Name) -> None:
    """Writes a model as `.ftz`; its rows must be product-quantized."""
    if not isinstance(vectors, SubwordVectors) or not isinstance(vectors.rows, ProductRows):
        dtype = vectors.rows.dtype_name
        raise FormatError(
            path, f"an .ftz file contains product-quantized rows, but these are {dtype}", cure="Save as .bin"
        )
    write(vectors, path)


def _build_arguments(vectors: WordVectors, subwords: Subwords, output: Output) -> dict[str, Any]:
    """The values of the header: from the model, else from the original file, else the defaults of fastText."""
    known: Mapping[str, Any] = vectors.metadata.get("fasttext", {})
    arguments = DEFAULTS | {"version": NEWEST, "tokens": vectors.vocabulary.total, "maxn": subwords.maxn} | dict(known)
    arguments |= {"dim": vectors.dim, "bucket": subwords.buckets, "minn": subwords.minn}
    arguments["loss"] = next(number for number, name in LOSSES.items() if name == output.loss)
    arguments["model"] = next(number for number, name in MODELS.items() if name == output.model)
    quantized = isinstance(output.rows, ProductRows)
    arguments["qout"] = quantized or (known.get("qout", False) and not isinstance(vectors.rows, ProductRows))
    if arguments["version"] == OLDEST and (subwords.pruned is not None or isinstance(vectors.rows, ProductRows)):
        arguments["version"] = NEWEST
    ignored = output.model == "supervised" and arguments["version"] < NEWEST  # maxn is written but has no effect
    if not ignored:
        arguments["maxn"] = subwords.maxn
    if subwords.buckets == 0:  # fastText divides by the number of buckets where there are n-grams
        arguments |= {"maxn": 0, "wordNgrams": min(1, arguments["wordNgrams"])}
    return arguments


def _write_dictionary(
    file: IO[bytes],
    path: Name,
    words: Vocabulary,
    labels: Vocabulary | None,
    pruned: Mapping[int, int] | None,
    arguments: Mapping[str, Any],
) -> None:
    label_count = 0 if labels is None else len(labels)
    file.write(struct.pack("<3iq", len(words) + label_count, len(words), label_count, arguments["tokens"]))
    if arguments["version"] != OLDEST:
        file.write(struct.pack("<q", -1 if pruned is None else len(pruned)))
    for kind, entries in ((0, words), (1, labels or Vocabulary(()))):
        counts = np.ones(len(entries), np.int64) if entries.counts is None else entries.counts
        for word, count in zip(entries, counts.tolist()):
            raw = to_bytes(word)
            if b"\0" in raw:
                raise FormatError(path, f"the word {word!r} contains a zero byte, which ends a word in a fastText file")
            file.write(b"%b\0%b" % (raw, struct.pack("<qb", count, kind)))
    if pruned:
        file.write(np.array(list(pruned.items()), "<i4").tobytes())


def _write_dense(file: IO[bytes], rows: Rows) -> None:
    size, dim = rows.shape
    file.write(struct.pack("<qq", size, dim))
    step = max(1, (4 << 20) // (4 * dim))
    for start in range(0, size, step):
        file.write(rows.block(start, min(start + step, size)).astype("<f4", copy=False).tobytes())


def _write_quantized(file: IO[bytes], rows: ProductRows) -> None:
    size, dim = rows.shape
    file.write(struct.pack("<?qqi", rows.norm_codes is not None, size, dim, rows.codes.size))
    file.write(np.ascontiguousarray(rows.codes).tobytes())
    _write_quantizer(file, dim, rows.dsub, rows.centroids)
    if rows.norm_codes is not None and rows.norm_centroids is not None:
        file.write(np.ascontiguousarray(rows.norm_codes).tobytes())
        _write_quantizer(file, 1, 1, rows.norm_centroids)


def _write_quantizer(file: IO[bytes], dim: int, dsub: int, centroids: np.ndarray[Any, np.dtype[np.float32]]) -> None:
    pieces = -(-dim // dsub)
    file.write(struct.pack("<4i", dim, pieces, dsub, dim - (pieces - 1) * dsub))
    file.write(centroids.astype("<f4", copy=False).tobytes())
