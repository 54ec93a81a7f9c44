"""What differs by device: how much work is done at once, and how the tensors of a record are moved there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import torch


@dataclass(frozen=True)
class WorkSizes:
    """A GPU needs larger pieces than a CPU to be busy, and has the memory for them."""

    batch_tokens: int  # tokens of a batch that the LSTMs run over
    batches_ahead: int  # batches that are started before the result of an earlier one is used
    block_words: int  # words that a probe reads at once
    encoded_words: int  # words that are encoded together
    cached_bytes: int  # of the cache of word vectors
    copied_bytes: int  # of results that are copied together; 0 copies every array by itself
    logits: int  # of a softmax that exist at a time
    pair_products: int  # elements of the products of pairs of mentions that exist at a time
    block_bytes: int  # float32 output of bulk embedding: large blocks have more sentences of similar length
    joined_scores: int  # scores of a CRF whose steps are joined by halves instead of one after another
    joins_directions: bool  # whether both directions of an LSTM run in one call, which is faster on a GPU


CPU = WorkSizes(
    batch_tokens=4096,
    batches_ahead=0,
    block_words=1 << 12,
    encoded_words=512,
    cached_bytes=128 << 20,
    copied_bytes=0,
    logits=1 << 20,
    pair_products=1 << 23,
    block_bytes=64 << 20,
    joined_scores=0,
    joins_directions=False,
)
GPU = WorkSizes(
    batch_tokens=32_768,
    batches_ahead=2,
    block_words=1 << 15,
    encoded_words=2048,
    cached_bytes=1 << 30,
    copied_bytes=8 << 20,
    logits=1 << 26,
    pair_products=1 << 26,
    block_bytes=512 << 20,
    joined_scores=1 << 27,
    joins_directions=True,
)


def work_sizes(device: torch.device) -> WorkSizes:
    """The sizes for a device.

    >>> work_sizes(torch.device("cuda")).batch_tokens
    32768
    """
    return GPU if device.type == "cuda" else CPU


class TensorRecord:
    """A dataclass with tensors among its fields."""

    def to(self, device: str | torch.device) -> Self:
        """The same with its tensors on a device."""
        return self._map(lambda tensor: tensor.to(device, non_blocking=True))

    def pinned(self) -> Self:
        """The same with its tensors in pinned memory, from which a GPU copies while it works."""
        return self._map(torch.Tensor.pin_memory)

    def _map(self, change: Callable[[torch.Tensor], torch.Tensor]) -> Self:
        tensors = {name: value for name, value in vars(self).items() if isinstance(value, torch.Tensor)}
        return replace(self, **{name: change(value) for name, value in tensors.items()})  # type: ignore[type-var]
