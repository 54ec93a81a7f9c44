"""The best split of text into words of a list with scores, by dynamic programming over a trie.

The trie is a hash table with open addressing: the key of a child is its parent's node and the code point, so that
look-ups are exact. Node 0 is the root. values[node] is the score of the word that ends there, or -inf.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from firth.kernels.characters import MARK

CODE_BITS = np.uint64(21)  # of a code point
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def find_child(keys, children, node, code):
    """The child of a node, or -1; and the slot of the table where it is or would be."""
    mask = np.uint64(len(keys) - 1)
    key = ((np.uint64(node) << CODE_BITS) | np.uint64(code)) + np.uint64(1)
    slot = (key * MULTIPLIER >> np.uint64(24)) & mask
    while keys[slot] != 0:
        if keys[slot] == key:
            return children[slot], slot
        slot = (slot + np.uint64(1)) & mask
    return np.int32(-1), slot


@njit(cache=True, nogil=True)
def build_trie(codes, starts, ends, scores, keys, children, values):
    """Insert the words codes[starts[i]:ends[i]] with their scores; returns the number of nodes."""
    nodes = 1
    for word in range(len(starts)):
        node = np.int32(0)
        for at in range(starts[word], ends[word]):
            child, slot = find_child(keys, children, node, codes[at])
            if child < 0:
                keys[slot] = ((np.uint64(node) << CODE_BITS) | np.uint64(codes[at])) + np.uint64(1)
                children[slot] = child = np.int32(nodes)
                values[nodes] = -np.inf
                nodes += 1
            node = child
        values[node] = scores[word]
    return nodes


@njit(cache=True, nogil=True)
def unknown_end(codes, keys, children, at, end):
    """The end of the characters from `at` on that begin no word of the trie; `at` if the first one does."""
    while at < end and find_child(keys, children, 0, codes[at])[0] < 0:
        at += 1
    return at


@njit(cache=True, nogil=True)
def split_runs(codes, classes, starts, ends, keys, children, values, unknown, new_starts, new_ends, counts):
    """Write the words of the best split of each run codes[starts[r]:ends[r]]; returns the number of words.

    A split is best if the sum of the scores of its words is largest. Characters that begin no word of the list are one
    word, and any other single character is a word, too, with the score `unknown`. No word begins with a combining mark.
    counts[r] is the number of words of run r.
    """
    longest = 0
    for run in range(len(starts)):
        longest = max(longest, ends[run] - starts[run])
    best, back = np.empty(longest + 1, np.float64), np.empty(longest + 1, np.int64)
    total = 0
    for run in range(len(starts)):
        start, size = starts[run], ends[run] - starts[run]
        best[: size + 1] = -np.inf
        best[0] = 0.0
        for at in range(size):
            if best[at] == -np.inf:
                continue
            end = max(unknown_end(codes, keys, children, start + at, start + size) - start, at + 1)
            while end < size and classes[codes[start + end]] == MARK:
                end += 1
            if best[at] + unknown > best[end]:
                best[end], back[end] = best[at] + unknown, at
            node = np.int32(0)
            for end in range(at + 1, size + 1):
                node, _ = find_child(keys, children, node, codes[start + end - 1])
                if node < 0:
                    break
                score = best[at] + values[node]
                if score > best[end] and (end == size or classes[codes[start + end]] != MARK):
                    best[end], back[end] = score, at
        count = 0
        at = size
        while at > 0:
            at = back[at]
            count += 1
        counts[run] = count
        at = size
        for word in range(total + count - 1, total - 1, -1):
            new_starts[word], new_ends[word] = start + back[at], start + at
            at = back[at]
        total += count
    return total


@njit(cache=True, nogil=True)
def expand_words(ids, edges, word_codes, word_starts, characters):
    """Write the characters of a text of word ids one after another; returns how many there are.

    Word w is word_codes[word_starts[w]:word_starts[w + 1]]; a word without characters, and an edge of sentences, are
    written as one -1. With no room for characters, they are only counted.
    """
    count = 0
    broken = True  # whether the last character is -1
    for sentence in range(len(edges) - 1):
        for at in range(edges[sentence], edges[sentence + 1]):
            first, end = word_starts[ids[at]], word_starts[ids[at] + 1]
            if first == end and not broken:
                if count < len(characters):
                    characters[count] = -1
                count += 1
                broken = True
            for place in range(first, end):
                if count < len(characters):
                    characters[count] = word_codes[place]
                count += 1
                broken = False
        if not broken:
            if count < len(characters):
                characters[count] = -1
            count += 1
            broken = True
    return count
