"""The way of a word through ELMo ends in the vectors that `embed` gives."""

from __future__ import annotations

import numpy as np
import pytest

from firth.errors import OptionError
from firth.explorer.answers.inside import spell, trace_characters, trace_word
from firth.explorer.models import Models


def test_the_steps_lead_to_the_layers_of_embed() -> None:
    models = Models()
    trace = trace_word(models, "elmo-en", "They play .", 1)
    bilm = models.load("elmo-en")
    layers = bilm.embed([["They", "play", "."]], layers="all")[0]
    np.testing.assert_array_equal(trace.layers, layers)
    steps = {step.key: step for step in trace.steps}
    dim = bilm.architecture.dim
    np.testing.assert_array_equal(steps["backward-2"].values[0], layers[2, 1, dim:])
    projected = bilm.encoder.projection.weight.detach().numpy() @ steps["highway"].values[0]
    np.testing.assert_allclose(
        projected + bilm.encoder.projection.bias.detach().numpy(), steps["token"].values[0], atol=1e-4
    )
    assert steps["characters"].values.shape == (6, bilm.architecture.character_dim)
    assert trace.characters == ("⟨", "p", "l", "a", "y", "⟩")
    np.testing.assert_allclose(trace.mix((1, 1, 1), 1), bilm.embed([["They", "play", "."]])[0][1], atol=1e-5)
    np.testing.assert_allclose(trace.mix((0, 0, 0), 2), 2 * layers[:, 1].mean(0), atol=1e-5)
    np.testing.assert_array_equal(trace.mix((0, 0, 0.5), 1), layers[2, 1])


def test_a_place_outside_is_the_last_word_and_other_encoders_have_no_characters() -> None:
    assert trace_word(Models(), "elmo-en", "They play .", 99).place == 2
    assert trace_characters(object(), "tea") == ((), [])
    assert spell("چ", 4) == ("⟨", "DA", "86", "⟩")
    for text in (" ", "word " * 100):
        with pytest.raises(OptionError, match="words"):
            trace_word(Models(), "elmo-en", text, 0)
