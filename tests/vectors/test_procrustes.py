"""The rotation of orthogonal Procrustes."""

from __future__ import annotations

import numpy as np
import pytest

from firth.errors import OptionError
from firth.vectors.procrustes import procrustes


def test_a_rotation_is_found_again() -> None:
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    points = rng.normal(size=(20, 5))
    assert np.allclose(procrustes(points, points @ turn)[0], turn)


def test_dimensions_may_differ() -> None:
    rng = np.random.default_rng(1)
    points = rng.normal(size=(20, 3))
    into = np.linalg.qr(rng.normal(size=(5, 3)))[0].T
    rotation = procrustes(points, points @ into)[0]
    assert np.allclose(points @ rotation, points @ into)


def test_lists_of_different_lengths_are_an_error() -> None:
    with pytest.raises(OptionError, match="two equal lists"):
        procrustes(np.ones((2, 2)), np.ones((3, 2)))
