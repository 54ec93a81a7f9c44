"""Compression of fastText models: some rows are pruned, the others are product-quantized.

A row of 300 numbers (1200 bytes) becomes 150 bytes of codes and one byte for its norm. fastText quantizes classifiers
only; here any `SubwordVectors` can be quantized and saved as an `.ftz` file that fastText reads.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.errors import OptionError
from firth.kernels import quantization as kernel
from firth.kernels import random as random_kernel
from firth.models.continued_training import rows_for_vectors
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.vectors.rows import CENTROIDS, DenseRows, Floats, Ids, ProductRows, Rows
from firth.vectors.subwords import Output, SubwordVectors

SAMPLE = 1 << 16  # rows for k-means: 256 per centroid, as in fastText
ROUNDS = 25
BLOCK = 1 << 14
SENTENCE_END = "</s>"
MEASURED = 20_000  # words for mean and worst cosine
SAMPLING = 1_000_001  # key of the random stream; the subvectors have their own


@checked
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
    """The model with product-quantized rows, after pruning to `cutoff` rows (see `prune`).

    Each subvector of `dsub` numbers has a code of one byte; with `norms`, the norm of a row has its own code. `output`
    quantizes the output layer too. Otherwise a classifier keeps its output layer and other models, which need it only
    for further training, drop it. `metadata["quantized"]` has the mean and the worst cosine between the word vectors
    before and after.

    >>> rng = np.random.default_rng(0)
    >>> rows = rng.standard_normal((1002, 16)).astype(np.float32)
    >>> from firth.text.subwords import Subwords
    >>> model = SubwordVectors(["tea", "rain"], rows, Subwords(3, 3, 1000))
    >>> small = quantize(model)
    >>> model.rows.nbytes, small.rows.nbytes, small.metadata["quantized"]["mean_cosine"] > 0.98
    (64128, 26426, True)
    """
    if not 0 <= seed < 1 << 63:
        raise OptionError(f"seed is {seed}, but must be from 0 to 2^63 - 1")
    if isinstance(model.rows, ProductRows):
        raise OptionError("the rows of this model are product-quantized already. Quantize the original model")
    runtime = runtime or Runtime.from_env()
    small = model if cutoff is None else prune(model, cutoff, runtime=runtime)
    rows = quantize_rows(small.rows, dsub, norms, seed, runtime=runtime, report=report)
    quantized = type(model)(
        small.vocabulary,
        rows,
        small.subwords,
        output=_compress_output(small.output, model.dim, norms, output, seed, runtime),
    )
    facts: dict[str, Any] = {"dtype": rows.dtype_name, "cutoff": cutoff, "dsub": dsub, "norms": norms, "seed": seed}
    facts |= cosines(model, quantized)
    quantized.metadata = {**small.metadata, "quantized": facts}
    return quantized


def _compress_output(
    output: Output | None, dim: int, norms: bool, quantized: bool, seed: int, runtime: Runtime
) -> Output | None:
    if output is None:
        return Output(DenseRows(np.empty((0, dim), np.float32)), None, "skipgram", "ns")
    if quantized:
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
    """The rows as codes: each subvector of `dsub` numbers becomes the index of the nearest of 256 centroids.

    K-means on at most 65,536 rows finds the centroids. The result does not depend on the number of threads.

    >>> rows = quantize_rows(np.eye(300, dtype=np.float32))
    >>> rows.shape, rows.codes.shape, float(rows.take([7])[0, 7].round(4))
    ((300, 300), (300, 150), 1.0)
    """
    source = DenseRows(rows) if isinstance(rows, np.ndarray) else rows
    size, dim = source.shape
    if dsub < 1:
        raise OptionError(f"dsub is {dsub}, but must be at least 1")
    if size == 0:
        raise OptionError("there are no rows to quantize")
    runtime = runtime or Runtime.from_env()
    lengths = row_norms(source, runtime)
    sample = _draw_sample(lengths, seed)
    points = np.array(source.take(sample), np.float32, order="C")
    if norms:
        kernel.normalize_rows(points, lengths[sample])
    tables = _find_centroids(points, dsub, seed, runtime, report)
    codes = _encode(source, lengths if norms else None, tables, dsub, runtime, report)
    flat = np.concatenate([table.T.ravel() for table in tables])
    if not norms:
        return ProductRows(codes, flat, dim, dsub)
    norm_table = _find_norm_centroids(lengths[sample], seed)
    norm_codes = np.empty(size, np.uint8)
    kernel.assign(lengths[:, None], 0, 1, norm_table, norm_codes)
    return ProductRows(codes, flat, dim, dsub, norm_codes, norm_table.ravel())


def row_norms(rows: Rows, runtime: Runtime) -> Floats:
    """The norm of every row. A row with a value that is not finite raises an error with its index."""
    norms = np.empty(rows.shape[0], np.float32)

    def measure(start: int) -> None:
        block = rows.block(start, min(start + BLOCK, len(norms)))
        kernel.compute_norms(np.ascontiguousarray(block), norms[start : start + BLOCK])

    runtime.map(measure, range(0, len(norms), BLOCK))
    broken = ~np.isfinite(norms)
    if broken.any():
        raise OptionError(f"row {int(np.argmax(broken))} has the norm {norms[broken][0]}, so it cannot be quantized")
    return norms


def _draw_sample(norms: Floats, seed: int) -> Ids:
    """Rows for k-means, drawn in proportion to their squared norms: an error in a row with a large norm matters more.

    In a model with many buckets most rows are untrained and small; drawn uniformly, they would take all centroids.
    """
    if len(norms) <= SAMPLE:
        return np.arange(len(norms))
    times = np.random.default_rng([seed, SAMPLING]).standard_exponential(len(norms))
    times /= np.maximum(np.square(norms, dtype=np.float64), 1e-30)
    return np.sort(np.argpartition(times, SAMPLE)[:SAMPLE])


def _find_norm_centroids(norms: Floats, seed: int) -> Floats:
    """256 centroids of the norms, initialized half by quantile and half by value to represent rare large norms."""
    distinct = np.unique(norms)
    if len(distinct) <= CENTROIDS:  # each norm is a centroid
        return np.pad(distinct, (0, CENTROIDS - len(distinct)), mode="edge").astype(np.float32)[None]
    by_rank = np.quantile(norms, np.linspace(0, 1, CENTROIDS // 2))
    by_size = np.linspace(norms.min(), norms.max(), CENTROIDS // 2)
    table = np.sort(np.concatenate([by_rank, by_size])).astype(np.float32)[None]
    kernel.k_means(norms[:, None], 0, 1, ROUNDS, np.uint64(random_kernel.key(seed, 1, 0)), table)
    return table


def _find_centroids(points: Floats, dsub: int, seed: int, runtime: Runtime, report: Report) -> list[Floats]:
    """The centroids of each subvector, shape (width, 256)."""
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
        report(Progress("finding centroids", len(tables), -(-dim // dsub), "subvectors"))
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
        nearest = np.empty(stop - start, np.uint8)
        for index, table in enumerate(tables):
            kernel.assign(block, index * dsub, len(table), table, nearest)
            codes[start:stop, index] = nearest
        return stop

    for done in runtime.stream(encode, range(0, size, BLOCK)):
        report(Progress("quantizing", done, size, "rows"))
    return codes


def prune(vectors: SubwordVectors, keep: int, *, runtime: Runtime | None = None) -> SubwordVectors:
    """The model with `keep` rows of words and n-grams. Words keep their order.

    Word vectors keep the words first, in their order, and then the n-grams with the largest norms. A kept word keeps
    its vector: its own row makes up for the n-grams that it lost. A classifier keeps the rows with the largest norms,
    of words and n-grams alike, and always the row of </s>, as in fastText.

    >>> rows = np.array([[3], [9], [1], [5], [7]], np.float32)
    >>> from firth.text.subwords import Subwords
    >>> vectors = SubwordVectors(["tea", "rain", "sun"], rows, Subwords(3, 3, 2))
    >>> small = prune(vectors, 4)
    >>> small.vocabulary.words, small.subwords.pruned
    (('tea', 'rain', 'sun'), {1: 0})
    >>> bool((small["tea"] == vectors["tea"]).all())
    True
    """
    size = vectors.rows.shape[0]
    if keep < 1:
        raise OptionError(f"{keep} rows cannot be kept. Keep at least 1")
    if keep >= size:
        return vectors
    norms = row_norms(vectors.rows, runtime or Runtime.from_env())
    supervised = vectors.output is not None and vectors.output.model == "supervised"
    if supervised:
        end = vectors.vocabulary.find(SENTENCE_END)
        if end >= 0:
            norms[end] = np.inf
    else:
        norms[: len(vectors.vocabulary)] = np.inf
    kept = np.sort(np.argsort(-norms, kind="stable")[:keep])
    words = kept[kept < len(vectors.vocabulary)]
    buckets = kept[len(words) :] - len(vectors.vocabulary)
    before = vectors.subwords
    old_pruned = before.pruned
    if old_pruned is not None:
        bucket_of = {row: bucket for bucket, row in old_pruned.items()}
        buckets = np.array([bucket_of[row] for row in buckets.tolist()], np.int64)
    pruned = {bucket: row for row, bucket in enumerate(buckets.tolist())}
    small = type(vectors)(
        vectors.vocabulary.take(words),
        vectors.rows.pick(kept),
        replace(before, pruned=pruned),
        output=_prune_output(vectors.output, words),
        metadata={**vectors.metadata, "pruned": {"rows": size, "kept": keep}},
    )
    if not supervised and isinstance(small.rows, DenseRows):
        _keep_vectors(small.rows.array, small, vectors)
    return small


def _keep_vectors(rows: NDArray[Any], small: SubwordVectors, before: SubwordVectors) -> None:
    """Changes the own rows of the words of a pruned model such that their vectors are those before."""
    for start in range(0, len(small), BLOCK):
        ids = np.arange(start, min(start + BLOCK, len(small)))
        words = small.vocabulary.take(ids)
        vectors = before.take(before.vocabulary.ids(words))
        rows[ids] = 0
        lengths = small.subwords.table(words)[2]
        rows[ids] = rows_for_vectors(vectors, small.take(ids), lengths)


def _prune_output(output: Output | None, words: Ids) -> Output | None:
    """The output rows of the kept words. Pruning changes the Huffman tree, so hierarchical softmax has no rows."""
    if output is None or output.model == "supervised":
        return output
    rows = output.rows.pick(words if output.loss != "hs" else [])
    return Output(rows, output.labels, output.model, output.loss)


def cosines(before: SubwordVectors, after: SubwordVectors) -> dict[str, float]:
    """The mean and the worst cosine between word vectors before and after, over at most 20,000 words.

    Words without a vector in `after` and zero vectors are excluded.
    """
    step = -(-len(before) // MEASURED)
    words = [word for word in before.vocabulary[:: max(1, step)] if word in after]
    if not words:
        return {}
    old, new = (vectors.of(words).astype(np.float64) for vectors in (before, after))
    norms = np.linalg.norm(old, axis=1) * np.linalg.norm(new, axis=1)
    cosine = (old * new).sum(axis=1)[norms > 0] / norms[norms > 0]
    return {"mean_cosine": float(cosine.mean()), "worst_cosine": float(cosine.min())} if len(cosine) else {}
