"""Counts of n-grams: one pass over the text for every order.

The key of an n-gram is the trie node of its first n - 1 words, counted by the previous pass, and its last word. The
keys of a chunk of text are sorted and reduced to distinct keys with counts, and the runs of all chunks are merged.
Memory grows with the number of distinct n-grams; the text and the nodes of its positions stay on disk.
"""

from __future__ import annotations

import itertools
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from firth.kernels import ngram as kernel
from firth.progress import Progress, Report
from firth.runtime import Runtime
from firth.text.tokenfile import TokenFile

CHUNK = 1 << 21  # tokens that one thread counts at a time
UNKNOWN, BEGIN, END = range(3)  # the first three words of every model
Ids = NDArray[np.int64]
Words = NDArray[np.uint32]
RANGES = 4  # ranges of keys for each worker of a cluster
KeyCounts = dict[str, NDArray[Any]]  # a `Run` by name
Run = tuple[NDArray[np.uint64], Ids]  # distinct keys, sorted, and their counts


@dataclass(frozen=True)
class NgramCounts:
    """Counts of n-grams in a trie (see `kernels/ngram.py`): sizes of the levels, children, last words, counts."""

    levels: tuple[int, ...]
    starts: Ids
    words: Words
    counts: Ids

    @property
    def edges(self) -> list[int]:
        """The first node of each level, and the end."""
        return [0, *itertools.accumulate(self.levels)]


def count_ngrams(
    tokens: TokenFile, table: Words, size: int, order: int, runtime: Runtime, report: Report
) -> NgramCounts:
    """All n-grams up to `order` of a text; `table` maps its ids to `size` words.

    Orders longer than every sentence are left out.
    """
    words = np.arange(size, dtype=np.uint32)
    counts = NgramCounts((size,), np.array([size], np.int64), words, count_words(tokens, table, size))
    if runtime.workers:
        return count_on_cluster(tokens, counts, table, order, runtime, report)
    chunks = cut_sentences(tokens, runtime)
    positions = len(tokens) + 2 * (len(tokens.sentences) - 1)
    with tempfile.TemporaryFile() as file:
        nodes = np.asarray(np.memmap(file, np.int64, "w+", shape=(positions,)))
        for n in range(2, order + 1):
            runs = runtime.stream(_CountingPass(tokens, table, nodes, counts).count, chunks)
            keys, key_counts = merge_runs(report_progress(runs, f"counting {n}-grams", len(tokens), report))
            if len(keys) == 0:
                break
            counts = add_level(counts, keys, key_counts)
    return counts


def count_words(tokens: TokenFile, table: Words, size: int) -> Ids:
    """The count of each word in the text, including <s> and </s> of every sentence."""
    used = table != kernel.DROPPED
    counts = np.zeros(size, np.int64)
    if tokens.vocabulary.counts is not None:
        np.add.at(counts, table[used], tokens.vocabulary.counts[used])
    counts[[BEGIN, END]] = len(tokens.sentences) - 1
    return counts


def cut_sentences(tokens: TokenFile, runtime: Runtime) -> list[tuple[int, int]]:
    """Chunks of sentences (first, last) of about CHUNK tokens each, at least one per thread for larger texts."""
    total, sentences = len(tokens), len(tokens.sentences) - 1
    count = max(-(-total // CHUNK), min(runtime.threads, total // 4096), 1)
    cuts = np.searchsorted(tokens.sentences, np.array([total * i // count for i in range(1, count)], np.uint64))
    return list(itertools.pairwise(np.unique(np.concatenate([[0], cuts, [sentences]])).tolist()))


@dataclass(frozen=True)
class _CountingPass:
    """A pass over the text that counts n-grams one word longer than those of the previous pass.

    nodes[t] is the node of the n-gram that ends at position t of the text, as set by the previous pass. With
    `restarts`, no pass was before this one, and the nodes are found from the words.
    """

    tokens: TextShard | TokenFile
    table: Words
    nodes: Ids
    counts: NgramCounts
    restarts: bool = False

    def count(self, chunk: tuple[int, int]) -> tuple[int, Run]:
        """The number of tokens of a chunk, and the counts of its n-grams."""
        first, last = chunk
        offsets = np.asarray(self.tokens.sentences[first : last + 1])
        start, stop = int(offsets[0]), int(offsets[-1])
        text = np.empty(stop - start + 2 * (last - first), np.uint32)
        ids = np.asarray(self.tokens.ids[start:stop])
        text = text[: kernel.frame_sentences(ids, offsets, self.table, BEGIN, END, text)]
        nodes = self.nodes[start + 2 * first :][: len(text)]
        levels = self.counts.levels
        if len(levels) == 1 or self.restarts:
            nodes[:] = text
        for _ in range(len(levels) - 1 if self.restarts else min(1, len(levels) - 1)):
            kernel.extend(text, BEGIN, self.counts.starts, self.counts.words, nodes)
        buffers = np.empty((2, len(text)), np.uint64)
        size = kernel.make_keys(text, BEGIN, nodes, sum(levels[:-1]), levels[0], buffers[0])
        return stop - start, count_keys(buffers[:, :size], levels[-1] * levels[0])


class TextShard(NamedTuple):
    """Sentences of a text, for a worker: with the arrays of a token file."""

    ids: NDArray[np.uint32]
    sentences: NDArray[np.uint64]

    @property
    def chunk(self) -> tuple[int, int]:
        """All sentences, as (first, last)."""
        return 0, len(self.sentences) - 1


def cut_shards(tokens: TokenFile) -> Iterator[TextShard]:
    """The text in shards of about CHUNK tokens, cut between sentences."""
    for first, last in cut_sentences(tokens, Runtime(1)):
        edges = np.asarray(tokens.sentences[first : last + 1])
        yield TextShard(np.asarray(tokens.ids[int(edges[0]) : int(edges[-1])]), edges - edges[0])


@dataclass(frozen=True)
class NgramCounter:
    """Counts the n-grams of a shard on a worker. Keys from edges[i] to edges[i + 1] are range i."""

    table: Words
    counts: NgramCounts
    edges: NDArray[np.uint64]

    def count(self, shard: TextShard) -> list[KeyCounts]:
        """The keys and counts of each range."""
        nodes = np.empty(len(shard.ids) + 2 * (len(shard.sentences) - 1), np.int64)
        _, run = _CountingPass(shard, self.table, nodes, self.counts, restarts=True).count(shard.chunk)
        return split_run(run, self.edges)


def split_run(run: Run, edges: NDArray[np.uint64]) -> list[KeyCounts]:
    """The part of a run in each range of keys."""
    cuts = np.searchsorted(run[0], edges)
    return [{"keys": run[0][a:b], "counts": run[1][a:b]} for a, b in itertools.pairwise(cuts.tolist())]


def merge_ranges(runs: Sequence[KeyCounts]) -> KeyCounts:
    """The sum of the counts of one range of keys."""
    keys, counts = merge_runs((run["keys"], run["counts"]) for run in runs)
    return {"keys": keys, "counts": counts}


def join_ranges(ranges: Iterable[KeyCounts]) -> Run:
    """All ranges as one run. Each is copied before the next is taken: a cluster's results lie in shared memory.

    >>> keys, counts = join_ranges({"keys": np.array([key]), "counts": np.array([1])} for key in (3, 5))
    >>> keys.tolist(), counts.tolist()
    ([3, 5], [1, 1])
    """
    copies = [(one["keys"].copy(), one["counts"].copy()) for one in ranges]
    size = filled = sum(len(keys) for keys, _ in copies)
    all_keys, all_counts = np.empty(size, np.uint64), np.empty(size, np.int64)
    while copies:  # from the end, so that the memory of each range is free before the next is copied
        keys, counts = copies.pop()
        span = slice(filled - len(keys), filled)
        all_keys[span], all_counts[span], filled = keys, counts, span.start
    return all_keys, all_counts


def count_on_cluster(
    tokens: TokenFile, counts: NgramCounts, table: Words, order: int, runtime: Runtime, report: Report
) -> NgramCounts:
    """As `count_ngrams`: shards are counted, and ranges of keys merged, by workers. `counts` are those of the words."""
    text = f"{tokens.fingerprint} {zlib.crc32(table.data)}"
    done = np.cumsum([len(shard.ids) for shard in cut_shards(tokens)])
    for n in range(2, order + 1):
        # A prefix that occurs x times has at most x keys: ranges with equal sums of x are about equally large.
        occurrences = np.cumsum(counts.counts[-counts.levels[-1] :])
        parts = RANGES * runtime.workers
        prefixes = np.searchsorted(occurrences, occurrences[-1] * np.arange(1, parts) // parts)
        cuts = np.unique(np.concatenate([[0], prefixes, [counts.levels[-1]]])).astype(np.uint64)
        counter = NgramCounter(table, counts, cuts * np.uint64(counts.levels[0]))

        def report_shards(number: int, step: str = f"counting {n}-grams") -> None:
            report(Progress(step, int(done[number - 1]), len(tokens), "words"))

        ranges = runtime.map_reduce(
            NgramCounter.count,
            merge_ranges,
            cut_shards(tokens),
            parts=len(cuts) - 1,
            shared=counter,
            stage=f"{n}-grams {text} {cuts.tolist()}",
            done=report_shards,
        )
        keys, key_counts = join_ranges(ranges)
        if len(keys) == 0:
            break
        counts = add_level(counts, keys, key_counts)
    return counts


def count_keys(buffers: NDArray[np.uint64], bound: int) -> Run:
    """The distinct keys below `bound` of the first buffer with their counts; the second one is scratch."""
    keys = kernel.sort_keys(buffers[0], buffers[1], bound)
    counts = np.empty(len(keys), np.int64)
    distinct = kernel.count_sorted(keys, counts)
    return keys[:distinct].copy(), counts[:distinct].copy()


def report_progress(runs: Iterable[tuple[int, Run]], step: str, total: int, report: Report) -> Iterator[Run]:
    """The runs, with a report of the tokens counted so far after each."""
    done = 0
    for tokens, run in runs:
        yield run
        done += tokens
        report(Progress(step, done, total, "words"))


def merge_runs(runs: Iterable[Run]) -> Run:
    """All runs as one. Runs of similar length are merged first, so that each key is copied only a few times."""
    stack: list[Run] = []
    for run in runs:
        stack.append(run)
        while len(stack) > 1 and len(stack[-2][0]) <= 2 * len(stack[-1][0]):
            stack.append(_merge(stack.pop(), stack.pop()))
    while len(stack) > 1:
        stack.append(_merge(stack.pop(), stack.pop()))
    return stack[0] if stack else (np.empty(0, np.uint64), np.empty(0, np.int64))


def _merge(one: Run, other: Run) -> Run:
    capacity = len(one[0]) + len(other[0])
    keys, counts = np.empty(capacity, np.uint64), np.empty(capacity, np.int64)
    size = kernel.merge_counts(*one, *other, keys, counts)
    return keys[:size].copy(), counts[:size].copy()


def add_level(trie: NgramCounts, keys: NDArray[np.uint64], counts: Ids) -> NgramCounts:
    """The trie with the n-grams of the next order."""
    children, words = np.empty(trie.levels[-1] + 1, np.int64), np.empty(len(keys), np.uint32)
    kernel.unpack(keys, trie.levels[0], len(trie.words), children, words)
    return NgramCounts(
        (*trie.levels, len(keys)),
        np.concatenate([trie.starts[:-1], children]),
        np.concatenate([trie.words, words]),
        np.concatenate([trie.counts, counts]),
    )
