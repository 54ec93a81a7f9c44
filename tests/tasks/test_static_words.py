"""Static, learned and character vectors of words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from firth.formats.registry import save
from firth.tasks.inputs import Embedding, Inputs
from firth.tasks.sources import Sources
from firth.tasks.static_words import CharacterWords, LearnedWords
from firth.text.vocabulary import Vocabulary
from firth.vectors.words import WordVectors

VECTORS = WordVectors(["a", "cup", "tea", "Tea"], np.arange(12).reshape(4, 3) + 1)


def test_static_vectors_are_tried_in_small_letters_and_else_zero() -> None:
    text = Inputs(Embedding(static="v"), Sources((VECTORS,)))([("A", "Tea", "milk")])
    assert text.vectors[0].tolist() == [[1, 2, 3], [10, 11, 12], [0, 0, 0]]


def test_short_vectors_are_stretched_by_one_factor(tmp_path: Path) -> None:
    short = WordVectors(["tea", "rain"], np.array([[0.03, 0.04], [0.0, 0.05]], np.float32))
    save(short, tmp_path / "short")
    plain, longer = (
        Inputs(Embedding(static=str(tmp_path / "short"), stretched=stretched))([["tea", "rain", "milk"]]).vectors[0]
        for stretched in (False, True)
    )
    assert torch.allclose(longer, plain * (2**0.5 / 0.05))
    assert torch.allclose(longer[:2].square().mean(), torch.ones(()))
    assert not longer[2].any()


def test_learned_words_that_are_added_begin_at_zero_and_unknown_words_share_row_0() -> None:
    words = LearnedWords(Vocabulary(["tea", "rain"]), 4, added=False)
    tea, upper, fog, sun = words(["tea", "Tea", "fog", "sun"])
    assert torch.equal(tea, upper)
    assert torch.equal(fog, sun)
    assert torch.equal(fog, words.table.weight[0])
    assert not LearnedWords(Vocabulary(["tea"]), 4, added=True)(["tea", "fog"]).any()


def test_the_vector_of_a_spelling_does_not_depend_on_other_words() -> None:
    torch.manual_seed(1)
    words = CharacterWords(6)
    together = words(["tea", "Ouagadougou"])
    assert together.shape == (2, 6)
    torch.testing.assert_close(words(["tea"])[0], together[0])
