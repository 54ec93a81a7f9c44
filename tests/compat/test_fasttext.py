"""Ported fastText code: models are loaded and trained under its names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firth.compat.fasttext import load_model, tokenize, train_supervised, train_unsupervised
from firth.errors import OptionError
from firth.formats.registry import save
from firth.models.classifier import FastTextClassifier
from firth.runtime import Runtime
from firth.vectors.words import WordVectors

LINES = ["__label__drink hot tea", "__label__sky hot sun", "__label__drink cold milk"] * 20


def test_a_classifier_is_trained_under_the_names_of_fasttext(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("\n".join(LINES) + "\n")
    model = train_supervised(
        input=str(tmp_path / "train.txt"), lr=0.5, dim=8, epoch=5, minCountLabel=0, thread=1, verbose=0, loss="softmax"
    )
    assert model.test(str(tmp_path / "train.txt")) == (60, 1.0, 1.0)
    expected = FastTextClassifier(dim=8, learning_rate=0.5).fit(LINES, runtime=Runtime(1))
    np.testing.assert_allclose(model.get_word_vector("tea"), expected.get_word_vector("tea"), atol=1e-5)
    save(model, tmp_path / "model.bin")
    assert load_model(tmp_path / "model.bin").predict("cold milk")[0] == ("__label__drink",)


def test_pretrained_vectors_start_a_classifier(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("\n".join(LINES) + "\n")
    save(WordVectors(["tea", "cocoa"], np.eye(2, 3, dtype=np.float32)), tmp_path / "vectors.vec")
    options = {"pretrainedVectors": str(tmp_path / "vectors.vec"), "epoch": 1, "thread": 1}
    model = train_supervised(str(tmp_path / "train.txt"), **options)
    assert model.dim == 3
    assert "cocoa" in model.words


def test_word_vectors_are_trained_under_the_names_of_fasttext(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("hot tea and cold milk\n" * 30)
    options = {"minCount": 1, "dim": 4, "bucket": 100, "t": 1.0, "epoch": 1, "ws": 2}
    model = train_unsupervised(str(tmp_path / "train.txt"), model="cbow", **options)
    assert (len(model), model.dim, model.subwords.buckets) == (5, 4, 100)
    assert model.output is not None
    assert model.output.model == "cbow"
    with pytest.raises(OptionError, match="model is 'glove'"):
        train_unsupervised(str(tmp_path / "train.txt"), model="glove")


def test_lines_are_split_as_fasttext_splits_them() -> None:
    assert tokenize("hot\ttea\0with milk\nmore") == ["hot", "tea", "with", "milk", "</s>", "more"]
    assert tokenize(" ") == []


def test_unknown_options_and_other_models_are_refused(tmp_path: Path) -> None:
    save(WordVectors(["tea", "rain"], np.eye(2, dtype=np.float32)), tmp_path / "vectors.txt")
    with pytest.raises(OptionError, match="holds no fastText model but a WordVectors"):
        load_model(tmp_path / "vectors.txt")
    with pytest.raises(OptionError, match=r"no option is called 'epochs'\. Did you mean 'epoch'"):
        train_supervised("train.txt", epochs=3)
    with pytest.raises(OptionError, match="loss is 'mse'"):
        train_supervised("train.txt", loss="mse")
