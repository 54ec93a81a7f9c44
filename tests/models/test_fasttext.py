"""FastText as a recipe: what it learns, what it leaves behind, and what it refuses."""

import signal

import numpy as np
import pytest

import firth
from firth.errors import Diverged, FormatError, OptionError
from firth.models.fasttext import FastText
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.subwords import Subwords
from firth.text.tokenize import Tokenizer

PLAIN = Tokenizer(mode="whitespace", normalizer=None)
KINDS = (
    ("tea", "coffee", "milk", "juice", "drinking", "drinker"),
    ("rain", "snow", "wind", "cloud", "raining", "snowing"),
)
ONE = Runtime(threads=1)
SMALL = {"dim": 16, "min_count": 1, "buckets": 2000, "subsample": 0.0, "epochs": 3}


def text(sentences=400, seed=0):
    """Sentences about drinks and sentences about weather: words of one kind come together."""
    rng = np.random.default_rng(seed)
    return "\n".join(" ".join(rng.choice(KINDS[rng.integers(2)], 8)) for _ in range(sentences))


def corpus_of(words):
    return Corpus.of([words], tokenizer=PLAIN)


@pytest.fixture(scope="module")
def corpus():
    return corpus_of(text())


def fit(corpus, **options):
    return FastText(**{**SMALL, **options}).fit(corpus, runtime=ONE)


def test_the_ngrams_of_eating_are_those_of_the_paper():
    expected = "<ea eat ati tin ing ng> <eat eati atin ting ing> <eati eatin ating ting> <eatin eating ating>"
    assert sorted(FastText().subwords.ngrams("eating")) == sorted(expected.split())


@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
@pytest.mark.parametrize("objective", ["negative-sampling", "hierarchical-softmax", "softmax"])
def test_the_loss_falls_and_words_of_a_kind_come_together(corpus, architecture, objective):
    vectors = fit(corpus, architecture=architecture, objective=objective, epochs=6)
    curve = vectors.metadata["loss"]
    assert curve[-1] < curve[0]
    assert vectors.similarity("tea", "coffee") > vectors.similarity("tea", "snow") + 0.3


@pytest.mark.parametrize("shared", [0, 1, 3])
def test_shared_and_own_negatives_learn_alike(corpus, shared):
    vectors = fit(corpus, shared_negatives=shared, epochs=6)
    assert vectors.similarity("rain", "cloud") > vectors.similarity("rain", "milk") + 0.3


def test_a_seen_word_is_the_mean_of_its_own_row_and_its_ngrams(corpus):
    vectors = fit(corpus)
    rows = len(vectors) + vectors.subwords.rows(b"drinking")
    own = vectors.vocabulary.id("drinking")
    expected = vectors.rows.take([own, *rows]).mean(axis=0)
    np.testing.assert_allclose(vectors["drinking"], expected, atol=1e-6)


def test_an_unseen_word_is_the_mean_of_its_ngrams_rows(corpus):
    vectors = fit(corpus)
    rows = len(vectors) + vectors.subwords.rows(b"drinkable")
    np.testing.assert_allclose(vectors["drinkable"], vectors.rows.take(rows).mean(axis=0), atol=1e-6)
    assert vectors.similarity("drinkable", "tea") > vectors.similarity("drinkable", "wind")


def test_ngrams_that_no_word_has_stay_zero(corpus):
    vectors = fit(corpus)
    used = np.unique(np.concatenate([vectors.subwords.rows(word.encode()) for word in vectors.vocabulary]))
    rows = vectors.rows.block(len(vectors), len(vectors) + 2000)
    assert np.all(rows[used].any(axis=1))
    assert not np.delete(rows, used, axis=0).any()


def test_one_thread_gives_the_same_bits_and_another_seed_others(corpus):
    first, second, other = fit(corpus), fit(corpus), fit(corpus, seed=2)
    assert first.rows.array.tobytes() == second.rows.array.tobytes()
    assert first.output.rows.array.tobytes() == second.output.rows.array.tobytes()
    assert first.rows.array.tobytes() != other.rows.array.tobytes()


def test_a_run_that_was_interrupted_ends_with_the_same_bits(tmp_path):
    corpus = corpus_of(text(20_000))  # several blocks
    recipe = FastText(**SMALL)
    whole = recipe.fit(corpus, runtime=ONE)
    presses = iter([signal.SIGINT])

    def press_ctrl_c(progress):
        if progress.step == "training" and progress.done > progress.total / 2:
            for number in presses:
                signal.raise_signal(number)

    with pytest.raises(KeyboardInterrupt):
        recipe.fit(corpus, runtime=ONE, report=press_ctrl_c, checkpoint=tmp_path / "kept")
    seen = []
    resumed = recipe.fit(corpus, runtime=ONE, report=seen.append, checkpoint=tmp_path / "kept")
    assert seen[0].done > seen[0].total / 2
    assert resumed.rows.array.tobytes() == whole.rows.array.tobytes()
    assert resumed.metadata["loss"] == whole.metadata["loss"]


def test_a_checkpoint_of_another_recipe_is_refused(corpus, tmp_path):
    FastText(**SMALL).fit(corpus, runtime=ONE, checkpoint=tmp_path / "kept")
    with pytest.raises(OptionError, match="another training"):
        FastText(**{**SMALL, "maxn": 4}).fit(corpus, runtime=ONE, checkpoint=tmp_path / "kept")


def test_two_threads_learn_what_one_learns(corpus):
    one = fit(corpus, epochs=6)
    two = FastText(**{**SMALL, "epochs": 6}).fit(corpus, runtime=Runtime(threads=2))
    assert two.metadata["loss"][-1] == pytest.approx(one.metadata["loss"][-1], rel=0.1)


@pytest.mark.parametrize("ending", [".bin", ""])
def test_a_model_comes_back_from_a_file_as_it_was(corpus, tmp_path, ending):
    vectors = fit(corpus)
    firth.save(vectors, tmp_path / f"model{ending}")
    loaded = firth.load(tmp_path / f"model{ending}")
    for word in ("tea", "teapot", "drinkable"):
        np.testing.assert_array_equal(loaded[word], vectors[word])
    np.testing.assert_array_equal(loaded.output.rows.block(0, 12), vectors.output.rows.block(0, 12))
    assert (loaded.output.model, loaded.output.loss) == ("skipgram", "ns")
    arguments = loaded.metadata["fasttext"]
    assert (arguments["ws"], arguments["epoch"], arguments["neg"], arguments["tokens"]) == (5, 3, 5, 3200)


@pytest.mark.parametrize("options", [{}, {"architecture": "cbow"}, {"objective": "hierarchical-softmax"}, {"maxn": 0}])
def test_the_official_program_opens_our_file_and_gives_the_same_vectors(tmp_path, options):
    fasttext = pytest.importorskip("fasttext")
    persian = "می‌روم به خانه و کتاب‌ها را می‌خوانم\n" * 40
    vectors = fit(corpus_of(text() + "\n" + persian), **options)
    path = tmp_path / "model.bin"
    firth.save(vectors, path)
    official = fasttext.load_model(str(path))
    assert official.get_words() == list(vectors.vocabulary)
    for word in (*vectors.vocabulary, "drinkable", "خانه‌ها", "teapots"):
        expected = vectors[word] if word in vectors else np.zeros(16)
        np.testing.assert_allclose(official.get_word_vector(word), expected, atol=1e-6)


def test_persian_words_with_a_joiner_inside_stay_whole():
    vectors = fit(Corpus.of(["می‌روم به خانه و کتاب‌ها را می‌خوانم"] * 50))
    assert {"می‌روم", "کتاب‌ها", "می‌خوانم"} <= set(vectors.vocabulary)
    assert "ب‌ها>" in vectors.subwords.ngrams("کتاب‌ها")
    assert np.isfinite(vectors["کتابخانه‌ها"]).all()


def test_without_ngrams_a_word_is_its_own_row(corpus):
    vectors = fit(corpus, maxn=0)
    assert vectors.subwords == Subwords(3, 0, 0)
    assert vectors.rows.shape == (12, 16)
    np.testing.assert_array_equal(vectors["tea"], vectors.rows.take([vectors.vocabulary.id("tea")])[0])
    assert "teapot" not in vectors


def test_progress_tells_words_loss_and_rate(corpus):
    seen = []
    FastText(**SMALL).fit(corpus, runtime=ONE, report=seen.append)
    steps = [progress for progress in seen if progress.step == "training"]
    assert steps[-1].done == steps[-1].total == 3 * 3200
    assert {"loss", "rate", "epoch"} <= set(steps[-1].values)


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        ("", {}, "no words"),
        ("tea tea tea", {}, "only one word"),
        ("tea milk", {"min_count": 5}, "min_count"),
        ("tea\nmilk\n", {}, "neighbor"),
    ],
)
def test_a_text_that_teaches_nothing_is_refused(words, options, message):
    with pytest.raises(OptionError, match=message):
        fit(corpus_of(words), **options)


def test_a_learning_rate_of_100_is_an_error_that_says_so(corpus):
    with pytest.raises(Diverged, match="learning rate below 100"):
        fit(corpus, learning_rate=100.0, epochs=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"minn": 4, "maxn": 3}, "maxn is 3"), ({"buckets": -1}, "buckets is -1"), ({"minn": 0}, "minn is 0")],
)
def test_ngrams_that_cannot_be_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        FastText(**options)


def test_the_training_loss_of_a_text_in_order_rises_because_vectors_adapt_to_what_they_just_read() -> None:
    rng = np.random.default_rng(0)
    words = [f"{topic:02d}w{i}" for topic in range(20) for i in range(10)]
    topics = [rng.choice(words, 10, replace=False) for _ in range(20)]
    in_order = [" ".join(rng.choice(topic, 8)) for topic in topics for _ in range(60)]
    shuffled = [in_order[i] for i in rng.permutation(len(in_order))]
    recipe = FastText(dim=16, min_count=1, subsample=0.0, buckets=1000, epochs=4, window=3, maxn=3)
    losses = {}
    for name, lines in (("in order", in_order), ("shuffled", shuffled)):
        text = Corpus.of(lines, tokenizer=Tokenizer(mode="whitespace"))
        metadata = recipe.fit(text, runtime=Runtime(1), held_out=text).metadata
        losses[name] = metadata["loss"], metadata["held_out_loss"]  # during training, and without steps
    training, static = losses["in order"]
    assert training == sorted(training)
    assert static == sorted(static, reverse=True)
    assert static[0] > 3 * training[0]
    for curve in losses["shuffled"]:
        assert curve == sorted(curve, reverse=True)
    assert losses["shuffled"][0][-1] == pytest.approx(losses["shuffled"][1][-1], rel=0.05)


def test_jamo_ngrams_are_stored_in_the_model_and_used_by_look_ups(tmp_path) -> None:
    text = corpus_of("나는 학교에 간다\n나는 집에 간다\n너는 학교에 간다\n" * 20)
    vectors = fit(text, units="jamo", epochs=1)
    assert "갔" not in FastText(minn=2, maxn=2).subwords.ngrams("간다")
    shared = set(vectors.subwords.ngrams("간다")) & set(vectors.subwords.ngrams("갔다"))
    assert any(len(ngram) >= 3 and ngram.startswith("<") for ngram in shared)  # < and the two jamo of 가
    firth.save(vectors, tmp_path / "jamo")
    loaded = firth.load(tmp_path / "jamo")
    assert loaded.subwords.units == "jamo"
    assert np.array_equal(loaded["갔다"], vectors["갔다"])
    rows = len(vectors) + loaded.subwords.rows("갔다".encode())
    assert np.allclose(loaded["갔다"], loaded.rows.take(rows).mean(axis=0), atol=1e-6)
    with pytest.raises(FormatError, match="n-grams of this model are of jamo, which files of fastText do not have"):
        firth.save(vectors, tmp_path / "model.bin")
    with pytest.raises(OptionError, match=r"the model to start from has n-grams of jamo\. Use units='jamo'"):
        FastText(**SMALL).fit(text, start=vectors)
