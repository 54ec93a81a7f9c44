"""The methods of fastText on what `firth.load` returns for a supervised model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firth.formats.registry import load, save
from firth.models.classifier import FastTextClassifier
from firth.models.classifier_model import Classifier
from firth.models.quantization import quantize
from firth.models.supervised_vectors import SupervisedVectors
from firth.text.corpus import Corpus
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer

LINES = ["__label__drink hot tea", "__label__sky hot sun", "__label__drink cold milk"] * 20


@pytest.fixture(scope="module")
def trained() -> SupervisedVectors:
    return FastTextClassifier(dim=8, learning_rate=0.5).fit(LINES)


def test_a_loaded_model_predicts_and_is_tested(tmp_path: Path, trained: SupervisedVectors) -> None:
    (tmp_path / "test.txt").write_text("\n".join(LINES) + "\n")
    for name, made in (("model.bin", trained), ("model.ftz", quantize(trained)), ("folder", trained)):
        save(made, tmp_path / name)
        model = load(tmp_path / name)
        labels, probabilities = model.predict("milk tea", k=-1)
        assert sorted(labels) == sorted(model.labels) == ["__label__drink", "__label__sky"]
        assert dict(zip(labels, probabilities)) == pytest.approx(dict(Classifier(made).predict("milk tea", k=2)))
        many, chances = model.predict(["milk tea", "sun"])
        assert many == [["__label__drink"], ["__label__sky"]]
        assert [chance.shape for chance in chances] == [(1,), (1,)]
        assert model.test(tmp_path / "test.txt") == (60, 1.0, 1.0)
        assert model.test_label(tmp_path / "test.txt")["__label__sky"]["recall"] == 1


def test_lines_labels_and_vectors_are_those_of_fasttext(trained: SupervisedVectors) -> None:
    rows = trained.rows.take([trained.vocabulary.id(word) for word in ("milk", "tea", "</s>")])
    np.testing.assert_allclose(trained.get_sentence_vector("milk tea"), rows.mean(axis=0), rtol=1e-5)
    assert trained.get_line("tea __label__sky\0new __label__x") == (["tea", "new", "</s>"], ["__label__sky"])
    assert trained.get_line(["tea", "__label__sky"]) == ([["tea", "</s>"], ["</s>"]], [[], ["__label__sky"]])
    assert (trained.is_quantized(), quantize(trained).is_quantized()) == (False, True)
    assert [trained.get_label_id(label) for label in (*trained.labels, "__label__x")] == [0, 1, -1]
    assert trained.get_labels(include_freq=True)[1].tolist() == [40, 20]  # type: ignore[union-attr]
    assert trained.get_output_matrix().shape == (2, 8)


def test_a_classifier_normalizes_texts_as_its_training_text_was() -> None:
    fold = Tokenizer(mode="whitespace", normalizer=Normalizer(fold_case=True))
    model = FastTextClassifier(dim=8, learning_rate=0.5).fit(Corpus.of(LINES, tokenizer=fold))
    assert model.predict("MILK Tea")[1] == model.predict("milk tea")[1]
    assert model.classifier.test(["__LABEL__DRINK MILK"]).right == 1
