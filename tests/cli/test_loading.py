"""Models that commands load are checked for their kind."""

from __future__ import annotations

import pytest

import firth
from firth.cli.loading import is_bilm, load_as, load_subwords, load_vectors, move_to
from firth.errors import OptionError
from firth.vectors.words import WordVectors


def test_a_model_of_the_wrong_kind_says_what_is_needed(vectors: str) -> None:
    assert isinstance(load_vectors(vectors), WordVectors)
    with pytest.raises(OptionError, match="contains a WordVectors, but this command needs a fastText model"):
        load_subwords(vectors)


def test_a_loaded_model_is_not_loaded_again() -> None:
    model = firth.Counts(kind="one-hot").fit(firth.Corpus.of(["a b"]))
    assert load_as("no-such-file", type(model), "this", model) is model


def test_only_a_bilm_is_one_and_moves_to_a_device(bilm: str, vectors: str) -> None:
    model = firth.load(bilm)
    assert is_bilm(model)
    assert move_to(model, "cpu") is not None
    assert not is_bilm(firth.load(vectors))
    assert move_to(firth.load(vectors), None) is not None
    with pytest.raises(OptionError, match="--device nonsense: "):
        move_to(model, "nonsense")
