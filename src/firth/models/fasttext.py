"""fastText: a word's vector is the mean of its own row and those of its character n-grams (Bojanowski et al., 2017).

Everything else is word2vec (see `window_network.py`). Only n-grams that occur in the words of the corpus are trained,
and their rows are stored by falling frequency; the rows of all other buckets stay zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.kernels import fasttext as kernel
from firth.kernels import subwords as subwords_kernel
from firth.models.continued_training import (
    has_same_ngrams,
    merge_subword_vectors,
    output_rows,
    rows_for_vectors,
)
from firth.models.window_network import (
    Floats,
    KernelLoss,
    Objective,
    PredictionOptions,
    WindowNetwork,
    WindowOptions,
    WindowRecipe,
    Windows,
    cut_vocabulary,
    random_rows,
)
from firth.options import option, redefine
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.subwords import Subwords, Units
from firth.text.tokenfile import TokenFile
from firth.text.vocabulary import Vocabulary
from firth.training.schedule import BlockSchedule, TextBlock
from firth.vectors.rows import DenseRows
from firth.vectors.subwords import Output, SubwordVectors
from firth.vectors.words import WordVectors

LOSSES: dict[str, Literal["ns", "hs", "softmax"]] = {
    "negative-sampling": "ns",
    "hierarchical-softmax": "hs",
    "softmax": "softmax",
}


@dataclass(frozen=True)
class NgramOptions(PredictionOptions):
    """The character n-grams of words."""

    minn: int = option(3, "Length of the shortest n-grams, in characters.", minimum=1, maximum=100)
    maxn: int = option(6, "Length of the longest n-grams, in characters; 0 disables n-grams.", minimum=0, maximum=100)
    buckets: int = option(
        2_000_000, "Number of rows for n-grams, which are hashed into them.", minimum=0, maximum=2**31 - 1
    )


@dataclass(frozen=True)
class FastText(WindowRecipe["SubwordNetwork", SubwordVectors], NgramOptions):
    """fastText: vectors of words and of their character n-grams. Unseen words have vectors too.

    >>> corpus = Corpus.of(["the king rules the land", "the queen rules the land"] * 50)
    >>> vectors = FastText(dim=8, min_count=1, epochs=3, buckets=1000).fit(corpus)
    >>> len(vectors), vectors["kings"].shape, len(vectors.metadata["loss"])
    (5, (8,), 3)
    """

    commands = (
        "firth train fasttext corpus.txt --out model.bin",
        "firth train fasttext new.txt --start model.bin --out grown.bin",
        "firth train fasttext labeled.txt --labels --out classifier.bin      # as firth train classifier",
    )
    name = "fasttext"

    units: Units = option(
        "characters",
        "Units of n-grams. jamo: the letters of Hangul syllables, three for each syllable, for Korean; such a model is "
        "saved in firth's own format only.",
    )
    subsample: float = redefine(WindowOptions, "subsample", 1e-4)
    noise_exponent: float = redefine(WindowOptions, "noise_exponent", 0.5)
    learning_rate: float = option(0.05, "Initial learning rate; decays linearly to 0.", minimum=0)
    seed: int = option(1, "Seed of the random numbers.", minimum=0, maximum=2**32)

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0 < self.maxn < self.minn:
            raise OptionError(f"FastText: maxn is {self.maxn}, but must be at least minn, {self.minn}, or 0")

    @property
    def subwords(self) -> Subwords:
        """The n-grams of this recipe; there are none if `buckets` or `maxn` is 0."""
        buckets = self.buckets if self.maxn else 0
        return Subwords(self.minn, self.maxn if buckets else 0, buckets, units=self.units)

    def _prepare(
        self, corpus: Corpus, tokens: TokenFile, start: WordVectors | None, runtime: Runtime
    ) -> tuple[SubwordNetwork, BlockSchedule]:
        vocabulary = cut_vocabulary(tokens.vocabulary, self.min_count, self.max_vocabulary)
        subword_rows = SubwordRows.of(vocabulary, self.subwords, runtime)
        count = len(vocabulary) + len(subword_rows.buckets)
        rows = random_rows(count, self.dim, 1.0 / self.dim, self.seed, runtime)
        network = SubwordNetwork(self, vocabulary, rows, subword_rows)
        if start is not None:
            network.continue_from(start)
        return network, BlockSchedule(tokens.ids, tokens.sentences, self.epochs, self.learning_rate, seed=self.seed)

    def _finish(
        self, network: SubwordNetwork, tokens: TokenFile, start: WordVectors | None, metadata: Mapping[str, Any]
    ) -> SubwordVectors:
        metadata = {**metadata, "fasttext": self._arguments(len(tokens))}
        rows, output = network.all_rows(), network.output()
        vectors = SubwordVectors(network.vocabulary, rows, self.subwords, output=output, metadata=metadata)
        return vectors if start is None else merge_subword_vectors(vectors, start)

    def _arguments(self, tokens: int) -> dict[str, Any]:
        """The arguments that fastText stores in its files, under its names."""
        subwords = self.subwords
        return {
            "version": 12,
            "dim": self.dim,
            "ws": self.window,
            "epoch": self.epochs,
            "minCount": self.min_count,
            "neg": self.negatives,
            "wordNgrams": 1,
            "bucket": subwords.buckets,
            "minn": subwords.minn,
            "maxn": subwords.maxn,
            "lrUpdateRate": 100,
            "t": self.subsample,
            "tokens": tokens,
            "qout": False,
        }


@dataclass(frozen=True, eq=False)
class SubwordRows:
    """The rows of each word, numbered without gaps: the words' own rows first, then those of the n-grams in use.

    The rows of word w are rows[pointers[w] : pointers[w + 1]]. `buckets[k]` is the bucket of the k-th n-gram row; the
    most frequent come first, so that frequently used rows are near each other in memory.

    >>> vocabulary = Vocabulary(["tea", "eat"], [5, 2])
    >>> subword_rows = SubwordRows.of(vocabulary, Subwords(3, 3, 1000), Runtime(1))
    >>> subword_rows.rows.tolist(), subword_rows.pointers.tolist(), len(subword_rows.buckets)
    ([0, 2, 3, 4, 1, 6, 7, 5], [0, 4, 8], 6)
    """

    rows: NDArray[np.uint32]
    pointers: NDArray[np.int64]
    buckets: NDArray[np.int64]

    @classmethod
    def of(cls, vocabulary: Vocabulary, subwords: Subwords, runtime: Runtime) -> SubwordRows:
        """The rows of a vocabulary with counts."""
        size = len(vocabulary)
        rows, pointers, lengths = subwords.table(vocabulary, runtime)
        is_ngram = rows >= size
        buckets, places = np.unique(rows[is_ngram] - size, return_inverse=True)
        weights = np.repeat(np.asarray(vocabulary.counts, np.float64), lengths)[is_ngram]
        order = np.argsort(-np.bincount(places, weights, len(buckets)), kind="stable")
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))
        rows[is_ngram] = size + ranks[places]
        return cls(rows.astype(np.uint32), pointers, buckets[order])


class SubwordNetwork(WindowNetwork[FastText]):
    """One row of `inputs` per word and n-gram in use; one of `outputs` per word, or per inner node of the tree."""

    def __init__(self, recipe: FastText, vocabulary: Vocabulary, inputs: Floats, subword_rows: SubwordRows) -> None:
        super().__init__(recipe, vocabulary, inputs)
        self.subword_rows = subword_rows

    def continue_from(self, start: WordVectors) -> None:
        """Copies the rows of words and n-grams, and the output rows, of an existing model.

        Buckets that the model never trained keep their random rows. If the model has no n-grams, each word's own row
        is chosen so that the mean with its n-grams is the word's vector.
        """
        size, dim = len(self.vocabulary), self.recipe.dim
        ids = start.vocabulary.ids(self.vocabulary)
        known = np.flatnonzero(ids >= 0)
        if has_same_ngrams(start, self.recipe.subwords):
            self.inputs[known, :dim] = start.rows.take(ids[known])
            buckets = start.rows.take(len(start) + self.subword_rows.buckets)
            trained = np.flatnonzero(buckets.any(axis=1))
            self.inputs[size + trained, :dim] = buckets[trained]
        else:
            self.inputs[known] = 0
            means, lengths = np.empty_like(self.inputs[:size]), np.diff(self.subword_rows.pointers)
            subwords_kernel.mean_rows(
                self.inputs, self.subword_rows.rows, self.subword_rows.pointers[:-1], lengths, means
            )
            self.inputs[known, :dim] = rows_for_vectors(start.take(ids[known]), means[known, :dim], lengths[known])
        self.outputs[known, :dim] = output_rows(start, LOSSES[self.recipe.objective]).take(ids[known])

    def _run(self, block: TextBlock, windows: Windows, targets: int, objective: Objective) -> KernelLoss:
        recipe, subwords = self.recipe, (self.subword_rows.rows, self.subword_rows.pointers)
        scratch = kernel.make_scratch(recipe.window, recipe.negatives, targets, recipe.dim)
        train = kernel.cbow if recipe.architecture == "cbow" else kernel.skip_gram
        return train(windows, subwords, self.inputs, self.outputs, *objective, (block.rate, block.last_rate), scratch)

    def all_rows(self) -> Floats:
        """The rows of all words and all buckets, in fastText's order; unused buckets are zero."""
        size, dim = len(self.vocabulary), self.recipe.dim
        rows = np.zeros((size + self.recipe.subwords.size, dim), np.float32)
        rows[:size] = self.inputs[:size, :dim]
        rows[size + self.subword_rows.buckets] = self.inputs[size:, :dim]
        return rows

    def output(self) -> Output:
        """The output layer. fastText's Huffman tree has left and right swapped, so its nodes have the opposite sign."""
        sign = np.float32(-1.0 if self.recipe.objective == "hierarchical-softmax" else 1.0)
        rows = np.ascontiguousarray(self.outputs[:, : self.recipe.dim]) * sign
        model: Literal["cbow", "skipgram"] = "cbow" if self.recipe.architecture == "cbow" else "skipgram"
        return Output(DenseRows(rows), None, model, LOSSES[self.recipe.objective])
