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
    assert classifier.predict("tea milk", k=-1) == every
    assert classifier.test(lines(20), k=-1) == classifier.test(lines(20), k=3)
    for k in (0, -2):
        with pytest.raises(OptionError, match=f"k is {k}, but must be at least 1, or -1 for all labels"):
            classifier.predict("tea", k=k)
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


def in_fasttexts_order(values: list[float], k: int) -> list[int]:
    """The labels that a binary heap of at most k gives out, written with lists of (value, label)."""
    heap: list[tuple[float, int]] = []

    def up(hole: int, item: tuple[float, int]) -> None:
        while hole and heap[(hole - 1) // 2][0] > item[0]:
            heap[hole] = heap[(hole - 1) // 2]
            hole = (hole - 1) // 2
        heap[hole] = item

    def pop() -> tuple[float, int]:
        lowest, item = heap[0], heap[-1]
        size, hole = len(heap) - 1, 0
        while hole < (size - 1) // 2:
            child = 2 * hole + 2
            if heap[child][0] > heap[child - 1][0]:
                child -= 1
            heap[hole], hole = heap[child], child
        if size and size % 2 == 0 and hole == (size - 2) // 2:
            heap[hole], hole = heap[2 * hole + 1], 2 * hole + 1
        up(hole, item)
        heap.pop()
        return lowest

    for label, value in enumerate(values):
        if len(heap) == k and value < heap[0][0]:
            continue
        heap.append((value, label))
        up(len(heap) - 1, (value, label))
        if len(heap) > k:
            pop()
    return [pop()[1] for _ in range(len(heap))][::-1]


def test_labels_in_one_step_of_the_table_come_in_the_order_of_a_heap() -> None:
    rng = np.random.default_rng(3)
    output = (np.arange(12)[:, None] // 4 + rng.random((12, 1)) * 0.02).astype(np.float32)  # three steps of four labels
    labels = Vocabulary([f"__label__{i}" for i in range(12)])
    made = Output(DenseRows(output), labels, "supervised", "ova")
    vectors = SubwordVectors(Vocabulary(["</s>"]), np.ones((1, 1), np.float32), Subwords(0, 0, 0), output=made)
    values = sigmoid(output.ravel())
    assert len(set(values.tolist())) == 3
    for k in (1, 2, 5, 12):
        found = [int(label[9:]) for label, _ in Classifier(vectors).predict("", k=k)]
        assert found == in_fasttexts_order(values.tolist(), k)
    assert [label for label, _ in Classifier(vectors).predict("")] == ["__label__11"]  # the last of four equal ones


def test_a_word_that_ends_sentences_ends_a_line_and_zero_bytes_separate_words() -> None:
    classifier = by_hand("softmax")
    np.testing.assert_array_equal(
        classifier.probabilities(["tea </s> rain", "tea</s> rain", "tea\0rain"]),
        classifier.probabilities(["tea", "rain", "tea rain"]),
    )
    scores = classifier.test(["__label__a tea </s> rain __label__b", "__label__a rain"])
    assert (scores.lines, scores.gold) == (3, 3)


def test_models_without_labels_and_texts_of_several_lines_are_errors() -> None:
    with pytest.raises(OptionError, match="no labels"):
        Classifier(WordVectors(["tea"], [[1.0]]))
    with pytest.raises(OptionError, match="one line"):
        by_hand("softmax").predict("tea\nrain")
    with pytest.raises(OptionError, match=r"texts is 'tea', but must be a list.*write \['tea'\]"):
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
        str(tmp_path / "train.txt"), dim=10, lr=0.5, loss=loss, bucket=1000, thread=11, verbose=0, **options
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
        if ours.output.loss in ("ns", "ova"):
            assert list(found) == list(expected)
        for label, chance in found.items():
            if ours.output.loss == "hs":
                assert expected[label] == pytest.approx(chance, abs=4e-5)
            else:
                assert expected[label] - 1e-5 == pytest.approx(chance, abs=1e-6)
    count, precision, recall = theirs.test(str(test), 2)  # type: ignore[attr-defined]
    score = ours.test(test, k=2)
    assert (score.lines, score.precision, score.recall) == (count, pytest.approx(precision), pytest.approx(recall))


def test_a_classifier_opens_the_file_of_a_model(tmp_path: Path) -> None:
    model = trained(objective="softmax")
    save(model, tmp_path / "model.bin")
    assert Classifier(tmp_path / "model.bin").predict("tea") == Classifier(model).predict("tea")
    save(WordVectors(["tea"], [[1.0]]), tmp_path / "words.txt")
    with pytest.raises(OptionError, match="no labels"):
        Classifier(str(tmp_path / "words.txt"))
