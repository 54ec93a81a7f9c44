"""Both sentiment classifiers ignore padding."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from firth.tasks.inputs import Sizes, Text
from firth.tasks.layers import sequence_mask
from firth.tasks.sentiment.task import Sentiment


@pytest.mark.parametrize("architecture", ["biattentive", "plain"])
@pytest.mark.parametrize("extra", [0, 3])
def test_padding_changes_no_answer(architecture: Any, extra: int) -> None:
    torch.manual_seed(1)
    task = Sentiment(architecture=architecture, hidden=4)
    network: Any = task.network(Sizes(5, extra), {"labels": ["good", "bad"]}).eval()
    lengths = torch.tensor([6, 2, 1])
    mask = sequence_mask(lengths, 6)
    vectors, more = torch.randn(3, 6, 5) * mask[:, :, None], torch.randn(3, 6, 3) * mask[:, :, None]
    together = network(Text(vectors, lengths, mask, more if extra else None))
    for row, length in enumerate(lengths.tolist()):
        one = slice(row, row + 1), slice(length)
        text = Text(vectors[one], lengths[row : row + 1], mask[one], more[one] if extra else None)
        torch.testing.assert_close(network(text)[0], together[row], atol=1e-5, rtol=1e-4)
    assert together.std(0).max() > 1e-3  # they do differ
