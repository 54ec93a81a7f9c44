"""Fixtures of the tests of tasks."""

from __future__ import annotations

import pytest

from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM


@pytest.fixture(scope="module")
def bilm() -> BiLM:
    """A biLM with random weights."""
    return BiLM(Architecture.named("tiny"), seed=3)
