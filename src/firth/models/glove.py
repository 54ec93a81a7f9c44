"""GloVe: vectors whose dot products approximate log co-occurrence counts (Pennington, Socher and Manning, 2014).

`models/cooccurrence.py` counts, `models/glove_cells.py` shuffles the cells, `kernels/glove.py` makes one step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from firth.errors import Diverged, OptionError
from firth.files import Name
from firth.kernels import glove as kernel
from firth.models.cooccurrence import ContextWindow, count_pairs, parse_size
from firth.models.count_matrix import CountMatrix
from firth.models.glove_cells import Cells, MatrixCells, ShuffledCells, shuffle_cells
from firth.models.trained_recipe import origin, versions
from firth.models.window_network import cut_vocabulary
from firth.options import Recipe, option
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.vocabulary import Vocabulary
from firth.training.loop import RUNAWAY
from firth.training.monitor import Monitor
from firth.training.record import EpochRecord
from firth.vectors.words import WordVectors

UNKNOWN = "<unk>"
RARE = 100  # words whose mean is the vector of <unk>
SHARE = 1 << 18  # cells per thread at a time
# A checkpoint fits any value of these options.
AFTER_TRAINING = ("epochs", "output", "biases", "unknown", "memory_limit", "spill_folder")

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Glove(Recipe):
    """GloVe: w·w̃ + b + b̃ approximates the logarithm of the co-occurrence count of two words.

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

    dim: int = option(100, "Dimension of the vectors.", minimum=1)
    window: int = option(15, "Context words on each side of a word, within its sentence.", minimum=1)
    symmetric: bool = option(True, "Count context on both sides of a word; otherwise on its left side only.")
    min_count: int = option(5, "Ignore words with fewer occurrences.", minimum=1)
    max_words: int | None = option(None, "Keep at most this many words, the most frequent ones.", minimum=2)
    x_max: float = option(100.0, "Co-occurrence count from which a pair has the full weight 1.")
    alpha: float = option(
        0.75, "Exponent of the weight of a count x below x_max: (x / x_max) to this power.", minimum=0
    )
    learning_rate: float = option(0.05, "Initial learning rate of AdaGrad.")
    epochs: int = option(25, "Passes over all pairs.", minimum=1)
    output: Literal["sum", "word", "context", "both"] = option(
        "sum", "The vector of a word: sum of its word and context vectors, one of the two, or both concatenated."
    )
    biases: bool = option(False, "Append the bias to each vector.")
    unknown: bool = option(False, "Add the word <unk>, with the mean vector of the 100 rarest words.")
    seed: int = option(1, "Seed of the random numbers.", minimum=0, maximum=2**63 - 1)
    memory_limit: int | str = option("2 GB", "Memory for pairs; beyond it, they are written to temporary files.")
    spill_folder: str | None = option(None, "Folder for temporary files. Default: the system's temporary directory.")

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_size(self.memory_limit)
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
        """Trains the vectors of a corpus.

        `checkpoint` names a folder: the state is saved there after each epoch, and a later call continues from it,
        unless `resume` is False. With one thread the result is the same to the bit.
        """
        runtime = runtime or Runtime.from_env()
        tokens = corpus.tokens(report)
        words = cut_vocabulary(tokens.vocabulary, self.min_count)
        words = words if self.max_words is None else words.top(self.max_words)
        ids = np.full(len(tokens.vocabulary), -1, np.int32)  # -1: not in the vocabulary
        ids[: len(words)] = np.arange(len(words))
        context = ContextWindow(self.window, self.window if self.symmetric else 0, harmonic=True)
        limit, folder = parse_size(self.memory_limit), self.spill_folder

        def count() -> Cells:
            counts = count_pairs(
                tokens, ids, len(words), context, memory_limit=limit, folder=folder, runtime=runtime, report=report
            )
            return MatrixCells(counts)

        source = origin(self._named(), corpus, tokens)
        return self._train(count, words, source, runtime, report, checkpoint, resume)

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
        """Trains on existing counts: a matrix, or the cells of a file of the original GloVe.

        The options for counting have no effect. `vocabulary` may be left out with a `CountMatrix`.

        >>> words = Vocabulary(["ice", "steam", "water"])
        >>> counts = csr_matrix([[0.0, 1.0, 9.0], [1.0, 0.0, 7.0], [9.0, 7.0, 0.0]])
        >>> Glove(dim=2, epochs=5).fit_counts(counts, words).matrix.shape
        (3, 2)
        """
        runtime = runtime or Runtime.from_env()
        cells, words = _find_cells(counts, vocabulary)
        source = {"recipe": self._named(), "versions": versions()}
        return self._train(lambda: cells, words, source, runtime, report, checkpoint, resume)

    def _named(self) -> dict[str, Any]:
        return {"name": "glove", **self.as_dict()}

    def _train(
        self,
        read: Callable[[], Cells],
        vocabulary: Vocabulary,
        source: Mapping[str, Any],
        runtime: Runtime,
        report: Report,
        checkpoint: Name | None,
        resume: bool,
    ) -> WordVectors:
        """Trains on the cells that `read` returns. They are freed once they are shuffled."""
        with ExitStack() as stack:
            cells = shuffle_cells(
                read(),
                len(vocabulary),
                kernel.row_bytes(self.dim),
                x_max=self.x_max,
                alpha=self.alpha,
                seed=self.seed,
                memory_limit=parse_size(self.memory_limit),
                stack=stack,
                folder=self.spill_folder,
                runtime=runtime,
                report=report,
            )
            weights = GloveWeights.initial(self, len(vocabulary))
            settings = {name: value for name, value in self.as_dict().items() if name not in AFTER_TRAINING}
            identity: dict[str, Any] = {"recipe": settings, "words": vocabulary.fingerprint}
            if checkpoint is not None:
                identity["pairs"] = cells.checksum
            with Monitor.open(identity, report=report, checkpoint=checkpoint, resume=resume) as monitor:
                record = GloveTraining(self, cells, vocabulary, weights, runtime, monitor).run()
            return self._vectors(weights, vocabulary, {**source, "pairs": len(cells), "loss": record.curve})

    def _vectors(self, weights: GloveWeights, vocabulary: Vocabulary, metadata: Mapping[str, Any]) -> WordVectors:
        rows = weights.rows(self.output, self.dim, self.biases)
        if self.unknown and UNKNOWN not in vocabulary:
            rows = np.vstack([rows, rows[-RARE:].mean(axis=0, dtype=np.float64)]).astype(np.float32)
            counts = None if vocabulary.counts is None else [*vocabulary.counts.tolist(), 0]
            vocabulary = Vocabulary([*vocabulary, UNKNOWN], counts)
        return WordVectors(vocabulary, rows, metadata=metadata)


@dataclass(frozen=True, eq=False)
class GloveWeights:
    """The rows that are trained: one per word, and one per word as a context (see `kernels/glove.py`)."""

    words: Floats
    contexts: Floats

    @classmethod
    def initial(cls, recipe: Glove, size: int) -> GloveWeights:
        """The rows before the first step."""
        dim, seed = recipe.dim, recipe.seed
        return cls(kernel.make_rows(size, dim, seed, dim + 1), kernel.make_rows(size, dim, seed, dim))

    @property
    def arrays(self) -> dict[str, Floats]:
        """The arrays of a checkpoint."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def find_broken_row(self) -> int | None:
        """The first row with a NaN or an infinity, if any."""
        for rows in self.arrays.values():
            numbers = rows[:, : rows.shape[1] // 2]
            if not np.isfinite(numbers.sum(dtype=np.float64)):
                return int(np.argmin(np.isfinite(numbers).all(axis=1)))
        return None

    def rows(self, output: str, dim: int, biases: bool) -> Floats:
        """The output vectors, each with its bias at the end if `biases`."""
        word, context = self.words[:, :dim], self.contexts[:, :dim]
        if biases:
            word = self.words[:, : dim + 1]
            context = np.hstack([context, self.contexts[:, dim + 1 : dim + 2]])
        if output == "sum":
            return word + context
        if output == "both":
            return np.hstack([word, context])
        return word.copy() if output == "word" else context.copy()


@dataclass(frozen=True, eq=False)
class GloveTraining:
    """One training: what is trained on which cells."""

    recipe: Glove
    cells: ShuffledCells
    vocabulary: Vocabulary
    weights: GloveWeights
    runtime: Runtime
    monitor: Monitor

    def run(self) -> EpochRecord:
        """Trains all epochs that the checkpoint does not have."""
        checkpoints, epochs = self.monitor.checkpoints, self.recipe.epochs
        state = None if checkpoints is None else checkpoints.restore_into(self.weights.arrays)
        record = EpochRecord(**(state or {}))
        if checkpoints is not None and record.step > epochs:
            raise OptionError(
                f"{checkpoints.folder}: the checkpoint has {record.step} epochs, but epochs is {epochs}. "
                "Use more epochs, or delete the checkpoint to start again"
            )
        for epoch in range(record.step, epochs):
            record.losses.append(self._epoch(epoch))
            record.counts.append(len(self.cells))
            record.step += 1
            if checkpoints is not None:
                checkpoints.save(self.weights.arrays, record.as_dict())
        return record

    def _epoch(self, epoch: int) -> float:
        """One pass over all cells; returns the sum of their losses, each computed before its own step."""
        recipe, cells, weights = self.recipe, self.cells, self.weights
        order = kernel.shuffle_order(len(cells.starts) - 1, recipe.seed, epoch + 1)
        rate = np.float32(recipe.learning_rate)
        before, all_epochs = epoch * len(cells), recipe.epochs * len(cells)
        limit = RUNAWAY * max(1.0, cells.chance_loss)

        def train(pieces: NDArray[np.int64]) -> tuple[int, float, int]:
            count = int((cells.starts[pieces + 1] - cells.starts[pieces]).sum())
            loss, broken = kernel.train(
                cells.pairs, cells.targets, cells.starts, pieces, weights.words, weights.contexts, rate
            )
            return count, loss, broken

        total, done = 0.0, 0
        for count, loss, broken in self.runtime.stream(train, cells.shares(order, SHARE)):
            if broken >= 0:
                raise self._diverged(before + done, float("nan"), epoch, cells.pairs[broken])
            if not loss <= limit * count:
                raise self._diverged(before + done, loss / count, epoch)
            total, done = total + loss, done + count
            values = {"loss": total / done, "rate": recipe.learning_rate, "epoch": epoch + 1}
            self.monitor.report(Progress("training", before + done, all_epochs, "pairs", values))
            if self.monitor.is_interrupted():  # the checkpoint of the last epoch stays
                raise self.monitor.interruption()
        broken_row = weights.find_broken_row()
        if broken_row is not None:
            raise self._diverged(before + done, float("nan"), epoch, np.array([broken_row] * 2))
        return total

    def _diverged(self, done: int, loss: float, epoch: int, pair: NDArray[Any] | None = None) -> Diverged:
        place = f"in epoch {epoch + 1}"
        if pair is not None:
            place += f" at the pair {self.vocabulary[int(pair[0])]!r}, {self.vocabulary[int(pair[1])]!r}"
        return Diverged(done, self.recipe.learning_rate, loss, unit="pairs", place=place)


def _find_cells(counts: CountMatrix | csr_matrix | Cells, vocabulary: Vocabulary | None) -> tuple[Cells, Vocabulary]:
    """The cells to train on, and their vocabulary."""
    matrix: Any = counts
    if isinstance(counts, CountMatrix):
        kind = counts.options.get("kind", "co-occurrence")
        if kind != "co-occurrence":
            raise OptionError(f"GloVe needs co-occurrence counts, but this matrix is {kind}. Use kind='co-occurrence'")
        matrix, vocabulary = counts.matrix, vocabulary or counts.rows
    if vocabulary is None:
        raise OptionError("a matrix of counts needs its vocabulary. Pass both")
    if len(vocabulary) < 2:
        raise OptionError(f"GloVe needs at least two words, but the vocabulary has {len(vocabulary)}")
    if not issparse(matrix):
        return matrix, vocabulary
    if matrix.shape != (len(vocabulary), len(vocabulary)):
        shape = f"{matrix.shape[0]:,} × {matrix.shape[1]:,}"
        raise OptionError(f"{len(vocabulary):,} words need a row and a column each, but the matrix is {shape}")
    return MatrixCells(csr_matrix(matrix)), vocabulary
