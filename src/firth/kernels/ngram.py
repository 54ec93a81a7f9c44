"""N-grams in a sorted trie: count them, link them, find them, score with them.

A trie is flat. Its nodes are n-grams: first all words (node = id of the word), then all pairs, then all triples, each
level sorted by (prefix, last word). So the children of node i, the n-grams that begin with it, are the nodes
starts[i] .. starts[i + 1], sorted by their last word `words[node]`; a node of the last level has no children and no
place in `starts`. `NONE` stands where there is no node.

A text is a run of word ids in which every sentence is opened by `begin` and closed by `end`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from firth.kernels.words import find

NONE = np.int64(-1)
NEWLINE = np.uint8(10)
GONE = np.uint32(0xFFFFFFFF)  # in a table of words: not a word, leave it out


@njit(cache=True, nogil=True)
def frame(ids, sentences, table, begin, end, out):
    """Lays sentences into out as begin, table[ids], end, without what is GONE; returns the length.

    Sentence i is ids[sentences[i] - sentences[0] : sentences[i + 1] - sentences[0]].
    """
    at = 0
    shift = np.int64(sentences[0])
    for sentence in range(len(sentences) - 1):
        out[at] = begin
        at += 1
        for i in range(np.int64(sentences[sentence]) - shift, np.int64(sentences[sentence + 1]) - shift):
            word = table[ids[i]]
            if word != GONE:
                out[at] = word
                at += 1
        out[at] = end
        at += 1
    return at


@njit(cache=True, nogil=True)
def child(starts, words, node, word):
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
    """nodes[t], the n-gram that ends at t, becomes the (n + 1)-gram that ends at t; NONE across a sentence's start."""
    before = NONE
    for t in range(len(text)):
        node = before
        before = nodes[t]
        if node == NONE or text[t] == begin:
            nodes[t] = NONE
        else:
            nodes[t] = child(starts, words, node, text[t])


@njit(cache=True, nogil=True)
def find_lines(blob, names, starts, ends, slots, ids):
    """ids[k] becomes the id of the k-th line of the blob, or -1; returns the number of lines, of which ids has room."""
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
    """Lays (prefix - base) * size + word of every n-gram into keys; nodes are the (n - 1)-grams. Returns how many."""
    count = 0
    for t in range(1, len(text)):
        if nodes[t - 1] != NONE and text[t] != begin:
            keys[count] = np.uint64(nodes[t - 1] - base) * np.uint64(size) + np.uint64(text[t])
            count += 1
    return count


@njit(cache=True, nogil=True)
def sort(keys, spare, most):
    """The keys, none above `most`, in rising order, in one of the two buffers: eleven bits a pass, lowest first."""
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
def reduce(keys, counts):
    """Sorted keys to distinct ones at their front, with their counts; returns how many there are."""
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
def merge(a, a_counts, b, b_counts, keys, counts):
    """Two sorted runs of distinct keys into one, counts of equal keys added; returns its length."""
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
    """Keys back to words, and starts[prefix] to shift + where the children of the prefix begin."""
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
def link(starts, words, first, last, suffixes):
    """suffixes[child] for the children of the nodes first..last: the node of the child without its first word.

    suffix(prefix + word) = child(suffix(prefix), word); the suffix of a pair is its last word, that is, a node. NONE
    where the suffix is not in the trie.
    """
    size = starts[0]
    for node in range(first, last):
        for i in range(starts[node], starts[node + 1]):
            if node < size:
                suffixes[i] = words[i]
            elif suffixes[node] == NONE:
                suffixes[i] = NONE
            else:
                suffixes[i] = child(starts, words, suffixes[node], words[i])


@njit(cache=True, nogil=True)
def continue_counts(starts, suffixes, size, begin, counts, adjusted):
    """adjusted[i] for every node that may have a left neighbor: in how many different words it follows.

    N-grams that open a sentence have none, and n-grams of the last level are not extended: both keep their counts.
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
def count_counts(adjusted, found):
    """found[k] becomes the number of n-grams that were counted k times, for k below len(found)."""
    for i in range(len(adjusted)):
        if adjusted[i] < len(found):
            found[adjusted[i]] += 1


@njit(cache=True, nogil=True)
def interpolate(starts, first, last, adjusted, kept, suffixes, discounts, probs, gammas):
    """The probabilities of the children of the nodes first..last, and what these nodes leave to shorter n-grams.

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
def step(starts, words, log10, backoffs, order, context, fresh, word):
    """(log10 p(word | context), length of the n-gram that gave it); fresh becomes the context of the next word.

    context[k] is the node of the last k words, or NONE. The longest known n-gram that ends in the word has length m:
    log10 p = log10[node] + sum of backoffs[context[k]] over the contexts k = m .. order - 1 that did not know the word.
    """
    fresh[1] = word
    length = 1
    for k in range(1, order):
        node = context[k]
        found = NONE
        if node != NONE:
            found = child(starts, words, node, word)
        fresh[k + 1] = found
        if found != NONE:
            length = k + 1
    value = np.float64(log10[fresh[length]])
    for k in range(length, order):
        if context[k] != NONE:
            value += backoffs[context[k]]
    return value, length


@njit(cache=True, nogil=True)
def score(text, begin, starts, words, log10, backoffs, order, values, lengths):
    """values[t] becomes log10 p(text[t] | what stands before it in its sentence), lengths[t] the n-gram's length.

    Every sentence of the text is opened by `begin`, which itself is given and gets 0.
    """
    context, fresh = np.full(order + 1, NONE), np.full(order + 1, NONE)
    for t in range(len(text)):
        if text[t] == begin:
            context[:] = NONE
            context[1] = begin
            values[t], lengths[t] = 0.0, 0
            continue
        values[t], lengths[t] = step(starts, words, log10, backoffs, order, context, fresh, text[t])
        context, fresh = fresh, context
