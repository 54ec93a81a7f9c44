"""Ported fastText code: the formulas of its methods, from the rows of the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firth.compat.fasttext import FastTextModel, load_model
from firth.errors import OptionError
from firth.formats.registry import save
from firth.models.classifier import FastTextClassifier
from firth.models.classifier_model import Classifier
from firth.text.subwords import Subwords
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

ROWS = np.random.default_rng(5).standard_normal((53, 4)).astype(np.float32)
VECTORS = SubwordVectors(["tea", "rain", "sun"], ROWS, Subwords(3, 4, 50))
MODEL = FastTextModel(VECTORS)


@pytest.mark.parametrize("word", ["rain", "rainy"])
def test_the_mean_of_the_rows_of_the_subwords_is_the_vector_of_the_word(word: str) -> None:
    pieces, rows = MODEL.get_subwords(word)
    assert (pieces[0] == word) == (word == "rain")
    assert len(pieces) == len(rows)
    np.testing.assert_allclose(ROWS[rows].mean(axis=0), MODEL.get_word_vector(word), rtol=1e-5)


def test_a_sentence_is_the_mean_of_the_unit_vectors_of_its_words() -> None:
    words = ["tea", "rainy", "sun"]
    units = [VECTORS[word] / np.linalg.norm(VECTORS[word]) for word in words]
    np.testing.assert_allclose(MODEL.get_sentence_vector("tea  rainy sun"), np.mean(units, axis=0), rtol=1e-5)
    assert MODEL.get_sentence_vector("").tolist() == [0, 0, 0, 0]
    with pytest.raises(OptionError, match="must be one line"):
        MODEL.get_sentence_vector("tea\nrain")


def test_neighbors_and_analogies_have_the_cosine_first() -> None:
    assert MODEL.get_nearest_neighbors("tea", 2) == [(c, w) for w, c in VECTORS.most_similar("tea", topn=2)]
    assert MODEL.get_analogies("tea", "rain", "sun") == [
        (c, w) for w, c in VECTORS.most_similar(["tea", "sun"], "rain")
    ]
    assert (MODEL.get_words(), MODEL.get_labels()) == (["tea", "rain", "sun"], ["tea", "rain", "sun"])
    assert (MODEL.get_dimension(), MODEL.get_word_id("rain"), MODEL.get_word_id("snow")) == (4, 1, -1)


def test_a_classifier_predicts_and_is_tested(tmp_path: Path) -> None:
    lines = ["__label__drink hot tea", "__label__sky hot sun", "__label__drink cold milk"] * 20
    vectors = FastTextClassifier(dim=8, learning_rate=0.5).fit(lines)
    save(vectors, tmp_path / "model.bin")
    (tmp_path / "test.txt").write_text("\n".join(lines) + "\n")
    model, classifier = load_model(tmp_path / "model.bin"), Classifier(vectors)
    labels, probabilities = model.predict("milk tea", k=-1)
    assert sorted(labels) == sorted(model.labels) == ["__label__drink", "__label__sky"]
    assert dict(zip(labels, probabilities)) == pytest.approx(dict(classifier.predict("milk tea", k=2)))
    assert [best[0][0] for best in model.predict(["milk tea", "sun"])] == ["__label__drink", "__label__sky"]
    assert model.test(tmp_path / "test.txt") == (60, 1.0, 1.0)
    rows = vectors.rows.take([vectors.vocabulary.id(word) for word in ("milk", "tea", "</s>")])
    np.testing.assert_allclose(model.get_sentence_vector("milk tea"), rows.mean(axis=0), rtol=1e-5)


def test_other_models_are_refused(tmp_path: Path) -> None:
    save(WordVectors(["tea", "rain"], np.eye(2, dtype=np.float32)), tmp_path / "vectors.txt")
    with pytest.raises(OptionError, match="holds no fastText model but a WordVectors"):
        load_model(tmp_path / "vectors.txt")
