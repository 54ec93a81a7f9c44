"""What the tests of training share."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from torch import Tensor


@pytest.fixture
def relative_error() -> Callable[[Tensor, Tensor], float]:
    """The norm of the difference of two tensors, relative to the expected one."""

    def compare(computed: Tensor, expected: Tensor) -> float:
        difference = computed.detach().float() - expected.detach().float()
        return float(difference.norm() / expected.detach().float().norm())

    return compare
