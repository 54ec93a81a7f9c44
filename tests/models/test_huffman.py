"""Huffman codes: optimal, prefix-free, and equal to a code by hand."""

from __future__ import annotations

import heapq

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.models.huffman import HuffmanTree


@settings(deadline=None)
@given(st.lists(st.integers(1, 50), min_size=2, max_size=30))
def test_no_other_code_is_shorter_and_none_begins_another(counts):
    counts = sorted(counts, reverse=True)
    tree = HuffmanTree.of_counts(np.array(counts))
    codes = [tree.code(word) for word in range(len(counts))]
    assert sum(2.0 ** -len(code) for code in codes) == 1
    assert not any(a != b and b.startswith(a) for a in codes for b in codes)
    heap, shortest = list(counts), 0
    heapq.heapify(heap)
    while len(heap) > 1:
        joined = heapq.heappop(heap) + heapq.heappop(heap)
        shortest += joined
        heapq.heappush(heap, joined)
    assert sum(count * len(code) for count, code in zip(counts, codes)) == shortest
    assert tree.nodes.max() == len(counts) - 2


def test_a_path_leads_from_the_root_to_the_word():
    tree = HuffmanTree.of_counts(np.array([8, 4, 2, 1]))
    paths = [tree.nodes[tree.starts[word] : tree.starts[word + 1]].tolist() for word in range(4)]
    assert paths == [[2], [2, 1], [2, 1, 0], [2, 1, 0]]  # the root is the last inner node
    assert tree.depth == 3
