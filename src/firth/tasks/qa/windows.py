"""A long passage as overlapping windows, so that the memory of a network is bounded."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from firth.tasks.inputs import Text
from firth.tasks.layers import sequence_mask


def window_starts(length: int, longest: int, overlap: int) -> list[int]:
    """Where the windows of a passage begin: each has `longest` words, and the last ends with the passage.

    >>> window_starts(10, 4, 2), window_starts(9, 4, 2), window_starts(3, 4, 2)
    ([0, 2, 4, 6], [0, 2, 4, 5], [0])
    """
    last = max(length - longest, 0)
    return [*range(0, last, max(longest - overlap, 1)), last]


def choose_window(length: int, longest: int, overlap: int, first: int, last: int) -> int:
    """The start of the window whose edges are farthest from the words first to last.

    >>> choose_window(100, 40, 20, 45, 47)
    20
    """
    begins = window_starts(length, longest, overlap)
    return max(begins, key=lambda begin: min(first - begin, begin + longest - 1 - last))


def cut_windows(text: Text, rows: Sequence[int], begins: Sequence[int], longest: int) -> Text:
    """The windows of a batch: window i is cut from row rows[i] and begins at word begins[i]."""
    lengths = (text.lengths[list(rows)] - torch.tensor(list(begins))).clamp(max=longest)
    time = int(lengths.max())
    places = torch.tensor(list(begins))[:, None] + torch.arange(time)
    places = places.clamp(max=text.vectors.shape[1] - 1).to(text.vectors.device)
    chosen_rows = torch.tensor(list(rows), device=text.vectors.device)[:, None]
    mask = sequence_mask(lengths, time).to(text.vectors.device)
    extra = None if text.extra is None else text.extra[chosen_rows, places] * mask[:, :, None]
    return Text(text.vectors[chosen_rows, places] * mask[:, :, None], lengths, mask, extra)
