"""The training of fastText's classifier: a line's label is predicted from the mean of its words' rows.

Lines are read as fastText reads them: words are separated by blanks, words that begin with `__label__` are the labels
of their line, anywhere in it, and the end of a line is a word too, `</s>`. That word inside a line ends it. Prediction
is in `classifier_model.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.kernels import classifier as kernel
from firth.kernels import random as random_kernel
from firth.kernels.simd_float import stride
from firth.models.classifier_model import Features, TypeTable
from firth.models.continued_training import copy_known_rows
from firth.models.phrases import extend_vocabulary
from firth.models.supervised_vectors import SupervisedVectors
from firth.models.trained_recipe import TrainedRecipe
from firth.models.window_network import PredictionNetwork, random_rows
from firth.options import option
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.subwords import Subwords
from firth.text.tokenfile import TokenFile
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary, to_bytes
from firth.training.loop import BlockLoss, HeldOutBlocks
from firth.training.schedule import BlockSchedule, TextBlock
from firth.vectors.fasttext_names import LABEL_PREFIX, SENTENCE_END
from firth.vectors.rows import DenseRows, Floats
from firth.vectors.subwords import Output
from firth.vectors.words import WordVectors

BLOCK = 10_000  # words per block: labeled texts are often small, and every thread should get some
LossName = Literal["softmax", "hs", "ns", "ova"]
LOSSES: dict[str, tuple[LossName, int]] = {
    "softmax": ("softmax", kernel.SOFTMAX),
    "hierarchical-softmax": ("hs", kernel.HIERARCHICAL_SOFTMAX),
    "negative-sampling": ("ns", kernel.NEGATIVE_SAMPLING),
    "one-vs-all": ("ova", kernel.ONE_VS_ALL),
}


@dataclass(frozen=True)
class FastTextClassifier(TrainedRecipe["ClassifierNetwork", SupervisedVectors]):
    """A text classifier, as in fastText.

    >>> from firth.text.tokenize import Tokenizer
    >>> lines = ["__label__drink hot tea", "__label__sky hot sun"] * 20
    >>> corpus = Corpus.of(lines, tokenizer=Tokenizer(mode="whitespace"))
    >>> model = FastTextClassifier(dim=8).fit(corpus)
    >>> model.labels, model.words
    (['__label__drink', '__label__sky'], ['</s>', 'hot', 'sun', 'tea'])
    """

    commands = (
        "firth train classifier labeled.txt --word-ngrams 2 --epochs 20 --out classifier.bin",
        "firth train classifier labeled.txt --start cc.fa.300.vec --dim 300 --out classifier.bin",
    )
    name = "fasttext-classifier"
    tokenizer = Tokenizer(mode="whitespace")
    no_examples = "no line has both a label and a word to learn it from"

    dim: int = option(100, "Dimension of the vectors.", minimum=1, maximum=1_000_000)
    objective: Literal["softmax", "hierarchical-softmax", "negative-sampling", "one-vs-all"] = option(
        "softmax",
        "Training objective. hierarchical-softmax suits very many labels, one-vs-all several labels per line.",
    )
    word_ngrams: int = option(1, "Length of the longest word n-grams.", minimum=1, maximum=1_000)
    minn: int = option(0, "Length of the shortest character n-grams.", minimum=0, maximum=1_000)
    maxn: int = option(0, "Length of the longest character n-grams; 0 disables them.", minimum=0, maximum=1_000)
    buckets: int = option(
        2_000_000, "Number of rows for n-grams, which are hashed into them.", minimum=0, maximum=100_000_000
    )
    negatives: int = option(5, "Negative samples per line.", minimum=1, maximum=1_000_000)
    noise_exponent: float = option(
        0.5, "Negative samples are drawn in proportion to count to this power.", minimum=-10, maximum=10
    )
    min_count: int = option(1, "Ignore words with fewer occurrences.", minimum=1)
    min_label_count: int = option(1, "Ignore labels with fewer occurrences.", minimum=1)
    label_prefix: str = option(LABEL_PREFIX, "Prefix of labels.")
    learning_rate: float = option(0.1, "Initial learning rate; decays linearly to 0.", minimum=0)
    epochs: int = option(5, "Passes over the corpus.", minimum=1, maximum=1_000_000)
    shuffle: bool = option(True, "Read the lines in a random order, the same in every epoch.")
    seed: int = option(1, "Seed of the random numbers.", minimum=0, maximum=2**32)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.label_prefix:
            raise OptionError("FastTextClassifier: label_prefix is empty, so every word would be a label")
        if self.maxn and self.minn > self.maxn:
            raise OptionError(f"FastTextClassifier: minn is {self.minn}, but must be at most maxn, {self.maxn}")
        if self.buckets == 0 and (self.word_ngrams > 1 or self.maxn > 0):
            name, value = ("word_ngrams", self.word_ngrams) if self.word_ngrams > 1 else ("maxn", self.maxn)
            problem = f"{name} is {value}, but buckets is 0, so that n-grams have no rows"
            raise OptionError(f"FastTextClassifier: {problem}. Raise buckets, for example to 2000000")

    @property
    def subwords(self) -> Subwords:
        """The character n-grams. Without them and without word n-grams there are no buckets."""
        buckets = self.buckets if self.maxn > 0 or self.word_ngrams > 1 else 0
        return Subwords(self.minn, self.maxn, buckets)

    def _prepare(
        self, corpus: Corpus, tokens: TokenFile, start: WordVectors | None, runtime: Runtime
    ) -> tuple[ClassifierNetwork, BlockSchedule]:
        if corpus.tokenizer.mode != "whitespace":
            raise OptionError("labeled lines are split at whitespace. Read them with Tokenizer(mode='whitespace')")
        features = self._features(tokens, start)
        lines = LabeledLines.of(tokens, features, self.seed if self.shuffle else None, runtime)
        rows = len(features.words) + self.subwords.buckets
        inputs = random_rows(rows, self.dim, 1.0 / self.dim, self.seed, runtime)
        if start is not None:
            copy_known_rows(inputs, features.words, start)
        schedule = BlockSchedule(lines.types, lines.offsets, self.epochs, self.learning_rate, BLOCK)
        return ClassifierNetwork(self, features, inputs, lines.table), schedule

    def _finish(
        self, network: ClassifierNetwork, tokens: TokenFile, start: WordVectors | None, metadata: Mapping[str, Any]
    ) -> SupervisedVectors:
        lines = len(tokens.sentences) - 1
        metadata = {**metadata, "fasttext": self._arguments(len(tokens) + lines)}
        rows = DenseRows(np.ascontiguousarray(network.outputs[:, : self.dim]))
        output = Output(rows, network.features.labels, "supervised", LOSSES[self.objective][0])
        words = network.features.words
        return SupervisedVectors(words, network.unpad_inputs(), self.subwords, output=output, metadata=metadata)

    def _features(self, tokens: TokenFile, start: WordVectors | None) -> Features:
        """The words and labels that are frequent enough, and all words of `start`."""
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
                f"FastTextClassifier: {found} occurs {self.min_label_count} times, but two labels are needed. Labels "
                f"are words that begin with {self.label_prefix!r}"
            )
        ends = Vocabulary([SENTENCE_END], [len(tokens.sentences) - 1])
        words = every.take(np.flatnonzero(~is_label)).merge(ends).cut(self.min_count)
        if len(words) == 0 and start is None:
            raise OptionError(f"FastTextClassifier: no word is that frequent. Lower min_count ({self.min_count})")
        if start is not None:
            old = start.vocabulary
            words = words.merge(Vocabulary.from_arrays(old.blob, old.starts, old.ends, np.zeros(len(old), np.int64)))
        return Features(words, labels, self.subwords, self.word_ngrams, self.label_prefix)

    def _arguments(self, tokens: int) -> dict[str, Any]:
        """The arguments that fastText stores in its files, under its names."""
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
class LabeledLines:
    """Labeled lines as type ids, each with its end-of-line type, and the table of the types."""

    types: NDArray[np.uint32]
    offsets: NDArray[np.uint64]
    table: TypeTable

    @classmethod
    def of(cls, tokens: TokenFile, features: Features, seed: int | None, runtime: Runtime) -> LabeledLines:
        """The lines of a text, in random order if there is a seed."""
        every = tokens.vocabulary
        line_end = every.find(SENTENCE_END)
        if line_end < 0:
            line_end = len(every)
            every = extend_vocabulary(every, [SENTENCE_END])
        count = len(tokens.sentences) - 1
        lines = count + int(np.count_nonzero(np.asarray(tokens.ids) == line_end))
        order = np.arange(count) if seed is None else np.random.default_rng(seed).permutation(count)
        types, offsets = np.empty(len(tokens) + count, np.uint32), np.empty(lines + 1, np.uint64)
        sentences = np.asarray(tokens.sentences).astype(np.int64)
        kernel.copy_lines(np.asarray(tokens.ids), sentences, order, line_end, types, offsets)
        return cls(types, offsets, features.table(every, runtime))


class ClassifierNetwork(PredictionNetwork):
    """The rows of words and n-grams, the output rows of the labels, and how a block of lines changes them."""

    def __init__(self, recipe: FastTextClassifier, features: Features, inputs: Floats, table: TypeTable) -> None:
        super().__init__(recipe, features.labels, inputs)
        self.features, self.table = features, table

    def held_out(self, tokens: TokenFile) -> HeldOutBlocks:
        """Other lines, for a network with the same rows but its own types."""
        lines = LabeledLines.of(tokens, self.features, None, Runtime(1))
        reader = copy(self)
        reader.table = lines.table
        return HeldOutBlocks(reader, lines.types, lines.offsets)

    def train(self, block: TextBlock) -> BlockLoss:
        """Trains one block of lines."""
        recipe, features = self.recipe, self.features
        text = block.ids, block.ends, tuple(self.table)
        hashing = recipe.word_ngrams, features.subwords.buckets, len(features.words)
        objective = LOSSES[recipe.objective][1], self.tree.arrays, self.noise, recipe.negatives
        state = np.uint64(random_kernel.key(recipe.seed, block.epoch, block.number))
        rest = self.inputs, self.outputs, *objective, block.rate, block.last_rate, state
        loss, lines = kernel.train_lines(*text, *hashing, *rest)
        return BlockLoss(float(loss), int(lines))

    def unpad_inputs(self) -> Floats:
        """The input rows without their padding, moved within the same memory. Training cannot continue afterwards."""
        rows, dim = len(self.inputs), self.recipe.dim
        flat = self.inputs.reshape(-1)
        kernel.drop_padding(flat, rows, stride(dim), dim)
        return flat[: rows * dim].reshape(rows, dim)
