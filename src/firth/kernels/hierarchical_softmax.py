"""Hierarchical softmax: a word is a path through a binary tree, and each turn is a logistic decision.

p(word) = Π σ(t·s) over the inner nodes of its path, with s = x·node and t = +1 for a turn to the left (code 0) and -1
to the right (code 1). A step is that of negative sampling (`kernels/word2vec.py`) with nodes for targets.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from firth.kernels.simd_float import inlined
from firth.kernels.word2vec import (
    GROUP,
    HALF,
    add_to_rows,
    ask_for_rows,
    clear,
    gather,
    step,
    step_of_one,
    sum_rows,
)


@njit(cache=True, nogil=True)
def join(counts):
    """Huffman's tree of counts that fall: (parents, codes) of the nodes 0 … 2n - 2, words first, the root last.

    The two lightest nodes are joined again and again. Words by rising count and joined nodes in the order of their
    making are both sorted already, so two fingers find the lightest.
    """
    size = len(counts)
    weights = np.empty(2 * size - 1, np.int64)
    weights[:size] = counts
    parents, codes = np.zeros(2 * size - 1, np.int64), np.zeros(2 * size - 1, np.uint8)
    word, node = size - 1, size
    for made in range(size, 2 * size - 1):
        weights[made] = 0
        for turn in range(2):
            if word >= 0 and (node == made or weights[word] < weights[node]):
                chosen = word
                word -= 1
            else:
                chosen = node
                node += 1
            weights[made] += weights[chosen]
            parents[chosen], codes[chosen] = made, turn
    return parents, codes


@njit(cache=True, nogil=True)
def walk(parents, codes, size, starts, nodes, turns):
    """Writes each word's path from the root: inner nodes (0 is the first that was made) and turns.

    Word w has the places starts[w] … starts[w + 1] - 1. Without `nodes` (length 0) only `starts` is filled.
    """
    root = 2 * size - 2
    starts[0] = 0
    for word in range(size):
        length, at = 0, word
        while at != root:
            length += 1
            at = parents[at]
        starts[word + 1] = starts[word] + length
        if len(nodes):
            at = word
            for place in range(starts[word + 1] - 1, starts[word] - 1, -1):
                turns[place] = codes[at]
                at = parents[at]
                nodes[place] = at - size


@inlined
def set_path(starts, nodes, turns, word, at, targets, signs):
    """The next six nodes of a word's path, from place `at`, with their signs; left-over places have the sign 0."""
    last = starts[word + 1]
    for k in range(GROUP):
        inside = at + k < last
        place = at + k if inside else at
        targets[k] = nodes[place]
        sign = np.float32(0.0)
        if inside:
            sign = np.float32(1.0) - np.float32(2.0) * np.float32(turns[place])
        signs[0, k] = signs[0, HALF + k] = signs[1, k] = sign


@njit(cache=True, nogil=True)
def skip_gram(words, before, after, window, inputs, outputs, starts, nodes, turns, rate, last_rate, desk):
    """Trains the path of each center against all words around it. Returns (loss, pairs)."""
    rows, targets, _, signs, gradients, _ = desk
    loss, pairs = 0.0, 0
    for c in range(len(words)):
        ask_for_rows(words, c, window, inputs, inputs)
        around = gather(words, c, before[c], after[c], rows)
        pairs += around
        now = np.float32(rate + (last_rate - rate) * c / len(words))
        for at in range(starts[words[c]], starts[words[c] + 1], GROUP):
            set_path(starts, nodes, turns, words[c], at, targets, signs)
            loss += step(inputs, rows, around, outputs, targets, 0, signs, now, gradients)
    return loss, pairs


@njit(cache=True, nogil=True)
def cbow(words, before, after, window, mean, inputs, outputs, starts, nodes, turns, rate, last_rate, desk):
    """Trains the path of each center against the mean (or sum) of the words around it. Returns (loss, centers)."""
    rows, targets, _, signs, gradients, hidden = desk
    errors = hidden[1:]
    loss, centers = 0.0, 0
    for c in range(len(words)):
        ask_for_rows(words, c, window, inputs, inputs)
        around = gather(words, c, before[c], after[c], rows)
        if around == 0:
            continue
        centers += 1
        sum_rows(inputs, rows, around, np.float32(1.0 / around if mean else 1.0), hidden)
        clear(errors)
        now = np.float32(rate + (last_rate - rate) * c / len(words))
        for at in range(starts[words[c]], starts[words[c] + 1], GROUP):
            set_path(starts, nodes, turns, words[c], at, targets, signs)
            loss += step_of_one(hidden, 0, outputs, targets, 0, signs, now, gradients, errors, 0)
        add_to_rows(inputs, rows, around, errors)
    return loss, centers
