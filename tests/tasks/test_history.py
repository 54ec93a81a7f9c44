"""The record of a task's training: lines of epochs, speeds, and the best scores."""

from __future__ import annotations

import json

import pytest

from firth.tasks.history import TaskHistory


def run_epochs(*scores: float) -> TaskHistory:
    history = TaskHistory()
    for score in scores:
        history.step, history.tokens, history.seconds = history.step + 10, history.tokens + 600, history.seconds + 2
        history.losses, history.norms = [1.0, 2.0], [3.0, 5.0]
        history.end_epoch({"f1": score, "accuracy": 1 - score})
        history.update_best(score, higher_is_better=True)
    return history


def test_an_epoch_has_its_own_speed_and_means() -> None:
    line = run_epochs(0.1, 0.2).epochs[1]
    assert (line["epoch"], line["step"], line["words"], line["words_per_second"]) == (2, 20, 1200, 300.0)
    assert (line["loss"], line["norm"], line["dev"]) == (1.5, 4.0, {"f1": 0.2, "accuracy": 0.8})


def test_the_best_scores_are_those_of_the_best_epoch() -> None:
    assert run_epochs(0.1, 0.7, 0.3).best == {"f1": 0.7, "accuracy": pytest.approx(0.3)}
    assert TaskHistory().best == {}


def test_a_history_survives_json() -> None:
    history = run_epochs(0.25, 0.5)
    assert TaskHistory(**json.loads(json.dumps(history.as_dict()))) == history


def test_the_time_of_the_bilm_is_a_share_of_training_and_evaluation() -> None:
    assert TaskHistory(seconds=6.0, dev_seconds=2.0, bilm_seconds=4.0).bilm_share == 0.5
