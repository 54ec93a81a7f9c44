"""The recipe: what it learns, what it refuses, and that one thread gives the same bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firth.errors import Diverged, OptionError
from firth.models.word2vec import Word2Vec
from firth.progress import Progress
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer
from firth.vectors.words import WordVectors

ONE = Runtime(1)
SAMPLE = ["this", "is", "sample", "corpus", "using", "only", "one", "context", "word"]
SMALL = Word2Vec(dim=16, min_count=1, subsample=0, epochs=4, learning_rate=0.1)


def corpus(*lines: str) -> Corpus:
    return Corpus.of(["\n".join(lines)], tokenizer=Tokenizer(mode="whitespace"))


def two_topics(sentences: int = 400) -> Corpus:
    """Words of tea and words of rain, never in one sentence."""
    rng = np.random.default_rng(0)
    topics = [["tea", "cup", "milk", "sugar", "kettle"], ["rain", "cloud", "wind", "storm", "thunder"]]
    return corpus(*(" ".join(rng.choice(topics[i % 2], 5)) for i in range(sentences)))


def test_cbow_predicts_each_word_of_the_sample_from_the_words_around_it():
    examples = Word2Vec(architecture="cbow", window=2).examples(SAMPLE)
    assert len(examples) == 9
    assert examples[0] == (("is", "sample"), "this")
    assert examples[1] == (("this", "sample", "corpus"), "is")
    assert examples[2] == (("this", "is", "corpus", "using"), "sample")
    assert examples[8] == (("one", "context"), "word")


def test_skip_gram_pairs_of_the_sample():
    pairs = Word2Vec(window=2).examples(SAMPLE)
    assert pairs[:5] == [("this", "is"), ("this", "sample"), ("is", "this"), ("is", "sample"), ("is", "corpus")]
    assert len(pairs) == 2 * (8 + 7)


@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
@pytest.mark.parametrize(
    "options",
    [
        {"objective": "negative-sampling"},
        {"objective": "negative-sampling", "shared_negatives": 0},
        {"objective": "hierarchical-softmax"},
        {"objective": "softmax"},
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_words_of_one_topic_become_neighbors(architecture, options):
    recipe = Word2Vec(
        dim=16, min_count=1, subsample=0, epochs=8, architecture=architecture, learning_rate=0.1, **options
    )
    vectors = recipe.fit(two_topics(), runtime=ONE)
    assert {word for word, _ in vectors.most_similar("tea", topn=4)} == {"cup", "milk", "sugar", "kettle"}
    assert vectors.metadata["loss"][-1] < vectors.metadata["loss"][0]


def test_cbow_takes_centres_in_twos_so_that_three_share_as_two_do():
    recipes = (Word2Vec(**{**SMALL.as_dict(), "architecture": "cbow", "shared_negatives": n}) for n in (2, 3, 4))
    two, three, four = (recipe.fit(two_topics(), runtime=ONE).matrix for recipe in recipes)
    assert np.array_equal(two, three)
    assert not np.array_equal(three, four)


def test_the_first_loss_of_softmax_is_that_of_guessing():
    loss = Word2Vec(dim=4, min_count=1, objective="softmax", learning_rate=1e-6, epochs=1).fit(
        two_topics(), runtime=ONE
    )
    assert loss.metadata["loss"][0] == pytest.approx(np.log(10), rel=1e-4)


def test_one_thread_gives_the_same_bits_and_another_seed_others():
    first, second = (SMALL.fit(two_topics(), runtime=ONE) for _ in range(2))
    assert np.array_equal(first.matrix, second.matrix)
    assert first.metadata == second.metadata
    other = Word2Vec(**{**SMALL.as_dict(), "seed": 2}).fit(two_topics(), runtime=ONE)
    assert not np.array_equal(first.matrix, other.matrix)


@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
def test_an_interrupted_training_ends_in_the_same_bits(architecture, tmp_path: Path):
    text = two_topics(30_000)  # several blocks an epoch
    recipe = Word2Vec(dim=8, min_count=1, epochs=2, architecture=architecture)
    whole = recipe.fit(text, runtime=ONE)

    def stop_in_the_second_epoch(progress: Progress) -> None:
        if progress.values.get("epoch") == 2:
            import signal

            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        recipe.fit(text, runtime=ONE, checkpoint=tmp_path / "c", report=stop_in_the_second_epoch)
    resumed = recipe.fit(text, runtime=ONE, checkpoint=tmp_path / "c")
    assert np.array_equal(whole.matrix, resumed.matrix)
    assert whole.metadata["loss"] == resumed.metadata["loss"]


def test_two_threads_learn_the_same_neighbors():
    vectors = Word2Vec(dim=16, min_count=1, epochs=2).fit(two_topics(30_000), runtime=Runtime(2))
    assert {word for word, _ in vectors.most_similar("rain", topn=4)} == {"cloud", "wind", "storm", "thunder"}


def test_the_metadata_say_how_the_vectors_were_made():
    text = two_topics()
    metadata = SMALL.fit(text, runtime=ONE).metadata
    assert metadata["recipe"]["name"] == "word2vec"
    assert Word2Vec.from_dict({k: v for k, v in metadata["recipe"].items() if k != "name"}) == SMALL
    assert metadata["corpus"] == {"fingerprint": text.fingerprint, "tokens": 2000}
    assert len(metadata["loss"]) == 4


def test_rare_words_are_left_out():
    text = corpus(*["a b c"] * 5, "a b rare")
    assert set(Word2Vec(dim=4, min_count=2, subsample=0).fit(text, runtime=ONE).vocabulary) == {"a", "b", "c"}


def test_training_goes_on_from_vectors_with_words_old_and_new():
    old = SMALL.fit(two_topics(), runtime=ONE)
    more = corpus(*["tea cup biscuit jam", "biscuit jam cup"] * 60)
    grown = SMALL.fit(more, runtime=ONE, start=old)
    assert set(grown.vocabulary) == set(old.vocabulary) | {"biscuit", "jam"}
    assert np.array_equal(grown["rain"], old["rain"])
    assert not np.array_equal(grown["tea"], old["tea"])
    assert grown["tea"] @ old["tea"] / np.linalg.norm(grown["tea"]) / np.linalg.norm(old["tea"]) > 0.5
    assert grown.vocabulary.counts is not None
    assert old.vocabulary.counts is not None
    assert grown.vocabulary.counts[grown.vocabulary.id("cup")] == old.vocabulary.counts[old.vocabulary.id("cup")] + 120
    assert (np.diff(grown.vocabulary.counts) <= 0).all()


def test_vectors_of_another_length_cannot_be_gone_on_from():
    with pytest.raises(OptionError, match="dim is 16, but the vectors to start from have 2"):
        SMALL.fit(two_topics(), start=WordVectors(["tea"], [[1, 2]]))


@pytest.mark.parametrize(
    "lines, options, message",
    [
        ([], {}, "the corpus holds no words"),
        (
            ["a b a"],
            {"min_count": 5},
            "no word occurs 5 times: the most frequent word, 'a', occurs 2 times. Lower min_count",
        ),
        (["a a a a a a b"], {"min_count": 5}, "only one word, 'a', occurs 5 times"),
        (["a a a"], {"min_count": 1}, "only one word, 'a', occurs 1 times"),
        (["a", "b", "a"], {"min_count": 1}, "no word has a neighbor"),
    ],
)
def test_a_corpus_that_teaches_nothing_is_a_clear_error(lines, options, message):
    with pytest.raises(OptionError, match=message):
        Word2Vec(**options).fit(corpus(*lines), runtime=ONE)


@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
def test_a_learning_rate_of_100_is_told_as_divergence(architecture):
    recipe = Word2Vec(dim=16, min_count=1, learning_rate=100, epochs=10, architecture=architecture)
    with pytest.raises(Diverged, match="Use a learning rate below 100"):
        recipe.fit(two_topics(5000), runtime=ONE)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"dim": 0}, "dim is 0, but must be at least 1"),
        ({"architecture": "glove"}, "architecture is 'glove', but must be one of 'skip-gram', 'cbow'"),
        ({"subsample": -1.0}, "subsample is -1.0, but must be at least 0"),
        ({"negatives": 0}, "negatives is 0"),
    ],
)
def test_an_option_that_cannot_be_is_named(options, message):
    with pytest.raises(OptionError, match=message):
        Word2Vec(**options)


def test_persian_words_with_a_zero_width_non_joiner_stay_whole():
    text = corpus(*["کتاب‌ها را می‌خوانم", "او کتاب‌ها را می‌بیند"] * 20)
    vectors = Word2Vec(dim=8, min_count=1).fit(text, runtime=ONE)
    assert "کتاب‌ها" in vectors
    assert "می‌خوانم" in vectors
