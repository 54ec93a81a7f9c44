"""What supervised models say: by hand, as laws, and as fastText itself says it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from firth.errors import OptionError
from firth.formats.registry import load, save
from firth.models.classifier import FastTextClassifier
from firth.models.classifier_model import Classifier, Features, find_best, sigmoid
from firth.models.quantization import quantize
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.subwords import Subwords
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary
from firth.vectors.rows import DenseRows
from firth.vectors.subwords import Output, SubwordVectors
from firth.vectors.words import WordVectors

LOSSES = {"softmax": "softmax", "hierarchical-softmax": "hs", "negative-sampling": "ns", "one-vs-all": "ova"}
QUESTIONS = ["tea with milk", "the sun", "unknown words only", "", "café im Regen", "__label__sky tea __label__new"]


def lines(count: int = 300, seed: int = 0) -> list[str]:
    """Labeled lines: each label has words of its own, and there are words for all."""
    rng = np.random.default_rng(seed)
    own = {"drink": ["tea", "milk", "café"], "sky": ["sun", "rain", "wind"], "food": ["bread", "soup", "salt"]}
    found = []
    for _ in range(count):
        label = str(rng.choice(list(own), p=[0.5, 0.3, 0.2]))
        words = [*rng.choice(own[label], 3), *rng.choice(["the", "with", "a"], 3)]
        words.insert(int(rng.integers(0, 7)), f"__label__{label}")
        found.append(" ".join(map(str, words)))
    return found


def plain(texts: list[str]) -> Corpus:
    return Corpus.of(texts, tokenizer=Tokenizer(mode="whitespace"))


def trained(**options: object) -> SubwordVectors:
    recipe = FastTextClassifier(**{"dim": 10, "learning_rate": 0.5, "buckets": 1000, **options})  # type: ignore[arg-type]
    return recipe.fit(plain(lines()), runtime=Runtime(1))


def by_hand(loss: str) -> Classifier:
    """Two words, three labels, dimension 2."""
    rows = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
    output = np.array([[1, 0], [0, 1], [-1, 0.5]], np.float32)
    labels = Vocabulary(["__label__a", "__label__b", "__label__c"], [4, 2, 1])
    made = Output(DenseRows(output), labels, "supervised", loss)  # type: ignore[arg-type]
    return Classifier(SubwordVectors(Vocabulary(["tea", "</s>", "rain"]), rows, Subwords(0, 0, 0), output=made))


def test_a_softmax_is_worked_out_by_hand() -> None:
    hidden = np.array([3, 3]) / 4  # the mean of tea, rain, rain and the end of the line
    scores = np.array([[1, 0], [0, 1], [-1, 0.5]]) @ hidden
    chances = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose(by_hand("softmax").probabilities(["tea rain rain"])[0], chances, rtol=1e-6)
    best = by_hand("softmax").predict("rain  tea\train", k=2)
    assert [label for label, _ in best] == ["__label__a", "__label__b"]
    assert best[0][1] == pytest.approx(chances[0])


def test_a_tree_of_decisions_is_worked_out_by_hand() -> None:
    # b and c are joined first (node 0: c is left, b is right), then that and a (node 1: a turns right).
    first, second = 0.75, 0.75  # the scores of the two nodes
    inner, outer = (1 / (1 + math.exp(-score)) for score in (first, second))
    expected = [outer, (1 - outer) * inner, (1 - outer) * (1 - inner)]
    np.testing.assert_allclose(by_hand("hs").probabilities(["tea rain rain"])[0], expected, rtol=1e-5)


def test_a_sigmoid_is_rounded_down_to_a_step_of_the_table() -> None:
    scores = np.array([-9, -8, -0.01, 0.0, 0.04, 3.14159, 8, 8.1], np.float32)
    expected = [0, 1 / (1 + math.exp(8)), 1 / (1 + math.exp(1 / 32)), 0.5, 1 / (1 + math.exp(-1 / 32))]
    np.testing.assert_allclose(sigmoid(scores)[:5], expected, rtol=1e-5)
    assert sigmoid(scores)[-1] == 1


@pytest.mark.parametrize("objective", ["softmax", "hierarchical-softmax"])
def test_probabilities_add_up_to_one(objective: str) -> None:
    found = Classifier(trained(objective=objective)).probabilities(QUESTIONS)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)


def test_many_lines_are_answered_as_one_by_one_with_any_number_of_threads() -> None:
    model = trained(word_ngrams=2, minn=2, maxn=3)
    texts = [line.replace("__label__", "") for line in lines(9000, seed=4)]
    one, two = (Classifier(model, runtime=Runtime(threads)).predict_all(texts, k=2) for threads in (1, 2))
    assert one == two
    single = Classifier(model)
    for i in range(0, 9000, 999):
        assert [label for label, _ in single.predict(texts[i], k=2)] == [label for label, _ in one[i]]


def test_the_best_k_come_first_and_none_is_below_the_threshold() -> None:
    classifier = Classifier(trained())
    every = classifier.predict("tea milk", k=99)
    assert len(every) == 3
    assert [chance for _, chance in every] == sorted((chance for _, chance in every), reverse=True)
    assert classifier.predict("tea milk", k=2) == every[:2]
    assert classifier.predict("tea milk", k=3, threshold=every[1][1]) == every[:2]
    with pytest.raises(OptionError, match="k is 0, but must be at least 1"):
        classifier.predict("tea", k=0)
    assert find_best(np.array([2, 5, 5, 1], np.float32), 1).tolist() == [1]


def test_precision_and_recall_are_counted_by_hand(tmp_path: Path) -> None:
    classifier = by_hand("softmax")  # tea is a, nothing else is; rain alone is b or a
    text = "__label__a tea\ntea tea __label__b\n__label__a __label__c tea\nno label here\n__label__unknown tea\n"
    (tmp_path / "test.txt").write_text(text)
    test = classifier.test(tmp_path / "test.txt")
    assert test.lines == 3
    assert (test.score.predicted, test.score.gold, test.score.right) == (3, 4, 2)
    assert (test.precision, test.recall) == (2 / 3, 2 / 4)
    assert test.f1 == pytest.approx(2 * test.precision * test.recall / (test.precision + test.recall))
    assert test.by_label["__label__a"].recall == 1
    assert test.by_label["__label__a"].precision == pytest.approx(2 / 3)
    assert test.by_label["__label__b"].recall == test.by_label["__label__b"].f1 == 0
    assert classifier.test(text.splitlines(), k=3).recall == 1
    assert classifier.test(text.splitlines(), threshold=1).score.predicted == 0
    assert test.as_dict()["labels"]["__label__c"]["gold"] == 1


def test_runs_of_words_have_the_rows_that_their_hashes_give() -> None:
    vocabulary, labels = Vocabulary(["tea", "</s>"]), Vocabulary(["__label__a"])
    features = Features(vocabulary, labels, Subwords(0, 0, 1000), 3)

    def signed(word: str) -> int:
        hash = 2166136261
        for byte in word.encode():
            hash = (hash ^ (byte | (0xFFFFFF00 if byte > 127 else 0))) * 16777619 % 2**32
        return hash - 2**32 if hash >= 2**31 else hash

    hashes = [signed(word) for word in ("tea", "café", "</s>")]
    runs = []
    for i in range(3):
        number = hashes[i]
        for j in range(i + 1, 3):
            number = (number * 116049371 + hashes[j]) % 2**64
            runs.append(2 + number % 1000)
    found = features.lines("tea __label__a café\n".encode(), Runtime(1))
    assert found.rows[: found.row_ends[0]].tolist() == [0, 1, *runs]
    assert found.labels[:1].tolist() == [0]


def test_models_without_labels_and_texts_of_several_lines_are_errors() -> None:
    with pytest.raises(OptionError, match="no labels"):
        Classifier(WordVectors(["tea"], [[1.0]]))  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="one line"):
        by_hand("softmax").predict("tea\nrain")
    with pytest.raises(OptionError, match="texts must be a list"):
        by_hand("softmax").predict_all("tea")


@pytest.mark.parametrize("options", [{}, {"word_ngrams": 3}, {"minn": 2, "maxn": 4, "word_ngrams": 2}])
@pytest.mark.parametrize("objective", LOSSES)
def test_fasttext_opens_our_models_and_says_the_same(tmp_path: Path, objective: str, options: dict[str, int]) -> None:
    fasttext = pytest.importorskip("fasttext")
    save(trained(objective=objective, **options), tmp_path / "model.bin")
    (tmp_path / "test.txt").write_text("\n".join(lines(80, seed=9)) + "\n")
    agree(fasttext.load_model(str(tmp_path / "model.bin")), tmp_path / "model.bin", tmp_path / "test.txt")


@pytest.mark.parametrize("options", [{}, {"wordNgrams": 3}, {"minn": 2, "maxn": 4, "wordNgrams": 2}])
@pytest.mark.parametrize("loss", LOSSES.values())
def test_models_of_fasttext_say_the_same_here(tmp_path: Path, loss: str, options: dict[str, int]) -> None:
    fasttext = pytest.importorskip("fasttext")
    (tmp_path / "train.txt").write_text("\n".join(lines()) + "\n")
    (tmp_path / "test.txt").write_text("\n".join(lines(80, seed=9)) + "\n")
    made = fasttext.train_supervised(
        str(tmp_path / "train.txt"), dim=10, lr=0.5, loss=loss, bucket=1000, thread=1, verbose=0, **options
    )
    made.save_model(str(tmp_path / "model.bin"))
    agree(made, tmp_path / "model.bin", tmp_path / "test.txt")
    if loss == "softmax" and options:
        made.quantize(input=str(tmp_path / "train.txt"), cutoff=500, qnorm=True, verbose=0)
        made.save_model(str(tmp_path / "model.ftz"))
        agree(made, tmp_path / "model.ftz", tmp_path / "test.txt")


@pytest.mark.parametrize("cutoff", [None, 400])
@pytest.mark.parametrize("objective", ["softmax", "one-vs-all"])
def test_fasttext_opens_our_small_classifiers(tmp_path: Path, objective: str, cutoff: int | None) -> None:
    fasttext = pytest.importorskip("fasttext")
    save(quantize(trained(objective=objective, word_ngrams=2), cutoff), tmp_path / "model.ftz")
    (tmp_path / "test.txt").write_text("\n".join(lines(80, seed=9)) + "\n")
    agree(fasttext.load_model(str(tmp_path / "model.ftz")), tmp_path / "model.ftz", tmp_path / "test.txt")


def agree(theirs: object, path: Path, test: Path) -> None:
    """Both give the same probabilities, once the 0.00001 that fastText adds to each factor is taken off."""
    ours = Classifier(load(path))
    for text in QUESTIONS:
        expected = {label: chance for chance, label in theirs.f.predict(text + "\n", 3, 0.0, "strict")}  # type: ignore[attr-defined]
        found = dict(ours.predict(text, k=3))
        assert all(
            found.pop(label) < 2e-5 for label in set(found) - set(expected)
        )  # a tree is searched no deeper there
        assert set(found) == set(expected)
        for label, chance in found.items():
            if ours.output.loss == "hs":
                assert expected[label] == pytest.approx(chance, abs=4e-5)
            else:
                assert expected[label] - 1e-5 == pytest.approx(chance, abs=1e-6)
    count, precision, recall = theirs.test(str(test), 2)  # type: ignore[attr-defined]
    score = ours.test(test, k=2)
    assert (score.lines, score.precision, score.recall) == (count, pytest.approx(precision), pytest.approx(recall))
