"""Training that continues from existing vectors: known words keep their rows, new words are added."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary
from firth.vectors.rows import DenseRows, Floats, Rows
from firth.vectors.subwords import Output, SubwordVectors
from firth.vectors.words import WordVectors


def copy_known_rows(rows: Floats, words: Vocabulary, start: WordVectors) -> None:
    """Copies the vectors of `start` into the rows of those words that it has."""
    ids = start.vocabulary.ids(words)
    places = np.flatnonzero(ids >= 0)
    rows[places, : start.dim] = start.take(ids[places])


def merge_vocabularies(trained: Vocabulary, start: Vocabulary) -> Vocabulary:
    """The words of both, ranked by the sum of their counts.

    >>> merge_vocabularies(Vocabulary(["tea", "milk"], [5, 2]), Vocabulary(["rain", "milk"])).words
    ('tea', 'milk', 'rain')
    """
    counts = np.zeros(len(start), np.int64) if start.counts is None else start.counts
    return trained.merge(Vocabulary.from_arrays(start.blob, start.starts, start.ends, counts))


def merge_vectors(trained: WordVectors, start: WordVectors) -> WordVectors:
    """The trained vectors, and those of the words that only `start` has."""
    words = merge_vocabularies(trained.vocabulary, start.vocabulary)
    old = DenseRows(start.take(np.arange(len(start))))
    return WordVectors(
        words, merge_rows(words, trained.vocabulary, trained.rows, start.vocabulary, old), metadata=trained.metadata
    )


def merge_rows(words: Vocabulary, new: Vocabulary, new_rows: Rows, old: Vocabulary, old_rows: Rows) -> Floats:
    """A row for each of the words: its new row if it has one, else its old row."""
    new_ids, old_ids = new.ids(words), old.ids(words)
    rows = np.empty((len(words), new_rows.shape[1]), np.float32)
    rows[new_ids >= 0] = new_rows.take(new_ids[new_ids >= 0])
    rows[new_ids < 0] = old_rows.take(old_ids[new_ids < 0])
    return rows


def has_same_ngrams(start: WordVectors, subwords: Subwords) -> TypeGuard[SubwordVectors]:
    """Whether `start` has rows for exactly these n-grams. Rows for other n-grams are an error."""
    if not isinstance(start, SubwordVectors) or not start.subwords.used or not subwords.used:
        return False
    theirs = start.subwords
    if theirs.pruned is not None:
        problem = "the model to start from is pruned, so its n-grams do not have their own rows"
        raise OptionError(f"{problem}. Start from the unpruned model")
    if theirs.units != subwords.units:
        raise OptionError(f"the model to start from has n-grams of {theirs.units}. Use units={theirs.units!r}")
    if (theirs.minn, theirs.maxn, theirs.buckets) != (subwords.minn, subwords.maxn, subwords.buckets):
        raise OptionError(
            f"the model to start from has n-grams of {theirs.minn} to {theirs.maxn} characters in {theirs.buckets} "
            f"buckets. Use minn={theirs.minn}, maxn={theirs.maxn}, buckets={theirs.buckets}"
        )
    return True


def output_rows(start: WordVectors, loss: str) -> Rows:
    """The output rows of `start`; zeros, as before the first step, if it has none for this loss."""
    output = start.output if isinstance(start, SubwordVectors) else None
    if output is not None and output.labels is None and output.loss == loss != "hs":
        return output.rows
    return DenseRows(np.broadcast_to(np.float32(0), (len(start), start.dim)))


def merge_subword_vectors(trained: SubwordVectors, start: WordVectors) -> SubwordVectors:
    """The trained words and n-grams, and those that only `start` has."""
    words, ngrams = merge_vocabularies(trained.vocabulary, start.vocabulary), trained.subwords.size
    rows = np.empty((len(words) + ngrams, trained.dim), np.float32)
    rows[len(words) :] = trained.rows.block(len(trained), len(trained) + ngrams)
    if has_same_ngrams(start, trained.subwords):
        untouched = np.flatnonzero(~rows[len(words) :].any(axis=1))
        rows[len(words) + untouched] = start.rows.take(len(start) + untouched)
        rows[: len(words)] = merge_rows(words, trained.vocabulary, trained.rows, start.vocabulary, start.rows)
    else:
        zeros = DenseRows(np.broadcast_to(np.float32(0), (len(start), start.dim)))
        rows[: len(words)] = merge_rows(words, trained.vocabulary, trained.rows, start.vocabulary, zeros)
        only_old = np.flatnonzero(trained.vocabulary.ids(words) < 0)
        means = SubwordVectors(words, rows, trained.subwords).take(only_old)
        lengths = trained.subwords.table(words.take(only_old))[2]
        vectors = start.take(start.vocabulary.ids(words.take(only_old)))
        rows[only_old] = rows_for_vectors(vectors, means, lengths)
    output = trained.output
    if output is not None and output.loss != "hs":
        old = output_rows(start, output.loss)
        merged = merge_rows(words, trained.vocabulary, output.rows, start.vocabulary, old)
        output = Output(DenseRows(merged), None, output.model, output.loss)
    else:
        output = None  # a tree over other words has other inner nodes
    return SubwordVectors(words, rows, trained.subwords, output=output, metadata=trained.metadata)


def rows_for_vectors(vectors: Floats, means: Floats, lengths: NDArray[np.int64]) -> Floats:
    """The words' own rows that give them these vectors; `means` are their vectors while their own rows are zero.

    >>> rows_for_vectors(np.array([[2.0]]), np.array([[0.5]]), np.array([4])).tolist()  # (6 + 2) / 4 is 2
    [[6.0]]
    """
    return np.asarray(lengths[:, None] * (vectors - means), np.float32)
