"""The recipe: what it learns, what it refuses, and that one thread gives the same bits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from firth.errors import Diverged, OptionError
from firth.models.word2vec import Word2Vec
from firth.models.word2vec_model import Word2VecModel
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


@pytest.mark.parametrize("options", [{}, {"min_count": 1}, {"min_count": 1, "architecture": "cbow"}])
def test_the_first_try_on_a_toy_text_succeeds_or_says_what_to_change(options):
    text = [["a", "b"], ["b", "c"]]
    if options:
        assert set(Word2Vec(**options).fit(text).vocabulary) == {"a", "b", "c"}
    else:
        with pytest.raises(OptionError, match="Lower min_count"):
            Word2Vec(**options).fit(text)


@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
@pytest.mark.parametrize("shared", [2, 0])
def test_locked_vectors_stay_to_the_bit_and_others_learn_from_them(architecture, shared):
    recipe = replace(SMALL, architecture=architecture, shared_negatives=shared)
    start = recipe.fit(two_topics(), runtime=ONE).restrict(["tea", "cup", "rain", "cloud"])
    found = replace(recipe, lock_start=True).fit(two_topics(), runtime=ONE, start=start)
    assert all(np.array_equal(found[word], start[word]) for word in start)
    assert {word for word, _ in found.most_similar("milk", topn=4)} == {"tea", "cup", "sugar", "kettle"}


def test_single_words_can_be_locked():
    start = SMALL.fit(two_topics(), runtime=ONE)
    found = replace(SMALL, locked=("tea", "rain")).fit(two_topics(), runtime=ONE, start=start)
    assert [word for word in start if np.array_equal(found[word], start[word])] == [
        word for word in start if word in ("tea", "rain")
    ]
    with pytest.raises(OptionError, match="locked names 'unheard'"):
        replace(SMALL, locked=("unheard",)).fit(two_topics(), runtime=ONE, start=start)


@pytest.mark.parametrize("objective", ["negative-sampling", "hierarchical-softmax", "both"])
def test_a_model_with_its_outputs_goes_on_where_it_stopped(objective):
    recipe = replace(SMALL, objective=objective, keep_outputs=True, epochs=4)
    start = recipe.fit(two_topics(), runtime=ONE)
    again, afresh = (
        replace(recipe, epochs=1, learning_rate=1e-7).fit(two_topics(), runtime=ONE, start=one)
        for one in (start, start.restrict(start.vocabulary))
    )
    assert again.metadata["loss"][0] < afresh.metadata["loss"][0]
    for name in ("outputs", "nodes"):
        before, after = getattr(start, name), getattr(again, name)
        assert (before is None) == (after is None)
        assert before is None or np.allclose(before, after, atol=1e-4)


def test_locked_vectors_need_vectors():
    with pytest.raises(OptionError, match="lock_start needs vectors to start from"):
        replace(SMALL, lock_start=True).fit(two_topics(), runtime=ONE)


@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
def test_both_objectives_train_one_set_of_vectors(architecture):
    recipe = replace(SMALL, architecture=architecture, objective="both", keep_outputs=True, epochs=8)
    found = recipe.fit(two_topics(), runtime=ONE)
    assert {word for word, _ in found.most_similar("tea", topn=4)} == {"cup", "milk", "sugar", "kettle"}
    assert isinstance(found, Word2VecModel)
    assert found.outputs is not None
    assert found.nodes is not None
    assert abs(found.outputs).max() > 0.1 < abs(found.nodes).max()
    alone = replace(recipe, objective="negative-sampling").fit(two_topics(), runtime=ONE)
    assert found.metadata["loss"][0] > alone.metadata["loss"][0]
    assert not np.array_equal(found.matrix, alone.matrix)


def test_both_objectives_resume_to_the_same_bits(tmp_path: Path):
    recipe = replace(SMALL, objective="both", keep_outputs=True)
    whole = recipe.fit(two_topics(), runtime=ONE, checkpoint=tmp_path / "c")
    again = recipe.fit(two_topics(), runtime=ONE, checkpoint=tmp_path / "c")  # nothing is left to do
    assert isinstance(whole, Word2VecModel)
    assert isinstance(again, Word2VecModel)
    assert np.array_equal(whole.nodes, again.nodes)
    assert np.array_equal(whole.matrix, again.matrix)


def test_the_vocabulary_can_be_chosen_or_limited():
    text = two_topics()
    few = SMALL.fit(text, runtime=ONE, vocabulary=["tea", "rain", "cup", "absent"])
    assert set(few.vocabulary) == {"tea", "rain", "cup"}
    assert few.count("tea") == text.vocabulary.counts[text.vocabulary.id("tea")]
    counted = SMALL.fit(text, runtime=ONE, vocabulary={"tea": 900, "rain": 5, "cup": 70})
    assert counted.vocabulary.most_common(3) == [("tea", 900), ("cup", 70), ("rain", 5)]
    assert len(replace(SMALL, max_vocabulary=4).fit(text, runtime=ONE)) == 4
    with pytest.raises(OptionError, match="none of the words"):
        SMALL.fit(text, vocabulary=["absent"])


def test_a_function_is_called_after_each_epoch_with_the_loss_and_the_vectors_so_far():
    seen = []
    found = SMALL.fit(two_topics(), runtime=ONE, on_epoch=lambda end: seen.append((end.epoch, end.loss, end.vectors)))
    assert [epoch for epoch, _, _ in seen] == [1, 2, 3, 4]
    assert [loss for _, loss, _ in seen] == found.metadata["loss"]
    assert np.array_equal(seen[-1][2].matrix, found.matrix)
    assert not np.array_equal(seen[0][2].matrix, seen[1][2].matrix)
    assert np.array_equal(SMALL.fit(two_topics(), runtime=ONE).matrix, found.matrix)  # to watch changes nothing
