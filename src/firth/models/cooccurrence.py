"""Co-occurrence counts: exact, in threads, in bounded memory, and the same bits for any number of threads.

The text is read in chunks that fit in memory. A chunk gives one run: all its rows, in order. Runs above the memory
limit go to disk, and at the end the runs are summed block by block. Weights are integers (1/distance is counted in
units of 1/lcm(1..window)), so neither threads, chunks nor spilling can change the sum.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from firth.errors import OptionError
from firth.kernels import counts as kernel
from firth.models.spill import Numbers, RowBlock, RowBuilder, RunStore, SortedRun, gather, split_rows, sum_runs
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.text.vocabulary import Vocabulary

SIZES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
DOCUMENT_MEMORY = 10**9  # memory limit, in bytes, of counts by document
TASK_WORDS = 1 << 22  # words that a worker of a cluster counts as one task
RANGES = 4  # ranges of rows for each worker
Rows = dict[str, NDArray[Any]]  # a `RowBlock` by name
LARGEST_EXACT = 22  # lcm(1..22) leaves 35 bits for the sum; lcm(1..23) would leave 30


class Tokens(Protocol):
    """A tokenized text: a `TokenFile`, or anything with the same arrays."""

    @property
    def ids(self) -> NDArray[np.uint32]: ...
    @property
    def sentences(self) -> NDArray[np.uint64]: ...
    @property
    def documents(self) -> NDArray[np.uint64]: ...
    @property
    def vocabulary(self) -> Vocabulary: ...


def parse_size(size: int | str) -> int:
    """A number of bytes from a number or a text.

    >>> parse_size("2 GB"), parse_size("500kb"), parse_size(4096)
    (2000000000, 500000, 4096)
    """
    text = str(size).strip()
    unit = text.lstrip("0123456789.").strip()
    try:
        number = int(float(text.removesuffix(unit)) * SIZES[unit.upper()])
    except (KeyError, ValueError, OverflowError) as error:
        raise OptionError(f"memory_limit is {size!r}, but must be bytes, such as 2000000000 or '2 GB'") from error
    if number < 1:
        raise OptionError(f"memory_limit is {size!r}, but must be at least 1 byte")
    return number


def distance_weights(window: int, harmonic: bool) -> tuple[Numbers, int]:
    """The weight of a pair at each distance as an integer number of units, and the units per 1.

    Flat weights are 1. 1/distance is exact in units of 1/lcm(1..window) up to a window of 22; for larger windows it is
    rounded to units of about 2^-30, with an error below window / 2^31 of each weight.

    >>> distance_weights(3, harmonic=True)
    (array([0, 6, 3, 2]), 6)
    """
    weights = np.zeros(window + 1, np.int64)
    if not harmonic:
        weights[1:] = 1
        return weights, 1
    scale = math.lcm(*range(1, min(window, LARGEST_EXACT) + 1)) * (1 if window <= LARGEST_EXACT else 4)
    weights[1:] = [(2 * scale + distance) // (2 * distance) for distance in range(1, window + 1)]
    return weights, scale


@dataclass(frozen=True)
class ContextWindow:
    """The context of a word: positions before and after it, and whether a dropped word keeps its position."""

    before: int
    after: int
    harmonic: bool = False
    keep_gaps: bool = False

    @property
    def window(self) -> int:
        return max(self.before, self.after)


def count_pairs(
    tokens: Tokens,
    id_map: NDArray[np.int32],
    size: int,
    context: ContextWindow,
    *,
    memory_limit: int = 2 * 10**9,
    folder: str | None = None,
    runtime: Runtime | None = None,
    report: Report = silent,
) -> csr_matrix:
    """X(w, c), the weighted count of c near w. `id_map` maps ids of the text to `size` words; -1 drops a word.

    Counts above the memory limit are spilled to `folder` (None: the temporary directory). The limit bounds the
    counting; the matrix needs 12 bytes per cell in addition.
    """
    runtime = runtime or Runtime.from_env()
    weights, scale = distance_weights(context.window, context.harmonic)
    if runtime.workers:
        return gather(count_pairs_on_cluster(tokens, id_map, size, context, runtime, report), size, scale)
    with ExitStack() as stack:
        store = RunStore(stack, memory_limit // 2, folder)
        runs: list[SortedRun] = []
        for text, first, last in read_chunks(tokens, id_map, context, max(1024, memory_limit // 32), report):
            rows = count_chunk(text, first, size, context, weights, memory_limit, runtime)
            if last and not runs:
                return gather(rows, size, scale)
            runs.append(store.keep(rows))
            del rows, text
        report(Progress("merging", 0, len(runs), unit="runs"))
        total = gather(sum_runs(runs, size, memory_limit, runtime), size, scale)
        report(Progress("merging", len(runs), len(runs), unit="runs"))
        return total


def read_chunks(
    tokens: Tokens, id_map: NDArray[np.int32], context: ContextWindow, length: int, report: Report
) -> Iterator[tuple[NDArray[np.int32], int, bool]]:
    """Chunks of about `length` words as (text, index of the first new word, whether it is the last chunk).

    A chunk may end inside a sentence: the next one then begins with the last words of this one as context.
    """
    ids, sentences, total = np.asarray(tokens.ids), np.asarray(tokens.sentences), len(tokens.ids)
    carried = np.empty(0, np.int32)
    sentence = 0
    for start in range(0, max(total, 1), length):
        stop = min(start + length, total)
        end = int(np.searchsorted(sentences, np.uint64(stop), side="right")) - 1
        text = np.full(len(carried) + (stop - start) + max(0, end - sentence) + 2, kernel.END, np.int32)
        text[1 : 1 + len(carried)] = carried
        first = 1 + len(carried)
        filled, sentence = kernel.filter_text(
            ids, start, stop, sentences, sentence, id_map, context.keep_gaps, text, first
        )
        text = text[: filled + 1]
        text[filled] = kernel.END
        tail = text[max(1, filled - context.window) : filled]
        ends = np.flatnonzero(tail == kernel.END)
        carried = tail[ends[-1] + 1 :].copy() if len(ends) else tail.copy()
        yield text, first, stop == total
        report(Progress("counting", stop, total, unit="words"))


def count_chunk(
    text: NDArray[np.int32],
    first: int,
    size: int,
    context: ContextWindow,
    weights: Numbers,
    memory_limit: int,
    runtime: Runtime,
) -> Iterator[RowBlock]:
    """All rows of one chunk of text, in order, block by block."""
    starts = np.zeros(size + 1, np.int64)
    kernel.count_words(text, starts[1:])
    np.cumsum(starts, out=starts)
    positions = np.empty(starts[-1], np.int32)
    kernel.sort_positions(text, starts[:-1].copy(), positions)
    most = np.minimum(np.diff(starts) * (context.before + context.after), size)

    def count_block(rows: slice) -> RowBlock:
        builder = RowBuilder(size, rows.stop - rows.start, int(most[rows].sum()))
        sides = (context.before, context.after)
        filled = kernel.count_rows(
            text, first, positions, starts, rows.start, rows.stop, *sides, weights, *builder.arrays
        )
        return builder.block(filled)

    return runtime.stream(count_block, split_rows(most, memory_limit, runtime))


@dataclass(frozen=True)
class PairCounter:
    """Counts the pairs of a chunk of text on a worker. Range i of the keys is the rows edges[i] to edges[i + 1]."""

    size: int
    context: ContextWindow
    edges: Numbers
    memory_limit: int = 10**9

    def count(self, chunk: tuple[NDArray[np.int32], int]) -> list[Rows]:
        """The rows of each range."""
        weights, _ = distance_weights(self.context.window, self.context.harmonic)
        blocks = count_chunk(*chunk, self.size, self.context, weights, self.memory_limit, Runtime(1))
        rows = _join_blocks(blocks)
        starts = np.append(0, np.cumsum(rows["lengths"]))
        return [
            {
                "lengths": rows["lengths"][first:last],
                "columns": rows["columns"][starts[first] : starts[last]],
                "values": rows["values"][starts[first] : starts[last]],
            }
            for first, last in itertools.pairwise(self.edges.tolist())
        ]

    def merge(self, runs: Sequence[Rows]) -> Rows:
        """The sum of the rows of one range."""
        if len(runs) == 1:
            return runs[0]
        starts = (np.append(0, np.cumsum(run["lengths"])) for run in runs)
        sorted_runs = [SortedRun(edges, run["columns"], run["values"]) for edges, run in zip(starts, runs)]
        return _join_blocks(sum_runs(sorted_runs, self.size, self.memory_limit, Runtime(1)))


def _join_blocks(blocks: Iterable[RowBlock]) -> Rows:
    parts = list(blocks)
    empty = np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int64)
    return {
        name: np.concatenate([none, *(getattr(part, name) for part in parts)])
        for name, none in zip(RowBlock._fields, empty)
    }


def count_pairs_on_cluster(
    tokens: Tokens, id_map: NDArray[np.int32], size: int, context: ContextWindow, runtime: Runtime, report: Report
) -> Iterator[RowBlock]:
    """The rows of all pairs, in order: chunks of text are counted, and ranges of rows summed, by workers."""
    total = len(tokens.ids)
    ids, sentences = np.asarray(tokens.ids), np.asarray(tokens.sentences)
    counts = np.zeros(size, np.int64)
    vocabulary = tokens.vocabulary
    if vocabulary.counts is not None:
        np.add.at(counts, id_map[id_map >= 0], np.asarray(vocabulary.counts)[id_map >= 0])
    entries = np.minimum(counts * (context.before + context.after), size) + 1  # at most, of each row
    parts = min(size, RANGES * runtime.workers)
    shares = np.searchsorted(np.cumsum(entries), entries.sum() * np.arange(1, parts) // parts)
    counter = PairCounter(size, context, np.unique(np.concatenate([[0], shares, [size]])))
    text = zlib.crc32(sentences.data, zlib.crc32(ids.data, zlib.crc32(id_map.data)))
    rows = runtime.map_reduce(
        PairCounter.count,
        counter.merge,
        ((chunk, first) for chunk, first, _ in read_chunks(tokens, id_map, context, TASK_WORDS, silent)),
        parts=len(counter.edges) - 1,
        shared=counter,
        stage=f"pairs {text} {total} {size} {context} {counter.edges.tolist()}",
        done=lambda number: report(Progress("counting", min(total, number * TASK_WORDS), total, unit="words")),
    )
    return (RowBlock(**part) for part in rows)


def count_documents(
    tokens: Tokens, id_map: NDArray[np.int32], size: int, *, runtime: Runtime | None = None
) -> csr_matrix:
    """The count of each of the `size` words of `id_map` in each document, one row per document."""
    runtime = runtime or Runtime.from_env()
    edges = np.asarray(tokens.sentences)[np.asarray(tokens.documents, np.int64)].astype(np.int64)
    most = np.minimum(np.diff(edges), size)

    def count_block(rows: slice) -> RowBlock:
        builder = RowBuilder(size, rows.stop - rows.start, int(most[rows].sum()))
        offsets = edges[rows.start : rows.stop + 1]
        return builder.block(kernel.count_documents(np.asarray(tokens.ids), offsets, id_map, *builder.arrays))

    return gather(runtime.stream(count_block, split_rows(most, DOCUMENT_MEMORY, runtime)), size, 1)
