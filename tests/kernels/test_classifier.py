"""One step of each loss against plain NumPy and finite differences; lines cut as fastText cuts them."""

from __future__ import annotations

import numpy as np
import pytest

from firth.kernels import classifier as kernel
from firth.kernels import random as random_kernel
from firth.kernels.simd_float import matrix
from firth.models.huffman import HuffmanTree

DIM, WORDS, LABELS = 5, 6, 4
COUNTS = np.array([5, 3, 2, 1])
KINDS = np.array([-1, -1, -1, -1, -1, -1, 0, 1, 2, 3, -2], np.int32)  # six words, four labels, an unknown label
LINE = np.array([6 + 2, 0, 3, 3, 10, 5], np.uint32)


def table() -> tuple[np.ndarray, ...]:
    types = np.arange(len(KINDS))
    lengths = (types < WORDS).astype(np.int64)
    return KINDS, types.astype(np.uint64) * np.uint64(977), types, types, lengths


def network(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    inputs, outputs = matrix(WORDS + 7, DIM), matrix(LABELS, DIM)
    inputs[:, :DIM] = rng.standard_normal((WORDS + 7, DIM))
    outputs[:, :DIM] = rng.standard_normal((LABELS, DIM))
    return inputs, outputs


def tree() -> tuple[np.ndarray, ...]:
    made = HuffmanTree.of_counts(COUNTS)
    return made.starts, made.nodes, made.turns


def step(inputs: np.ndarray, outputs: np.ndarray, loss: int, rate: float, types: np.ndarray = LINE, ngrams: int = 1):
    noise = random_kernel.alias_table(COUNTS.astype(float))
    ends = np.array([len(types)])
    return kernel.train_lines(
        types, ends, table(), ngrams, 7, WORDS, inputs, outputs, loss, tree(), noise, 2, rate, rate, np.uint64(11)
    )


def loss_of(inputs: np.ndarray, outputs: np.ndarray, loss: int, label: int) -> float:
    """The loss of LINE, in float64."""
    scores = outputs[:, :DIM].astype(float) @ inputs[[0, 3, 3, 5], :DIM].astype(float).mean(axis=0)
    if loss == kernel.SOFTMAX:
        return float(np.log(np.exp(scores).sum()) - scores[label])
    if loss == kernel.ONE_VS_ALL:
        return float(np.logaddexp(0, np.where(np.arange(LABELS) == label, -scores, scores)).sum())
    starts, nodes, turns = tree()
    path = slice(starts[label], starts[label + 1])
    return float(np.logaddexp(0, np.where(turns[path] == 1, -1, 1) * scores[nodes[path]]).sum())


@pytest.mark.parametrize("loss", [kernel.SOFTMAX, kernel.HIERARCHICAL_SOFTMAX, kernel.ONE_VS_ALL])
def test_a_step_is_the_rate_times_the_gradient(loss: int) -> None:
    inputs, outputs = network()
    before = inputs.copy(), outputs.copy()
    value, count = step(inputs, outputs, loss, 1e-2)
    assert count == 1
    assert value == pytest.approx(loss_of(*before, loss, 2), rel=1e-5)
    small = 1e-3
    for which, after in enumerate((inputs, outputs)):
        for row in range(len(after)):
            for d in range(DIM):
                moved = [array.astype(float) for array in before]
                moved[which][row, d] += small
                higher = loss_of(*moved, loss, 2)
                moved[which][row, d] -= 2 * small
                slope = (higher - loss_of(*moved, loss, 2)) / (2 * small)
                assert (before[which][row, d] - after[row, d]) / 1e-2 == pytest.approx(slope, abs=2e-4)


def test_negative_sampling_pulls_the_label_and_pushes_the_negatives() -> None:
    inputs, outputs = network()
    before_inputs, before = inputs.copy(), outputs.copy()
    value, _ = step(inputs, outputs, kernel.NEGATIVE_SAMPLING, 1e-3)
    hidden = before_inputs[[0, 3, 3, 5]].mean(axis=0)
    change = (outputs - before) @ hidden
    assert change[2] > 0
    assert (np.delete(change, 2) <= 0).all()
    assert (change < 0).sum() in (1, 2)
    drawn = np.round((before - outputs) @ hidden / ((hidden @ hidden) * 1e-3 / (1 + np.exp(-before @ hidden))))
    drawn[2] = 0  # how often each other label was drawn
    assert drawn.sum() == 2
    expected = np.logaddexp(0, -before[2] @ hidden) + (drawn * np.logaddexp(0, before @ hidden)).sum()
    assert value == pytest.approx(expected, rel=1e-3)


def test_the_compiled_step_agrees_with_its_python_body() -> None:
    noise, ends = random_kernel.alias_table(COUNTS.astype(float)), np.array([len(LINE)])
    for loss in (kernel.SOFTMAX, kernel.HIERARCHICAL_SOFTMAX, kernel.ONE_VS_ALL):
        results = []
        for function in (kernel.train_lines, kernel.train_lines.py_func):
            inputs, outputs = network()
            rest = (7, WORDS, inputs, outputs, loss, tree(), noise, 2, 0.1, 0.1, np.uint64(11))
            with np.errstate(over="ignore"):
                value, _ = function(LINE, ends, table(), 2, *rest)
            results.append((value, inputs, outputs))
        assert results[0][0] == pytest.approx(results[1][0], rel=1e-5)
        np.testing.assert_allclose(results[0][1], results[1][1], atol=1e-5)
        np.testing.assert_allclose(results[0][2], results[1][2], atol=1e-5)


def test_lines_without_labels_or_without_words_teach_nothing() -> None:
    for types in ([0, 1, 10], [6, 7], []):
        inputs, outputs = network()
        before = inputs.copy(), outputs.copy()
        assert step(inputs, outputs, kernel.SOFTMAX, 0.5, np.array(types, np.uint32)) == (0.0, 0)
        assert np.array_equal(inputs, before[0])
        assert np.array_equal(outputs, before[1])


def test_runs_of_words_skip_labels() -> None:
    rows, labels, hashes = np.zeros(40, np.int64), np.zeros(9, np.int32), np.zeros(9, np.uint64)
    everything = np.empty(0, np.int64)
    found = kernel.collect_rows(LINE, table(), 2, 7, everything, WORDS, rows, labels, hashes)
    numbers = [977 * word for word in (0, 3, 3, 5)]
    runs = [WORDS + (a * 116049371 + b) % 2**64 % 7 for a, b in zip(numbers, numbers[1:])]  # noqa: RUF007
    assert found == (7, 1)
    assert rows[:7].tolist() == [0, 3, 3, 5, *runs]
    assert labels[0] == 2
    pruned = np.full(7, -1)
    pruned[runs[0] - WORDS] = 4
    found = kernel.collect_rows(LINE, table(), 2, 7, pruned, WORDS, rows, labels, hashes)
    assert rows[4 : found[0]].tolist() == [WORDS + 4] * runs.count(runs[0])


def test_words_are_cut_at_ascii_white_space_and_zero_bytes() -> None:
    text = "tea\tcup \x0bcaf\u00e9\0x\r\n\n a\u00a0b\nlast".encode()
    blob = np.frombuffer(text, np.uint8)
    starts, ends, lines = np.zeros(20, np.int64), np.zeros(20, np.int64), np.zeros(20, np.int64)
    words, count = kernel.split_words(blob, starts, ends, lines)
    cut = [text[start:end].decode() for start, end in zip(starts[:words], ends[:words])]
    assert cut == ["tea", "cup", "café", "x", "", "", "a\u00a0b", "", "last"]
    assert lines[:count].tolist() == [5, 6, 8]


def test_padding_is_dropped_in_place() -> None:
    rows = matrix(3, 5)
    rows[:, :5] = np.arange(15).reshape(3, 5)
    flat = rows.reshape(-1)
    kernel.drop_padding(flat, 3, rows.shape[1], 5)
    assert flat[:15].tolist() == list(range(15))
