"""Count, look up and score n-grams in a sorted trie.

The trie is a set of arrays. Its nodes are n-grams: first all words (node = word id), then all bigrams, then all
trigrams, each level sorted by (prefix, last word). The children of node i, the n-grams with prefix i, are the nodes
starts[i] … starts[i + 1] - 1, sorted by their last word words[node]. Nodes of the last level have no entry in `starts`.
NONE means no node.

A text is an array of word ids in which every sentence starts with `begin` and stops with `end`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from firth.kernels.words import find

NONE = np.int64(-1)
NEWLINE = np.uint8(10)
DROPPED = np.uint32(0xFFFFFFFF)  # the entry of a removed word in a table of ids


@njit(cache=True, nogil=True)
def frame_sentences(ids, sentences, table, begin, end, out):
    """Write each sentence as begin, table[ids], end, without DROPPED words; returns the length.

    Sentence i is ids[sentences[i] - sentences[0] : sentences[i + 1] - sentences[0]].
    """
    at = 0
    shift = np.int64(sentences[0])
    for sentence in range(len(sentences) - 1):
        out[at] = begin
        at += 1
        for i in range(np.int64(sentences[sentence]) - shift, np.int64(sentences[sentence + 1]) - shift):
            word = table[ids[i]]
            if word != DROPPED:
                out[at] = word
                at += 1
        out[at] = end
        at += 1
    return at


@njit(cache=True, nogil=True)
def find_child(starts, words, node, word):
    """The node of the n-gram `node` followed by `word`, or NONE."""
    low = np.int64(starts[node])
    top = np.int64(starts[node + 1])
    high = top
    while low < high:
        middle = (low + high) >> 1
        if words[middle] < word:
            low = middle + 1
        else:
            high = middle
    if low < top and words[low] == word:
        return low
    return NONE


@njit(cache=True, nogil=True)
def extend(text, begin, starts, words, nodes):
    """Extend nodes[t] from the n-gram to the (n + 1)-gram that ends at t; NONE if that crosses a sentence start."""
    before = NONE
    for t in range(len(text)):
        node = before
        before = nodes[t]
        if node == NONE or text[t] == begin:
            nodes[t] = NONE
        else:
            nodes[t] = find_child(starts, words, node, text[t])


@njit(cache=True, nogil=True)
def find_lines(blob, names, starts, ends, slots, ids):
    """ids[k] = id of line k of the blob, or -1; returns the number of lines, which may exceed len(ids)."""
    line, start = 0, 0
    for i in range(len(blob) + 1):
        if i == len(blob) or blob[i] == NEWLINE:
            if line < len(ids):
                ids[line] = find(blob, start, i, names, starts, ends, slots)
            line += 1
            start = i + 1
    return line


@njit(cache=True, nogil=True)
def make_keys(text, begin, nodes, base, size, keys):
    """Write the key (prefix - base) * size + word of every n-gram, given the (n - 1)-gram nodes; returns how many."""
    count = 0
    for t in range(1, len(text)):
        if nodes[t - 1] != NONE and text[t] != begin:
            keys[count] = np.uint64(nodes[t - 1] - base) * np.uint64(size) + np.uint64(text[t])
            count += 1
    return count


@njit(cache=True, nogil=True)
def sort_keys(keys, spare, most):
    """Radix sort of keys up to `most`, eleven bits in each pass; the result is in one of the two buffers."""
    shift = np.uint64(0)
    while np.uint64(most) >> shift != 0:
        ends = np.zeros(2049, np.int64)
        for key in keys:
            ends[np.int64((key >> shift) & np.uint64(2047)) + 1] += 1
        for i in range(2048):
            ends[i + 1] += ends[i]
        for key in keys:
            digit = np.int64((key >> shift) & np.uint64(2047))
            spare[ends[digit]] = key
            ends[digit] += 1
        keys, spare = spare, keys
        shift += np.uint64(11)
    return keys


@njit(cache=True, nogil=True)
def count_sorted(keys, counts):
    """Move the distinct keys of a sorted array to its front and count each; returns their number."""
    last = -1
    for i in range(len(keys)):
        if last >= 0 and keys[last] == keys[i]:
            counts[last] += 1
        else:
            last += 1
            keys[last] = keys[i]
            counts[last] = 1
    return last + 1


@njit(cache=True, nogil=True)
def merge_counts(a, a_counts, b, b_counts, keys, counts):
    """Merge two sorted arrays of distinct keys and add the counts of equal keys; returns the length."""
    i, j, size = 0, 0, 0
    while i < len(a) or j < len(b):
        if j == len(b) or (i < len(a) and a[i] < b[j]):
            keys[size], counts[size] = a[i], a_counts[i]
            i += 1
        elif i == len(a) or b[j] < a[i]:
            keys[size], counts[size] = b[j], b_counts[j]
            j += 1
        else:
            keys[size], counts[size] = a[i], a_counts[i] + b_counts[j]
            i += 1
            j += 1
        size += 1
    return size


@njit(cache=True, nogil=True)
def unpack(keys, size, shift, starts, words):
    """Decode keys into words; starts[prefix] = shift + the index of the prefix's first child."""
    prefix = 0
    for i in range(len(keys)):
        parent = np.int64(keys[i] // np.uint64(size))
        words[i] = np.uint32(keys[i] % np.uint64(size))
        while prefix <= parent:
            starts[prefix] = shift + i
            prefix += 1
    while prefix < len(starts):
        starts[prefix] = shift + len(keys)
        prefix += 1


@njit(cache=True, nogil=True)
def link_suffixes(starts, words, first, last, suffixes):
    """suffixes[child] = node of the child without its first word, for the children of nodes first … last - 1.

    suffix(prefix + word) = find_child(suffix(prefix), word); the suffix of a bigram is its last word. NONE if the
    suffix is not in the trie.
    """
    size = starts[0]
    for node in range(first, last):
        for i in range(starts[node], starts[node + 1]):
            if node < size:
                suffixes[i] = words[i]
            elif suffixes[node] == NONE:
                suffixes[i] = NONE
            else:
                suffixes[i] = find_child(starts, words, suffixes[node], words[i])


@njit(cache=True, nogil=True)
def adjust_counts(starts, suffixes, size, begin, counts, adjusted):
    """adjusted[i] = continuation count: the number of distinct words that precede n-gram i.

    N-grams that start with `begin` and n-grams of the last level keep their counts.
    """
    last = len(starts) - 1
    for i in range(len(counts)):
        adjusted[i] = 0 if i < last else counts[i]
    for i in range(size, len(counts)):
        adjusted[suffixes[i]] += 1
    node, stop = np.int64(begin), np.int64(begin) + 1
    adjusted[begin] = 0
    while node < stop and node < last:
        node, stop = np.int64(starts[node]), np.int64(starts[stop])
        for i in range(node, stop):
            adjusted[i] = counts[i]


@njit(cache=True, nogil=True)
def interpolate(starts, first, last, adjusted, kept, suffixes, discounts, probs, gammas):
    """Probabilities of the children of nodes first … last - 1, and the interpolation weights gamma of these nodes.

    p(w | h) = (a(hw) - D(a(hw))) / A(h) + gamma(h) p(w | h without its first word),   A(h) = sum over w of a(hw),
    gamma(h) = (sum over kept hw of D(a(hw)) + sum over pruned hw of a(hw)) / A(h),   D(a) = discounts[min(a, 3)].
    """
    for node in range(first, last):
        gammas[node] = 1.0
        if starts[node] == starts[node + 1]:
            continue
        total, left = 0.0, 0.0
        for i in range(starts[node], starts[node + 1]):
            total += adjusted[i]
            left += discounts[min(adjusted[i], 3)] if kept[i] else np.float64(adjusted[i])
        gammas[node] = left / total
        for i in range(starts[node], starts[node + 1]):
            own = max(0.0, adjusted[i] - discounts[min(adjusted[i], 3)])
            probs[i] = own / total + gammas[node] * probs[suffixes[i]]


@njit(cache=True, nogil=True)
def step(starts, words, log10, backoffs, order, context, next_context, word):
    """(log10 p(word | context), length of the matched n-gram); next_context becomes the context of the next word.

    context[k] is the node of the last k words, or NONE. If the longest n-gram in the trie that ends in the word has
    length m, log10 p = log10[node] + Σ backoffs[context[k]] over k = m … order - 1.
    """
    next_context[1] = word
    length = 1
    for k in range(1, order):
        node = context[k]
        child = NONE
        if node != NONE:
            child = find_child(starts, words, node, word)
        next_context[k + 1] = child
        if child != NONE:
            length = k + 1
    value = np.float64(log10[next_context[length]])
    for k in range(length, order):
        if context[k] != NONE:
            value += backoffs[context[k]]
    return value, length


@njit(cache=True, nogil=True)
def score(text, begin, starts, words, log10, backoffs, order, values, lengths):
    """values[t] = log10 p(text[t] | preceding words of its sentence), lengths[t] = length of the matched n-gram.

    Every sentence starts with `begin`, which gets 0.
    """
    context, next_context = np.full(order + 1, NONE), np.full(order + 1, NONE)
    for t in range(len(text)):
        if text[t] == begin:
            context[:] = NONE
            context[1] = begin
            values[t], lengths[t] = 0.0, 0
            continue
        values[t], lengths[t] = step(starts, words, log10, backoffs, order, context, next_context, text[t])
        context, next_context = next_context, context
