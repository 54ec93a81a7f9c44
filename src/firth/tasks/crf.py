"""A linear-chain conditional random field: the tags of a sentence are chosen together, not word by word.

A sequence of tags scores what its words score, plus what stands between each tag and the next:

    score(tags) = begin[tag 0] + Σ words[t, tag t] + Σ follow[tag t-1, tag t] + end[tag n]

Its probability is exp(score) over the sum of exp(score) of all sequences, which one pass over the words computes. A
sequence that the scheme of tags forbids has no probability, in training as in use, so none is ever answered.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from firth.tasks.tags import Scheme, allowed_transitions, tag_list

NEVER = -1e4  # exp of it is 0, and a sum of it stays a number, as that of -inf would not


@dataclass(frozen=True)
class Transitions:
    """What stands between tags: scores (n) at the beginning, (n, n) [before, after], and (n) at the end."""

    begin: Tensor
    follow: Tensor
    end: Tensor

    @classmethod
    def of(cls, labels: list[str], scheme: Scheme) -> Transitions:
        """0 where the scheme allows a tag of these labels, and NEVER where it does not."""
        begin, follow, end = (torch.tensor(part) for part in allowed_transitions(tag_list(labels, scheme), scheme))
        zero = torch.tensor(0.0)
        return cls(*(torch.where(part, zero, NEVER) for part in (begin, follow, end)))


class Crf(nn.Module):
    """The scores between tags, as parameters; those of forbidden neighbors are never used.

    >>> crf = Crf(["PER"], "BIO")  # O, B-PER, I-PER
    >>> words = torch.tensor([[[0.0, 1.0, 3.0], [0.0, 1.0, 3.0]]])
    >>> crf.best(words, torch.ones(1, 2, dtype=torch.bool)).tolist()  # no sentence begins with I
    [[1, 2]]
    """

    begin_mask: Tensor
    follow_mask: Tensor
    end_mask: Tensor

    def __init__(self, labels: list[str], scheme: Scheme) -> None:
        super().__init__()
        masks = Transitions.of(labels, scheme)
        count = len(masks.begin)
        self.begin, self.end = nn.Parameter(torch.zeros(count)), nn.Parameter(torch.zeros(count))
        self.follow = nn.Parameter(torch.zeros(count, count))
        for name in ("begin", "follow", "end"):
            self.register_buffer(f"{name}_mask", getattr(masks, name), persistent=False)

    @property
    def chain(self) -> Transitions:
        """The scores between tags, with those that the scheme forbids far down."""
        return Transitions(self.begin + self.begin_mask, self.follow + self.follow_mask, self.end + self.end_mask)

    def log_likelihood(self, words: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """log p(tags) of each sentence, (batch), from the words' scores (batch, time, n) and tags (batch, time)."""
        chain = self.chain
        return score_tags(chain, words, tags, mask) - log_partition(chain, words, mask)

    def best(self, words: Tensor, mask: Tensor) -> Tensor:
        """The most probable tags, (batch, time), 0 beyond a sentence's end."""
        return viterbi(self.chain, words, mask)


def score_tags(chain: Transitions, words: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
    """What given tags score, (batch). A sentence without words scores 0."""
    inside = mask.to(words.dtype)
    total = (words.gather(2, tags[:, :, None])[:, :, 0] * inside).sum(1)
    total = total + (chain.follow[tags[:, :-1], tags[:, 1:]] * inside[:, 1:]).sum(1)
    last = (mask.sum(1) - 1).clamp(min=0)
    final = tags.gather(1, last[:, None])[:, 0]
    return total + (chain.begin[tags[:, 0]] + chain.end[final]) * inside[:, 0]


def log_partition(chain: Transitions, words: Tensor, mask: Tensor) -> Tensor:
    """log Σ exp(score) over all sequences of tags, (batch)."""
    so_far = chain.begin + words[:, 0]  # (batch, n): of all beginnings that end in this tag
    for t in range(1, words.shape[1]):
        further = torch.logsumexp(so_far[:, :, None] + chain.follow, 1) + words[:, t]
        so_far = torch.where(mask[:, t, None], further, so_far)
    return torch.logsumexp(so_far + chain.end, 1) * mask[:, 0]


def viterbi(chain: Transitions, words: Tensor, mask: Tensor) -> Tensor:
    """The tags of the highest score, (batch, time), 0 beyond a sentence's end.

    The way back is followed for all sentences at once, so that a GPU is never asked for a number in between.
    """
    batch, time, count = words.shape
    so_far = chain.begin + words[:, 0]  # (batch, n): of the best beginning that ends in this tag
    stay = torch.arange(count, device=words.device).expand(batch, count)
    came_from = []  # for each step the tag before the best, (batch, n)
    for t in range(1, time):
        best, before = (so_far[:, :, None] + chain.follow).max(1)
        inside = mask[:, t, None]
        so_far = torch.where(inside, best + words[:, t], so_far)
        came_from.append(torch.where(inside, before, stay))
    tags = [(so_far + chain.end).argmax(1)]
    for before in reversed(came_from):
        tags.append(before.gather(1, tags[-1][:, None])[:, 0])
    return torch.stack(tags[::-1], 1) * mask
