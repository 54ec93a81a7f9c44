"""Beam search: the likeliest text, word by word, with the best few beginnings kept at each step.

It knows nothing of networks: a function gives the log-probabilities of the next words, and what is to be remembered.
With a beam of one it is the greedy search.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, Self, TypeVar

import torch
from torch import Tensor


class SearchState(Protocol):
    """What is remembered of each row."""

    def rows(self, places: Tensor) -> Self:
        """The memory of these rows, in this order."""


Remembered = TypeVar("Remembered", bound=SearchState)


class Beam(NamedTuple):
    """The texts of each source, the best first: their words, -1 behind the end, and their scores."""

    words: Tensor  # (sources, width, time)
    scores: Tensor  # (sources, width)


def search(
    step: Callable[[Tensor, Remembered], tuple[Tensor, Remembered]],
    memory: Remembered,
    begins: Tensor,
    *,
    end: int,
    width: int,
    longest: int,
    penalty: float,
) -> Beam:
    """The best texts of sources; `begins` (sources) has the word before the first of each.

    `step(words, memory)` takes the last word of each row and gives the log-probabilities (rows, words) of the next;
    rows are sources × width, those of one source side by side. Texts are compared by log P / length ** penalty, the end
    counted: with 0 the shorter is favoured, with 1 the mean word decides.
    """
    sources, device = len(begins), begins.device
    rows = torch.arange(sources, device=device)[:, None] * width
    last = begins.repeat_interleave(width)
    said = torch.full((sources * width, longest + 1), -1, device=device)
    totals = torch.full((sources, width), -torch.inf, device=device)
    totals[:, 0] = 0  # at first all rows of a source are alike, so that only one may count
    lengths = torch.zeros(sources, width, device=device)
    done = torch.zeros(sources, width, dtype=torch.bool, device=device)
    ranked = totals
    for time in range(longest + 1):
        chances, memory = step(last, memory)
        chances = restrict(chances.reshape(sources, width, -1), done, end, is_last=time == longest)
        words = chances.shape[2]
        grown, longer = totals[:, :, None] + chances, lengths + (~done).float()
        ranked = (grown / longer.clamp(min=1)[:, :, None] ** penalty).reshape(sources, -1)
        ranked, best = ranked.topk(width, 1)
        beam, word = best // words, best % words
        totals, lengths = grown.reshape(sources, -1).gather(1, best), longer.gather(1, beam)
        done = done.gather(1, beam) | (word == end)
        chosen, last = (rows + beam).reshape(-1), word.reshape(-1)
        said, memory = said[chosen], memory.rows(chosen)
        said[:, time] = torch.where(done.reshape(-1), -1, last)
        if bool(done.all()):
            break
    return Beam(said.reshape(sources, width, -1), ranked)


def restrict(chances: Tensor, done: Tensor, end: int, *, is_last: bool) -> Tensor:
    """Log-probabilities (sources, width, words) in which a text that is done only stays so, at no cost.

    In the last step every text has to end.

    >>> restrict(torch.tensor([[[-1.0, -2.0], [-3.0, -4.0]]]), torch.tensor([[False, True]]), 0, is_last=False)
    tensor([[[-1., -2.],
             [ 0., -inf]]])
    """
    kept = torch.full_like(chances, -torch.inf) if is_last else chances.masked_fill(done[:, :, None], -torch.inf)
    kept[:, :, end] = torch.where(done, 0.0, chances[:, :, end])
    return kept
