"""Which sense a word has, told by its nearest neighbor: the mean vector of each sense in a text with senses.

The sums of senses are all that is kept of the text, so it may have any length. A lemma that the text never has with a
sense is answered by a list of first senses, or not at all.
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
    """The mean vector of each sense, (names, senses, dim), of length 1, and the rows of each lexeme's senses."""

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
        """From sentences with senses; `counts` says which senses are kept and how often they occur.

        The senses of a lexeme stand in WordNet's order, or the more frequent first: the first one wins a tie.
        """
        numbers = {} if wordnet is None else wordnet.numbers
        senses = tuple(
            sorted(counts, key=lambda key: (lexeme_of(key), numbers.get(key, len(numbers) + 1), -counts[key]))
        )
        place = {key: row for row, key in enumerate(senses)}
        empty = reader.read([])
        sums = empty.new_zeros(empty.shape[0], len(senses), empty.shape[2])
        tagged = (sentence for sentence in sentences if any(mark.keys for mark in sentence.marks))
        done = 0
        for block in split_blocks(tagged, block_size(reader), lambda sentence: len(sentence.words)):
            vectors = reader.read([sentence.words for sentence in block])
            add_senses(sums, vectors, block, place)
            done += vectors.shape[1]
            report(Progress("reading senses", done, None, "words"))
        rows: dict[Lexeme, list[int]] = defaultdict(list)
        for row, key in enumerate(senses):
            rows[lexeme_of(key)].append(row)
        return cls(senses, unit(sums), {name: tuple(found) for name, found in rows.items()})

    def nearest(self, vectors: Tensor, lexemes: Sequence[Lexeme]) -> list[list[str | None]]:
        """For each name of the reader the nearest sense of each word, (names, words, dim); None where none was seen."""
        names = vectors.shape[0]
        answers: list[list[str | None]] = [[None] * len(lexemes) for _ in range(names)]
        asked: dict[Lexeme, list[int]] = defaultdict(list)
        for row, name in enumerate(lexemes):
            if name in self.rows:
                asked[name].append(row)
        for name, mine in asked.items():
            candidates = list(self.rows[name])
            if len(candidates) == 1:
                best = [[0] * len(mine)] * names
            else:
                cosines = unit(vectors[:, mine]) @ self.means[:, candidates].transpose(1, 2)
                best = first_best(cosines).tolist()
            for answer, chosen in zip(answers, best):
                for row, place in zip(mine, chosen):
                    answer[row] = self.senses[candidates[place]]
        return answers


def first_best(scores: Tensor, tolerance: float = 1e-6) -> Tensor:
    """Where the highest score stands along the last axis; of those that are alike, the first.

    >>> first_best(torch.tensor([[0.5, 0.9, 0.9], [0.0, 0.0, 0.0]])).tolist()
    [1, 0]
    """
    return (scores >= scores.amax(-1, keepdim=True) - tolerance).int().argmax(-1)


def add_senses(sums: Tensor, vectors: Tensor, block: Sequence[AnnotatedSentence], place: Mapping[str, int]) -> None:
    """Adds the vectors of a block's words to the sums of their senses."""
    starts, stops, senses = [], [], []
    offset = 0
    for sentence in block:
        for mark in sentence.marks:
            for key in mark.keys:
                row = place.get(key)
                if row is not None:
                    starts.append(offset + mark.start)
                    stops.append(offset + mark.stop)
                    senses.append(row)
        offset += len(sentence.words)
    if senses:
        sums.index_add_(1, torch.tensor(senses, device=sums.device), span_means(vectors, starts, stops))


class F1(NamedTuple):
    """Answers judged: how many were right, given and asked for."""

    right: int
    given: int
    asked: int

    @property
    def value(self) -> float:
        """The harmonic mean of precision and recall in percent; where all is answered it is accuracy.

        >>> round(F1(right=6, given=8, asked=10).value, 2)  # precision 75 %, recall 60 %
        66.67
        """
        return 200 * self.right / (self.given + self.asked) if self.given + self.asked else 0.0


def score_answers(answers: Sequence[str | None], marks: Sequence[Annotation]) -> F1:
    """How many answers are one of the senses that count as right.

    >>> play = Annotation(0, 1, "play", "NOUN", ("play%1:10:01::", "play%1:04:05::"))
    >>> score_answers(["play%1:04:05::", None], [play, Annotation(0, 1, "age", "NOUN", ("x",))])
    F1(right=1, given=1, asked=2)
    """
    right = sum(answer in mark.keys for answer, mark in zip(answers, marks))
    return F1(right, sum(answer is not None for answer in answers), len(marks))


def first_senses(lexemes: Sequence[Lexeme], wordnet: WordNet) -> list[str | None]:
    """WordNet's first sense of each."""
    return [wordnet.first.get(name) for name in lexemes]


def most_frequent_senses(lexemes: Sequence[Lexeme], counts: Mapping[str, int]) -> list[str | None]:
    """The sense of each that occurs most often in a text, and None where none does.

    >>> most_frequent_senses([Lexeme("age", "NOUN"), Lexeme("tea", "NOUN")], {"age%1:07:00::": 2, "age%1:28:00::": 3})
    ['age%1:28:00::', None]
    """
    best: dict[Lexeme, str] = {}
    for key, count in counts.items():
        name = lexeme_of(key)
        if name not in best or count > counts[best[name]]:
            best[name] = key
    return [best.get(name) for name in lexemes]


def fill_missing(answers: Sequence[str | None], others: Sequence[str | None]) -> list[str | None]:
    """Answers, and others where there is none.

    >>> fill_missing(["a", None], ["b", "c"])
    ['a', 'c']
    """
    return [other if answer is None else answer for answer, other in zip(answers, others)]
