"""Counts of n-grams against a plain dictionary."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from firth.models.ngram import choose_words
from firth.models.ngram_counts import NgramCounts, count_ngrams, cut_sentences, merge_runs
from firth.progress import silent
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

LINES = ["a b a b", "b a", "a b c a b", "c"]


def spell_ngrams(counts: NgramCounts, words: tuple[str, ...]) -> Counter[tuple[str, ...]]:
    """Every n-gram of the trie with its count, from the root down."""
    found: Counter[tuple[str, ...]] = Counter()

    def visit(node: int, prefix: tuple[str, ...]) -> None:
        ngram = (*prefix, words[counts.words[node]])
        found[ngram] = int(counts.counts[node])
        if node + 1 < len(counts.starts):
            for child in range(counts.starts[node], counts.starts[node + 1]):
                visit(int(child), ngram)

    for node in range(counts.levels[0]):
        visit(node, ())
    return found


@pytest.mark.parametrize("chunk", [3, 1 << 21])
def test_the_trie_holds_every_ngram_with_its_count(chunk, monkeypatch):
    monkeypatch.setattr("firth.models.ngram_counts.CHUNK", chunk)
    tokens = Corpus.of(["\n".join(LINES)], tokenizer=Tokenizer(mode="whitespace")).tokens()
    vocabulary, table = choose_words(tokens.vocabulary, 1)
    counts = count_ngrams(tokens, table, len(vocabulary), 3, Runtime(2), silent)
    texts = [("<s>", *line.split(), "</s>") for line in LINES]
    expected = Counter(text[i : i + n] for text in texts for n in (1, 2, 3) for i in range(len(text) - n + 1))
    assert +spell_ngrams(counts, vocabulary.words) == expected


def test_chunks_cover_every_sentence_once(monkeypatch):
    monkeypatch.setattr("firth.models.ngram_counts.CHUNK", 3)
    tokens = Corpus.of(["\n".join(LINES)], tokenizer=Tokenizer(mode="whitespace")).tokens()
    chunks = cut_sentences(tokens, Runtime(1))
    assert len(chunks) > 1
    assert [i for first, last in chunks for i in range(first, last)] == list(range(len(LINES)))


def test_merged_runs_hold_every_key_once_with_the_sum_of_its_counts():
    runs = [({1: 2, 5: 1}), ({5: 4}), ({2: 1, 5: 1, 9: 3})]
    keys, counts = merge_runs((np.array(list(run), np.uint64), np.array(list(run.values()), np.int64)) for run in runs)
    assert dict(zip(keys.tolist(), counts.tolist())) == {1: 2, 2: 1, 5: 6, 9: 3}
    assert keys.tolist() == sorted(keys.tolist())
    assert len(merge_runs([])[0]) == 0
