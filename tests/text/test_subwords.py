"""N-grams and their rows are fastText's, bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.errors import OptionError
from firth.runtime import Runtime
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary, to_bytes


def plain_ngrams(word: bytes, minn: int, maxn: int) -> list[bytes]:
    """The definition, in words: runs of characters of <word>, without lone brackets."""
    if word == b"</s>":
        return []
    wrapped = b"<" + word + b">"
    begins = [i for i, byte in enumerate(wrapped) if byte & 0xC0 != 0x80]
    edges = [*begins, len(wrapped)]
    found = []
    for i in range(len(begins)):
        for n in range(1, maxn + 1):
            if i + n >= len(edges):
                break
            lone = n == 1 and (edges[i] == 0 or edges[i + n] == len(wrapped))
            if n >= minn and not lone:
                found.append(wrapped[edges[i] : edges[i + n]])
    return found


def plain_hash(ngram: bytes) -> int:
    """FNV-1a where a byte from 128 on is a negative number."""
    state = 2166136261
    for byte in ngram:
        state ^= byte if byte < 128 else byte + 0xFFFFFF00
        state = state * 16777619 % 2**32
    return state


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=20), st.integers(0, 4), st.integers(0, 6), st.integers(1, 10**6))
def test_rows_of_any_bytes_follow_the_definition(word: bytes, minn: int, maxn: int, buckets: int) -> None:
    expected = [plain_hash(ngram) % buckets for ngram in plain_ngrams(word, minn, maxn)]
    assert Subwords(minn, maxn, buckets).rows(word).tolist() == expected


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=12))
def test_ngrams_are_those_of_the_words_characters(word: str) -> None:
    assert [to_bytes(ngram) for ngram in Subwords(2, 4, 10).ngrams(word)] == plain_ngrams(to_bytes(word), 2, 4)


def test_ngrams_are_those_that_fasttext_printed(data: Path) -> None:
    lines = (data / "fixtures/vectors/fb-ngrams.txt").read_text(encoding="utf-8").split("\n")
    asked = 0
    for start in (i for i, line in enumerate(lines) if line == "<start>"):
        stop = lines.index("<end>", start)
        word = lines[start + 1]
        printed = [line.rsplit(" ", 6)[0] for line in lines[start + 3 : stop]]
        assert Subwords(3, 6, 100).ngrams(word) == printed
        asked += len(printed)
    assert asked > 50


def test_the_end_of_a_sentence_has_no_ngrams() -> None:
    assert Subwords(1, 6, 100).ngrams("</s>") == []
    assert Subwords(6, 6, 100, sentence_end=True).ngrams("</s>") == ["<</s>>"]


@pytest.mark.parametrize("subwords", [Subwords(3, 0, 100), Subwords(3, 6, 0), Subwords(3, 6, 100, pruned={})])
def test_without_maxn_buckets_or_unpruned_rows_no_word_has_rows(subwords: Subwords) -> None:
    assert len(subwords.rows(b"teapot")) == 0
    assert subwords.size == 0


def test_pruning_maps_some_buckets_and_drops_the_others() -> None:
    whole = Subwords(3, 4, 1000).rows(b"teapot").tolist()
    pruned = Subwords(3, 4, 1000, pruned={whole[0]: 1, whole[3]: 0})
    assert pruned.rows(b"teapot").tolist() == [1, 0]
    assert pruned.size == 2
    assert [row for _, row in pruned.pairs("teapot")] == [1, 0]


@pytest.mark.parametrize("pruned", [None, {bucket: bucket // 2 for bucket in range(0, 50, 2)}])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_table_of_a_vocabulary_holds_each_words_rows(pruned: dict[int, int] | None, threads: int) -> None:
    words = ["tea", "</s>", "", "چای", "café", "tea" * 40, "caf\udc82"]
    subwords = Subwords(2, 4, 50, pruned)
    rows, pointers, lengths = subwords.table(Vocabulary(words), Runtime(threads))
    for id, word in enumerate(words):
        own = rows[pointers[id] : pointers[id] + lengths[id]]
        np.testing.assert_array_equal(own, [id, *(subwords.rows(to_bytes(word)) + len(words))])


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(OptionError):
        Subwords(-1, 3, 10)
    with pytest.raises(OptionError):
        Subwords(3, 6, 10, pruned={10: 0})
