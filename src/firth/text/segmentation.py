"""Word segmentation: the words of scripts that put no spaces between them, such as Chinese, Japanese and Thai.

A segmenter is a function from text to its words: one of the caller, one of a library by its name (see
`segmenters.py`), or a trained model (`firth train segmenter`). The tokenizer finds sentences, numbers and words of
other scripts; the segmenter splits what is left, with offsets into the text.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.kernels import characters
from firth.text.segmenters import LIBRARIES, open_library
from firth.text.vocabulary import Vocabulary

Codes = NDArray[np.uint32]
Ids = NDArray[np.int64]
Flags = NDArray[np.uint8]
FREQUENT = 2000  # words that are looked at
MUCH = 0.3  # of the tokens
Segment = str | Callable[[str], Iterable[str]]  # a name, the folder of a model, or a function from text to words
FUNCTIONS: dict[str, list[Callable[[str], Iterable[str]]]] = {}  # of this process, by what models store of them


class Spans(NamedTuple):
    """Where tokens start and end, and which of them end a sentence."""

    starts: Ids
    ends: Ids
    last: Flags


class SpanSegmenter(Protocol):
    """What the tokenizer calls: a segmenter of arrays."""

    def cut(self, codes: Codes, spans: Spans) -> Spans: ...


def find_segmenter(segment: Segment) -> SpanSegmenter:
    """The segmenter of a name, of the folder of a model, or of a function.

    >>> find_segmenter("jeiba")
    Traceback (most recent call last):
    firth.errors.OptionError: no segmenter is called 'jeiba', and no folder is. Names: icu, jieba, ...
    """
    if not isinstance(segment, str):
        return segment if hasattr(segment, "cut") else SentenceSegmenter(segment)
    if segment in LIBRARIES:
        return _open_named(segment)
    if is_function_name(segment):
        known = FUNCTIONS.get(segment, ())
        if len(known) == 1:
            return find_segmenter(known[0])
        raise OptionError(
            f"the text of this model was split into words by the function {segment[10:-1]}, which is not stored with "
            "the model. Pass lists of words, or train the model with the name of a segmenter"
        )
    if not os.path.isdir(segment):
        problem = f"no segmenter is called {segment!r:.80}, and no folder is"
        cure = "If a model names this folder, put it here or beside the model, or name another segmenter"
        raise OptionError(f"{problem}. Names: {', '.join(LIBRARIES)}. {cure}")
    return _open_folder(os.path.abspath(segment), os.stat(segment).st_mtime_ns)


def name_segment(segment: Callable[[str], Iterable[str]]) -> str:
    """What a model stores of a function that segments: its name in Python, by which this process finds it again.

    >>> name_segment(str.split), is_function_name("<function str.split>"), is_function_name("icu")
    ('<function str.split>', True, False)
    """
    named = segment if hasattr(segment, "__qualname__") else type(segment)
    module = getattr(named, "__module__", None)
    prefix = "" if module in (None, "builtins", "__main__") else f"{module}."
    name = f"<function {prefix}{getattr(named, '__qualname__', '')}>"
    known = FUNCTIONS.setdefault(name, [])
    if segment not in known:
        known.append(segment)
    return name


def is_function_name(segment: object) -> bool:
    """Whether a stored segmenter is a function, which only the process that trained the model has."""
    return isinstance(segment, str) and segment.startswith("<function ")


@lru_cache(maxsize=8)
def _open_named(name: str) -> SpanSegmenter:
    library, split = LIBRARIES[name], open_library(name)
    return SentenceSegmenter(split) if library.whole else RunSegmenter(split, library.batched)


@lru_cache(maxsize=8)
def _open_folder(path: str, changed: int) -> SpanSegmenter:
    # Folders of models are opened by the package of file formats, which imports this one.
    model: Any = import_module("firth.formats.registry").load(path)
    if not hasattr(model, "cut"):
        cure = "Train one: firth train segmenter TEXT --out DIR"
        raise OptionError(f"{path}: contains a {type(model).__name__}, not a segmenter. {cure}")
    segmenter: SpanSegmenter = model
    return segmenter


@dataclass(frozen=True)
class SentenceSegmenter:
    """Splits every sentence by a function, which decides about numbers, signs and other scripts too.

    >>> from firth.text.code_points import code_points
    >>> spans = Spans(np.array([0, 1, 2, 3]), np.array([1, 2, 3, 4]), np.array([0, 0, 0, 1], np.uint8))
    >>> SentenceSegmenter(lambda text: [text[:2], text[2:]]).cut(code_points("我爱北京"), spans).ends
    array([2, 4])
    """

    split: Callable[[str], Iterable[str]]

    def cut(self, codes: Codes, spans: Spans) -> Spans:
        """The words of each sentence."""
        text = to_text(codes)
        starts: list[int] = []
        ends: list[int] = []
        last: list[int] = []
        edges = np.append(np.flatnonzero(spans.last), len(spans.starts) - 1) if len(spans.starts) else ()
        first = 0
        for edge in dict.fromkeys(np.asarray(edges, np.int64).tolist()):
            begin, end = int(spans.starts[first]), int(spans.ends[edge])
            places = align_words(text[begin:end], self.split(text[begin:end]))
            starts += [begin + place[0] for place in places]
            ends += [begin + place[1] for place in places]
            last += [0] * len(places)
            if last:
                last[-1] = int(spans.last[edge])
            first = edge + 1
        return Spans(np.array(starts, np.int64), np.array(ends, np.int64), np.array(last, np.uint8))


@dataclass(frozen=True)
class RunSegmenter:
    """Splits runs of scripts without spaces by a function; all other tokens stay. `batched`: many runs in one call."""

    split: Callable[[str], Iterable[str]]
    batched: bool = False

    def cut(self, codes: Codes, spans: Spans) -> Spans:
        """The tokens with the words of each run in place of its tokens."""
        runs = find_runs(codes, spans)
        if len(runs.starts) == 0:
            return spans
        text = to_text(codes)
        texts = [text[start:end] for start, end in zip(runs.starts.tolist(), runs.ends.tolist())]
        lists = self._split_batch(texts) if self.batched else [align_words(one, self.split(one)) for one in texts]
        counts = np.array([len(places) for places in lists], np.int64)
        places = np.array([place for places in lists for place in places], np.int64).reshape(-1, 2)
        places += np.repeat(runs.starts, counts)[:, None]
        return replace_runs(spans, runs, places[:, 0], places[:, 1], counts)

    def _split_batch(self, texts: list[str]) -> list[list[tuple[int, int]]]:
        lists: list[list[tuple[int, int]]] = [[]]
        at = 0
        for word in self.split("\n".join(texts)):
            if word == "\n":
                lists.append([])
                at = 0
            else:
                lists[-1].append((at, at + len(word)))
                at += len(word)
        return lists


class Runs(NamedTuple):
    """Runs of adjacent tokens of scripts without spaces: their places in the text, and their first and last tokens."""

    starts: Ids
    ends: Ids
    first: Ids
    last: Ids


def find_runs(codes: Codes, spans: Spans) -> Runs:
    """The runs of a text. A run ends where a sentence ends."""
    from firth.text.character_classes import character_classes  # it runs a module of kernels

    kinds = character_classes()[codes[spans.starts]]
    unspaced = (kinds >= characters.HAN) & (kinds <= characters.UNSPACED)
    if not unspaced.any():
        return Runs(*np.zeros((4, 0), np.int64))
    adjacent = unspaced[1:] & unspaced[:-1] & (spans.starts[1:] == spans.ends[:-1]) & (spans.last[:-1] == 0)
    first = np.flatnonzero(unspaced & ~np.append(False, adjacent))
    last = np.flatnonzero(unspaced & ~np.append(adjacent, False))
    return Runs(spans.starts[first], spans.ends[last], first, last)


def replace_runs(spans: Spans, runs: Runs, starts: Ids, ends: Ids, counts: Ids) -> Spans:
    """The tokens with those of each run replaced by new ones: `counts` has the number of new tokens of each run."""
    kept = np.ones(len(spans.starts), bool)
    kept[spans_inside(runs.first, runs.last)] = False
    ending = spans.last[runs.last]
    last = np.zeros(len(starts), np.uint8)
    filled = counts > 0
    last[np.cumsum(counts)[filled] - 1] = ending[filled]
    every = np.concatenate([spans.starts[kept], starts])
    order = np.argsort(every, kind="stable")
    return Spans(
        every[order],
        np.concatenate([spans.ends[kept], ends])[order],
        np.concatenate([spans.last[kept], last])[order],
    )


def hint_at_segmenters(vocabulary: Vocabulary) -> None:
    """Warns that a text in scripts without spaces was read without a segmenter, if much of it is in such scripts."""
    from firth.text.character_classes import character_classes  # it runs a module of kernels

    frequent = vocabulary.most_common(FREQUENT)
    kinds = character_classes()[[ord(word[0]) for word, _ in frequent]] if frequent else np.zeros(0, np.uint8)
    counts = np.array([count for _, count in frequent], np.int64)
    unspaced = int(counts[(kinds >= characters.HAN) & (kinds <= characters.UNSPACED)].sum())
    if unspaced > MUCH * max(1, int(counts.sum())):
        share = f"{100 * unspaced / int(counts.sum()):.0f} % of the tokens are not words"
        scripts = "text in scripts without spaces, such as Chinese, Japanese and Thai, needs a segmenter"
        cure = "Use segment='icu' (pip install 'firth[segment]'), or train one: firth train segmenter"
        warnings.warn(f"{share}: {scripts}. {cure}", stacklevel=2)


def spans_inside(first: Ids, last: Ids) -> Ids:
    """All whole numbers from first[i] to last[i], for every i.

    >>> spans_inside(np.array([2, 7]), np.array([4, 7])).tolist()
    [2, 3, 4, 7]
    """
    sizes = last - first + 1
    return np.repeat(first - np.append(0, np.cumsum(sizes)[:-1]), sizes) + np.arange(sizes.sum())


def align_words(text: str, words: Iterable[str]) -> list[tuple[int, int]]:
    """The place of each word in the text, in order; words of white space are left out.

    >>> align_words("我爱 北京", ["我", "爱", " ", "北京"])
    [(0, 1), (1, 2), (3, 5)]
    >>> align_words("我爱", ["我们"])
    Traceback (most recent call last):
    firth.errors.OptionError: the segmenter returned '我们', which is not in the rest of the text, '我爱'. ...
    """
    places = []
    at = 0
    for word in check_words(words):
        if not word.strip():
            continue
        found = text.find(word, at)
        if found < 0:
            problem = f"the segmenter returned {word!r:.40}, which is not in the rest of the text, {text[at:]!r:.40}"
            cure = "Its words must be parts of the text. For other words pass lists: [split(text) for text in texts]"
            raise OptionError(f"{problem}. {cure}")
        at = found + len(word)
        places.append((found, at))
    return places


def check_words(words: object) -> Iterable[str]:
    """The words that a segmenter returned, if they are words."""
    if isinstance(words, Iterable) and not isinstance(words, (str, bytes)):
        tokens = list(words)
        if all(isinstance(token, str) for token in tokens):
            return tokens
    raise OptionError(f"the segmenter returned {words!r:.60}, but must return a list of words")


def to_text(codes: Codes) -> str:
    """The text of code points."""
    return codes.tobytes().decode("utf-32-le", "surrogatepass")
