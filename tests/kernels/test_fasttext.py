"""The kernels of fastText against plain NumPy, and their steps against finite differences."""

import itertools

import numpy as np
import pytest

from firth.kernels import fasttext as kernel
from firth.kernels import random as random_kernel
from firth.kernels.simd_float import matrix
from firth.models.huffman import HuffmanTree

DIM, WORDS, NEGATIVES, WINDOW, RATE = 20, 12, 5, 2, 0.1
STATE = np.uint64(77)
NOISE = random_kernel.alias_table(np.arange(WORDS, 0, -1).astype(np.float64))


class Stage:
    """Words with rows of their own and rows in common, weights, a text of two sentences, and its windows."""

    def __init__(self, shared=True, seed=0):
        rng = np.random.default_rng(seed)
        lengths = rng.integers(1, 6, WORDS)
        self.pointers = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        total = int(self.pointers[-1])
        some = [rng.choice(WORDS + 6, length, replace=False) for length in lengths]
        self.rows = np.concatenate(some if shared else [rng.permutation(total)]).astype(np.uint32)
        self.inputs, self.outputs = matrix(int(self.rows.max()) + 1, DIM), matrix(WORDS, DIM)
        for weights in (self.inputs, self.outputs):
            weights[:, :DIM] = rng.normal(0, 0.3, (len(weights), DIM))
        words = rng.integers(0, WORDS, 16) if shared else rng.permutation(WORDS)
        self.words = words.astype(np.uint32)
        cut = len(words) // 2 - 1
        place = np.arange(len(words))
        first, last = np.where(place < cut, 0, cut), np.where(place < cut, cut, len(words))
        reach = rng.integers(1, WINDOW + 1, len(words))
        self.before = np.minimum(reach, place - first).astype(np.int32)
        self.after = np.minimum(reach, last - 1 - place).astype(np.int32)

    def own(self, word):
        return self.rows[self.pointers[word] : self.pointers[word + 1]]

    def around(self, c):
        return [i for i in range(c - self.before[c], c + self.after[c] + 1) if i != c]

    def predictions(self, architecture):
        """(center, input rows, target) of each prediction."""
        for c, word in enumerate(self.words):
            if architecture == "cbow":
                rows = [row for i in self.around(c) for row in self.own(self.words[i])]
                yield from [(c, rows, word)] if rows else []
            else:
                yield from ((c, self.own(word), self.words[i]) for i in self.around(c))

    @property
    def arguments(self):
        return (self.words, self.before, self.after, WINDOW), (self.rows, self.pointers), self.inputs, self.outputs

    def weights(self):
        return self.inputs[:, :DIM].astype(np.float64), self.outputs[:, :DIM].astype(np.float64)


def drawn():
    """The endless stream of negatives that the kernels draw from STATE."""
    state = STATE
    while True:
        with np.errstate(over="ignore"):
            state = state + random_kernel.STEP
            bits = random_kernel.mix(state)
        yield int(random_kernel.draw(bits, NOISE))


def take(stream, count):
    return [next(stream) for _ in range(count)]


def logistic(hidden, outputs, targets, signs, weights, rate):
    """The plain step of all targets at once: (loss, error); outputs are changed."""
    signs, weights = np.array(signs, float), np.array(weights, float)
    scores = outputs[targets] @ hidden
    loss = weights @ np.log1p(np.exp(-signs * scores))
    gradients = rate * weights * signs / (1 + np.exp(signs * scores))
    error = np.zeros(DIM)
    for target, gradient in zip(targets, gradients):  # in turn, because a target may come twice
        error += gradient * outputs[target]
        outputs[target] += gradient * hidden
    return loss, error


def rate_at(c, count):
    return np.float32(RATE * (1 - 0.5 * c / count))


RATES = (RATE, RATE / 2)


def plain_skip_gram(stage, share):
    """As fastText does it: every pair sums the rows of the center anew. With share 0 it also draws anew."""
    inputs, outputs = stage.weights()
    stream, loss, pairs = drawn(), 0.0, 0
    for c, word in enumerate(stage.words):
        if share and c % share == 0:
            common = take(stream, WINDOW * NEGATIVES)
        source = itertools.cycle(common) if share else stream
        for i in stage.around(c):
            target, negatives = int(stage.words[i]), take(source, NEGATIVES)
            hidden = inputs[stage.own(word)].mean(axis=0)
            weights = [1.0] + [float(n != target) for n in negatives]
            signs = [1.0] + [-1.0] * NEGATIVES
            found, error = logistic(hidden, outputs, [target, *negatives], signs, weights, rate_at(c, len(stage.words)))
            np.add.at(inputs, stage.own(word), error)
            loss, pairs = loss + found, pairs + 1
    return inputs, outputs, loss, pairs


def plain_cbow(stage, share):
    """As fastText does it: every center sums the rows of its neighbors anew."""
    inputs, outputs = stage.weights()
    stream, loss, centers = drawn(), 0.0, 0
    for c, word in enumerate(stage.words):
        if c % share == 0:
            negatives = take(stream, NEGATIVES)
        rows = [row for i in stage.around(c) for row in stage.own(stage.words[i])]
        if not rows:
            continue
        weights = [1.0] + [float(n != word) for n in negatives]
        signs = [1.0] + [-1.0] * NEGATIVES
        hidden, rate = inputs[rows].mean(axis=0), rate_at(c, len(stage.words))
        found, error = logistic(hidden, outputs, [int(word), *negatives], signs, weights, rate)
        np.add.at(inputs, rows, error)
        loss, centers = loss + found, centers + 1
    return inputs, outputs, loss, centers


def agree(stage, expected, found, tolerance=2e-5):
    inputs, outputs, loss, count = expected
    np.testing.assert_allclose(stage.inputs[:, :DIM], inputs, atol=tolerance)
    np.testing.assert_allclose(stage.outputs[:, :DIM], outputs, atol=tolerance)
    assert found[0] == pytest.approx(loss, rel=1e-5)
    assert found[1] == count


def sample(share):
    """Negative sampling as the objective of a kernel."""
    return (NOISE, NEGATIVES, share, np.array([STATE])), None, None


def make_scratch(targets=1 + NEGATIVES):
    return kernel.make_scratch(WINDOW, NEGATIVES, targets, DIM)


@pytest.mark.parametrize("seed", range(4))
def test_skip_gram_with_own_negatives_is_fasttext_although_it_sums_the_rows_only_once(seed):
    stage = Stage(seed=seed)
    expected = plain_skip_gram(stage, 0)
    agree(stage, expected, kernel.skip_gram(*stage.arguments, *sample(0), RATES, make_scratch()))


@pytest.mark.parametrize("share", [1, 3])
def test_skip_gram_with_common_negatives_equals_plain_numpy(share):
    stage = Stage()
    expected = plain_skip_gram(stage, share)
    agree(stage, expected, kernel.skip_gram(*stage.arguments, *sample(share), RATES, make_scratch()))


@pytest.mark.parametrize("share", [1, 3])
def test_cbow_is_fasttext_where_words_in_reach_share_no_rows(share):
    stage = Stage(shared=False)
    expected = plain_cbow(stage, share)
    agree(stage, expected, kernel.cbow(*stage.arguments, *sample(share), RATES, make_scratch()))


def test_cbow_stays_near_fasttext_where_words_in_reach_share_rows():
    stage = Stage()
    expected = plain_cbow(stage, 1)
    found = kernel.cbow(*stage.arguments, *sample(1), RATES, make_scratch())
    assert found[0] == pytest.approx(expected[2], rel=0.02)
    assert np.abs(stage.inputs[:, :DIM] - expected[0]).max() < 0.05


def test_a_step_goes_down_the_gradient_of_the_loss():
    outputs, hidden = Stage(seed=3).outputs, matrix(3, DIM)
    hidden[0, :DIM] = np.random.default_rng(5).normal(0, 0.5, DIM)
    targets, lanes, gradients = np.array([3, 1, 4, 7, 5, 9], np.uint32), matrix(2, 16), np.zeros((2, 8), np.float32)
    signs = np.array([1, 1, -1, -1, -1, 0])
    lanes[1, :6] = signs
    x, y = hidden[0, :DIM].astype(np.float64), outputs[:, :DIM].astype(np.float64)

    def loss_of(x, y):
        return float(abs(signs) @ np.log1p(np.exp(-signs * (y[targets] @ x))))

    def slope(values, rebuild):
        found = np.zeros_like(values)
        for place in np.ndindex(values.shape):
            change = np.zeros_like(values)
            change[place] = 1e-6
            found[place] = (loss_of(*rebuild(values + change)) - loss_of(*rebuild(values - change))) / 2e-6
        return found

    loss = kernel.step(hidden, outputs, targets, lanes, 0, np.float32(0.25), gradients)  # its Python body
    assert loss == pytest.approx(loss_of(x, y), rel=1e-6)
    by_x, by_y = slope(x, lambda value: (value, y)), slope(y, lambda value: (x, value))
    np.testing.assert_allclose(hidden[0, :DIM] - x, -0.25 * by_x, atol=1e-6)
    np.testing.assert_allclose(hidden[1, :DIM], -0.25 * by_x, atol=1e-6)
    np.testing.assert_allclose(outputs[:, :DIM] - y, -0.25 * by_y, atol=1e-6)


def plain_by_path(stage, tree, architecture):
    inputs, outputs = stage.weights()
    loss, count = 0.0, 0
    for c, rows, target in stage.predictions(architecture):
        hidden, rate, end = inputs[rows].mean(axis=0), rate_at(c, len(stage.words)), tree.starts[target + 1]
        for at in range(tree.starts[target], end, 6):  # six nodes at a time
            path = slice(at, min(at + 6, end))
            signs = 1.0 - 2.0 * tree.turns[path]
            found, error = logistic(hidden, outputs, tree.nodes[path], signs, np.ones(len(signs)), rate)
            hidden = hidden + error
            np.add.at(inputs, rows, error)
            loss += found
        count += 1
    return inputs, outputs, loss, count


@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
def test_hierarchical_softmax_equals_plain_numpy(architecture):
    stage, tree = Stage(shared=False), HuffmanTree.of_counts(2 ** np.arange(WORDS, 0, -1))
    assert max(np.diff(tree.starts)) > 6  # some paths need more than one group
    expected = plain_by_path(stage, tree, architecture)
    train = kernel.cbow if architecture == "cbow" else kernel.skip_gram
    objective = None, tree.arrays, None
    agree(stage, expected, train(*stage.arguments, *objective, RATES, make_scratch(tree.depth)))


def plain_softmax(stage, architecture):
    inputs, outputs = stage.weights()
    loss, count = 0.0, 0
    for c, rows, target in stage.predictions(architecture):
        hidden = inputs[rows].mean(axis=0)
        scores = outputs @ hidden
        chances = np.exp(scores) / np.exp(scores).sum()
        loss -= np.log(chances[target])
        gradients = rate_at(c, len(stage.words)) * ((np.arange(WORDS) == target) - chances)
        error = gradients @ outputs
        outputs += gradients[:, None] * hidden
        np.add.at(inputs, rows, error)
        count += 1
    return inputs, outputs, loss, count


@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
def test_full_softmax_equals_plain_numpy(architecture):
    stage = Stage(shared=False)
    expected = plain_softmax(stage, architecture)
    train = kernel.cbow if architecture == "cbow" else kernel.skip_gram
    objective = None, None, np.zeros(WORDS, np.float32)
    agree(stage, expected, train(*stage.arguments, *objective, RATES, make_scratch(1)))


@pytest.mark.parametrize("name", ["skip_gram", "cbow"])
def test_the_python_body_of_a_kernel_is_its_own_reference(name):
    stage, other = Stage(seed=9), Stage(seed=9)
    found = getattr(kernel, name)(*stage.arguments, *sample(1), RATES, make_scratch())
    with np.errstate(over="ignore"):
        read = getattr(kernel, name).py_func(*other.arguments, *sample(1), RATES, make_scratch())
    np.testing.assert_allclose(stage.inputs, other.inputs, atol=1e-5)
    assert found[0] == pytest.approx(read[0], rel=1e-5)


def test_a_text_without_words_changes_nothing():
    stage = Stage()
    before = stage.inputs.copy()
    nothing = stage.words[:0], stage.before[:0], stage.after[:0], WINDOW
    for train, share in ((kernel.skip_gram, 1), (kernel.skip_gram, 0), (kernel.cbow, 1)):
        assert train(nothing, *stage.arguments[1:], *sample(share), RATES, make_scratch()) == (0.0, 0)
    np.testing.assert_array_equal(stage.inputs, before)
