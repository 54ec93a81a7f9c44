"""Word vectors in a vocabulary of the real spaCy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("spacy", reason="needs spaCy: pip install 'firth[spacy]'")


import firth
import spacy
from firth.errors import OptionError
from firth.spacy.vectors import add_vectors
from firth.text.subwords import Subwords


@pytest.fixture
def vectors() -> firth.WordVectors:
    words = ["tea", "coffee", "rain", "چای"]
    return firth.WordVectors(firth.Vocabulary(words, [4, 3, 2, 1]), [[1, 0.1], [1, 0.2], [0, 1], [0.5, 0.5]])


def pipeline(model: Path | str, **config: Any) -> Any:
    nlp = spacy.blank("en")
    nlp.add_pipe("firth_vectors", config={"model": str(model), **config})
    return nlp


def test_a_vocabulary_has_the_vectors(vectors: firth.WordVectors) -> None:
    nlp = spacy.blank("en")
    assert add_vectors(nlp.vocab, vectors) is vectors
    doc = nlp("tea coffee چای milk")
    assert np.array_equal(doc[2].vector, vectors["چای"])
    assert doc[0].similarity(doc[1]) == pytest.approx(vectors.similarity("tea", "coffee"), abs=1e-6)
    assert [token.has_vector for token in doc] == [True, True, True, False]
    keys = nlp.vocab.vectors.most_similar(vectors["tea"][None], n=2)[0]
    assert [nlp.vocab.strings[key] for key in keys[0]] == ["tea", "coffee"]


def test_a_limit_keeps_the_first_words(vectors: firth.WordVectors, tmp_path: Path) -> None:
    firth.save(vectors, tmp_path / "two.vec")
    nlp = spacy.blank("en")
    add_vectors(nlp.vocab, tmp_path / "two.vec", limit=2)
    assert nlp.vocab.vectors.shape == (2, 2)
    assert pipeline(tmp_path / "two.vec", limit=3).vocab.vectors.shape == (3, 2)


def test_a_pipeline_is_read_without_the_file_of_its_vectors(vectors: firth.WordVectors, tmp_path: Path) -> None:
    firth.save(vectors, tmp_path / "v.vec")
    nlp = pipeline(tmp_path / "v.vec")
    nlp.to_disk(tmp_path / "pipeline")
    (tmp_path / "v.vec").unlink()
    opened = spacy.load(tmp_path / "pipeline")
    assert np.array_equal(opened("rain")[0].vector, vectors["rain"])
    with pytest.raises(OptionError, match="'firth_vectors' has no model"):
        pipeline(tmp_path / "v.vec")("rain")


def test_unseen_words_have_vectors_of_their_subwords(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).standard_normal((51, 4)).astype(np.float32)
    model = firth.SubwordVectors(["tea"], rows, Subwords(3, 5, 50))
    firth.save(model, tmp_path / "subwords")
    nlp = pipeline(tmp_path / "subwords")
    doc = nlp("tea teapots")
    assert np.allclose(doc[1].vector, model["teapots"])
    assert [token.has_vector for doc in nlp.pipe(["kettles \n", "mugs"]) for token in doc] == [True, False, True]
    nlp.to_disk(tmp_path / "pipeline")
    firth.save(model, tmp_path / "elsewhere")
    (tmp_path / "subwords").rename(tmp_path / "hidden")
    assert np.allclose(spacy.load(tmp_path / "pipeline")("kettle")[0].vector, model["kettle"])


def test_the_case_of_a_word_is_that_of_the_training_text(vectors: firth.WordVectors, tmp_path: Path) -> None:
    folded = vectors.with_tokenizer(firth.Tokenizer(normalizer=firth.Normalizer(fold_case=True)))
    firth.save(folded, tmp_path / "folded")
    assert np.array_equal(pipeline(tmp_path / "folded")("Tea")[0].vector, vectors["tea"])


def test_a_model_without_word_vectors_is_refused() -> None:
    with pytest.raises(OptionError, match="elmo-en: holds a BiLM, but word vectors are needed"):
        add_vectors(spacy.blank("en").vocab, "elmo-en")
