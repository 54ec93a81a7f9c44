"""Training that goes on from vectors that are there: old words keep their rows, new ones join them."""

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


def take_up(rows: Floats, words: Vocabulary, start: WordVectors) -> None:
    """Gives the words that `start` has, in the first of the rows, their vectors."""
    found = start.vocabulary.ids(words)
    places = np.flatnonzero(found >= 0)
    rows[places, : start.dim] = start.take(found[places])


def with_words_of(trained: Vocabulary, start: Vocabulary) -> Vocabulary:
    """The words of both, ranked by their counts in both texts together.

    >>> with_words_of(Vocabulary(["tea", "milk"], [5, 2]), Vocabulary(["rain", "milk"])).words
    ('tea', 'milk', 'rain')
    """
    counts = np.zeros(len(start), np.int64) if start.counts is None else start.counts
    return trained.merge(Vocabulary.from_arrays(start.blob, start.starts, start.ends, counts))


def grown(made: WordVectors, start: WordVectors) -> WordVectors:
    """The vectors that were made, and those of the words that only `start` has."""
    words = with_words_of(made.vocabulary, start.vocabulary)
    old = DenseRows(start.take(np.arange(len(start))))
    return WordVectors(words, joined(words, made.vocabulary, made.rows, start.vocabulary, old), metadata=made.metadata)


def joined(words: Vocabulary, new: Vocabulary, new_rows: Rows, old: Vocabulary, old_rows: Rows) -> Floats:
    """A row for each of the words: the new one, or the old one of a word that has no new one."""
    fresh, kept = new.ids(words), old.ids(words)
    rows = np.empty((len(words), new_rows.shape[1]), np.float32)
    rows[fresh >= 0] = new_rows.take(fresh[fresh >= 0])
    rows[fresh < 0] = old_rows.take(kept[fresh < 0])
    return rows


def has_ngrams(start: WordVectors, subwords: Subwords) -> TypeGuard[SubwordVectors]:
    """Whether `start` has rows for just these n-grams; rows for others are an error."""
    if not isinstance(start, SubwordVectors) or not start.subwords.used or not subwords.used:
        return False
    theirs = start.subwords
    if theirs.pruned is not None:
        raise OptionError("the model to start from was pruned, so its n-grams have no rows of their own any more")
    if (theirs.minn, theirs.maxn, theirs.buckets) != (subwords.minn, subwords.maxn, subwords.buckets):
        raise OptionError(
            f"the model to start from has n-grams of {theirs.minn} to {theirs.maxn} characters in {theirs.buckets} "
            f"buckets. Use minn={theirs.minn}, maxn={theirs.maxn}, buckets={theirs.buckets}"
        )
    return True


def outputs_of(start: WordVectors, loss: str) -> Rows:
    """The rows by which `start` predicts words; zeros where it has none that fit, as before the first step."""
    output = start.output if isinstance(start, SubwordVectors) else None
    if output is not None and output.labels is None and output.loss == loss != "hs":
        return output.rows
    return DenseRows(np.broadcast_to(np.float32(0), (len(start), start.dim)))


def grown_subwords(made: SubwordVectors, start: WordVectors) -> SubwordVectors:
    """The words and n-grams that were made, and those that only `start` has."""
    words, ngrams = with_words_of(made.vocabulary, start.vocabulary), made.subwords.size
    rows = np.empty((len(words) + ngrams, made.dim), np.float32)
    rows[len(words) :] = made.rows.block(len(made), len(made) + ngrams)
    if has_ngrams(start, made.subwords):
        untouched = np.flatnonzero(~rows[len(words) :].any(axis=1))
        rows[len(words) + untouched] = start.rows.take(len(start) + untouched)
        rows[: len(words)] = joined(words, made.vocabulary, made.rows, start.vocabulary, start.rows)
    else:
        nothing = DenseRows(np.broadcast_to(np.float32(0), (len(start), start.dim)))
        rows[: len(words)] = joined(words, made.vocabulary, made.rows, start.vocabulary, nothing)
        only_old = np.flatnonzero(made.vocabulary.ids(words) < 0)
        means = SubwordVectors(words, rows, made.subwords).take(only_old)
        lengths = made.subwords.table(words.take(only_old))[2]
        wanted = start.take(start.vocabulary.ids(words.take(only_old)))
        rows[only_old] = own_rows(wanted, means, lengths)
    output = made.output
    if output is not None and output.loss != "hs":
        old = outputs_of(start, output.loss)
        made_rows = joined(words, made.vocabulary, output.rows, start.vocabulary, old)
        output = Output(DenseRows(made_rows), None, output.model, output.loss)
    else:
        output = None  # a tree over other words has other nodes
    return SubwordVectors(words, rows, made.subwords, output=output, metadata=made.metadata)


def own_rows(wanted: Floats, means: Floats, lengths: NDArray[np.int64]) -> Floats:
    """The rows of words that give them the wanted vectors, where `means` are theirs with own rows of zero.

    >>> own_rows(np.array([[2.0]]), np.array([[0.5]]), np.array([4])).tolist()  # (6 + 2) / 4 is 2
    [[6.0]]
    """
    return np.asarray(lengths[:, None] * (wanted - means), np.float32)
