"""Options of pretraining: what depends on the optimizer, the device and the start model."""

from __future__ import annotations

import pytest

from firth.errors import OptionError
from firth.models.elmo import Elmo
from firth.neural.training.options import FROZEN, PretrainingOptions
from firth.runtime import Runtime
from firth.text.corpus import Corpus

CPU = Runtime(1)


def test_options_without_a_value_have_the_default_of_the_optimizer() -> None:
    modern, paper = PretrainingOptions(), PretrainingOptions(optimizer="paper", warmup=7)
    assert [modern.value(name) for name in ("learning_rate", "clip", "warmup", "decay")] == [1e-3, 1.0, 400, 0.01]
    assert [paper.value(name) for name in ("learning_rate", "clip", "warmup", "decay")] == [0.2, 10.0, 7, 0.0]
    assert PretrainingOptions(clip=0.0).value("clip") == 0.0
    assert (modern.resets_at_sentences, paper.resets_at_sentences) == (True, False)
    assert PretrainingOptions(optimizer="paper", packing="sentences").resets_at_sentences


def test_a_plan_chooses_the_precision_of_the_device() -> None:
    assert PretrainingOptions().plan(CPU).precision == "float32"
    with pytest.raises(OptionError, match="bfloat16 is for training on a GPU"):
        PretrainingOptions(precision="bfloat16").plan(CPU)


def test_a_new_softmax_is_trained_alone_first_unless_the_option_is_set() -> None:
    tokens = Corpus.of(["a b a b c"]).tokens()
    start = Elmo(preset="tiny", min_count=1).new(tokens)
    assert PretrainingOptions().plan(CPU).frozen == 0.0
    assert PretrainingOptions().plan(CPU, start).frozen == 0.0
    start.softmax = None
    assert PretrainingOptions().plan(CPU, start).frozen == FROZEN
    assert PretrainingOptions(frozen=0.5).plan(CPU, start).frozen == 0.5
