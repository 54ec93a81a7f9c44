"""The study of word senses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from firth.probes.sense_files import SETS, Annotation
from firth.studies.findings import Findings
from firth.studies.probing.senses import FIRST, FOUR, FREQUENT, Senses, group_rows, score_groups
from firth.studies.study import Study

ACT, SHOW, GAME = "play%2:36:00::", "play%1:10:01::", "play%2:33:00::"

STATIC = "glove-en", "glove-en, bag of context"


def test_senses_are_judged_by_every_layer_and_by_both_baselines(
    folder: Path, run_study: Callable[[Study], Findings]
) -> None:
    found = run_study(Senses(elmo=str(folder / "tiny")))
    scores = found.values["scores"]
    assert list(scores) == [FIRST, FREQUENT, *(f"biLM layer {n}" for n in range(3)), "biLM mean", *STATIC]
    assert set(found.values["separation"]) == set(scores) - {FIRST, FREQUENT}
    assert found.values["separation"]["biLM layer 0"]["passed"] == 0
    assert "bag of context" in found.about.splitlines()[0]
    assert scores[FIRST][FOUR] == 50.0  # chess twice is a first sense, Hamlet twice is not
    assert scores["biLM layer 1"]["all five"] == 100.0  # the very sentences of the text
    assert scores["biLM layer 0"]["VERB"] == 50.0  # it sees no context: the first of both


def test_without_wordnet_lemmas_that_were_never_seen_stay_without_answer(
    folder: Path, run_study: Callable[[Study], Findings]
) -> None:
    found = run_study(Senses(elmo="none", wordnet="none", sentences=1))
    scores = found.values["scores"]
    assert list(scores) == [FREQUENT, *STATIC]
    assert scores[FREQUENT]["all five"] == pytest.approx(100 * 2 * 2 / (4 + 5), abs=0.01)  # VERB: two of four right


def test_the_four_sets_are_all_but_the_one_for_development() -> None:
    instances = [Annotation(0, 1, "play", "NOUN", (SHOW,), f"{name}.d000.s000.t000") for name in SETS]
    found = group_rows(instances)
    assert [SETS[row] for row in found[FOUR]] == ["senseval2", "senseval3", "semeval2013", "semeval2015"]
    assert score_groups([SHOW, None, SHOW, SHOW, SHOW], instances, set())[FOUR] == pytest.approx(100 * 6 / 7, abs=0.01)
