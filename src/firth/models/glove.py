"""GloVe: vectors whose products are the logarithms of co-occurrence counts (Pennington, Socher and Manning, 2014).

Counting is `models/cooccurrence.py`, the order of the cells `models/glove_cells.py`, one step `kernels/glove.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from firth.errors import Diverged, OptionError
from firth.files import Name
from firth.kernels import glove as kernel
from firth.models.cooccurrence import Near, count_pairs, size_in_bytes
from firth.models.count_matrix import CountMatrix
from firth.models.glove_cells import Cells, Layout, MatrixCells, lay_out
from firth.models.trained_recipe import origin, versions
from firth.models.window_network import trained_words
from firth.options import Recipe, option
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.vocabulary import Vocabulary
from firth.training.checkpoints import Position, interrupted_error, restore_checkpoint, save_checkpoint
from firth.vectors.words import WordVectors

UNKNOWN = "<unk>"
RARE = 100  # words whose mean stands for an unknown one
SHARE = 1 << 18  # cells that a thread takes at a time
RUNAWAY = 10.0  # times the cost of rows that are all zero, or 10 where that is small
AFTER_TRAINING = ("epochs", "output", "biases", "unknown", "memory_limit", "spill_folder")  # a checkpoint fits any

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Glove(Recipe):
    """Word vectors by GloVe: w·w̃ + b + b̃ comes near the logarithm of how often two words stand together.

    >>> from firth.text.corpus import Corpus
    >>> corpus = Corpus.of(["hot tea", "hot coffee", "cold rain", "cold wind"] * 20)
    >>> vectors = Glove(dim=4, window=2, min_count=1, epochs=30, x_max=10).fit(corpus, runtime=Runtime(1))
    >>> vectors.similarity("tea", "coffee") > vectors.similarity("tea", "rain")
    True
    """

    commands = (
        "firth train glove corpus.txt --dim 100 --window 10 --out vectors/",
        "firth train glove corpus.txt --out vectors.glove",
    )

    dim: int = option(100, "length of the vectors", minimum=1)
    window: int = option(15, "words looked at on each side, never across a sentence", minimum=1)
    symmetric: bool = option(True, "look at both sides of a word; if not, at its left side only")
    min_count: int = option(5, "leave out words that are rarer", minimum=1)
    max_words: int | None = option(None, "keep at most so many words, the most frequent ones", minimum=2)
    x_max: float = option(100.0, "a count from which on a pair has its full weight")
    alpha: float = option(0.75, "how the weight falls below x_max: (x / x_max) to this power", minimum=0)
    learning_rate: float = option(0.05, "length of the steps, before AdaGrad shortens them")
    epochs: int = option(25, "times that all pairs are gone through", minimum=1)
    output: Literal["sum", "word", "context", "both"] = option(
        "sum", "a word's vector: its two vectors added, one of them, or both end to end"
    )
    biases: bool = option(False, "append to each vector its bias")
    unknown: bool = option(False, "add the word <unk>, with the mean vector of the 100 rarest words")
    seed: int = option(1, "where the random numbers start", minimum=0, maximum=2**63 - 1)
    memory_limit: int | str = option("2 GB", "pairs are laid aside on disk beyond this size")
    spill_folder: str | None = option(
        None, "where pairs are laid aside; the system's folder for passing files if not given"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        size_in_bytes(self.memory_limit)
        for name in ("x_max", "learning_rate"):
            if not 0 < getattr(self, name) < float("inf"):
                raise OptionError(f"Glove: {name} is {getattr(self, name)!r}, but must be a number above 0")

    def fit(
        self,
        corpus: Corpus,
        *,
        runtime: Runtime | None = None,
        report: Report = silent,
        checkpoint: Name | None = None,
        resume: bool = True,
    ) -> WordVectors:
        """The vectors of the corpus's words.

        With `checkpoint`, a folder, the state after each epoch is kept there, and a later call goes on from it; with
        one thread the result is the same to the bit.
        """
        runtime = runtime or Runtime.from_env()
        tokens = corpus.tokens(report)
        words = trained_words(tokens.vocabulary, self.min_count)
        words = words if self.max_words is None else words.top(self.max_words)
        kept = np.full(len(tokens.vocabulary), -1, np.int32)
        kept[: len(words)] = np.arange(len(words))
        source = origin(self._named(), corpus, tokens)
        with ExitStack() as stack:
            counts = count_pairs(
                tokens,
                kept,
                len(words),
                Near(self.window, self.window if self.symmetric else 0, harmonic=True),
                memory_limit=size_in_bytes(self.memory_limit),
                folder=self.spill_folder,
                runtime=runtime,
                report=report,
            )
            layout = self._lay_out(MatrixCells(counts), words, stack, runtime, report)
            del counts
            return self._train(layout, words, source, runtime, report, checkpoint, resume)

    def fit_counts(
        self,
        counts: CountMatrix | csr_matrix | Cells,
        vocabulary: Vocabulary | None = None,
        *,
        runtime: Runtime | None = None,
        report: Report = silent,
        checkpoint: Name | None = None,
        resume: bool = True,
    ) -> WordVectors:
        """The vectors of words that were counted already: a matrix, or the cells of a file of the original GloVe.

        The options that say how words are counted have no effect. `vocabulary` may be left out with a `CountMatrix`.

        >>> words = Vocabulary(["ice", "steam", "water"])
        >>> counts = csr_matrix([[0.0, 1.0, 9.0], [1.0, 0.0, 7.0], [9.0, 7.0, 0.0]])
        >>> Glove(dim=2, epochs=5).fit_counts(counts, words).matrix.shape
        (3, 2)
        """
        runtime = runtime or Runtime.from_env()
        cells, words = _cells_of(counts, vocabulary)
        with ExitStack() as stack:
            layout = self._lay_out(cells, words, stack, runtime, report)
            source = {"recipe": self._named(), "versions": versions()}
            return self._train(layout, words, source, runtime, report, checkpoint, resume)

    def _named(self) -> dict[str, Any]:
        return {"name": "glove", **self.as_dict()}

    def _lay_out(self, cells: Cells, words: Vocabulary, stack: ExitStack, runtime: Runtime, report: Report) -> Layout:
        return lay_out(
            cells,
            len(words),
            kernel.row_bytes(self.dim),
            x_max=self.x_max,
            alpha=self.alpha,
            seed=self.seed,
            memory_limit=size_in_bytes(self.memory_limit),
            stack=stack,
            folder=self.spill_folder,
            runtime=runtime,
            report=report,
        )

    def _train(
        self,
        layout: Layout,
        vocabulary: Vocabulary,
        source: Mapping[str, Any],
        runtime: Runtime,
        report: Report,
        checkpoint: Name | None,
        resume: bool,
    ) -> WordVectors:
        state = State.fresh(self, len(vocabulary))
        position = Position(0, [], [])
        identity: dict[str, Any] = {}
        if checkpoint is not None:
            settings = {name: value for name, value in self.as_dict().items() if name not in AFTER_TRAINING}
            identity = {"recipe": settings, "words": vocabulary.fingerprint, "pairs": layout.checksum}
            if resume:
                position = restore_checkpoint(checkpoint, state.arrays, identity) or position
        if position.step > self.epochs:
            raise OptionError(
                f"{checkpoint}: the checkpoint has {position.step} epochs behind it, but {self.epochs} are asked for. "
                "Ask for more, or start anew with resume=False"
            )
        try:
            for epoch in range(position.step, self.epochs):
                position.losses.append(self._epoch(epoch, layout, vocabulary, state, runtime, report))
                position.counts.append(len(layout))
                position.step += 1
                if checkpoint is not None:
                    save_checkpoint(checkpoint, state.arrays, identity, position)
        except KeyboardInterrupt:
            raise interrupted_error(checkpoint) from None
        metadata = {
            **source,
            "pairs": len(layout),
            "loss": position.curve,
        }
        return self._vectors(state, vocabulary, metadata)

    def _epoch(
        self, epoch: int, layout: Layout, vocabulary: Vocabulary, state: State, runtime: Runtime, report: Report
    ) -> float:
        """One pass over all cells; returns the sum of their costs, each taken before its own step."""
        order = kernel.shuffle_order(len(layout.starts) - 1, self.seed, epoch + 1)
        rate = np.float32(self.learning_rate)
        before, all_done = epoch * len(layout), self.epochs * len(layout)
        limit = RUNAWAY * max(1.0, layout.guess)

        def train(pieces: NDArray[np.int64]) -> tuple[int, float, int]:
            cells = int((layout.starts[pieces + 1] - layout.starts[pieces]).sum())
            cost, broken = kernel.train(
                layout.pairs, layout.targets, layout.starts, pieces, state.words, state.contexts, rate
            )
            return cells, cost, broken

        total, done = 0.0, 0
        for cells, cost, broken in runtime.stream(train, layout.shares(order, SHARE)):
            if broken >= 0:
                raise self._diverged(before + done, float("nan"), epoch, vocabulary, layout.pairs[broken])
            if not cost <= limit * cells:
                raise self._diverged(before + done, cost / cells, epoch, vocabulary, None)
            total, done = total + cost, done + cells
            values = {"loss": total / done, "rate": self.learning_rate, "epoch": epoch + 1}
            report(Progress("training", before + done, all_done, "pairs", values))
        broken_row = state.broken_row()
        if broken_row is not None:
            raise self._diverged(before + done, float("nan"), epoch, vocabulary, np.array([broken_row] * 2))
        return total

    def _diverged(
        self, done: int, loss: float, epoch: int, vocabulary: Vocabulary, pair: NDArray[Any] | None
    ) -> Diverged:
        place = f"in epoch {epoch + 1}"
        if pair is not None:
            place += f" at the pair {vocabulary[int(pair[0])]!r}, {vocabulary[int(pair[1])]!r}"
        return Diverged(done, self.learning_rate, loss, unit="pairs", place=place)

    def _vectors(self, state: State, vocabulary: Vocabulary, metadata: Mapping[str, Any]) -> WordVectors:
        rows = state.rows(self.output, self.dim, self.biases)
        if self.unknown and UNKNOWN not in vocabulary:
            rows = np.vstack([rows, rows[-RARE:].mean(axis=0, dtype=np.float64)]).astype(np.float32)
            counts = None if vocabulary.counts is None else [*vocabulary.counts.tolist(), 0]
            vocabulary = Vocabulary([*vocabulary, UNKNOWN], counts)
        return WordVectors(vocabulary, rows, metadata=metadata)


@dataclass(frozen=True, eq=False)
class State:
    """What is trained: a row for each word, and one for it as a context (see `kernels/glove.py`)."""

    words: Floats
    contexts: Floats

    @classmethod
    def fresh(cls, recipe: Glove, size: int) -> State:
        """Rows as they are before the first step."""
        dim, seed = recipe.dim, recipe.seed
        return cls(kernel.make_rows(size, dim, seed, dim + 1), kernel.make_rows(size, dim, seed, dim))

    @property
    def arrays(self) -> dict[str, Floats]:
        """What a checkpoint holds."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def broken_row(self) -> int | None:
        """The first word with a number that is not finite, if any."""
        for rows in self.arrays.values():
            numbers = rows[:, : rows.shape[1] // 2]
            if not np.isfinite(numbers.sum(dtype=np.float64)):
                return int(np.argmin(np.isfinite(numbers).all(axis=1)))
        return None

    def rows(self, output: str, dim: int, biases: bool) -> Floats:
        """The vectors that are asked for, each bias behind its vector."""
        word, context = self.words[:, :dim], self.contexts[:, :dim]
        if biases:
            word = self.words[:, : dim + 1]
            context = np.hstack([context, self.contexts[:, dim + 1 : dim + 2]])
        if output == "sum":
            return word + context
        if output == "both":
            return np.hstack([word, context])
        return word.copy() if output == "word" else context.copy()


def _cells_of(counts: CountMatrix | csr_matrix | Cells, vocabulary: Vocabulary | None) -> tuple[Cells, Vocabulary]:
    """The cells to train on, and the words that they are about."""
    matrix: Any = counts
    if isinstance(counts, CountMatrix):
        kind = counts.options.get("kind", "co-occurrence")
        if kind != "co-occurrence":
            raise OptionError(f"GloVe needs co-occurrence counts, but this matrix is {kind}. Use kind='co-occurrence'")
        matrix, vocabulary = counts.matrix, vocabulary or counts.rows
    if vocabulary is None:
        raise OptionError("whose counts are these? Give the vocabulary with them")
    if len(vocabulary) < 2:
        raise OptionError(f"GloVe needs two words or more, but the vocabulary has {len(vocabulary)}")
    if not issparse(matrix):
        return matrix, vocabulary
    if matrix.shape != (len(vocabulary), len(vocabulary)):
        shape = f"{matrix.shape[0]:,} × {matrix.shape[1]:,}"
        raise OptionError(f"{len(vocabulary):,} words need a row and a column each, but the matrix is {shape}")
    return MatrixCells(csr_matrix(matrix)), vocabulary
