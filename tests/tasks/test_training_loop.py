"""Batches, seeds and optimizers of a task's training; whole trainings are in test_training.py."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from firth.tasks.training import Training
from firth.tasks.training_loop import build_optimizer, make_batches, step_seed


def test_an_epoch_has_every_example_once_and_like_lengths_together() -> None:
    lengths = np.random.default_rng(1).integers(1, 50, 500)
    first, second = (make_batches(lengths, 8, seed=1, epoch=epoch) for epoch in (0, 1))
    assert sorted(place for batch in first for place in batch) == list(range(500))
    assert first != second
    padding = [max(lengths[batch]) * len(batch) / sum(lengths[batch]) for batch in first]
    assert np.mean(padding) < 1.1


def test_seeds_of_steps_are_distinct_and_repeatable() -> None:
    seeds = [step_seed(seed, step) for seed in range(5) for step in range(50)]
    assert len(set(seeds)) == 250
    assert seeds == [step_seed(seed, step) for seed in range(5) for step in range(50)]


@pytest.mark.parametrize("name", ["adam", "adadelta", "adagrad", "sgd"])
def test_every_optimizer_goes_downhill(name: str) -> None:
    weight = torch.nn.Parameter(torch.tensor([2.0]))
    optimizer = build_optimizer(Training(optimizer=name), {"weight": weight})  # type: ignore[arg-type]
    for _ in range(5):
        weight.square().sum().backward()
        optimizer.step(0.05)
    assert 0 < weight.item() < 2
    assert weight.grad is None
