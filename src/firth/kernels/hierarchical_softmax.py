"""Hierarchical softmax: a word is a path through a binary tree, and each turn is a logistic decision.

p(word) = Π σ(t·s) over the inner nodes of its path, with s = x·node and t = +1 for a turn to the left (code 0) and -1
to the right (code 1). A step is that of `kernels/logistic.py` with nodes as targets. `tree` is (starts, nodes, turns),
see `walk`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from firth.kernels.logistic import GROUP, HALF
from firth.kernels.simd_float import inlined


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
    for parent in range(size, 2 * size - 1):
        weights[parent] = 0
        for turn in range(2):
            if word >= 0 and (node == parent or weights[word] < weights[node]):
                chosen = word
                word -= 1
            else:
                chosen = node
                node += 1
            weights[parent] += weights[chosen]
            parents[chosen], codes[chosen] = parent, turn
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
def set_path(tree, word, targets, signs):
    """Sets the nodes of a word's path as targets, with their signs; returns how many groups of six they fill.

    The places that are left over repeat the first node of their group, with the sign 0.
    """
    starts, nodes, turns = tree
    first, end = starts[word], starts[word + 1]
    groups = (end - first + GROUP - 1) // GROUP
    for group in range(groups):
        at = first + group * GROUP
        for k in range(GROUP):
            is_inside = at + k < end
            place = at + k if is_inside else at
            targets[group * GROUP + k] = nodes[place]
            sign = np.float32(0.0)
            if is_inside:
                sign = np.float32(1.0) - np.float32(2.0) * np.float32(turns[place])
            signs[2 * group, k] = signs[2 * group, HALF + k] = signs[2 * group + 1, k] = sign
    return groups
