"""Training seen step by step: word2vec, fastText and GloVe in a few lines of NumPy, on a text of a few sentences.

The updates are those of the papers and of firth's kernels, one prediction at a time, so that each can be looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.explorer.problems import PageError
from firth.text.tokenize import Tokenizer

Algorithm = Literal["skip-gram", "cbow", "fasttext", "glove"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)
Floats = NDArray[np.float64]
NEGATIVES = 3
POWER = 0.75  # of the counts from which negatives are drawn, and of the weight of a cell in GloVe
COMMON = 10.0  # co-occurrences that have the full weight in GloVe
MOST_STEPS, MOST_WORDS = 2000, 400


@dataclass(frozen=True)
class StepScore:
    """A score that a step looks at: the output word, what it should be (1 or 0; log X for GloVe), and what it is."""

    word: str
    wanted: float
    score: float
    found: float


@dataclass(frozen=True)
class LessonStep:
    """One step: the places of its center and contexts in the text, the rows that it changes, predictions and loss."""

    center: int
    contexts: tuple[int, ...]
    inputs: tuple[str, ...]
    predictions: tuple[StepScore, ...]
    loss: float


@dataclass
class Lesson:
    """The state after some steps. Row i of `first` belongs to names[i]; row j of `second` to outputs[j]."""

    words: tuple[str, ...]
    names: tuple[str, ...]
    outputs: tuple[str, ...]
    first: Floats
    second: Floats
    losses: list[float]
    last: LessonStep | None = None


def take_lesson(
    algorithm: str, text: str, steps: int, *, dim: int = 8, window: int = 2, rate: float = 0.2, seed: int = 1
) -> Lesson:
    """The state after a number of steps from the beginning. The same arguments give the same numbers.

    >>> lesson = take_lesson("skip-gram", "tea is hot . tea is green .", 400)
    >>> sum(lesson.losses[:50]) > sum(lesson.losses[-50:])
    True
    """
    if algorithm not in ALGORITHMS:
        raise OptionError(f"no algorithm is called {algorithm!r}. There are: {', '.join(ALGORITHMS)}")
    sentences = [Tokenizer().words(line) for line in text.splitlines() if line.strip()]
    words = tuple(word for sentence in sentences for word in sentence)
    if max(map(len, sentences), default=0) < 2:
        raise PageError("text-short")
    if len(words) > MOST_WORDS:
        raise PageError("text-long", count=len(words), most=MOST_WORDS)
    rng = np.random.default_rng(seed)
    outputs = tuple(dict.fromkeys(words))
    pieces = {word: (word, *ngrams(word)) if algorithm == "fasttext" else (word,) for word in outputs}
    names = tuple(dict.fromkeys([*outputs, *(piece for word in outputs for piece in pieces[word][1:])]))
    lesson = Lesson(words, names, outputs, rng.uniform(-0.5, 0.5, (len(names), dim)) / dim, np.zeros(0), [])
    lesson.second = (
        rng.uniform(-0.5, 0.5, (len(outputs), dim)) / dim if algorithm == "glove" else np.zeros((len(outputs), dim))
    )
    places = list(windows(sentences, window))
    stream = (
        glove(lesson, places, rate, rng)
        if algorithm == "glove"
        else predict(lesson, algorithm, places, pieces, rate, rng)
    )
    for _ in range(min(steps, MOST_STEPS)):
        lesson.last = next(stream)
        lesson.losses.append(lesson.last.loss)
    return lesson


def ngrams(word: str) -> tuple[str, ...]:
    """The character trigrams of a word with its boundaries.

    >>> ngrams("tea")
    ('<te', 'tea', 'ea>')
    """
    marked = f"<{word}>"
    return tuple(marked[start : start + 3] for start in range(len(marked) - 2))


def windows(sentences: list[list[str]], window: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The place of each word and the places of its context, within its sentence.

    >>> list(windows([["tea", "is", "hot"]], 1))
    [(0, (1,)), (1, (0, 2)), (2, (1,))]
    """
    start = 0
    for sentence in sentences:
        end = start + len(sentence)
        for center in range(start, end):
            around = range(max(start, center - window), min(end, center + window + 1))
            contexts = tuple(place for place in around if place != center)
            if contexts:
                yield center, contexts
        start = end


def predict(
    lesson: Lesson,
    algorithm: str,
    places: list[tuple[int, tuple[int, ...]]],
    pieces: dict[str, tuple[str, ...]],
    rate: float,
    rng: np.random.Generator,
) -> Iterator[LessonStep]:
    """Steps of word2vec and fastText with negative sampling, round and round the text.

    >>> lesson = take_lesson("skip-gram", "tea is hot", 0)
    >>> pieces = {word: (word,) for word in lesson.words}
    >>> steps = predict(lesson, "cbow", [(1, (0, 2))], pieces, 0.1, np.random.default_rng(1))
    >>> next(steps).inputs
    ('tea', 'hot')
    """
    rows = {name: row for row, name in enumerate(lesson.names)}
    columns = {word: column for column, word in enumerate(lesson.outputs)}
    counts = np.array([lesson.words.count(word) for word in lesson.outputs]) ** POWER
    while True:
        for center, contexts in places:
            for context in (contexts,) if algorithm == "cbow" else [(one,) for one in contexts]:
                target = lesson.words[center if algorithm == "cbow" else context[0]]
                sources = context if algorithm == "cbow" else (center,)
                inputs = tuple(piece for place in sources for piece in pieces[lesson.words[place]])
                drawn = rng.choice(len(counts), NEGATIVES, p=counts / counts.sum())
                wanted = [(columns[target], 1.0), *((int(one), 0.0) for one in drawn if one != columns[target])]
                yield logistic_step(lesson, [rows[one] for one in inputs], wanted, rate, center, context)


def logistic_step(
    lesson: Lesson,
    inputs: list[int],
    wanted: list[tuple[int, float]],
    rate: float,
    center: int,
    contexts: tuple[int, ...],
) -> LessonStep:
    """One step of -log σ(s) for the target and -log σ(-s) for negatives, where s = mean(W[inputs]) · W′[output].

    >>> lesson = take_lesson("skip-gram", "tea is hot", 0)
    >>> step = logistic_step(lesson, [0], [(1, 1.0), (2, 0.0)], 0.1, 0, (1,))
    >>> [(one.word, one.found) for one in step.predictions], round(step.loss, 4)
    ([('is', 0.5), ('hot', 0.5)], 1.3863)
    """
    hidden = lesson.first[inputs].mean(0)
    gradient, loss, predictions = np.zeros_like(hidden), 0.0, []
    for column, label in wanted:
        score = float(hidden @ lesson.second[column])
        found = 0.5 + 0.5 * np.tanh(score / 2)
        loss += float(np.logaddexp(0, -score if label else score))
        gradient += (found - label) * lesson.second[column]
        lesson.second[column] -= rate * (found - label) * hidden
        predictions.append(StepScore(lesson.outputs[column], label, score, float(found)))
    np.subtract.at(lesson.first, inputs, rate * gradient / len(inputs))
    names = tuple(lesson.names[row] for row in inputs)
    return LessonStep(center, contexts, names, tuple(predictions), loss)


def glove(
    lesson: Lesson, places: list[tuple[int, tuple[int, ...]]], rate: float, rng: np.random.Generator
) -> Iterator[LessonStep]:
    """Steps of GloVe with AdaGrad over the cells of the co-occurrence matrix in random order.

    The loss of a cell is ½ f(X) (w · w̃ + b + b̃ - log X)², where f(X) = min(1, X / COMMON)^0.75.

    >>> lesson = take_lesson("glove", "tea is hot", 0)
    >>> step = next(glove(lesson, [(0, (1,))], 0.1, np.random.default_rng(1)))
    >>> step.inputs, step.predictions[0].word, step.predictions[0].wanted
    (('tea',), 'is', 0.0)
    """
    ids = {word: id for id, word in enumerate(lesson.outputs)}
    cells: dict[tuple[int, int], float] = {}
    example: dict[tuple[int, int], tuple[int, int]] = {}
    for center, contexts in places:
        for context in contexts:
            cell = ids[lesson.words[center]], ids[lesson.words[context]]
            cells[cell] = cells.get(cell, 0.0) + 1 / abs(center - context)
            example.setdefault(cell, (center, context))
    biases = np.zeros((2, len(ids)))
    squares = np.ones_like(lesson.first), np.ones_like(lesson.second), np.ones_like(biases)
    while True:
        for number in rng.permutation(len(cells)):
            (i, j), count = list(cells.items())[number]
            score = float(lesson.first[i] @ lesson.second[j] + biases[0, i] + biases[1, j])
            error, weight = score - np.log(count), min(1.0, count / COMMON) ** POWER
            steps = rate * weight * error * lesson.second[j], rate * weight * error * lesson.first[i]
            for table, square, row, step in (
                (lesson.first, squares[0], i, steps[0]),
                (lesson.second, squares[1], j, steps[1]),
            ):
                table[row] -= step / np.sqrt(square[row])
                square[row] += step**2
            for side, row in ((0, i), (1, j)):
                biases[side, row] -= rate * weight * error / np.sqrt(squares[2][side, row])
                squares[2][side, row] += (rate * weight * error) ** 2
            center, context = example[i, j]
            prediction = StepScore(lesson.outputs[j], float(np.log(count)), score, score)
            yield LessonStep(center, (context,), (lesson.outputs[i],), (prediction,), float(0.5 * weight * error**2))
