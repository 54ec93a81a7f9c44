"""Huffman's tree, hierarchical softmax and the textbook softmax."""

from __future__ import annotations

import numpy as np
import pytest

from firth.kernels import hierarchical_softmax, word2vec
from firth.kernels.simd_float import matrix
from firth.models.huffman import HuffmanTree

DIM, SIZE = 10, 7
COUNTS = np.array([20, 11, 9, 5, 3, 2, 1])
LAID = np.array([4, 1, 2], np.uint32), np.array([0, 1, 0], np.int32), np.array([0, 1, 0], np.int32)  # 4 and 2 around 1


def network(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    inputs, outputs = matrix(SIZE, DIM), matrix(SIZE, DIM)
    inputs[:, :DIM], outputs[:, :DIM] = rng.normal(size=(2, SIZE, DIM)) * 0.5
    return inputs, outputs


def path_loss(x: np.ndarray, y: np.ndarray, tree: HuffmanTree, word: int) -> float:
    """-log p(word | x), turn by turn."""
    places = slice(tree.starts[word], tree.starts[word + 1])
    signs = 1 - 2.0 * tree.turns[places]
    return float(np.log1p(np.exp(-signs * (y[tree.nodes[places]] @ x))).sum())


def softmax_loss(x: np.ndarray, y: np.ndarray, word: int) -> float:
    scores = y @ x
    return float(np.log(np.exp(scores).sum()) - scores[word])


def test_the_probabilities_of_all_words_add_up_to_one():
    inputs, outputs = network()
    tree = HuffmanTree.of_counts(COUNTS)
    assert sum(np.exp(-path_loss(inputs[3], outputs, tree, word)) for word in range(SIZE)) == pytest.approx(1)


@pytest.mark.parametrize("objective", ["hierarchical", "softmax"])
@pytest.mark.parametrize("architecture", ["skip-gram", "mean", "sum"])
@pytest.mark.parametrize("python", [False, True])
def test_a_step_follows_the_gradient(objective, architecture, python):
    """Each number moves by -rate · dloss/dnumber; after a mean, inputs get it times their count."""
    inputs, outputs = network(1)
    x, y, tree = inputs.astype(np.float64), outputs.astype(np.float64), HuffmanTree.of_counts(COUNTS)
    rate, small, scratch = 1e-3, 1e-5, word2vec.make_scratch(1, tree.depth, DIM)

    def loss() -> float:
        rows = x[[4, 2]]
        hidden = {"skip-gram": rows, "mean": rows.mean(axis=0)[None], "sum": rows.sum(axis=0)[None]}[architecture]
        if objective == "softmax":
            return sum(softmax_loss(row, y, 1) for row in hidden)
        return sum(path_loss(row, y, tree, 1) for row in hidden)

    before = loss()
    chosen = {"skip-gram": word2vec.skip_gram}.get(architecture, word2vec.cbow)
    if architecture == "skip-gram" and objective == "softmax":
        chosen = word2vec.skip_gram_by_pair
    choices = (None, np.zeros(SIZE, np.float32)) if objective == "softmax" else (tree.arrays, None)
    mean = [] if architecture == "skip-gram" else [architecture == "mean"]
    layers, rest = (inputs, outputs), (None, *choices, (rate, rate), scratch)
    found = (chosen.py_func if python else chosen)((*LAID, 1), *mean, *layers, *rest)
    assert found[0] == pytest.approx(before, rel=1e-4)
    assert found[1] == (2 if architecture == "skip-gram" else 1)
    times = 2 if architecture == "mean" else 1
    for table, moved, scale in ((x, inputs, times), (y, outputs, 1)):
        for row in range(SIZE):
            for d in range(DIM):
                table[row, d] += small
                up = loss()
                table[row, d] -= 2 * small
                slope = (up - loss()) / (2 * small)
                table[row, d] += small
                assert moved[row, d] - table[row, d] == pytest.approx(-rate * slope * scale, abs=3e-6)


def test_a_path_fills_groups_of_six_and_what_is_left_over_has_no_sign():
    starts, nodes = np.array([0, 2, 10], np.int64), np.array([9, 8, 10, 11, 12, 13, 14, 15, 16, 17], np.uint32)
    turns = np.array([0, 1, 1, 0, 0, 0, 0, 0, 1, 0], np.uint8)
    targets, signs = np.zeros(12, np.uint32), matrix(4, 16)
    assert hierarchical_softmax.set_path((starts, nodes, turns), 1, targets, signs) == 2
    assert targets.tolist() == [10, 11, 12, 13, 14, 15, 16, 17, 16, 16, 16, 16]
    assert signs[1, :6].tolist() == [-1, 1, 1, 1, 1, 1]
    assert signs[2].tolist() == [-1, 1, 0, 0, 0, 0, 0, 0] * 2
