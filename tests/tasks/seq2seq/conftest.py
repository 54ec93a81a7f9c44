"""Fixtures of the tests of seq2seq."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from firth.tasks.inputs import Embedding, Inputs
from firth.tasks.model import TaskModel
from firth.tasks.seq2seq.task import Seq2Seq


@pytest.fixture(scope="session")
def model() -> Callable[..., TaskModel]:
    """Makes a small untrained model of five words, with these options."""

    def make(**options: object) -> TaskModel:
        task = Seq2Seq(**{"hidden": 6, "layers": 2, "dim": 4, "dropout": 0.0, "longest": 6} | options)
        torch.manual_seed(2)
        inputs = Inputs(Embedding(characters=5))
        labels = {"words": ["tea", "rain", "milk", "wind", "sun"]}
        return TaskModel(task, labels, inputs, task.network(inputs.sizes, labels)).eval()

    return make
