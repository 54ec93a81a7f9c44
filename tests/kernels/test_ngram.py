"""The kernels of n-grams against plain Python."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as some

from firth.kernels import ngram as kernel
from firth.text.vocabulary import Vocabulary

BEGIN, END = 1, 2


def trie_of(text: list[int], size: int, order: int):
    """(levels as sorted lists of tuples, starts, words) of all n-grams in a framed text, by the definition."""
    levels = [[(word,) for word in range(size)]]
    for n in range(2, order + 1):
        grams = {tuple(text[i : i + n]) for i in range(len(text) - n + 1)}
        levels.append(sorted(gram for gram in grams if BEGIN not in gram[1:]))
    nodes = [gram for level in levels for gram in level]
    starts = []
    for n, level in enumerate(levels[:-1]):
        first = sum(map(len, levels[: n + 1]))
        starts += [first + sum(other[:-1] < gram for other in levels[n + 1]) for gram in level]
    starts.append(len(nodes))
    return nodes, np.array(starts, np.int64), np.array([gram[-1] for gram in nodes], np.uint32)


TEXT = [1, 3, 4, 3, 2, 1, 4, 4, 3, 2, 1, 3, 4, 2]


def test_a_frame_opens_and_closes_every_sentence_and_leaves_out_what_is_gone():
    table = np.array([3, 4, kernel.DROPPED], np.uint32)
    out = np.empty(20, np.uint32)
    ids, sentences = np.array([0, 1, 2, 2, 0], np.uint32), np.array([7, 10, 11, 12], np.uint64)
    size = kernel.frame_sentences(ids, sentences, table, BEGIN, END, out)
    assert out[:size].tolist() == [1, 3, 4, 2, 1, 2, 1, 3, 2]


def test_a_child_is_found_where_it_is_and_nowhere_else():
    nodes, starts, words = trie_of(TEXT, 5, 3)
    for node, gram in enumerate(nodes[: len(starts) - 1]):
        for word in range(5):
            expected = nodes.index((*gram, word)) if (*gram, word) in nodes else kernel.NONE
            assert kernel.find_child(starts, words, node, np.uint32(word)) == expected


def test_extending_finds_the_longer_n_gram_at_every_place():
    nodes, starts, words = trie_of(TEXT, 5, 3)
    at = np.array(TEXT, np.int64)
    for n in (2, 3):
        kernel.extend(np.array(TEXT, np.uint32), BEGIN, starts, words, at)
        for t, node in enumerate(at.tolist()):
            gram = tuple(TEXT[max(0, t - n + 1) : t + 1])
            inside = len(gram) == n and BEGIN not in gram[1:]
            assert (nodes[node] == gram) if inside else (node == kernel.NONE)


@settings(max_examples=50, deadline=None)
@given(some.lists(some.integers(0, 30)), some.lists(some.integers(0, 30)))
def test_reduced_and_merged_runs_are_the_counts(one, other):
    runs = []
    for values in (one, other):
        keys, counts = np.array(sorted(values), np.uint64), np.empty(len(values), np.int64)
        size = kernel.count_sorted(keys, counts)
        runs += [keys[:size], counts[:size]]
        assert dict(zip(keys[:size].tolist(), counts[:size].tolist())) == Counter(values)
    keys, counts = np.empty(len(one) + len(other), np.uint64), np.empty(len(one) + len(other), np.int64)
    size = kernel.merge_counts(*runs, keys, counts)
    assert keys[:size].tolist() == sorted(set(one + other))
    assert dict(zip(keys[:size].tolist(), counts[:size].tolist())) == Counter(one + other)


def test_keys_are_unpacked_to_words_and_children():
    _, starts, words = trie_of(TEXT, 5, 2)
    keys = np.empty(len(TEXT), np.uint64)
    text = np.array(TEXT, np.uint32)
    keys = keys[: kernel.make_keys(text, BEGIN, text.astype(np.int64), 0, 5, keys)]
    keys.sort()
    keys = np.unique(keys)
    found_starts, found_words = np.empty(6, np.int64), np.empty(len(keys), np.uint32)
    kernel.unpack(keys, 5, 5, found_starts, found_words)
    assert found_starts.tolist() == starts.tolist()
    assert found_words.tolist() == words[5:].tolist()


def test_links_lead_to_the_n_gram_without_its_first_word_and_count_its_left_neighbors():
    nodes, starts, words = trie_of(TEXT, 5, 3)
    suffixes = np.full(len(nodes), kernel.NONE)
    edges = [0, 5, 5 + sum(len(gram) == 2 for gram in nodes)]
    for first, last in itertools.pairwise(edges):
        kernel.link_suffixes(starts, words, first, last, suffixes)
    for node in range(5, len(nodes)):
        assert nodes[suffixes[node]] == nodes[node][1:]
    counts, adjusted = np.arange(100, 100 + len(nodes)), np.empty(len(nodes), np.int64)
    kernel.adjust_counts(starts, suffixes, 5, BEGIN, counts, adjusted)
    for node, gram in enumerate(nodes):
        before = len({other[0] for other in nodes if other[1:] == gram})
        keeps = len(gram) == 3 or (gram[0] == BEGIN and len(gram) > 1)
        assert adjusted[node] == (counts[node] if keeps else before)


def test_scores_are_longest_n_grams_and_backoffs():
    nodes, starts, words = trie_of(TEXT, 5, 3)
    rng = np.random.default_rng(0)
    log10, backoffs = -rng.random(len(nodes), np.float32), -rng.random(len(starts) - 1, np.float32)
    text = np.array([1, 3, 4, 4, 0, 3, 4, 2, 1, 2, 1, 4, 3, 3, 2], np.uint32)
    values, lengths = np.empty(len(text)), np.empty(len(text), np.int32)
    kernel.score(text, BEGIN, starts, words, log10, backoffs, 3, values, lengths)

    def expected(gram):
        if gram in nodes:
            return float(log10[nodes.index(gram)]), len(gram)
        value, length = expected(gram[1:])
        return value + (float(backoffs[nodes.index(gram[:-1])]) if gram[:-1] in nodes else 0.0), length

    begin = 0
    for t, word in enumerate(text.tolist()):
        if word == BEGIN:
            begin = t
            assert (values[t], lengths[t]) == (0, 0)
        else:
            value, length = expected(tuple(text[max(begin, t - 2) : t + 1].tolist()))
            assert abs(values[t] - value) < 1e-6
            assert lengths[t] == length


@settings(max_examples=50, deadline=None)
@given(some.lists(some.integers(0, 2**40)))
def test_keys_are_sorted(values):
    keys = np.array(values, np.uint64)
    found = kernel.sort_keys(keys.copy(), np.empty_like(keys), max(values, default=0))
    assert found.tolist() == sorted(values)


def test_lines_are_found_as_words():
    words = Vocabulary(["tea", "", "rain"])
    blob = np.frombuffer(b"rain\n\ntea\nsnow", np.uint8)
    ids = np.empty(4, np.int64)
    assert kernel.find_lines(blob, words.blob, words.starts, words.ends, words.slots, ids) == 4
    assert ids.tolist() == [2, 1, 0, -1]
