"""Orthogonal Procrustes recovers a known rotation and never does worse than no rotation."""

from __future__ import annotations

import numpy as np
import pytest

from firth.errors import OptionError
from firth.maps.alignment import Alignment


def test_a_known_rotation_is_undone() -> None:
    rng = np.random.default_rng(1)
    target = rng.normal(size=(30, 5))
    rotation = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    source = target @ rotation * 2 + rng.normal(size=5)
    alignment = Alignment.of(source, target)
    np.testing.assert_allclose(alignment.apply(source), target, atol=1e-9)
    np.testing.assert_allclose(alignment.rotation.T @ alignment.rotation, np.eye(5), atol=1e-9)


def test_noisy_points_come_nearer_than_they_were() -> None:
    rng = np.random.default_rng(2)
    target = rng.normal(size=(50, 2))
    source = target[:, ::-1] * [1, -1] + 0.1 * rng.normal(size=(50, 2))
    after = Alignment.of(source, target).apply(source)
    assert np.linalg.norm(after - target) < 0.2 * np.linalg.norm(source - target)


def test_points_on_one_place_stay_finite() -> None:
    assert np.isfinite(Alignment.of(np.ones((3, 2)), np.zeros((3, 2))).apply(np.ones((3, 2)))).all()


def test_unequal_lists_are_an_error() -> None:
    with pytest.raises(OptionError, match="two equal lists"):
        Alignment.of(np.ones((3, 2)), np.ones((2, 2)))
