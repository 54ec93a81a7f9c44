"""Tags as further rows of a context, concatenation and inference, each against a plain reference in float64."""

from __future__ import annotations

import numpy as np
import pytest

from firth.kernels import doc2vec as kernel
from firth.kernels import random as random_kernel
from firth.kernels import word2vec
from firth.kernels.simd_float import matrix, stride
from firth.models.huffman import HuffmanTree

DIM, WORDS, TAGS, WINDOW, RATE = 20, 12, 4, 2, 1e-3
TEXT = np.array([3, 1, 0, 7, 2, 5, 0, 4, 6], np.uint32)
ENDS = [4, 9]
DOCUMENTS = np.repeat([0, 1], [4, 5])
UNEVEN = np.array([0, 1, 3]), np.array([0, 1, 3])  # one tag, and two
SINGLE = np.array([0, 1, 2]), np.array([0, 1])
TREE = HuffmanTree.of_counts(np.arange(40, 40 - WORDS, -1)).arrays
DEPTH = int(np.diff(TREE[0]).max())


def windows() -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Full windows of two documents."""
    before, after = np.zeros(len(TEXT), np.int32), np.zeros(len(TEXT), np.int32)
    for first, end in zip([0, *ENDS], ENDS):
        for i in range(first, end):
            before[i], after[i] = min(WINDOW, i - first), min(WINDOW, end - 1 - i)
    return TEXT, before, after, WINDOW


def tags(tagging, first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    starts, ids = tagging
    return DOCUMENTS, starts, (ids + first).astype(np.uint32)


def random_matrix(rows: int, dim: int, seed: int) -> np.ndarray:
    """Rows whose padding is zero, as in training."""
    values = matrix(rows, dim)
    values[:, :dim] = np.random.default_rng(seed).normal(size=(rows, dim)) * 0.5
    return values


def sigmoid(x: float) -> float:
    return 1 / (1 + np.exp(-x))


def step(hidden: np.ndarray, outputs: np.ndarray, center: int) -> tuple[np.ndarray, float]:
    """A step of hierarchical softmax: changes the outputs; the error of the hidden vector, and the loss."""
    error, change, loss = np.zeros_like(hidden), np.zeros_like(outputs), 0.0
    starts, nodes, turns = TREE
    for place in range(starts[center], starts[center + 1]):
        sign = 1 - 2 * int(turns[place])
        score = sign * hidden @ outputs[nodes[place]]
        loss -= np.log(sigmoid(score))
        gradient = RATE * sign * sigmoid(-score)
        error += gradient * outputs[nodes[place]]
        change[nodes[place]] += gradient * hidden
    outputs += change
    return error, loss


def contexts(tagging, first: int) -> list[tuple[int, list[int], list[int]]]:
    """Each center with the rows of its context words and of its tags, of which `first` is the first."""
    text, before, after, _ = windows()
    starts, ids = tagging
    found = []
    for c, center in enumerate(text.tolist()):
        around = [int(text[i]) for i in range(c - before[c], c + after[c] + 1) if i != c]
        own = ids[starts[DOCUMENTS[c]] : starts[DOCUMENTS[c] + 1]] + first
        found.append((center, around, own.tolist()))
    return found


def train(name: str, tagging, inputs: np.ndarray, outputs: np.ndarray, *head: object, python: bool = False):
    chosen = getattr(word2vec, name, None) or getattr(kernel, name)
    chosen = chosen.py_func if python else chosen
    scratch = word2vec.make_scratch(WINDOW, DEPTH, outputs.shape[1], 2)
    rest = inputs, outputs, None, TREE, None, (RATE, RATE), scratch
    return chosen(windows(), *head, *rest, tags(tagging, len(inputs) - TAGS))


@pytest.mark.parametrize("mean", [True, False])
def test_tags_are_part_of_the_context_of_cbow(mean):
    inputs, outputs = random_matrix(WORDS + TAGS, DIM, 0), random_matrix(WORDS, DIM, 1)
    x, y, loss = inputs.astype(np.float64), outputs.astype(np.float64), 0.0
    for center, around, own in contexts(UNEVEN, WORDS):
        rows = around + own
        error, more = step(x[rows].mean(axis=0) if mean else x[rows].sum(axis=0), y, center)
        np.add.at(x, rows, error)
        loss += more
    start = inputs.copy()
    found = train("cbow", UNEVEN, inputs, outputs, mean)
    assert found[1] == len(TEXT)
    assert found[0] == pytest.approx(loss, rel=1e-4)
    assert abs(inputs - start)[WORDS:].max() > 1e-4
    np.testing.assert_allclose(inputs, x, atol=2e-5)
    np.testing.assert_allclose(outputs, y, atol=2e-5)


@pytest.mark.parametrize("name", ["skip_gram", "skip_gram_by_pair"])
def test_tags_are_part_of_the_context_of_skip_gram(name):
    inputs, outputs = random_matrix(WORDS + TAGS, DIM, 0), random_matrix(WORDS, DIM, 1)
    x, y, loss, count = inputs.astype(np.float64), outputs.astype(np.float64), 0.0, 0
    for center, around, own in contexts(UNEVEN, WORDS):
        for row in around + own:
            error, more = step(x[row], y, center)
            x[row] += error
            loss, count = loss + more, count + 1
    found = train(name, UNEVEN, inputs, outputs)
    assert found[1] == count
    assert found[0] == pytest.approx(loss, rel=1e-3)
    np.testing.assert_allclose(inputs, x, atol=2e-5)
    np.testing.assert_allclose(outputs, y, atol=2e-4)


def test_two_centers_have_the_tags_of_their_own_documents():
    noise = random_kernel.alias_table(np.ones(WORDS))
    sampling = noise, 5, 2, np.array([np.uint64(3)])
    alone, twos = random_matrix(WORDS + TAGS, DIM, 0), random_matrix(WORDS + TAGS, DIM, 0)
    outputs, start = (random_matrix(WORDS, DIM, 1) for _ in range(2))
    rest = sampling, None, None, (RATE, RATE), word2vec.make_scratch(WINDOW, 6, DIM, 2)
    word2vec.cbow_two_centers(windows(), True, twos, outputs, *rest, tags(UNEVEN, WORDS))
    sampling[3][0] = 3
    word2vec.cbow(windows(), True, alone, start.copy(), *rest, tags(UNEVEN, WORDS))
    moved = (twos - random_matrix(WORDS + TAGS, DIM, 0))[WORDS:]
    assert moved.any(axis=1).tolist() == [True, True, False, True]  # no document has the third tag
    np.testing.assert_allclose(twos, alone, atol=2e-5)  # two steps at once differ by terms of the order of rate²


def concatenate(x: np.ndarray, y: np.ndarray) -> float:
    """Trains the concatenation of one tag and four places, one center after another; the loss."""
    text, before, after, _ = windows()
    loss = 0.0
    for c, (center, _, rows) in enumerate(contexts(SINGLE, WORDS + 1)):
        for offset in (-2, -1, 1, 2):
            rows.append(int(text[c + offset]) if -before[c] <= offset <= after[c] else WORDS)
        error, more = step(np.concatenate([x[row] for row in rows]), y, center)
        np.add.at(x, rows, error.reshape(len(rows), -1))
        loss += more
    return loss


@pytest.mark.parametrize("python", [False, True])
def test_concatenation_has_weights_for_each_place(python):
    inputs = random_matrix(WORDS + 1 + TAGS, DIM, 0)
    outputs = random_matrix(WORDS, (1 + 2 * WINDOW) * stride(DIM), 1)
    x, y = inputs.astype(np.float64), outputs.astype(np.float64)
    loss = concatenate(x, y)
    found = train("concatenation", SINGLE, inputs, outputs, WORDS, python=python)
    assert found == (pytest.approx(loss, rel=1e-4), len(TEXT))
    np.testing.assert_allclose(inputs, x, atol=2e-5)
    np.testing.assert_allclose(outputs, y, atol=2e-5)


@pytest.mark.parametrize("mode", ["mean", "sum", "alone", "concatenation"])
def test_inference_moves_the_document_as_training_does_and_nothing_else(mode):
    text, before, after, _ = windows()
    text, before, after = text[:1], before[:1], after[:1] * 0  # one prediction, so that nothing else has moved before
    if mode in ("mean", "sum"):
        text, before, after = TEXT[:2], np.array([0, 0], np.int32), np.array([1, 0], np.int32)
    places = 1 + 2 * WINDOW if mode == "concatenation" else 1
    width = places * stride(DIM) if places > 1 else DIM
    inputs, outputs = random_matrix(WORDS + 2, DIM, 0), random_matrix(WORDS, width, 1)
    document = inputs[WORDS + 1 :].copy()
    rest = None, TREE, None, (RATE, RATE), word2vec.make_scratch(WINDOW, DEPTH, width, 1)
    own = np.zeros(len(text), np.int64), np.array([0, 1]), np.array([WORDS + 1], np.uint32)
    start = inputs.copy(), outputs.copy()
    if mode == "concatenation":
        found = kernel.infer_concatenation((text, before, after, WINDOW), WORDS, document, inputs, outputs, *rest)
    else:
        found = kernel.infer((text, before, after, WINDOW), mode == "mean", document, inputs, outputs, *rest)
    np.testing.assert_array_equal(inputs, start[0])
    np.testing.assert_array_equal(outputs, start[1])
    if mode == "concatenation":
        loss = kernel.concatenation((text, before, after, WINDOW), WORDS, inputs, outputs, *rest, own)
    else:
        loss = word2vec.cbow((text, before, after, WINDOW), mode == "mean", inputs, outputs, *rest, own)
    assert found == (pytest.approx(loss[0], rel=1e-3), loss[1])
    assert abs(document - start[0][WORDS + 1]).max() > 1e-4
    np.testing.assert_allclose(document[0], inputs[WORDS + 1], atol=5e-6)
