"""The card of a trained model has what the model knows, and no more."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from firth.tasks.card import task_card
from firth.tasks.inputs import Embedding, Inputs
from firth.tasks.model import TaskModel
from firth.tasks.sentiment.task import Sentiment


def make_model(**metadata: Any) -> TaskModel:
    torch.manual_seed(1)
    task, inputs, labels = Sentiment(hidden=2, architecture="plain"), Inputs(Embedding(characters=3)), ["bad", "good"]
    network = task.network(inputs.sizes, {"labels": labels})
    return TaskModel(task, {"labels": labels}, inputs, network, metadata=metadata)


def test_a_model_without_metadata_has_its_use_and_its_options() -> None:
    card = task_card("mood", make_model())
    assert [line for line in card.splitlines() if line.startswith("#")] == [
        "# mood",
        "## Use",
        "## Network",
        "## Words",
    ]
    assert 'open_task("mood")' in card
    assert "| hidden | `2` |" in card


def test_scores_of_a_quantized_model_stand_beside_those_before() -> None:
    card = task_card("mood", make_model(dev={"accuracy": 0.5}, trained={"dev": {"accuracy": 0.51236}}))
    assert "| dev accuracy | `0.5124` | `0.5` |" in card


@pytest.mark.parametrize(("key", "value", "text"), [("about", "Moods", "Moods."), ("command", "firth x", "firth x")])
def test_a_known_part_has_its_place(key: str, value: str, text: str) -> None:
    assert text in task_card("mood", make_model(**{key: value})).splitlines()
    assert text not in task_card("mood", make_model()).splitlines()
