"""Word sense disambiguation by nearest neighbor: each sense is the mean vector of its occurrences in an annotated text.

Only the sums of the senses are stored, so the text may have any length. A lemma without a sense in the text gets
WordNet's first sense, or no answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from firth.probes.readers import LayerReader, block_size, span_means, split_blocks, unit
from firth.probes.sense_files import AnnotatedSentence, Annotation
from firth.probes.wordnet import Lexeme, WordNet, lexeme_of
from firth.progress import Progress, Report, silent


@dataclass(frozen=True)
class SenseMeans:
    """The normalized mean vector of each sense, (layers, senses, dim), and the rows of the senses of each lexeme."""

    senses: tuple[str, ...]
    means: Tensor
    rows: Mapping[Lexeme, tuple[int, ...]]

    @classmethod
    def read(
        cls,
        reader: LayerReader,
        sentences: Iterable[AnnotatedSentence],
        counts: Mapping[str, int],
        wordnet: WordNet | None = None,
        report: Report = silent,
    ) -> SenseMeans:
        """The means over annotated sentences; `counts` names the senses to use and how often they occur.

        The senses of a lexeme are in WordNet's order, or else by falling count; the first one wins a tie.
        """
        numbers = {} if wordnet is None else wordnet.numbers
        senses = tuple(
            sorted(counts, key=lambda key: (lexeme_of(key), numbers.get(key, len(numbers) + 1), -counts[key]))
        )
        row_of = {key: row for row, key in enumerate(senses)}
        empty = reader.read([])
        sums = empty.new_zeros(empty.shape[0], len(senses), empty.shape[2])
        tagged = (
            sentence
            for sentence in sentences
            if any(key in row_of for annotation in sentence.annotations for key in annotation.keys)
        )
        done = 0
        for block in split_blocks(tagged, block_size(reader), lambda sentence: len(sentence.words)):
            vectors = reader.read([sentence.words for sentence in block])
            add_senses(sums, vectors, block, row_of)
            done += vectors.shape[1]
            report(Progress("reading senses", done, None, "words"))
        rows: dict[Lexeme, list[int]] = defaultdict(list)
        for row, key in enumerate(senses):
            rows[lexeme_of(key)].append(row)
        sums /= sums.norm(dim=-1, keepdim=True).clamp(min=1e-12)  # in place: the sums may take half a gigabyte
        return cls(senses, sums, {lexeme: tuple(mine) for lexeme, mine in rows.items()})

    def nearest(self, vectors: Tensor, lexemes: Sequence[Lexeme]) -> list[list[str | None]]:
        """The nearest sense of each word by each layer; None without a known sense. `vectors`: (layers, words, dim)."""
        layers = vectors.shape[0]
        answers: list[list[str | None]] = [[None] * len(lexemes) for _ in range(layers)]
        places_of: dict[Lexeme, list[int]] = defaultdict(list)
        for place, lexeme in enumerate(lexemes):
            if lexeme in self.rows:
                places_of[lexeme].append(place)
        for lexeme, places in places_of.items():
            candidates = list(self.rows[lexeme])
            if len(candidates) == 1:
                best = [[0] * len(places)] * layers
            else:
                cosines = unit(vectors[:, places]) @ self.means[:, candidates].transpose(1, 2)
                best = first_best(cosines).tolist()
            for answer, nearest in zip(answers, best):
                for place, candidate in zip(places, nearest):
                    answer[place] = self.senses[candidates[candidate]]
        return answers


def first_best(scores: Tensor, tolerance: float = 1e-6) -> Tensor:
    """The place of the highest score along the last axis; among nearly equal scores, the first.

    >>> first_best(torch.tensor([[0.5, 0.9, 0.9], [0.0, 0.0, 0.0]])).tolist()
    [1, 0]
    """
    return (scores >= scores.amax(-1, keepdim=True) - tolerance).int().argmax(-1)


def add_senses(sums: Tensor, vectors: Tensor, block: Sequence[AnnotatedSentence], row_of: Mapping[str, int]) -> None:
    """Adds the vectors of the words in a block to the sums of their senses."""
    starts, stops, rows = [], [], []
    offset = 0
    for sentence in block:
        for annotation in sentence.annotations:
            for key in annotation.keys:
                row = row_of.get(key)
                if row is not None:
                    starts.append(offset + annotation.start)
                    stops.append(offset + annotation.stop)
                    rows.append(row)
        offset += len(sentence.words)
    if rows:
        sums.index_add_(1, torch.tensor(rows, device=sums.device), span_means(vectors, starts, stops))


class F1(NamedTuple):
    """Counts of correct answers, answers and questions."""

    correct: int
    answered: int
    total: int

    @property
    def value(self) -> float:
        """The harmonic mean of precision and recall in percent; equal to accuracy if every question is answered.

        >>> round(F1(correct=6, answered=8, total=10).value, 2)  # precision 75 %, recall 60 %
        66.67
        """
        return 200 * self.correct / (self.answered + self.total) if self.answered + self.total else 0.0


def score_answers(answers: Sequence[str | None], annotations: Sequence[Annotation]) -> F1:
    """How many answers are one of the gold senses.

    >>> play = Annotation(0, 1, "play", "NOUN", ("play%1:10:01::", "play%1:04:05::"))
    >>> score_answers(["play%1:04:05::", None], [play, Annotation(0, 1, "age", "NOUN", ("x",))])
    F1(correct=1, answered=1, total=2)
    """
    correct = sum(answer in annotation.keys for answer, annotation in zip(answers, annotations))
    return F1(correct, sum(answer is not None for answer in answers), len(annotations))


def first_senses(lexemes: Sequence[Lexeme], wordnet: WordNet) -> list[str | None]:
    """WordNet's first sense of each lexeme."""
    return [wordnet.first.get(lexeme) for lexeme in lexemes]


def most_frequent_senses(lexemes: Sequence[Lexeme], counts: Mapping[str, int]) -> list[str | None]:
    """The most frequent sense of each lexeme in a text; None if it has no sense there.

    >>> most_frequent_senses([Lexeme("age", "NOUN"), Lexeme("tea", "NOUN")], {"age%1:07:00::": 2, "age%1:28:00::": 3})
    ['age%1:28:00::', None]
    """
    best: dict[Lexeme, str] = {}
    for key, count in counts.items():
        lexeme = lexeme_of(key)
        if lexeme not in best or count > counts[best[lexeme]]:
            best[lexeme] = key
    return [best.get(lexeme) for lexeme in lexemes]


def fill_missing(answers: Sequence[str | None], others: Sequence[str | None]) -> list[str | None]:
    """The answers, with those of another list in place of None.

    >>> fill_missing(["a", None], ["b", "c"])
    ['a', 'c']
    """
    return [other if answer is None else answer for answer, other in zip(answers, others)]
