"""The models that an embedding names, and their fingerprints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firth.errors import FormatError, OptionError
from firth.formats.registry import save
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.tasks.inputs import Embedding, Inputs, Sizes
from firth.tasks.sources import Sources, is_bilm, split_names
from firth.vectors.words import WordVectors

VECTORS = WordVectors(["a", "cup", "tea", "Tea"], np.arange(12).reshape(4, 3) + 1)


def test_biLMs_and_word_vectors_are_distinguished_by_their_files(tmp_path: Path, bilm: BiLM) -> None:
    save(VECTORS, tmp_path / "vectors")
    save(VECTORS, tmp_path / "more.txt")
    save(bilm, tmp_path / "bilm")
    assert is_bilm(str(tmp_path / "bilm"))
    embedding = Embedding.of(f"{tmp_path}/vectors+{tmp_path}/bilm+{tmp_path}/more.txt", at="both")
    assert embedding.elmo == str(tmp_path / "bilm")
    assert embedding.static == f"{tmp_path}/vectors+{tmp_path}/more.txt"
    assert Inputs(embedding).sizes == Sizes(3 + 3 + 32, 32)
    with pytest.raises(OptionError, match="two biLMs"):
        Embedding.of(f"{tmp_path}/bilm+{tmp_path}/bilm")
    with pytest.raises(OptionError, match="no such file"):
        Embedding.of("no-such-vectors")


def test_fingerprints_of_different_models_differ(bilm: BiLM) -> None:
    changed = np.arange(12).reshape(4, 3) + 1.0
    changed[2, 1] += 1e-3
    prints = [
        Sources((VECTORS,)).fingerprints(),
        Sources((WordVectors(["a", "cup", "tea", "Tea"], changed),)).fingerprints(),
        Sources((WordVectors(["a", "cap", "tea", "Tea"], VECTORS.matrix),)).fingerprints(),
        Sources(bilm=bilm).fingerprints(),
        Sources(bilm=BiLM(Architecture.named("tiny"), seed=4)).fingerprints(),
    ]
    assert len({str(one) for one in prints}) == len(prints)


def test_a_path_with_a_plus_is_one_name(tmp_path: Path) -> None:
    path = tmp_path / "c++"
    assert split_names(f"{path}+glove-en") == [f"{tmp_path}/c", "glove-en"]
    path.touch()
    assert split_names(str(path)) == [str(path)]


def test_word_vectors_are_not_opened_as_a_biLM(tmp_path: Path) -> None:
    save(VECTORS, tmp_path / "vectors")
    with pytest.raises(OptionError, match="holds a WordVectors, but a BiLM is needed"):
        Sources.open(None, str(tmp_path / "vectors"))


def test_a_name_that_is_too_long_for_a_file_is_a_name() -> None:
    assert split_names("x" * 5000) == ["x" * 5000]


@pytest.mark.parametrize("text", ["[]", "7"])
def test_a_configuration_of_another_kind_is_no_bilm_and_a_broken_one_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)
    assert not is_bilm(str(tmp_path))
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(FormatError, match="is not JSON"):
        is_bilm(str(tmp_path))
