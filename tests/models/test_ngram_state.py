"""Word by word gives what a whole sentence gives."""

from __future__ import annotations

import numpy as np
import pytest

from firth.models.ngram import Ngram
from firth.models.ngram_model import NgramModel
from firth.models.ngram_state import NgramState, advance, begin_sentence


@pytest.fixture(scope="module", params=[1, 3])
def model(request: pytest.FixtureRequest) -> NgramModel:
    texts = ["strong tea and milk", "strong coffee", "hot tea and milk", "a strong wind"]
    return Ngram(order=request.param).fit(texts)


@pytest.mark.parametrize("bos", [True, False])
def test_steps_add_up_to_the_scores_of_a_sentence(model: NgramModel, bos: bool) -> None:
    words = ["a", "strong", "unseen", "tea", "and", "milk"]
    state, steps = begin_sentence(model) if bos else NgramState(), []
    for word in [*words, "</s>"]:
        *score, state = advance(model, state, word)
        steps.append(tuple(score))
    whole = model.full_scores(words, bos=bos)
    assert np.allclose([step[0] for step in steps], [one[0] for one in whole])
    assert [step[1:] for step in steps] == [one[1:] for one in whole]
    assert len(model.full_scores(words, bos=bos, eos=False)) == len(words)


def test_a_state_is_the_context_that_the_model_knows(model: NgramModel) -> None:
    one = advance(model, advance(model, begin_sentence(model), "tea").state, "unseen").state
    other = advance(model, NgramState(), "unseen").state
    assert one == other


def test_markers_within_a_sentence_are_words(model: NgramModel) -> None:
    words = ["strong", "</s>", "<s>", "hot"]
    scores = model.full_scores(words)
    assert [unknown for *_, unknown in scores] == [False] * 5
    start = model.full_scores(["hot"])[0]
    assert scores[3] == pytest.approx(start)
    assert scores[1][0] == pytest.approx(model.full_scores(["strong"])[1][0])
