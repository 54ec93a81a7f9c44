"""The classifier's training: it learns, repeats itself, goes on after a stop, and says what is wrong."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import numpy as np
import pytest

from firth.errors import Diverged, OptionError
from firth.formats.registry import load, save
from firth.models.classifier import FastTextClassifier
from firth.models.classifier_model import Classifier
from firth.progress import Progress
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

OBJECTIVES = ["softmax", "hierarchical-softmax", "negative-sampling", "one-vs-all"]


def plain(texts: list[str]) -> Corpus:
    return Corpus.of(texts, tokenizer=Tokenizer(mode="whitespace"))


def lines(count: int, seed: int = 0) -> list[str]:
    """Five labels; a line has two words of its label among five that tell nothing."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        label = int(rng.integers(0, 5))
        own = [f"own{label}_{i}" for i in rng.integers(0, 20, 2)]
        found.append(" ".join([f"__label__{label}", *own, *(f"any{i}" for i in rng.integers(0, 50, 5))]))
    return found


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_learns_and_its_loss_falls(objective: str) -> None:
    recipe = FastTextClassifier(dim=10, objective=objective, learning_rate=0.5)  # type: ignore[arg-type]
    model = recipe.fit(plain(lines(3000)), runtime=Runtime(2))
    assert Classifier(model).test(lines(500, seed=1)).precision > 0.97
    losses = model.metadata["loss"]
    assert len(losses) == 5
    assert losses[0] > 2 * losses[-1]


def test_runs_of_words_tell_what_single_words_cannot() -> None:
    texts = ["__label__in come go", "__label__out go come"] * 500
    alone, runs = (FastTextClassifier(dim=8, word_ngrams=n, buckets=1000) for n in (1, 2))
    assert Classifier(alone.fit(plain(texts))).test(texts).precision == 0.5
    assert Classifier(runs.fit(plain(texts))).test(texts).precision == 1.0


def test_ngrams_of_characters_help_with_unseen_words() -> None:
    texts = [f"__label__{kind} {i}{kind}ness" for i in range(50) for kind in ("glad", "mad")]
    model = FastTextClassifier(dim=8, minn=3, maxn=4, buckets=1000, learning_rate=0.5).fit(plain(texts))
    assert Classifier(model).predict("9999gladness")[0][0] == "__label__glad"


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_one_thread_repeats_itself_to_the_bit(objective: str) -> None:
    recipe = FastTextClassifier(dim=6, objective=objective, word_ngrams=2, buckets=500)  # type: ignore[arg-type]
    one, two = (recipe.fit(plain(lines(2000)), runtime=Runtime(1)) for _ in range(2))
    other = FastTextClassifier(**{**recipe.as_dict(), "seed": 2}).fit(plain(lines(2000)), runtime=Runtime(1))
    assert one.rows.array.tobytes() == two.rows.array.tobytes()  # type: ignore[attr-defined]
    assert one.output.rows.array.tobytes() == two.output.rows.array.tobytes()  # type: ignore[union-attr, attr-defined]
    assert one.metadata["loss"] == two.metadata["loss"]
    assert one.rows.array.tobytes() != other.rows.array.tobytes()  # type: ignore[attr-defined]


def test_a_run_that_was_interrupted_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    recipe, corpus = FastTextClassifier(dim=6), plain(lines(8000))
    whole = recipe.fit(corpus, runtime=Runtime(1))

    def report(progress: Progress) -> None:
        if progress.step == "training" and 0.3 < (progress.share or 0) < 0.35:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        recipe.fit(corpus, runtime=Runtime(1), checkpoint=tmp_path / "state", report=report)
    assert 0 < json.loads((tmp_path / "state" / "config.json").read_text())["state"]["step"] < 20
    again = recipe.fit(corpus, runtime=Runtime(1), checkpoint=tmp_path / "state")
    assert again.rows.array.tobytes() == whole.rows.array.tobytes()  # type: ignore[attr-defined]


def test_labels_stand_anywhere_and_a_line_may_have_several() -> None:
    texts = ["tea __label__drink hot", "__label__food __label__hot soup", "soup __label__food"] * 200
    model = FastTextClassifier(dim=8, objective="one-vs-all", learning_rate=0.5, epochs=20).fit(plain(texts))
    classifier = Classifier(model)
    assert model.output.labels.words[0] == "__label__food"  # type: ignore[union-attr]
    assert {label for label, _ in classifier.predict("soup", k=3, threshold=0.3)} == {"__label__food", "__label__hot"}
    assert "__label__drink" not in model.vocabulary


def test_the_end_of_a_line_is_a_word_and_counts_are_kept() -> None:
    model = FastTextClassifier(dim=4).fit(plain(["__label__a tea tea", "__label__b rain", "__label__b tea"]))
    assert dict(zip(model.vocabulary, model.vocabulary.counts.tolist())) == {"</s>": 3, "tea": 3, "rain": 1}  # type: ignore[union-attr]
    assert model.output.labels.counts.tolist() == [2, 1]  # type: ignore[union-attr]
    assert model.metadata["fasttext"]["tokens"] == 10


def test_a_word_that_ends_sentences_ends_a_line_of_the_training_text() -> None:
    one = ["__label__a tea </s> rain __label__b", "milk __label__a", "</s> __label__b rain"]
    two = ["__label__a tea", "rain __label__b", "milk __label__a", "__label__b rain"]
    whole, parts = (FastTextClassifier(dim=4, shuffle=False).fit(plain(texts)) for texts in (one, two))
    assert whole.vocabulary.words == parts.vocabulary.words
    assert dict(zip(whole.vocabulary, whole.vocabulary.counts.tolist()))["</s>"] == 5  # type: ignore[union-attr]
    np.testing.assert_allclose(whole.rows.take(range(4)), parts.rows.take(range(4)), atol=2e-3)


def test_another_prefix_and_rare_words_and_labels() -> None:
    texts = ["#a tea", "#b rain"] * 5 + ["#c sun"]
    recipe = FastTextClassifier(dim=4, label_prefix="#", min_count=2, min_label_count=2, learning_rate=1.0)
    model = recipe.fit(plain(texts))
    assert model.output.labels.words == ("#a", "#b")  # type: ignore[union-attr]
    assert set(model.vocabulary) == {"</s>", "tea", "rain"}
    assert Classifier(model).predict("#c tea")[0][0] == "#a"


def test_a_model_comes_back_from_its_folder_and_from_its_file(tmp_path: Path) -> None:
    model = FastTextClassifier(dim=8, word_ngrams=2, minn=2, maxn=3, buckets=300).fit(plain(lines(500)))
    asked = [line.split(" ", 1)[1] for line in lines(50, seed=2)]
    expected = Classifier(model).probabilities(asked)
    for name in ("folder", "model.bin"):
        save(model, tmp_path / name)
        np.testing.assert_array_equal(Classifier(load(tmp_path / name)).probabilities(asked), expected)


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        ([""], "holds no words"),
        (["tea", "rain"], "no label occurs 1 times"),
        (["__label__a tea"], "only the label '__label__a'"),
        (["__label__a __label__b"] * 3, None),
    ],
)
def test_texts_that_cannot_be_learnt_from_are_errors(texts: list[str], problem: str | None) -> None:
    recipe = FastTextClassifier(dim=4)
    if problem is None:  # even an empty line has its end
        assert len(recipe.fit(plain(texts))) == 1
        return
    with pytest.raises(OptionError, match=problem):
        recipe.fit(plain(texts))


def test_running_text_and_bad_options_are_errors() -> None:
    with pytest.raises(OptionError, match="split at whitespace"):
        FastTextClassifier().fit(Corpus.of(["__label__a tea"]))
    with pytest.raises(OptionError, match="every word would be a label"):
        FastTextClassifier(label_prefix="")
    with pytest.raises(OptionError, match="minn is 4, but must be at most maxn, 3"):
        FastTextClassifier(minn=4, maxn=3)
    with pytest.raises(OptionError, match=r"word_ngrams is 2, but buckets is 0.*Raise buckets"):
        FastTextClassifier(word_ngrams=2, buckets=0)
    with pytest.raises(OptionError, match="maxn is 3, but buckets is 0"):
        FastTextClassifier(maxn=3, buckets=0)


def test_a_learning_rate_that_is_far_too_large_is_an_error() -> None:
    with pytest.raises(Diverged, match="Use a learning rate below"):
        FastTextClassifier(dim=4, learning_rate=1e6).fit(plain(lines(300)))


def test_movie_reviews_are_told_apart_better_than_by_chance(data: Path) -> None:
    folder = data / "data" / "tasks" / "sentiment"
    if not folder.is_dir():
        pytest.skip("needs the sentiment data")

    def labeled(path: Path) -> list[str]:
        found = []
        for line in path.read_text(encoding="utf-8").splitlines():
            words = re.findall(r"\(\d ([^()]+)\)", line)
            found.append(f"__label__{line[1]} " + " ".join(words).lower())
        return found

    recipe = FastTextClassifier(dim=20, learning_rate=0.5)
    model = recipe.fit(plain(labeled(folder / "sst5-train.txt")), runtime=Runtime(1))
    assert Classifier(model).test(labeled(folder / "sst5-dev.txt")).precision > 0.36
