"""GloVe as a user meets it: small corpora worked by hand, the laws of training, checkpoints, and hostile input."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from firth.errors import Diverged, FormatError, OptionError
from firth.formats import glove_binary
from firth.kernels import glove as kernel
from firth.models.count_matrix import CountMatrix
from firth.models.counts import Counts
from firth.models.glove import UNKNOWN, Glove, choose_x_max
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary

ONE = Runtime(1)
DRINKS = ["hot tea is good", "hot coffee is good", "cold rain is bad", "cold wind is bad"] * 25
SMALL = Glove(dim=8, window=3, min_count=1, epochs=20, x_max=20.0)


def corpus(texts=DRINKS) -> Corpus:
    return Corpus.of(texts, tokenizer=Tokenizer(mode="whitespace"))


def random_counts(size: int, share: float = 0.3, seed: int = 0) -> csr_matrix:
    rng = np.random.default_rng(seed)
    counts = np.exp(rng.normal(1.0, 1.5, (size, size))) * (rng.random((size, size)) < share)
    return csr_matrix(counts + counts.T)


def named(size: int) -> Vocabulary:
    return Vocabulary(f"w{i}" for i in range(size))


def test_words_of_like_company_come_together():
    vectors = replace(SMALL, epochs=100).fit(corpus(), runtime=ONE)
    assert vectors.similarity("tea", "coffee") > 0.9
    assert vectors.similarity("rain", "wind") > 0.9
    assert vectors.similarity("tea", "rain") < 0.7


def test_two_words_and_two_cells_are_learned_to_the_digit():
    """a b, ten times: X(a, b) = X(b, a) = 10, so w·w̃ + b + b̃ must become log 10 in both cells."""
    made = Glove(dim=2, window=1, min_count=1, x_max=10.0, epochs=400, output="both", biases=True)
    vectors = made.fit(corpus(["a b"] * 10), runtime=ONE)
    a, b = vectors["a"], vectors["b"]  # each (w₁ w₂ b w̃₁ w̃₂ b̃)
    assert vectors.dim == 6
    assert vectors.metadata["pairs"] == 2
    assert a[:2] @ b[3:5] + a[2] + b[5] == pytest.approx(math.log(10), abs=0.01)
    assert b[:2] @ a[3:5] + b[2] + a[5] == pytest.approx(math.log(10), abs=0.01)


def test_the_first_cost_is_that_of_the_counts_themselves():
    """Rows begin so near zero that the first cost of a cell is about ½ f(X) (log X)²."""
    vectors = Glove(dim=50, window=1, min_count=1, x_max=1000.0, epochs=1).fit(corpus(["a b"] * 10), runtime=ONE)
    weight = (10 / 1000) ** 0.75
    assert vectors.metadata["loss"][0] == pytest.approx(0.5 * weight * math.log(10) ** 2, rel=0.05)


def test_the_cost_falls_and_its_curve_travels_with_the_vectors():
    vectors = SMALL.fit(corpus(), runtime=ONE)
    loss = vectors.metadata["loss"]
    assert len(loss) == 20
    assert loss[-1] < 0.2 * loss[0]
    assert all(later < earlier * 1.02 for earlier, later in itertools.pairwise(loss[1:]))
    assert vectors.metadata["recipe"] == {"name": "glove", **SMALL.as_dict()}
    assert vectors.metadata["corpus"] == {"fingerprint": corpus().fingerprint, "tokens": 400}
    json.dumps(vectors.metadata)


def test_one_thread_gives_the_same_bits_again_and_another_seed_others():
    first, second = SMALL.fit(corpus(), runtime=ONE), SMALL.fit(corpus(), runtime=ONE)
    np.testing.assert_array_equal(first.matrix, second.matrix)
    assert first.metadata["loss"] == second.metadata["loss"]
    other = replace(SMALL, seed=2).fit(corpus(), runtime=ONE)
    assert not np.array_equal(first.matrix, other.matrix)


def test_two_threads_come_to_the_same_cost():
    counts, words = random_counts(300), named(300)
    recipe = Glove(dim=20, epochs=8)
    alone = recipe.fit_counts(counts, words, runtime=ONE).metadata["loss"]
    both = recipe.fit_counts(counts, words, runtime=Runtime(2)).metadata["loss"]
    np.testing.assert_allclose(both, alone, rtol=0.05)


def test_the_outputs_are_parts_of_each_other():
    made = {
        name: replace(SMALL, output=name).fit(corpus(), runtime=ONE).matrix
        for name in ("sum", "word", "context", "both")
    }
    np.testing.assert_array_equal(made["both"], np.hstack([made["word"], made["context"]]))
    np.testing.assert_array_equal(made["sum"], made["word"] + made["context"])


def test_the_unknown_word_is_the_mean_of_the_rarest():
    texts = [f"w{i} w{i + 1} " * (200 - i) for i in range(150)]
    vectors = Glove(dim=5, window=2, min_count=1, epochs=2, unknown=True).fit(corpus(texts), runtime=ONE)
    assert vectors.vocabulary[len(vectors) - 1] == UNKNOWN
    np.testing.assert_allclose(vectors[UNKNOWN], vectors.matrix[-101:-1].mean(axis=0), atol=1e-6)
    assert vectors.vocabulary.total == corpus(texts).vocabulary.total


def test_asymmetric_counts_give_the_row_to_the_first_word_as_the_original_does():
    """a b, ten times: only X(a, b) = 10 is counted, so w of a and w̃ of b learn it, and not the other way round."""
    made = Glove(dim=2, window=1, symmetric=False, min_count=1, x_max=10.0, epochs=400, output="both", biases=True)
    vectors = made.fit(corpus(["a b"] * 10), runtime=ONE)
    a, b = vectors["a"], vectors["b"]
    assert vectors.metadata["pairs"] == 1
    assert a[:2] @ b[3:5] + a[2] + b[5] == pytest.approx(math.log(10), abs=0.01)
    assert abs(b[:2] @ a[3:5] + b[2] + a[5]) < 1
    right = Counts(kind="co-occurrence", window=1, weighting="harmonic", direction="right").fit(corpus(["a b"] * 10))
    np.testing.assert_array_equal(made.fit_counts(right, runtime=ONE).matrix, vectors.matrix)


def test_x_max_fits_the_number_of_words_and_is_told():
    assert [choose_x_max(words) for words in (10, 1e6, 5e6, 20e6, 1e12)] == [1.0, 1.33, 2.98, 5.96, 100.0]
    recipe = Glove(dim=2, min_count=1, epochs=1)
    vectors = recipe.fit(corpus(), runtime=ONE)
    assert vectors.metadata["recipe"]["x_max"] == 1.0
    many = Vocabulary(["a", "b"], [30_000_000, 6_000_000])
    counts = csr_matrix([[0.0, 3.0], [3.0, 0.0]])
    assert recipe.fit_counts(counts, many, runtime=ONE).metadata["recipe"]["x_max"] == 8.0
    cells = csr_matrix([[0.0, 1.0], [36e6 * 6 - 1.0, 0.0]])
    assert recipe.fit_counts(cells, named(2), runtime=ONE).metadata["recipe"]["x_max"] == 8.0  # six counts a word


def test_a_training_goes_on_from_the_parameters_of_another():
    first = replace(SMALL, epochs=3).fit_state(corpus(), runtime=ONE)
    assert np.array_equal(first.vectors.matrix, replace(SMALL, epochs=3).fit(corpus(), runtime=ONE).matrix)
    assert first.parameters.words.shape == (len(first.vocabulary), 9)
    assert (first.squares.words >= 1).all()
    begin = {"initial": first.parameters, "initial_squares": first.squares}
    more = replace(SMALL, epochs=1).fit_state(corpus(), runtime=ONE, **begin)
    whole = replace(SMALL, epochs=4).fit(corpus(), runtime=ONE)
    assert more.metadata["loss"][0] == pytest.approx(whole.metadata["loss"][3], rel=0.05)
    nothing = replace(SMALL, epochs=1, learning_rate=1e-20).fit_state(corpus(), runtime=ONE, **begin)
    np.testing.assert_array_equal(nothing.parameters.words, first.parameters.words)
    np.testing.assert_array_equal(nothing.squares.contexts, first.squares.contexts)
    with pytest.raises(
        OptionError, match=r"initial values have the shape \(9, 9\), but 9 words of dim 4 need \(9, 5\)"
    ):
        replace(SMALL, dim=4).fit_state(corpus(), runtime=ONE, **begin)


def test_rare_words_and_words_beyond_the_most_are_left_out():
    assert "wind" not in Glove(dim=4, min_count=26, epochs=1).fit(corpus(), runtime=ONE)
    few = Glove(dim=4, min_count=1, max_words=3, epochs=1).fit(corpus(), runtime=ONE)
    assert few.vocabulary == corpus().vocabulary.top(3)


def test_counts_of_our_own_train_to_the_same_vectors():
    counts = Counts(kind="co-occurrence", window=3, weighting="harmonic").fit(corpus())
    assert isinstance(counts, CountMatrix)
    np.testing.assert_array_equal(SMALL.fit_counts(counts, runtime=ONE).matrix, SMALL.fit(corpus(), runtime=ONE).matrix)


def test_a_file_of_the_original_gloves_trains_to_the_same_vectors(tmp_path):
    counts = Counts(kind="co-occurrence", window=3, weighting="harmonic").fit(corpus())
    assert isinstance(counts, CountMatrix)
    glove_binary.write(counts, tmp_path / "cooccurrence.bin.gz")
    glove_binary.write_words(counts.rows, tmp_path / "vocab.txt")
    words = glove_binary.read_words(tmp_path / "vocab.txt")
    records = glove_binary.Records(tmp_path / "cooccurrence.bin.gz", words)
    vectors = SMALL.fit_counts(records, words, runtime=ONE)
    np.testing.assert_array_equal(vectors.matrix, SMALL.fit(corpus(), runtime=ONE).matrix)
    assert vectors.vocabulary == corpus().vocabulary


def test_cells_on_disk_train_to_the_same_vectors(tmp_path):
    counts, words = random_counts(100), named(100)
    on_disk = Glove(dim=6, epochs=2, memory_limit=4000, spill_folder=str(tmp_path))
    vectors = on_disk.fit_counts(counts, words, runtime=ONE)
    np.testing.assert_array_equal(vectors.matrix, Glove(dim=6, epochs=2).fit_counts(counts, words, runtime=ONE).matrix)
    assert not list(tmp_path.iterdir())


def test_an_interrupted_training_goes_on_to_the_same_bits(tmp_path):
    whole = SMALL.fit(corpus(), runtime=ONE)

    def stop(progress) -> None:
        if progress.values.get("epoch") == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SMALL.fit(corpus(), runtime=ONE, report=stop, checkpoint=tmp_path / "state")
    assert json.loads((tmp_path / "state" / "config.json").read_text())["state"]["step"] == 7
    resumed = SMALL.fit(corpus(), runtime=ONE, checkpoint=tmp_path / "state")
    np.testing.assert_array_equal(resumed.matrix, whole.matrix)
    assert resumed.metadata["loss"] == whole.metadata["loss"]


def test_a_finished_training_goes_on_for_more_epochs(tmp_path):
    replace(SMALL, epochs=3).fit(corpus(), runtime=ONE, checkpoint=tmp_path / "state")
    more = SMALL.fit(corpus(), runtime=ONE, checkpoint=tmp_path / "state")
    np.testing.assert_array_equal(more.matrix, SMALL.fit(corpus(), runtime=ONE).matrix)


def test_a_checkpoint_with_more_epochs_than_asked_for_is_refused(tmp_path):
    SMALL.fit(corpus(), runtime=ONE, checkpoint=tmp_path / "state")
    fewer = replace(SMALL, epochs=3)
    with pytest.raises(OptionError, match="has 20 epochs, but epochs is 3"):
        fewer.fit(corpus(), runtime=ONE, checkpoint=tmp_path / "state")


def test_a_checkpoint_of_another_training_is_refused_and_can_be_overruled(tmp_path):
    few = replace(SMALL, epochs=2)
    few.fit(corpus(), runtime=ONE, checkpoint=tmp_path / "state")
    with pytest.raises(OptionError, match="differs in pairs, words"):
        few.fit(corpus(["a b c"]), runtime=ONE, checkpoint=tmp_path / "state")
    with pytest.raises(OptionError, match="differs in recipe"):
        replace(few, dim=9).fit(corpus(), runtime=ONE, checkpoint=tmp_path / "state")
    fresh = few.fit(corpus(["a b c"]), runtime=ONE, checkpoint=tmp_path / "state", resume=False)
    assert len(fresh) == 3


def test_a_broken_checkpoint_is_an_error_that_names_the_file(tmp_path):
    few = replace(SMALL, epochs=2)
    few.fit(corpus(), runtime=ONE, checkpoint=tmp_path / "state")
    (tmp_path / "state" / "state-2.safetensors").write_bytes(b"not it")
    with pytest.raises(FormatError, match=r"state-2\.safetensors"):
        SMALL.fit(corpus(), runtime=ONE, checkpoint=tmp_path / "state")


def test_a_learning_rate_of_a_hundred_is_an_error_and_leaves_no_checkpoint(tmp_path):
    wild = Glove(dim=20, learning_rate=100.0)
    with pytest.raises(Diverged, match="Use a learning rate below 100"):
        wild.fit_counts(random_counts(300), named(300), runtime=ONE, checkpoint=tmp_path / "state")
    assert not (tmp_path / "state").exists()


def test_a_number_that_is_none_says_in_which_epoch_and_at_which_words(monkeypatch):
    def poisoned(count: int, dim: int, seed: int, one: int):
        rows = kernel_rows(count, dim, seed, one)
        rows[3, 0] = np.nan
        return rows

    kernel_rows = kernel.make_rows
    monkeypatch.setattr(kernel, "make_rows", poisoned)
    with pytest.raises(Diverged, match=r"in epoch 1 at the pair 'w\d', 'w\d': the loss is nan") as caught:
        Glove(dim=4).fit_counts(random_counts(8, 1.0), named(8), runtime=ONE)
    assert "'w3'" in str(caught.value)


@pytest.mark.parametrize("texts", [[""], ["a"], ["a a a"], ["a", "b"], []])
def test_a_corpus_that_gives_no_pair_of_words_is_an_error(texts):
    with pytest.raises(OptionError, match=r"no words|only one word|nothing to train on"):
        Glove(min_count=1).fit(corpus(texts), runtime=ONE)


def test_a_min_count_that_leaves_nothing_is_an_error():
    with pytest.raises(OptionError, match=r"no word occurs 1000 times.* Lower min_count"):
        Glove(min_count=1000).fit(corpus(), runtime=ONE)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("x_max", value) for value in (0.0, math.nan, math.inf)),
        *(("learning_rate", value) for value in (-1.0, 0.0, math.inf)),
        *(("alpha", value) for value in (-1.0, math.nan)),
        *((name, 0) for name in ("dim", "window", "epochs", "min_count")),
        ("memory_limit", "much"),
        ("output", "all"),
        ("seed", -1),
    ],
)
def test_options_that_cannot_be_are_refused(name, value):
    with pytest.raises(OptionError, match=name):
        Glove(**{name: value})


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_counts_without_a_logarithm_are_refused(value):
    matrix = csr_matrix(np.eye(3))
    matrix.data[1] = value
    with pytest.raises(OptionError, match="logarithm"):
        Glove(dim=2).fit_counts(matrix, named(3), runtime=ONE)


def test_counts_need_their_words():
    with pytest.raises(OptionError, match="needs its vocabulary"):
        Glove().fit_counts(random_counts(3))
    with pytest.raises(OptionError, match="the matrix is 3 × 3"):
        Glove().fit_counts(random_counts(3), named(4))
    ppmi = Counts(kind="ppmi").fit(corpus())
    assert isinstance(ppmi, CountMatrix)
    with pytest.raises(OptionError, match="this matrix is ppmi"):
        Glove().fit_counts(ppmi)


def test_a_sentence_of_persian_keeps_its_words():
    text = ["می‌روم به خانه", "می‌روم به مدرسه"] * 5
    vectors = Glove(dim=4, window=2, min_count=1, epochs=2).fit(corpus(text), runtime=ONE)
    assert "می‌روم" in vectors
