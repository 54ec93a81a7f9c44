"""Unsupervised word segmentation: the words of a language without spaces, learned from raw text.

Where a word ends, many different characters can follow; inside a word, few can. So the entropy of the next character
(branching entropy) rises at the end of a word, and that of the previous character at its start. The variation of
branching entropy of a string is this rise from the string without its last (first) character, normalized among strings
of the same length: its autonomy (Magistry & Sagot, 2012). The best split of a sentence is the one whose words have the
largest sum of autonomy × length. There is nothing to iterate, and the same text always gives the same words.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.errors import OptionError
from firth.kernels import characters as characters_kernel
from firth.kernels import segmenter as kernel
from firth.options import Recipe, option
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.serialization import Parts
from firth.show.bar import shows_progress
from firth.text.character_classes import character_classes
from firth.text.code_points import code_points
from firth.text.corpus import Corpus, Source
from firth.text.segmentation import Spans, find_runs, replace_runs
from firth.text.tokenfile import TokenFile
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary

Codes = NDArray[np.uint32]
Characters = NDArray[np.int32]  # numbers of characters, -1 where a run of the script ends
Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
LARGEST_SCORE = 1e6
TASK_CHARACTERS = 1 << 22  # characters that a worker of a cluster counts as one task
RANGES = 4  # ranges of keys for each worker
StringCounts = dict[str, NDArray[Any]]  # keys, counts and first places


@dataclass(frozen=True)
class Segmenter(Recipe):
    """Learns to split text without spaces, such as Chinese, into words, from raw text alone.

    Only scripts without spaces are learned and split: Chinese characters, kana, Thai, Lao, Khmer, Burmese. Numbers,
    signs and words of other scripts end a word.

    >>> text = ["我爱北京", "北京很大", "我们去北京吧", "他在北京", "东北很冷", "南京也大"] * 3
    >>> model = Segmenter().fit(text)
    >>> model.split("她在北京，我也在北京")
    ['她', '在', '北京', '，', '我', '也', '在', '北京']
    """

    commands = (
        "firth train segmenter wikipedia.txt --out zh-words",
        "firth train word2vec wikipedia.txt --segment zh-words --out vectors/",
    )

    longest: int = option(4, "Length of the longest words, in characters.", minimum=2, maximum=16)
    min_count: int = option(2, "Ignore strings that occur less often.", minimum=2)
    length_exponent: float = option(
        0.5, "Exponent of the length of a word in its score; higher values give longer words.", minimum=0, maximum=4
    )
    characters: int = option(
        100_000_000, "Largest number of characters to count; of longer texts, evenly spaced parts are.", minimum=1000
    )

    @shows_progress
    def fit(
        self,
        corpus: Source,
        *,
        runtime: Runtime | None = None,
        report: Report = silent,
        progress: bool = False,
    ) -> SegmenterModel:
        """Learns the words of a corpus. The memory needed is about 80 bytes for each character that is counted."""
        corpus = Corpus.of(corpus)
        corpus.hints_at_segmenters = False
        tokens = corpus.tokens(report, runtime)
        alphabet, text = read_characters(tokens, self.characters)
        if len(alphabet) == 0:
            raise OptionError("the corpus has no text in a script without spaces, such as Chinese, Japanese or Thai")
        runtime = runtime or Runtime.from_env()
        levels = count_strings(text, len(alphabet), self.longest + 1, self.min_count, report, runtime)
        scores = [
            autonomy * (length + 1) ** self.length_exponent
            for length, autonomy in enumerate(score_autonomy(text, levels))
        ]
        metadata = {
            "recipe": {"name": "segmenter", **self.as_dict()},
            "tokenizer": corpus.tokenizer.as_dict(),
            "corpus": {"fingerprint": tokens.fingerprint, "tokens": len(tokens), "characters": int((text >= 0).sum())},
        }
        report(Progress("choosing words", 0, None, "words"))
        return choose_words(alphabet, text, levels, scores, metadata)


class Level(NamedTuple):
    """The strings of one length: the number of the string at each place of the text or -1, counts, first places."""

    ids: Characters
    counts: Ids
    firsts: Ids


def read_characters(tokens: TokenFile, most: int) -> tuple[Codes, Characters]:
    """The characters of scripts without spaces in a text: their code points, and the text as their numbers."""
    words = [code_points(word) for word in tokens.vocabulary]
    lengths = np.array([len(word) for word in words], np.int64)
    codes = np.concatenate([np.zeros(0, np.uint32), *words])
    firsts = np.append(0, np.cumsum(lengths))
    kinds = character_classes()[codes[firsts[:-1]]] if len(words) else np.zeros(0, np.uint8)
    unspaced = (kinds >= characters_kernel.HAN) & (kinds <= characters_kernel.UNSPACED)
    inside = np.repeat(unspaced, lengths)
    alphabet, numbers = np.unique(codes[inside], return_inverse=True)
    starts = np.append(0, np.cumsum(np.where(unspaced, lengths, 0)))
    edges = tokens.sentences.astype(np.int64)
    counted = int(kernel.expand_words(tokens.ids, edges, numbers, starts, np.zeros(0, np.int32)))
    ids: Any = tokens.ids
    if counted > most:  # one sentence in n, in stretches of 64
        blocks = np.arange(len(edges) - 1) // 64
        kept = blocks * most // counted != (blocks - 1) * most // counted
        sizes = np.diff(edges)
        ids = tokens.ids[np.repeat(kept, sizes)]
        edges = np.append(0, np.cumsum(sizes[kept]))
        counted = int(kernel.expand_words(ids, edges, numbers, starts, np.zeros(0, np.int32)))
    text = np.empty(counted, np.int32)
    kernel.expand_words(ids, edges, numbers, starts, text)
    return alphabet, text


def count_strings(
    text: Characters,
    alphabet: int,
    longest: int,
    min_count: int,
    report: Report = silent,
    runtime: Runtime | None = None,
) -> list[Level]:
    """The strings of 1 to `longest` characters that occur at least min_count times; of length 1, all.

    A string of n characters is the string of its first n - 1 and its last character: one sort counts all of a length.
    """
    places = np.flatnonzero(text >= 0)
    firsts = np.zeros(alphabet, np.int64)
    firsts[text[places[::-1]]] = places[::-1]
    levels = [Level(text, np.bincount(text[places], minlength=alphabet), firsts)]
    for length in range(2, longest + 1):
        report(Progress("counting strings", length - 1, longest - 1, "lengths"))
        if runtime is not None and runtime.workers:
            levels.append(_count_on_cluster(text, levels[-1], alphabet, length, min_count, runtime))
            continue
        keys, places = string_keys(text, levels[-1].ids, alphabet, length)
        order = np.argsort(keys, kind="stable")
        keys, places = keys[order], places[order]
        edges, counts = count_sorted(keys)
        kept = counts >= min_count
        numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        ids = np.full(len(text), -1, np.int32)
        ids[places] = np.repeat(numbers, counts)
        levels.append(Level(ids, counts[kept], places[edges[kept]]))
    return levels


def string_keys(text: Characters, shorter: Characters, alphabet: int, length: int) -> tuple[Ids, Ids]:
    """The key of each string of a length, and its place: the number of the shorter string and the last character."""
    places = np.flatnonzero(shorter[: max(0, len(text) - length + 1)] >= 0)
    places = places[text[places + length - 1] >= 0]
    return shorter[places].astype(np.int64) * alphabet + text[places + length - 1], places


def count_sorted(keys: Ids) -> tuple[Ids, Ids]:
    """Where each distinct key begins among sorted keys, and how often it occurs."""
    edges = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else np.zeros(0, np.int64)
    return edges, np.diff(np.append(edges, len(keys)))


class CharacterShard(NamedTuple):
    """A part of the text, cut between two runs, for a worker: its place, characters, and numbers of shorter strings."""

    first: int
    text: Characters
    shorter: Characters


@dataclass(frozen=True)
class StringCounter:
    """Counts the strings of one length in a shard, on a worker. Keys from edges[i] to edges[i + 1] are range i."""

    alphabet: int
    length: int
    edges: Ids

    def count(self, shard: CharacterShard) -> list[StringCounts]:
        """The keys, counts and first places of each range."""
        keys, places = string_keys(shard.text, shard.shorter, self.alphabet, self.length)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts, counts = count_sorted(keys)
        cuts = np.searchsorted(keys[starts], self.edges)
        firsts = places[order][starts] + shard.first
        return [
            {"keys": keys[starts[a:b]], "counts": counts[a:b], "firsts": firsts[a:b]}
            for a, b in pairwise(cuts.tolist())
        ]


def merge_strings(runs: Sequence[StringCounts]) -> StringCounts:
    """The sum of the counts of one range of keys, with the first place of each key."""
    keys = np.concatenate([run["keys"] for run in runs])
    order = np.argsort(keys, kind="stable")
    edges, _ = count_sorted(keys[order])
    if len(edges) == 0:
        return runs[0]
    counts, firsts = (np.concatenate([run[name] for run in runs])[order] for name in ("counts", "firsts"))
    return {
        "keys": keys[order][edges],
        "counts": np.add.reduceat(counts, edges),
        "firsts": np.minimum.reduceat(firsts, edges),
    }


def _count_on_cluster(
    text: Characters, shorter: Level, alphabet: int, length: int, min_count: int, runtime: Runtime
) -> Level:
    """The strings of one length, counted by workers in shards of the text and merged by ranges of keys."""
    ends = np.append(np.flatnonzero(text < 0), len(text))  # a string never contains the end of a run
    cuts = ends[np.searchsorted(ends, np.arange(TASK_CHARACTERS, len(text), TASK_CHARACTERS))]
    shards = [
        CharacterShard(first, text[first:last], shorter.ids[first:last])
        for first, last in pairwise(np.unique(np.concatenate([[0], cuts, [len(text)]])).tolist())
    ]
    occurrences, parts = np.cumsum(shorter.counts), RANGES * runtime.workers
    total = occurrences[-1] if len(occurrences) else 0
    prefixes = np.searchsorted(occurrences, total * np.arange(1, parts) // parts)
    edges = np.unique(np.concatenate([[0], prefixes, [len(shorter.counts)]])) * alphabet
    merged = runtime.map_reduce(
        StringCounter.count,
        merge_strings,
        shards,
        parts=len(edges) - 1,
        shared=StringCounter(alphabet, length, edges),
        stage=f"strings {length} {zlib.crc32(text.data)} {alphabet} {min_count} {edges.tolist()}",
    )
    ranges = list(merged)
    none: StringCounts = {
        "keys": np.zeros(0, np.int64),
        "counts": np.zeros(0, np.int64),
        "firsts": np.zeros(0, np.int64),
    }
    keys, counts, firsts = (np.concatenate([none[name], *(one[name] for one in ranges)]) for name in none)
    kept = counts >= min_count
    ids = np.full(len(text), -1, np.int32)
    own, places = string_keys(text, shorter.ids, alphabet, length)
    if len(keys):
        ids[places] = np.where(kept, np.cumsum(kept) - 1, -1)[np.searchsorted(keys, own)]
    return Level(ids, counts[kept], firsts[kept])


def score_autonomy(text: Characters, levels: list[Level]) -> list[Floats]:
    """The autonomy of the strings of each length but the last: how free their ends are, compared with equal lengths."""
    counts = levels[0].counts[levels[0].counts > 0].astype(np.float64)
    before = after = np.array([np.log(counts.sum()) - (counts * np.log(counts)).sum() / counts.sum()])  # of no string
    scores = []
    for length, (level, longer) in enumerate(pairwise(levels), 1):
        # The strings without their last character are followed by it, those without their first are preceded by it.
        shorter = levels[length - 2].ids if length > 1 else np.zeros(len(text), np.int32)
        new_after = branching_entropy(level, level.ids[longer.firsts], longer.counts)
        new_before = branching_entropy(level, level.ids[longer.firsts + 1], longer.counts)
        rise_after = new_after - after[shorter[level.firsts]]
        rise_before = new_before - before[shorter[level.firsts + (length > 1)]]
        scores.append(normalize(rise_after, level.counts) + normalize(rise_before, level.counts))
        before, after = new_before, new_after
    return scores


def branching_entropy(level: Level, parents: Characters, counts: Ids) -> Floats:
    """The entropy of the characters beside each string, from the counts of the strings that are longer by one.

    What is beside a string elsewhere, a rare character or the edge of a run, is different every time.
    """
    total = np.maximum(level.counts, 1).astype(np.float64)
    weights = counts * np.log(counts)
    known = np.bincount(parents, weights=weights, minlength=len(total))
    return np.asarray(np.maximum(np.log(total) - known / total, 0))


def normalize(values: Floats, counts: Ids) -> Floats:
    """The values with the mean 0 and the standard deviation 1 over the text, where each occurs `counts` times."""
    if counts.sum() == 0:
        return values
    mean = np.average(values, weights=counts)
    deviation = np.sqrt(np.average((values - mean) ** 2, weights=counts))
    return np.asarray((values - mean) / (deviation if deviation > 0 else 1.0))


def choose_words(
    alphabet: Codes, text: Characters, levels: list[Level], scores: list[Floats], metadata: Mapping[str, Any]
) -> SegmenterModel:
    """The model with the words of the best split of the text, and with all single characters."""
    pairs = list(zip(levels, scores))
    starts = np.concatenate([level.firsts for level, _ in pairs])
    sizes = np.concatenate([np.full(len(level.firsts), size) for size, (level, _) in enumerate(pairs, 1)])
    every = np.concatenate(scores)
    codes = np.append(alphabet, 0)[text]  # -1 is the last
    edges = np.flatnonzero(np.diff(np.append(0, np.append(text >= 0, 0))))
    runs = edges[::2], edges[1::2]
    unknown = float(scores[0].min())
    trie = Trie.of(codes, starts, starts + sizes, every)
    new_starts, new_ends, _ = trie.split(codes, *runs, unknown)
    offsets = np.append(0, np.cumsum([len(level.firsts) for level, _ in pairs]))
    used = np.concatenate([levels[0].counts[:0], *_ids_of_words(levels, offsets, new_starts, new_ends)])
    counts = np.bincount(used, minlength=len(every))
    kept = np.flatnonzero((counts > 0) | (sizes == 1))
    words = [_join(codes[starts[id] : starts[id] + sizes[id]]) for id in kept.tolist()]
    order = np.array(sorted(range(len(kept)), key=lambda at: (-int(counts[kept[at]]), words[at])), np.int64)
    vocabulary = Vocabulary([words[at] for at in order.tolist()], counts[kept[order]])
    return SegmenterModel(vocabulary, every[kept[order]].astype(np.float32), unknown, metadata=metadata)


def _ids_of_words(levels: list[Level], offsets: Ids, starts: Ids, ends: Ids) -> Iterator[Ids]:
    sizes = ends - starts
    for size in range(1, len(levels)):
        ids = levels[size - 1].ids[starts[sizes == size]]
        yield ids[ids >= 0].astype(np.int64) + offsets[size - 1]


def _join(codes: Codes) -> str:
    return codes.astype(np.uint32).tobytes().decode("utf-32-le", "surrogatepass")


class Trie(NamedTuple):
    """Words with their scores (see `kernels/segmenter.py`)."""

    keys: NDArray[np.uint64]
    children: NDArray[np.int32]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, codes: Codes, starts: Ids, ends: Ids, scores: NDArray[Any]) -> Trie:
        """The trie of the words codes[starts[i]:ends[i]]."""
        nodes = int((ends - starts).sum()) + 1
        size = 1 << max(4, (2 * nodes).bit_length())
        trie = cls(np.zeros(size, np.uint64), np.zeros(size, np.int32), np.full(nodes, -np.inf))
        used = kernel.build_trie(codes, starts, ends, scores.astype(np.float64), *trie)
        return trie._replace(values=trie.values[:used].copy())

    def split(self, codes: Codes, starts: Ids, ends: Ids, unknown: float) -> tuple[Ids, Ids, Ids]:
        """The starts and ends of the words of runs, and the number of words of each run."""
        size = int((ends - starts).sum())
        new_starts, new_ends, counts = (
            np.empty(size, np.int64),
            np.empty(size, np.int64),
            np.empty(len(starts), np.int64),
        )
        words = kernel.split_runs(
            codes, character_classes(), starts, ends, *self, unknown, new_starts, new_ends, counts
        )
        return new_starts[:words], new_ends[:words], counts


@checked
class SegmenterModel:
    """Splits text without spaces into words: `firth.Segmenter` learns it. `counts` of its vocabulary are of the text.

    >>> model = SegmenterModel(["北京", "大学", "北", "京", "大", "学"], np.array([3, 3, 1, 1, 1, 1], np.float32))
    >>> model.split("北京大学 in 北京")
    ['北京', '大学', 'in', '北京']
    >>> Tokenizer(segment=model).spans("去北京")
    [Token(text='去', start=0, end=1), Token(text='北京', start=1, end=3)]
    """

    kind = "segmenter"

    def __init__(
        self,
        vocabulary: Vocabulary | list[str],
        scores: NDArray[Any],
        unknown: float = 0.0,
        *,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.vocabulary = vocabulary if isinstance(vocabulary, Vocabulary) else Vocabulary(vocabulary)
        self.scores, self.unknown = scores, unknown
        self.metadata: dict[str, Any] = dict(metadata or {})
        if scores.shape != (len(self.vocabulary),):
            raise OptionError(f"{len(self.vocabulary)} words need as many scores, but there are {scores.shape}")

    def __len__(self) -> int:
        return len(self.vocabulary)

    def __repr__(self) -> str:
        first = ", ".join(word for word, _ in self.vocabulary.most_common(200) if len(word) > 1)
        return f"SegmenterModel({len(self):,} words: {first[:24]}…)"

    @cached_property
    def _trie(self) -> Trie:
        words = [code_points(word) for word in self.vocabulary]
        ends = np.cumsum([len(word) for word in words], dtype=np.int64)
        return Trie.of(np.concatenate(words), np.append(0, ends)[:-1], ends, self.scores)

    def split(self, text: str) -> list[str]:
        """The words of a text."""
        return Tokenizer(segment=self).words(text)

    def __call__(self, text: str) -> list[str]:
        """The words of a text, as `split`: a model is a function that segments."""
        return self.split(text)

    def cut(self, codes: Codes, spans: Spans) -> Spans:
        """The tokens of a text with the words of each run of a script without spaces in place of its tokens."""
        runs = find_runs(codes, spans)
        if len(runs.starts) == 0:
            return spans
        return replace_runs(spans, runs, *self._trie.split(codes, runs.starts, runs.ends, self.unknown))

    def to_parts(self) -> Parts:
        """The artifact taken apart, for a file."""
        config = {"unknown": self.unknown, "metadata": self.metadata}
        return Parts(self.kind, config, {"scores": self.scores}, {"vocab": self.vocabulary})

    @classmethod
    def from_parts(cls, parts: Parts) -> SegmenterModel:
        """The artifact that `to_parts` took apart."""
        words, unknown = parts.vocabulary, parts.config.get("unknown")
        if len(words) == 0:
            raise OptionError("the segmenter has no words")
        if not isinstance(unknown, (int, float)) or not abs(unknown) <= LARGEST_SCORE:
            raise OptionError(f"unknown is {unknown!r:.60}, but must be a number")
        scores = parts.numbers("scores", len(words), low=-LARGEST_SCORE, high=LARGEST_SCORE)
        return cls(words, scores, float(unknown), metadata=parts.metadata)
