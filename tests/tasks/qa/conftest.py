"""Fixtures of the tests of question answering."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from firth.tasks.inputs import Text
from firth.tasks.layers import sequence_mask


@pytest.fixture(scope="session")
def text_of() -> Callable[..., Text]:
    """Makes sentences of random words; the i-th is the same whatever stands beside it."""

    def make(lengths: list[int], *, seed: int = 0) -> Text:
        generators = [torch.Generator().manual_seed(seed + i) for i in range(len(lengths))]
        rows = [torch.randn(length, 9, generator=one) for length, one in zip(lengths, generators)]
        vectors = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        counts = torch.tensor(lengths)
        return Text(vectors[:, :, :6], counts, sequence_mask(counts, max(lengths)), vectors[:, :, 6:])

    return make
