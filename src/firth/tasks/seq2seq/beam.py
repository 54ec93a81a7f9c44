"""Beam search: the likeliest text, word by word, with the best few prefixes at each step.

It is independent of networks: a function gives the log-probabilities of the next words and the next state. With a beam
of one it is greedy search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, Self, TypeVar

import torch
from torch import Tensor


class SearchState(Protocol):
    """The decoder state of each row."""

    def rows(self, places: Tensor) -> Self:
        """The state of these rows, in this order."""


State = TypeVar("State", bound=SearchState)


class Beam(NamedTuple):
    """The texts of each source, the best first: their words, -1 after the end, and their scores."""

    words: Tensor  # (sources, width, time)
    scores: Tensor  # (sources, width)


def search(
    step: Callable[[Tensor, State], tuple[Tensor, State]],
    state: State,
    begins: Tensor,
    *,
    end: int,
    width: int,
    longest: int,
    penalty: float,
) -> Beam:
    """The best texts of each source; `begins` (sources) has the word before the first of each.

    `step(words, state)` takes the last word of each row and gives the log-probabilities (rows, words) of the next;
    rows are sources × width, those of one source adjacent. Texts are compared by log P / length ** penalty, with the
    end counted: 0 favors short texts, 1 compares the mean log P of a word.
    """
    sources, device = len(begins), begins.device
    first_rows = torch.arange(sources, device=device)[:, None] * width
    last = begins.repeat_interleave(width)
    totals = torch.full((sources, width), -torch.inf, device=device)
    totals[:, 0] = 0  # at first all rows of a source are equal, so that only one may count
    lengths = torch.zeros(sources, width, device=device)
    done = torch.zeros(sources, width, dtype=torch.bool, device=device)
    scores = totals
    steps: list[tuple[Tensor, Tensor]] = []  # of each step: the row that each text continues, and its word
    for time in range(longest + 1):
        log_probs, state = step(last, state)
        log_probs = restrict(log_probs.reshape(sources, width, -1), done, end, is_last=time == longest)
        words = log_probs.shape[2]
        new_totals, new_lengths = totals[:, :, None] + log_probs, lengths + (~done).float()
        scores = (new_totals / new_lengths.clamp(min=1)[:, :, None] ** penalty).reshape(sources, -1)
        scores, best = scores.topk(width, 1)
        beam, word = best // words, best % words
        totals, lengths = new_totals.reshape(sources, -1).gather(1, best), new_lengths.gather(1, beam)
        done = done.gather(1, beam) | (word == end)
        rows, last = (first_rows + beam).reshape(-1), word.reshape(-1)
        state = state.rows(rows)
        steps.append((rows, torch.where(done.reshape(-1), -1, last)))
        if bool(done.all()):
            break
    return Beam(trace_back(steps).reshape(sources, width, -1), scores)


def trace_back(steps: Sequence[tuple[Tensor, Tensor]]) -> Tensor:
    """The words of each row, (rows, time), from those of each step and the rows of the step before that they continue.

    >>> trace_back([(torch.tensor([0, 0]), torch.tensor([5, 6])), (torch.tensor([1, 1]), torch.tensor([7, 8]))])
    tensor([[6, 7],
            [6, 8]])
    """
    rows, words = steps[-1]
    columns = [words]
    for before, earlier in reversed(steps[:-1]):
        columns.append(earlier[rows])
        rows = before[rows]
    return torch.stack(columns[::-1], 1)


def restrict(log_probs: Tensor, done: Tensor, end: int, *, is_last: bool) -> Tensor:
    """Log-probabilities (sources, width, words) by which a finished text only repeats its end, at no cost.

    In the last step every text must end.

    >>> restrict(torch.tensor([[[-1.0, -2.0], [-3.0, -4.0]]]), torch.tensor([[False, True]]), 0, is_last=False)
    tensor([[[-1., -2.],
             [ 0., -inf]]])
    """
    allowed = torch.full_like(log_probs, -torch.inf) if is_last else log_probs.masked_fill(done[:, :, None], -torch.inf)
    allowed[:, :, end] = torch.where(done, 0.0, log_probs[:, :, end])
    return allowed
