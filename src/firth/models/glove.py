"""GloVe: vectors whose dot products approximate log co-occurrence counts (Pennington, Socher and Manning, 2014).

`models/cooccurrence.py` counts, `models/glove_cells.py` shuffles the cells, `kernels/glove.py` makes one step.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
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
from firth.show.bar import shows_progress
from firth.text.corpus import Corpus, Source
from firth.text.vocabulary import Vocabulary
from firth.training.averaging import average, find_changes
from firth.training.loop import RUNAWAY
from firth.training.monitor import Monitor
from firth.training.record import EpochRecord
from firth.vectors.words import WordVectors

UNKNOWN = "<unk>"
RARE = 100  # words whose mean is the vector of <unk>
SHARE = 1 << 18  # cells per thread at a time
PAIRS_PER_WORD = 8  # cells of a round on a cluster for each word of its length
PER_WORD = 6  # the sum of the counts of one word: the harmonic sums of both sides of a window of about ten
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

    dim: int = option(100, "Dimension of the vectors.", minimum=1, maximum=1_000_000)
    window: int = option(15, "Context words on each side of a word, within its sentence.", minimum=1, maximum=1_000_000)
    symmetric: bool = option(
        True, "Count contexts on both sides of a word; otherwise only those on its right, as the original GloVe does."
    )
    min_count: int = option(5, "Ignore words with fewer occurrences.", minimum=1)
    max_words: int | None = option(None, "Keep at most this many words, the most frequent ones.", minimum=2)
    x_max: float | None = option(
        None,
        "Co-occurrence count from which a pair has the full weight 1. Default: the square root of the number of words "
        "divided by 750, between 1 and 100.",
    )
    alpha: float = option(
        0.75, "Exponent of the weight of a count x below x_max: (x / x_max) to this power.", minimum=0
    )
    learning_rate: float = option(0.05, "Initial learning rate of AdaGrad.")
    epochs: int = option(25, "Passes over all pairs.", minimum=1, maximum=1_000_000)
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
            if getattr(self, name) is not None and not 0 < getattr(self, name) < float("inf"):
                raise OptionError(f"Glove: {name} is {getattr(self, name)!r}, but must be a number above 0")

    @shows_progress
    def fit(
        self,
        corpus: Source,
        *,
        runtime: Runtime | None = None,
        report: Report = silent,
        progress: bool = False,
        checkpoint: Name | None = None,
        resume: bool = True,
    ) -> WordVectors:
        """Trains the vectors of a corpus.

        `checkpoint` names a folder: the state is saved there after each epoch, and a later call continues from it,
        unless `resume` is False. With one thread the result is the same to the bit.
        """
        return self.fit_state(corpus, runtime=runtime, report=report, checkpoint=checkpoint, resume=resume).vectors

    def fit_state(
        self,
        corpus: Source,
        *,
        runtime: Runtime | None = None,
        report: Report = silent,
        checkpoint: Name | None = None,
        resume: bool = True,
        initial: GloveParameters | None = None,
        initial_squares: GloveParameters | None = None,
    ) -> GloveState:
        """`fit` with all parameters: it can begin from those of another training, and returns them after this one.

        `initial` are the parameters of the same words, `initial_squares` the sums of their squared gradients.
        """
        runtime = runtime or Runtime.from_env()
        corpus = Corpus.of(corpus)
        tokens = corpus.tokens(report, runtime)
        words = cut_vocabulary(tokens.vocabulary, self.min_count)
        words = words if self.max_words is None else words.top(self.max_words)
        ids = np.full(len(tokens.vocabulary), -1, np.int32)  # -1: not in the vocabulary
        ids[: len(words)] = np.arange(len(words))
        # The original GloVe counts the words to the left of a target, and gives the rows to these.
        context = ContextWindow(self.window if self.symmetric else 0, self.window, harmonic=True)
        limit, folder = parse_size(self.memory_limit), self.spill_folder

        def count() -> Cells:
            counts = count_pairs(
                tokens, ids, len(words), context, memory_limit=limit, folder=folder, runtime=runtime, report=report
            )
            return MatrixCells(counts)

        recipe = self.resolve(words)
        source = origin(recipe._named(), corpus, tokens)
        begin = initial, initial_squares
        return recipe._train(count, words, source, runtime, report, checkpoint, resume, begin)

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
        return self.fit_counts_state(
            counts, vocabulary, runtime=runtime, report=report, checkpoint=checkpoint, resume=resume
        ).vectors

    def fit_counts_state(
        self,
        counts: CountMatrix | csr_matrix | Cells,
        vocabulary: Vocabulary | None = None,
        *,
        runtime: Runtime | None = None,
        report: Report = silent,
        checkpoint: Name | None = None,
        resume: bool = True,
        initial: GloveParameters | None = None,
        initial_squares: GloveParameters | None = None,
    ) -> GloveState:
        """`fit_counts` with all parameters, as `fit_state`."""
        runtime = runtime or Runtime.from_env()
        cells, words = _find_cells(counts, vocabulary)
        recipe = self.resolve(words, cells)
        source = {"recipe": recipe._named(), "versions": versions()}
        begin = initial, initial_squares
        return recipe._train(lambda: cells, words, source, runtime, report, checkpoint, resume, begin)

    def resolve(self, vocabulary: Vocabulary, cells: Cells | None = None) -> Glove:
        """The recipe with an x_max for a vocabulary with counts, or for the sum of the cells if it has none.

        >>> Glove().resolve(Vocabulary(["the", "tea"], [17_000_000, 5_000_000])).x_max
        6.25
        """
        if self.x_max is not None:
            return self
        total = float(vocabulary.total) if vocabulary.counts is not None else 0.0
        if total == 0 and cells is not None:
            total = sum(float(values.sum()) for _, _, values in cells) / PER_WORD
        return replace(self, x_max=choose_x_max(total))

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
        begin: tuple[GloveParameters | None, GloveParameters | None],
    ) -> GloveState:
        """Trains on the cells that `read` returns. They are freed once they are shuffled."""
        assert self.x_max is not None  # `resolve` chose it
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
            weights.begin_from(*begin, self.dim)
            settings = {name: value for name, value in self.as_dict().items() if name not in AFTER_TRAINING}
            identity: dict[str, Any] = {"recipe": settings, "words": vocabulary.fingerprint}
            if runtime.workers:
                averaging = {"workers": runtime.workers, "every": runtime.average_every}
                identity["averaging"], source = averaging, {**source, "averaging": averaging}
            if checkpoint is not None:
                identity["pairs"] = cells.checksum
                if any(part is not None for part in begin):
                    identity["initial"] = [None if part is None else part.checksum for part in begin]
            with Monitor.open(identity, report=report, checkpoint=checkpoint, resume=resume) as monitor:
                record = GloveTraining(self, cells, vocabulary, weights, runtime, monitor).run()
            return GloveState(self, vocabulary, weights, {**source, "pairs": len(cells), "loss": record.curve})

    def make_vectors(self, weights: GloveWeights, vocabulary: Vocabulary, metadata: Mapping[str, Any]) -> WordVectors:
        """The vectors in trained rows."""
        rows = weights.rows(self.output, self.dim, self.biases)
        if self.unknown and UNKNOWN not in vocabulary:
            rows = np.vstack([rows, rows[-RARE:].mean(axis=0, dtype=np.float64)]).astype(np.float32)
            counts = None if vocabulary.counts is None else [*vocabulary.counts.tolist(), 0]
            vocabulary = Vocabulary([*vocabulary, UNKNOWN], counts)
        return WordVectors(vocabulary, rows, metadata=metadata)


@dataclass(frozen=True, eq=False)
class GloveParameters:
    """The parameters of all words, or the sums of their squared gradients, as the original program stores them.

    `words` and `contexts` have a row for each word, whose last number is the bias: (words, dim + 1).
    """

    words: NDArray[np.float64]
    contexts: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.words.ndim != 2 or self.words.shape != self.contexts.shape or self.words.shape[1] < 2:
            raise OptionError(
                f"words and contexts need the same number of rows of numbers and a bias, but have the shapes "
                f"{self.words.shape} and {self.contexts.shape}"
            )

    @property
    def dim(self) -> int:
        """The length of a vector, without its bias."""
        return int(self.words.shape[1]) - 1

    @property
    def checksum(self) -> int:
        """A checksum of the numbers."""
        return zlib.crc32(self.contexts.tobytes(), zlib.crc32(self.words.tobytes()))


@dataclass(frozen=True, eq=False)
class GloveState:
    """What a training ends with: the recipe, the words, and all parameters."""

    recipe: Glove
    vocabulary: Vocabulary
    weights: GloveWeights
    metadata: Mapping[str, Any]

    @property
    def vectors(self) -> WordVectors:
        """The vectors of the words, as the recipe's options for the output say."""
        return self.recipe.make_vectors(self.weights, self.vocabulary, self.metadata)

    @property
    def parameters(self) -> GloveParameters:
        """All parameters."""
        return self.weights.parameters(self.recipe.dim)

    @property
    def squares(self) -> GloveParameters:
        """The sums of squared gradients of AdaGrad."""
        return self.weights.parameters(self.recipe.dim, squares=True)


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

    def begin_from(self, initial: GloveParameters | None, squares: GloveParameters | None, dim: int) -> None:
        """Replaces the parameters, and the sums of squared gradients, where they are given."""
        half = self.words.shape[1] // 2
        for given, first in ((initial, 0), (squares, half)):
            if given is None:
                continue
            expected = len(self.words), dim + 1
            if given.words.shape != expected:
                raise OptionError(
                    f"the initial values have the shape {given.words.shape}, but {expected[0]:,} words of dim {dim} "
                    f"need {expected}. Use the vocabulary and the dim that they were made with"
                )
            for rows, values, bias in ((self.words, given.words, dim), (self.contexts, given.contexts, dim + 1)):
                rows[:, first : first + dim] = values[:, :dim]
                rows[:, first + bias] = values[:, dim]

    def parameters(self, dim: int, squares: bool = False) -> GloveParameters:
        """All parameters, or the sums of their squared gradients."""
        first = self.words.shape[1] // 2 if squares else 0
        parts = []
        for rows, bias in ((self.words, dim), (self.contexts, dim + 1)):
            columns = [*range(first, first + dim), first + bias]
            parts.append(rows[:, columns].astype(np.float64))
        return GloveParameters(*parts)

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
        record = EpochRecord.restore(state or {})
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
        shares = cells.shares(order, SHARE)
        trained = self._rounds(shares) if self.runtime.workers else self.runtime.stream(train, shares)
        for count, loss, broken in trained:
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

    def _rounds(self, shares: Sequence[NDArray[np.int64]]) -> Iterator[tuple[int, float, int]]:
        """Trains shares on a cluster, one for each worker in a round; then the copies of the rows are averaged.

        The squared gradients of AdaGrad, the second half of a row, are added up instead.
        """
        cells, weights = self.cells, self.weights
        each = max(1, self.runtime.average_every * PAIRS_PER_WORD // SHARE)
        for first in range(0, len(shares), each * self.runtime.workers):
            some = shares[first : first + each * self.runtime.workers]
            items = (cells.take(np.concatenate(some[at : at + each])) for at in range(0, len(some), each))
            shared = CellTrainer(weights, np.float32(self.recipe.learning_rate))
            results = list(self.runtime.scatter(CellTrainer.train, items, shared=shared))
            average(weights.arrays, results, summed=weights.words.shape[1] // 2)
            for result in results:
                count, broken = result["counts"].tolist()
                yield count, float(result["loss"][0]), broken

    def _diverged(self, done: int, loss: float, epoch: int, pair: NDArray[Any] | None = None) -> Diverged:
        place = f"in epoch {epoch + 1}"
        if pair is not None:
            place += f" at the pair {self.vocabulary[int(pair[0])]!r}, {self.vocabulary[int(pair[1])]!r}"
        return Diverged(done, self.recipe.learning_rate, loss, unit="pairs", place=place)


@dataclass(frozen=True, eq=False)
class CellTrainer:
    """Trains a copy of the rows on some cells, on a worker."""

    weights: GloveWeights
    rate: np.float32

    def train(self, cells: tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The rows that the cells (pairs, targets, starts of pieces, their numbers) change, the loss, and the counts.

        The counts are the number of cells, and the number of the cell that broke a row, or -1.
        """
        pairs, targets, starts, numbers = cells
        weights = GloveWeights(self.weights.words.copy(), self.weights.contexts.copy())
        pieces = np.arange(len(starts) - 1)
        loss, broken = kernel.train(pairs, targets, starts, pieces, weights.words, weights.contexts, self.rate)
        result = {"loss": np.array([loss], np.float64)}
        result["counts"] = np.array([len(pairs), -1 if broken < 0 else numbers[broken]], np.int64)
        for name, old in self.weights.arrays.items():
            result |= find_changes(name, old, weights.arrays[name])
        return result


def choose_x_max(words: float) -> float:
    """The default x_max of a text: √words / 750, between 1 and 100, to three digits.

    At six billion words, the size of a text of the GloVe paper, it is the paper's 100.

    >>> choose_x_max(1e6), choose_x_max(20e6), choose_x_max(6e9)
    (1.33, 5.96, 100.0)
    """
    return float(f"{min(100.0, max(1.0, math.sqrt(words) / 750)):.3g}")


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
