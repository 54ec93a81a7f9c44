"""What the tests of models share."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(scope="module")
def text() -> str:
    """3,000 sentences of words whose counts follow Zipf's law."""
    rng = np.random.default_rng(7)
    lines = [" ".join(f"w{i}" for i in rng.zipf(1.4, rng.integers(1, 20)) % 300) for _ in range(3000)]
    return "\n".join(lines)
