"""Contextual vectors from the encoder of a seq2seq model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from firth.errors import OptionError
from firth.tasks.model import TaskModel
from firth.tasks.seq2seq.cove import Cove
from firth.tasks.seq2seq.task import Seq2Seq

WORDS = ["tea", "rain", "milk", "wind", "sun"]
SMALL = Seq2Seq(hidden=6, layers=2, dim=4, dropout=0.0, longest=6)


def test_words_in_context_by_the_encoder(model: Callable[..., TaskModel]) -> None:
    """A word has other vectors in another sentence, the same in any batch; two directions of 24 numbers."""
    cove = Cove(model(hidden=24, layers=1))
    sentences = [["tea", "rain"], ["sun", "tea"], [], ["tea", "rain", "milk", "wind"]]
    arrays = cove.embed(sentences)
    assert [array.shape for array in arrays] == [(2, 48), (2, 48), (0, 48), (4, 48)]
    assert all(array.dtype == np.float32 for array in arrays)
    assert np.abs(arrays[0][0] - arrays[1][1]).max() > 0.01
    for sentence, array in zip(sentences, arrays):
        assert np.allclose(cove.embed([sentence])[0], array, atol=1e-6)
    assert np.allclose(cove.embed(["tea rain"])[0], arrays[0], atol=1e-6)
    assert cove.embed(sentences, pooling="mean")[3] == pytest.approx(arrays[3].mean(0), abs=1e-6)


def test_each_layer_of_the_encoder_can_be_asked_for(model: Callable[..., TaskModel]) -> None:
    cove = Cove(model())
    everything = cove.embed([["tea", "rain"]], layers="all")[0]
    assert everything.shape == (2, 2, 12)
    assert np.array_equal(cove.embed([["tea", "rain"]], layers=1)[0], everything[0])
    assert np.array_equal(cove.embed([["tea", "rain"]])[0], everything[1])
    assert np.allclose(cove.embed([["tea", "rain"]], layers="mix")[0], everything.mean(0))
    with pytest.raises(OptionError, match="a number from 1 to 2"):
        cove.embed([["tea"]], layers=3)
