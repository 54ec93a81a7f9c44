"""The vocabulary of a training text: vectors of its words, and their targets in the softmax."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from firth.errors import OptionError
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.neural.training.vocabulary import TrainingVocabulary, select_softmax_words
from firth.text.vocabulary import Vocabulary

WORDS = Vocabulary.from_counts({"tea": 9, "a": 8, "<S>": 7, "rain" * 20: 6, "日本": 5, "of": 4})
PREDICTED = Vocabulary(["<S>", "</S>", "<UNK>", "tea", "of"])


@pytest.mark.parametrize("more", [{}, {"encoder": "character-rnn", "character_cell": 4}, {"encoder": "words"}])
def test_vectors_are_those_of_the_encoder_and_so_are_their_gradients(more: dict[str, Any]) -> None:
    sizes = {"character_dim": 3, "filters": ((1, 4), (3, 5)), "highways": 1, "cell": 8, "dim": 6} | more
    words = PREDICTED if sizes.get("encoder") == "words" else None
    bilm = BiLM(Architecture(**sizes), vocabulary=PREDICTED, words=words)
    types = TrainingVocabulary(bilm, WORDS)
    names = [*WORDS.words, "<S>", "</S>"]
    order = torch.from_numpy(np.argsort(types.lengths, kind="stable"))
    found, plain = types.vectors(order), bilm.encoder([names[id] for id in order])
    assert torch.allclose(found, plain, atol=1e-6)
    parameters = list(bilm.encoder.parameters())
    one, other = (torch.autograd.grad(vectors.square().sum(), parameters) for vectors in (found, plain))
    for fast, slow in zip(one, other):
        assert torch.allclose(fast.to_dense() if fast.is_sparse else fast, slow, atol=1e-5)


def test_targets_are_ids_in_the_softmax_and_other_words_are_unk() -> None:
    types = TrainingVocabulary(BiLM(Architecture.named("tiny"), vocabulary=PREDICTED), WORDS)
    named = dict(zip([*WORDS.words, "begin", "end"], types.targets.tolist()))
    assert (named["tea"], named["of"], named["a"], named["begin"], named["end"]) == (3, 4, 2, 0, 1)


def test_a_softmax_without_unk_is_an_error() -> None:
    bilm = BiLM(Architecture.named("tiny"), vocabulary=Vocabulary(["<S>", "</S>", "tea"]))
    with pytest.raises(OptionError, match="neither 'a' nor <UNK>"):
        TrainingVocabulary(bilm, WORDS)


def test_predicted_words_are_the_most_frequent_ones_behind_the_three_marks() -> None:
    assert select_softmax_words(WORDS, 5, 1).words == ("<S>", "</S>", "<UNK>", "tea", "a")
    assert select_softmax_words(WORDS, 100, 5).words[3:] == ("tea", "a", "rain" * 20, "日本")
