"""Autotune: what is searched, what stays fixed, and how a search ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firth.errors import FormatError, OptionError
from firth.formats.registry import load, save
from firth.models.autotune import FACTORS, Autotune, file_size, find_fixed, parse_size, propose
from firth.models.classifier import FastTextClassifier
from firth.progress import Progress
from firth.runtime import Runtime

ONE = Runtime(1)
# The label is the order of two words, which single words cannot tell.
LINES = ["__label__in come then go", "__label__out go then come"] * 40
RECIPE = FastTextClassifier(dim=4, buckets=500)


def search(options: Autotune, **more: Any) -> Any:
    return options.fit(RECIPE, LINES, validation=LINES[:10], runtime=ONE, **more)


def test_a_search_finds_options_that_score_better_and_repeats_itself() -> None:
    first, second = (search(Autotune(trials=6)) for _ in range(2))
    trials = first.metadata["autotune"]["trials"]
    assert trials[0]["score"] == 0.5
    assert first.metadata["autotune"]["score"] == max(trial["score"] for trial in trials) == 1
    assert first.metadata["recipe"]["word_ngrams"] > 1 or first.metadata["recipe"]["maxn"] > 0
    assert first.rows.array.tobytes() == second.rows.array.tobytes()


def test_options_that_were_set_are_not_searched() -> None:
    recipe = FastTextClassifier(epochs=7, minn=2, maxn=3)
    fixed = find_fixed(recipe, ["word_ngrams"])
    assert fixed == {"epochs", "minn", "maxn", "word_ngrams"}
    free = [name for name in (*FACTORS, "word_ngrams", "minn", "maxn") if name not in fixed]
    for seed in range(20):
        other = propose(recipe, free, 0.5, np.random.default_rng(seed))
        assert (other.epochs, other.minn, other.maxn, other.word_ngrams) == (7, 2, 3, 1)
        assert 2 <= other.dim <= 1000
        assert 0.01 <= other.learning_rate <= 5


def test_an_interrupted_search_keeps_its_best_model_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    def stop(progress: Progress) -> None:
        if progress.step == "searching" and progress.done == 3:
            raise KeyboardInterrupt

    whole = search(Autotune(trials=5))
    part = search(Autotune(trials=5), checkpoint=tmp_path / "trials", report=stop)
    assert len(part.metadata["autotune"]["trials"]) == 3
    again = search(Autotune(trials=5), checkpoint=tmp_path / "trials")
    assert again.metadata["autotune"]["trials"] == whole.metadata["autotune"]["trials"]
    assert again.rows.array.tobytes() == whole.rows.array.tobytes()
    with pytest.raises(OptionError, match="another search"):
        search(Autotune(trials=5, metric="recall"), checkpoint=tmp_path / "trials")


def test_a_time_limit_ends_a_search() -> None:
    with pytest.raises(OptionError, match="no trial ended within 0 seconds"):
        search(Autotune(duration=0.0))
    assert len(search(Autotune(duration=0.5)).metadata["autotune"]["trials"]) >= 1


def test_a_model_is_made_as_small_as_asked(tmp_path: Path) -> None:
    model = search(Autotune(trials=1, model_size="7K"))
    save(model, tmp_path / "small.ftz")
    assert (tmp_path / "small.ftz").stat().st_size == file_size(model) <= 7000
    assert load(tmp_path / "small.ftz").predict("come then go")[0][0] in model.labels
    with pytest.raises(OptionError, match="too large"):
        search(Autotune(trials=1, model_size="1K"))


def test_the_score_of_one_label_counts() -> None:
    assert search(Autotune(trials=1, metric="recall:__label__in")).metadata["autotune"]["score"] in (0.0, 1.0)
    with pytest.raises(OptionError, match="no label of the model"):
        search(Autotune(trials=1, metric="f1:__label__x"))


def test_wrong_options_are_errors() -> None:
    with pytest.raises(OptionError, match="metric is 'f2'"):
        Autotune(metric="f2")
    with pytest.raises(OptionError, match="no option of the classifier"):
        Autotune(fixed=("dimm",))
    with pytest.raises(OptionError, match="model_size is 'big'"):
        Autotune(model_size="big")
    with pytest.raises(OptionError, match="validation is missing"):
        Autotune(trials=1).fit(RECIPE, LINES)
    assert parse_size("1.5K") == 1500


@pytest.mark.parametrize("line", ["{", "7", '{"score": 1}', '{"recipe": {"dim": -1}, "score": 1, "dsub": 2}'])
def test_a_damaged_trial_is_an_error_with_its_place(tmp_path: Path, line: str) -> None:
    search(Autotune(trials=1), checkpoint=tmp_path / "trials")
    [file] = (tmp_path / "trials").iterdir()
    file.write_text(file.read_text() + line + "\n")
    with pytest.raises(FormatError, match=r"trials\.jsonl:3: is not"):
        search(Autotune(trials=3), checkpoint=tmp_path / "trials")
