"""Small models for the tests of components; spaCy itself is the real one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import firth
from firth.neural.architecture import Architecture


@pytest.fixture(scope="session")
def bilm() -> Any:
    return firth.BiLM(Architecture.named("tiny"))


@pytest.fixture(scope="session")
def bilm_folder(bilm: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny-elmo"
    firth.save(bilm, folder)
    return folder


@pytest.fixture(scope="session")
def ner_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped model, with word vectors and a biLM that are folders of their own beside it."""
    place = tmp_path_factory.mktemp("ner")
    model = firth.open_task("ner")
    [vectors], bilm = model.inputs.sources.static, model.inputs.sources.bilm
    firth.save(vectors, place / "vectors")
    firth.save(bilm, place / "bilm")
    names = {"static": str(place / "vectors"), "elmo": str(place / "bilm")}
    model.inputs.embedding = replace(model.inputs.embedding, **names)
    firth.save(model, place / "model")
    return place / "model"
