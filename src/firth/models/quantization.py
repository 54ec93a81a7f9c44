"""Small fastText models: rows that are seldom worth their bytes are pruned, and the others are product-quantized.

A row of 300 numbers (1200 bytes) becomes 150 bytes of codes and one for its norm. fastText does this for classifiers
only; here any `SubwordVectors` can be made small, and the result is saved as an `.ftz` file that fastText opens.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.kernels import quantization as kernel
from firth.kernels import random as random_kernel
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.text.subwords import Subwords
from firth.vectors.rows import CENTROIDS, DenseRows, Floats, Ids, ProductRows, Rows
from firth.vectors.subwords import Output, SubwordVectors

SAMPLE = 1 << 16  # rows that centroids are found on: 256 for each, as in fastText
ROUNDS = 25
BLOCK = 1 << 14
SENTENCE_END = "</s>"
MEASURED = 20_000  # words whose cosines are measured
SAMPLING = 1_000_001  # a stream of random numbers beside those of the pieces


def quantize(
    model: SubwordVectors,
    cutoff: int | None = None,
    dsub: int = 2,
    norms: bool = True,
    output: bool = False,
    *,
    seed: int = 1,
    runtime: Runtime | None = None,
    report: Report = silent,
) -> SubwordVectors:
    """The model with product-quantized rows, after pruning all but the `cutoff` longest ones.

    `dsub` numbers share one code of a byte; with `norms` the length of a row has a code of its own. The output layer of
    a classifier stays as it is, or is quantized too with `output`; that of other models, which only going on with
    training would need, is left out unless `output` is on. `metadata["quantized"]` tells what was lost: the mean and
    the worst cosine between the words' vectors before and after.

    >>> rng = np.random.default_rng(0)
    >>> rows = rng.standard_normal((1002, 16)).astype(np.float32)
    >>> model = SubwordVectors(["tea", "rain"], rows, Subwords(3, 3, 1000))
    >>> small = quantize(model)
    >>> model.rows.nbytes, small.rows.nbytes, small.metadata["quantized"]["mean_cosine"] > 0.98
    (64128, 26426, True)
    """
    if isinstance(model.rows, ProductRows):
        raise OptionError("the rows of this model are product-quantized already")
    runtime = runtime or Runtime.from_env()
    small = model if cutoff is None else prune(model, cutoff, runtime=runtime)
    rows = quantize_rows(small.rows, dsub, norms, seed, runtime=runtime, report=report)
    made = SubwordVectors(
        small.vocabulary,
        rows,
        small.subwords,
        output=_small_output(small.output, model.dim, norms, output, seed, runtime),
    )
    facts: dict[str, Any] = {"dtype": rows.dtype_name, "cutoff": cutoff, "dsub": dsub, "norms": norms, "seed": seed}
    facts |= cosines(model, made)
    made.metadata = {**small.metadata, "quantized": facts}
    return made


def _small_output(
    output: Output | None, dim: int, norms: bool, wanted: bool, seed: int, runtime: Runtime
) -> Output | None:
    if output is None:
        return Output(DenseRows(np.empty((0, dim), np.float32)), None, "skipgram", "ns")
    if wanted:
        rows: Rows = quantize_rows(output.rows, 2, norms, seed, runtime=runtime)
    elif output.model == "supervised":
        rows = output.rows
    else:
        rows = DenseRows(np.empty((0, dim), np.float32))
    return Output(rows, output.labels, output.model, output.loss)


def quantize_rows(
    rows: Rows | NDArray[np.float32],
    dsub: int = 2,
    norms: bool = True,
    seed: int = 1,
    *,
    runtime: Runtime | None = None,
    report: Report = silent,
) -> ProductRows:
    """The rows as codes: each piece of `dsub` numbers becomes the number of the nearest of 256 centroids.

    The centroids of a piece are found by k-means on at most 65,536 rows. The result does not depend on the number of
    threads.

    >>> rows = quantize_rows(np.eye(300, dtype=np.float32))
    >>> rows.shape, rows.codes.shape, rows.take([7])[0, 7].round(4)
    ((300, 300), (300, 150), np.float32(1.0))
    """
    source = DenseRows(rows) if isinstance(rows, np.ndarray) else rows
    size, dim = source.shape
    if not 1 <= dsub <= dim:
        raise OptionError(f"dsub is {dsub}, but must be between 1 and the length of the rows, {dim}")
    if size == 0:
        raise OptionError("there are no rows to quantize")
    runtime = runtime or Runtime.from_env()
    lengths = row_norms(source, runtime)
    sample = _sample(lengths, seed)
    points = np.array(source.take(sample), np.float32, order="C")
    if norms:
        kernel.normalize_rows(points, lengths[sample])
    tables = _centroids(points, dsub, seed, runtime, report)
    codes = _encode(source, lengths if norms else None, tables, dsub, runtime, report)
    flat = np.concatenate([table.T.ravel() for table in tables])
    if not norms:
        return ProductRows(codes, flat, dim, dsub)
    norm_table = _norm_centroids(lengths[sample], seed)
    norm_codes = np.empty(size, np.uint8)
    kernel.assign(lengths[:, None], 0, 1, norm_table, norm_codes)
    return ProductRows(codes, flat, dim, dsub, norm_codes, norm_table.ravel())


def row_norms(rows: Rows, runtime: Runtime) -> Floats:
    """The length of every row; a row that holds something else than numbers is an error that names it."""
    norms = np.empty(rows.shape[0], np.float32)

    def measure(start: int) -> None:
        block = rows.block(start, min(start + BLOCK, len(norms)))
        kernel.compute_norms(np.ascontiguousarray(block), norms[start : start + BLOCK])

    runtime.map(measure, range(0, len(norms), BLOCK))
    broken = ~np.isfinite(norms)
    if broken.any():
        raise OptionError(f"row {int(np.argmax(broken))} has the length {norms[broken][0]}, so it cannot be quantized")
    return norms


def _sample(norms: Floats, seed: int) -> Ids:
    """Rows to find centroids on, drawn by the squares of their norms: an error in a long row weighs more.

    In a model of many buckets most rows were never trained and are short; drawn alike, they would take all centroids.
    """
    if len(norms) <= SAMPLE:
        return np.arange(len(norms))
    waits = np.random.default_rng([seed, SAMPLING]).standard_exponential(len(norms))
    waits /= np.maximum(np.square(norms, dtype=np.float64), 1e-30)
    return np.sort(np.argpartition(waits, SAMPLE)[:SAMPLE])


def _norm_centroids(norms: Floats, seed: int) -> Floats:
    """256 norms that stand for all: at first half of them by rank and half by size, so that few long rows count too."""
    distinct = np.unique(norms)
    if len(distinct) <= CENTROIDS:  # each stands for itself
        return np.pad(distinct, (0, CENTROIDS - len(distinct)), mode="edge").astype(np.float32)[None]
    by_rank = np.quantile(norms, np.linspace(0, 1, CENTROIDS // 2))
    by_size = np.linspace(norms.min(), norms.max(), CENTROIDS // 2)
    table = np.sort(np.concatenate([by_rank, by_size])).astype(np.float32)[None]
    kernel.k_means(norms[:, None], 0, 1, ROUNDS, np.uint64(random_kernel.key(seed, 1, 0)), table)
    return table


def _centroids(points: Floats, dsub: int, seed: int, runtime: Runtime, report: Report) -> list[Floats]:
    """The table of each piece, shape (width, 256)."""
    dim = points.shape[1]

    def find(first: int) -> Floats:
        width = min(dsub, dim - first)
        table = np.empty((width, CENTROIDS), np.float32)
        state = np.uint64(random_kernel.key(seed, 0, first))
        state = np.uint64(kernel.draw_centroids(points, first, width, state, table))
        kernel.k_means(points, first, width, ROUNDS, state, table)
        return table

    tables: list[Floats] = []
    for table in runtime.stream(find, range(0, dim, dsub)):
        tables.append(table)
        report(Progress("finding centroids", len(tables), -(-dim // dsub), "pieces"))
    return tables


def _encode(
    rows: Rows, norms: Floats | None, tables: list[Floats], dsub: int, runtime: Runtime, report: Report
) -> NDArray[np.uint8]:
    size = rows.shape[0]
    codes = np.empty((size, len(tables)), np.uint8)

    def encode(start: int) -> int:
        stop = min(start + BLOCK, size)
        block = np.array(rows.block(start, stop), np.float32, order="C")
        if norms is not None:
            kernel.normalize_rows(block, norms[start:stop])
        found = np.empty(stop - start, np.uint8)
        for piece, table in enumerate(tables):
            kernel.assign(block, piece * dsub, len(table), table, found)
            codes[start:stop, piece] = found
        return stop

    for done in runtime.stream(encode, range(0, size, BLOCK)):
        report(Progress("quantizing", done, size, "rows"))
    return codes


def prune(vectors: SubwordVectors, keep: int, *, runtime: Runtime | None = None) -> SubwordVectors:
    """The model with the `keep` longest rows, of words and n-grams alike; the end of a sentence always stays.

    A word that loses its row keeps those n-grams that have theirs. Words keep their order.

    >>> rows = np.array([[0], [9], [1], [5], [7]], np.float32)
    >>> small = prune(SubwordVectors(["</s>", "tea", "rain"], rows, Subwords(3, 3, 2)), 3)
    >>> small.vocabulary.words, small.subwords.pruned, small.rows.take([0, 1, 2]).ravel()
    (('</s>', 'tea'), {1: 0}, array([0., 9., 7.], dtype=float32))
    """
    size = vectors.rows.shape[0]
    if keep < 1:
        raise OptionError(f"{keep} rows cannot be kept: at least 1 must stay")
    if keep >= size:
        return vectors
    norms = row_norms(vectors.rows, runtime or Runtime.from_env())
    end = vectors.vocabulary.find(SENTENCE_END)
    if end >= 0:
        norms[end] = np.inf
    kept = np.sort(np.argsort(-norms, kind="stable")[:keep])
    words = kept[kept < len(vectors.vocabulary)]
    buckets = kept[len(words) :] - len(vectors.vocabulary)
    before = vectors.subwords
    old_pruned = before.pruned
    if old_pruned is not None:
        bucket_of = {row: bucket for bucket, row in old_pruned.items()}
        buckets = np.array([bucket_of[row] for row in buckets.tolist()], np.int64)
    pruned = {bucket: row for row, bucket in enumerate(buckets.tolist())}
    return SubwordVectors(
        vectors.vocabulary.take(words),
        vectors.rows.pick(kept),
        Subwords(before.minn, before.maxn, before.buckets, pruned, before.sentence_end),
        output=_pruned_output(vectors.output, words),
        metadata={**vectors.metadata, "pruned": {"rows": size, "kept": keep}},
    )


def _pruned_output(output: Output | None, words: Ids) -> Output | None:
    """The outputs of the words that stay. A Huffman tree without some of its words is another tree: it is left out."""
    if output is None or output.model == "supervised":
        return output
    rows = output.rows.pick(words if output.loss != "hs" else [])
    return Output(rows, output.labels, output.model, output.loss)


def cosines(before: SubwordVectors, after: SubwordVectors) -> dict[str, float]:
    """The mean and the worst cosine between words' vectors before and after, over at most 20,000 words.

    Words that have no vector any more are left out, as are vectors of zeros.
    """
    step = -(-len(before) // MEASURED)
    words = [word for word in before.vocabulary[:: max(1, step)] if word in after]
    if not words:
        return {}
    old, new = (vectors.of(words).astype(np.float64) for vectors in (before, after))
    lengths = np.linalg.norm(old, axis=1) * np.linalg.norm(new, axis=1)
    found = (old * new).sum(axis=1)[lengths > 0] / lengths[lengths > 0]
    return {"mean_cosine": float(found.mean()), "worst_cosine": float(found.min())} if len(found) else {}
