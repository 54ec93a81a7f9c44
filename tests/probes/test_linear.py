from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from firth.errors import OptionError
from firth.probes.linear import Adam, LayerTable, LinearProbe, mean_and_deviation


def clouds(words: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Words of four classes as overlapping clouds, in two layers of which the second says nothing."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, words)
    centers = np.random.default_rng(0).normal(size=(4, 6)) * 1.5
    told = (centers[labels] + 2 * rng.normal(size=(words, 6))) * np.array([1, 1, 1, 20, 5, 0.01])
    return np.stack([told, rng.normal(size=(words, 6))]).astype(np.float32), labels


def test_the_probe_agrees_with_scikit_learn_where_the_layer_tells_and_not_where_it_does_not() -> None:
    (train, labels), (dev, dev_labels), (test, test_labels) = clouds(3000, 1), clouds(800, 2), clouds(2000, 3)
    tables = [LayerTable(torch.from_numpy(one)) for one in (train, dev, test)]
    probe = LinearProbe(learning_rate=0.01, batch=128, epochs=20).fit(tables[0], labels, tables[1], dev_labels)
    ours = (probe.predict(tables[2]) == test_labels).mean(1)
    scaler = StandardScaler().fit(train[0])
    theirs = LogisticRegression(C=1e6).fit(scaler.transform(train[0]), labels)
    expected = theirs.score(scaler.transform(test[0]), test_labels)
    assert 0.5 < expected < 0.95
    assert ours[0] == pytest.approx(expected, abs=0.01)
    assert ours[1] == pytest.approx(0.25, abs=0.05)


def test_layers_learn_alone_as_they_learn_together() -> None:
    (train, labels), (dev, dev_labels) = clouds(400, 1), clouds(100, 2)
    recipe = LinearProbe(epochs=3, batch=50)
    both = recipe.fit(LayerTable(torch.from_numpy(train)), labels, LayerTable(torch.from_numpy(dev)), dev_labels)
    first, held = LayerTable(torch.from_numpy(train[:1])), LayerTable(torch.from_numpy(dev[:1]))
    alone = recipe.fit(first, labels, held, dev_labels)
    assert torch.allclose(both.weight[0], alone.weight[0], atol=1e-5)
    assert both.epochs[0] == alone.epochs[0]


def test_the_same_seed_gives_the_same_probe() -> None:
    (train, labels), (dev, dev_labels) = clouds(200, 1), clouds(50, 2)
    tables = LayerTable(torch.from_numpy(train)), LayerTable(torch.from_numpy(dev))
    one, other = (LinearProbe(epochs=2, seed=5).fit(tables[0], labels, tables[1], dev_labels) for _ in range(2))
    assert torch.equal(one.weight, other.weight)


def test_our_adam_steps_as_torch_does() -> None:
    mine = torch.ones(2, 3, 4, requires_grad=True)
    theirs = torch.ones(2, 3, 4, requires_grad=True)
    adam, expected = Adam([mine], 0.0), torch.optim.Adam([theirs], lr=0.1)
    for factor in (1.0, -2.0, 0.5):
        adam.step((factor * mine.pow(3)).sum(), torch.full((2, 1, 1), 0.1))
        expected.zero_grad()
        (factor * theirs.pow(3)).sum().backward()
        expected.step()
    assert torch.allclose(mine, theirs, atol=1e-6)


def test_the_mean_of_layers_is_a_layer_of_its_own() -> None:
    table = LayerTable(torch.randn(3, 20000, 2).half(), with_mean=True)
    assert table.shape == (4, 20000, 2)
    rows = torch.cat(list(table.chunks()), dim=1)
    assert torch.allclose(rows[3], rows[:3].mean(0))
    center, scale = mean_and_deviation(table)
    assert torch.allclose(center, rows.mean(1), atol=1e-5)
    assert torch.allclose(scale, rows.std(1, unbiased=False), atol=1e-4)


def test_words_without_labels_are_refused() -> None:
    table = LayerTable(torch.zeros(1, 2, 3))
    with pytest.raises(OptionError, match="Each word needs one"):
        LinearProbe().fit(table, [0], table, [0, 1])
