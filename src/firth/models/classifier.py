"""fastText's classifier: a line's label is told from the mean of the rows of its words.

Lines are read as fastText reads them: words stand between blanks, words that begin with `__label__` are the labels of
their line, wherever they stand, and the end of the line is a word of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.kernels import classifier as kernel
from firth.kernels import random as random_kernel
from firth.kernels.simd_float import matrix, stride
from firth.models.classifier_model import LABEL_PREFIX, SENTENCE_END, Features, Table
from firth.models.continued_training import take_up
from firth.models.huffman import Tree
from firth.models.phrases import extend_vocabulary
from firth.models.trained_recipe import Trained
from firth.models.window_network import random_rows
from firth.options import option
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.subwords import Subwords
from firth.text.tokenfile import TokenFile
from firth.text.vocabulary import Vocabulary, to_bytes
from firth.training.loop import Block, HeldOut, Schedule, Tally
from firth.vectors.rows import DenseRows, Floats
from firth.vectors.subwords import Output, SubwordVectors
from firth.vectors.words import WordVectors

BLOCK = 10_000  # words of a block: labeled texts are often small, and every thread should have some
LossName = Literal["softmax", "hs", "ns", "ova"]
LOSSES: dict[str, tuple[LossName, int]] = {
    "softmax": ("softmax", kernel.SOFTMAX),
    "hierarchical-softmax": ("hs", kernel.TREE),
    "negative-sampling": ("ns", kernel.NOISE),
    "one-vs-all": ("ova", kernel.EACH),
}


@dataclass(frozen=True)
class FastTextClassifier(Trained["Network", SubwordVectors]):
    """Labels of lines. The model is a `SubwordVectors`; `Classifier` asks it for labels.

    >>> from firth.text.tokenize import Tokenizer
    >>> lines = ["__label__drink hot tea", "__label__sky hot sun"] * 20
    >>> corpus = Corpus.of(lines, tokenizer=Tokenizer(mode="whitespace"))
    >>> model = FastTextClassifier(dim=8).fit(corpus)
    >>> model.output.labels.words, model.vocabulary.words
    (('__label__drink', '__label__sky'), ('</s>', 'hot', 'sun', 'tea'))
    """

    commands = (
        "firth train classifier labeled.txt --word-ngrams 2 --epochs 20 --out classifier.bin",
        "firth train classifier labeled.txt --start cc.fa.300.vec --dim 300 --out classifier.bin",
    )
    name = "fasttext-classifier"
    lesson = "no line has both a label and a word to learn it from"

    dim: int = option(100, "length of the vectors", minimum=1)
    objective: Literal["softmax", "hierarchical-softmax", "negative-sampling", "one-vs-all"] = option(
        "softmax", "how labels are told apart; hierarchical-softmax for very many, one-vs-all for several on a line"
    )
    word_ngrams: int = option(1, "also learn from runs of up to so many words", minimum=1)
    minn: int = option(0, "shortest n-grams of characters", minimum=0)
    maxn: int = option(0, "longest n-grams of characters; 0: none", minimum=0)
    buckets: int = option(2_000_000, "rows that all n-grams share", minimum=0, maximum=100_000_000)
    negatives: int = option(5, "labels drawn from the noise for each line", minimum=1)
    noise_exponent: float = option(0.5, "negatives are drawn by count to this power")
    min_count: int = option(1, "leave out words that are rarer", minimum=1)
    min_label_count: int = option(1, "leave out labels that are rarer", minimum=1)
    label_prefix: str = option(LABEL_PREFIX, "how labels begin")
    learning_rate: float = option(0.1, "first step size; falls to 0", minimum=0)
    epochs: int = option(5, "times that the text is read", minimum=1)
    shuffle: bool = option(True, "read the lines in random order, the same in every epoch")
    seed: int = option(1, "where the random numbers start", minimum=0, maximum=2**32)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.label_prefix:
            raise OptionError("FastTextClassifier: label_prefix is empty, so every word would be a label")
        if self.maxn and self.minn > self.maxn:
            raise OptionError(f"FastTextClassifier: minn is {self.minn}, but must be at most maxn, {self.maxn}")

    @property
    def subwords(self) -> Subwords:
        """The n-grams of characters; without them and without runs of words no row is shared."""
        buckets = self.buckets if self.maxn > 0 or self.word_ngrams > 1 else 0
        return Subwords(self.minn, self.maxn, buckets)

    def _prepare(
        self, corpus: Corpus, tokens: TokenFile, start: WordVectors | None, runtime: Runtime
    ) -> tuple[Network, Schedule]:
        if corpus.tokenizer.mode != "whitespace":
            raise OptionError("labeled lines are cut at white space. Read them with Tokenizer(mode='whitespace')")
        features = self._features(tokens, start)
        lines = Lines.of(tokens, features, self.seed if self.shuffle else None, runtime)
        rows = len(features.words) + self.subwords.buckets
        inputs = random_rows(rows, self.dim, 1.0 / self.dim, self.seed, runtime)
        if start is not None:
            take_up(inputs, features.words, start)
        schedule = Schedule(lines.types, lines.offsets, self.epochs, self.learning_rate, BLOCK)
        return Network(self, features, inputs, lines.table), schedule

    def _finish(
        self, network: Network, tokens: TokenFile, start: WordVectors | None, metadata: Mapping[str, Any]
    ) -> SubwordVectors:
        lines = len(tokens.sentences) - 1
        metadata = {**metadata, "fasttext": self._arguments(len(tokens) + lines)}
        rows = DenseRows(np.ascontiguousarray(network.outputs[:, : self.dim]))
        output = Output(rows, network.features.labels, "supervised", LOSSES[self.objective][0])
        words = network.features.words
        return SubwordVectors(words, network.finished(), self.subwords, output=output, metadata=metadata)

    def _features(self, tokens: TokenFile, start: WordVectors | None) -> Features:
        """The words and labels that are frequent enough, and all words that `start` has."""
        every = tokens.vocabulary
        if len(every) == 0:
            raise OptionError("the corpus holds no words")
        is_label = np.empty(len(every), bool)
        prefix = np.frombuffer(to_bytes(self.label_prefix), np.uint8)
        kernel.find_prefix(every.blob, every.starts, every.ends, prefix, is_label)
        labels = every.take(np.flatnonzero(is_label)).cut(self.min_label_count)
        if len(labels) < 2:
            found = f"only the label {labels[0]!r}" if len(labels) else "no label"
            raise OptionError(
                f"FastTextClassifier: {found} is seen {self.min_label_count} times, but two are needed. Labels are "
                f"words that begin with {self.label_prefix!r}"
            )
        ends = Vocabulary([SENTENCE_END], [len(tokens.sentences) - 1])
        words = every.take(np.flatnonzero(~is_label)).merge(ends).cut(self.min_count)
        if len(words) == 0 and start is None:
            raise OptionError(f"FastTextClassifier: no word is seen so often. Lower min_count ({self.min_count})")
        if start is not None:
            old = start.vocabulary
            words = words.merge(Vocabulary.from_arrays(old.blob, old.starts, old.ends, np.zeros(len(old), np.int64)))
        return Features(words, labels, self.subwords, self.word_ngrams, self.label_prefix)

    def _arguments(self, tokens: int) -> dict[str, Any]:
        """What fastText's own file says about a training."""
        return {
            "ws": 5,
            "epoch": self.epochs,
            "minCount": self.min_count,
            "neg": self.negatives,
            "wordNgrams": self.word_ngrams,
            "lrUpdateRate": 100,
            "t": 1e-4,
            "tokens": tokens,
            "label_prefix": self.label_prefix,
        }


@dataclass(frozen=True, eq=False)
class Lines:
    """Labeled lines as types, each line with its end, and what each type stands for."""

    types: NDArray[np.uint32]
    offsets: NDArray[np.uint64]
    table: Table

    @classmethod
    def of(cls, tokens: TokenFile, features: Features, seed: int | None, runtime: Runtime) -> Lines:
        """The lines of a text, in random order where there is a seed."""
        every = tokens.vocabulary
        line_end = every.find(SENTENCE_END)
        if line_end < 0:
            line_end = len(every)
            every = extend_vocabulary(every, [SENTENCE_END])
        count = len(tokens.sentences) - 1
        order = np.arange(count) if seed is None else np.random.default_rng(seed).permutation(count)
        types, offsets = np.empty(len(tokens) + count, np.uint32), np.empty(count + 1, np.uint64)
        sentences = np.asarray(tokens.sentences).astype(np.int64)
        kernel.copy_lines(np.asarray(tokens.ids), sentences, order, line_end, types, offsets)
        return cls(types, offsets, features.table(every, runtime))


class Network:
    """The rows of words and n-grams, those of the labels, and how a block of lines changes them."""

    def __init__(self, recipe: FastTextClassifier, features: Features, inputs: Floats, table: Table) -> None:
        self.recipe, self.features, self.table = recipe, features, table
        self.inputs, self.outputs = inputs, matrix(len(features.labels), recipe.dim)

    def held_out(self, tokens: TokenFile) -> HeldOut:
        """Other lines, for a network with the same rows but types of its own."""
        lines = Lines.of(tokens, self.features, None, Runtime(1))
        reader = copy(self)
        reader.table = lines.table
        return HeldOut(reader, lines.types, lines.offsets)

    @property
    def arrays(self) -> Mapping[str, Floats]:
        return {"inputs": self.inputs, "outputs": self.outputs}

    @property
    def guess(self) -> float:
        """The loss of a prediction by chance."""
        size, objective = len(self.outputs), self.recipe.objective
        if objective == "one-vs-all":
            return size * math.log(2)
        if objective == "negative-sampling":
            return (1 + self.recipe.negatives) * math.log(2)
        return math.log(2) * max(1.0, math.log2(size))

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        return np.asarray(self.features.labels.counts, np.int64)

    @cached_property
    def _noise(self) -> NDArray[np.uint32]:
        return np.asarray(random_kernel.alias_table(self._counts.astype(np.float64) ** self.recipe.noise_exponent))

    @cached_property
    def _tree(self) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint8]]:
        tree = Tree.of_counts(self._counts)
        return tree.starts, tree.nodes, tree.turns

    def train(self, block: Block) -> Tally:
        """Trains one block of lines."""
        recipe = self.recipe
        loss, lines = kernel.train_lines(
            block.ids,
            block.ends,
            tuple(self.table),
            recipe.word_ngrams,
            self.features.subwords.buckets,
            len(self.features.words),
            self.inputs,
            self.outputs,
            LOSSES[recipe.objective][1],
            self._tree,
            self._noise,
            recipe.negatives,
            block.rate,
            block.last_rate,
            np.uint64(random_kernel.key(recipe.seed, block.epoch, block.number)),
        )
        return Tally(float(loss), int(lines))

    def finished(self) -> Floats:
        """The input rows without their padding, in the same memory; nothing can be trained any more."""
        rows, dim = len(self.inputs), self.recipe.dim
        flat = self.inputs.reshape(-1)
        kernel.drop_padding(flat, rows, stride(dim), dim)
        return flat[: rows * dim].reshape(rows, dim)
