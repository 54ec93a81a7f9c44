"""The study of parts of speech."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from firth.studies.findings import Findings
from firth.studies.probing.pos import BASELINE, FILES, TRAINING, PartsOfSpeech, TaggedSentence, read_treebank
from firth.studies.study import Study

STATIC = "glove-en", "glove-en, bag of context"


@pytest.mark.parametrize("bank", ["ewt", "perdt"])
def test_parts_of_speech_are_probed_on_every_layer(
    folder: Path, run_study: Callable[[Study], Findings], bank: str
) -> None:
    study = PartsOfSpeech(elmo=str(folder / "tiny"), treebank=bank, epochs=2)  # type: ignore[arg-type]
    scores = run_study(study).values["scores"]
    assert set(scores) == {"UPOS", "XPOS"}
    for found in scores.values():
        assert list(found) == [BASELINE, *(f"biLM layer {n}" for n in range(3)), "biLM mean", *STATIC]
        assert found[BASELINE] == {"all": 100.0, "unseen": None, "ambiguous": None, TRAINING: 100.0}
        assert found["biLM layer 0"]["all"] == 100.0  # here the word tells its tag


def test_words_that_are_joined_are_left_out_of_a_treebank(folder: Path) -> None:
    first, second, *_ = read_treebank(folder / "shared" / FILES["ewt"][0], 3)
    assert first == TaggedSentence(("We", "drink", "rain"), ("PRON", "VERB", "NOUN"))
    assert second.words == ("We", "drink", "tea")
