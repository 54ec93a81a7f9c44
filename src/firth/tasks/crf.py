"""A linear-chain conditional random field (Lafferty et al. 2001): the tags of a sentence are predicted jointly.

The score of a tag sequence is the sum of its emissions (the logits of the words) and of its transitions:

    score(tags) = begin[tag 0] + Σ emissions[t, tag t] + Σ follow[tag t-1, tag t] + end[tag n]

Its probability is exp(score) over the sum of exp(score) of all sequences, which one pass over the words computes. A
sequence that the tag scheme forbids has probability 0, in training and in decoding.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from firth.tasks.tags import Scheme, allowed_transitions, tag_list

NEVER = -1e4  # its exp is 0, and sums of it stay finite, unlike those of -inf


@dataclass(frozen=True)
class Transitions:
    """The transition scores: (n) for the first tag, (n, n) [before, after], and (n) for the last tag."""

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
    """A CRF layer. Its parameters are the transition scores; the tag scheme masks forbidden transitions.

    >>> crf = Crf(["PER"], "BIO")  # O, B-PER, I-PER
    >>> emissions = torch.tensor([[[0.0, 1.0, 3.0], [0.0, 1.0, 3.0]]])
    >>> crf.best(emissions, torch.ones(1, 2, dtype=torch.bool)).tolist()  # no sentence begins with I
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
    def transitions(self) -> Transitions:
        """The transition scores, with the mask of the scheme added."""
        return Transitions(self.begin + self.begin_mask, self.follow + self.follow_mask, self.end + self.end_mask)

    def log_likelihood(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """log p(tags) of each sentence, (batch), from emissions (batch, time, n) and tags (batch, time)."""
        transitions = self.transitions
        return score_tags(transitions, emissions, tags, mask) - log_partition(transitions, emissions, mask)

    def best(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """The most probable tags, (batch, time), 0 beyond a sentence's end."""
        return viterbi(self.transitions, emissions, mask)


def score_tags(transitions: Transitions, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
    """The score of tag sequences, (batch). A sentence without words scores 0."""
    inside = mask.to(emissions.dtype)
    total = (emissions.gather(2, tags[:, :, None])[:, :, 0] * inside).sum(1)
    total = total + (transitions.follow[tags[:, :-1], tags[:, 1:]] * inside[:, 1:]).sum(1)
    last = (mask.sum(1) - 1).clamp(min=0)
    last_tags = tags.gather(1, last[:, None])[:, 0]
    return total + (transitions.begin[tags[:, 0]] + transitions.end[last_tags]) * inside[:, 0]


def log_partition(transitions: Transitions, emissions: Tensor, mask: Tensor) -> Tensor:
    """log Σ exp(score) over all tag sequences, (batch): the forward algorithm."""
    alpha = transitions.begin + emissions[:, 0]  # (batch, n): of all sequences that end in this tag
    for t in range(1, emissions.shape[1]):
        extended = torch.logsumexp(alpha[:, :, None] + transitions.follow, 1) + emissions[:, t]
        alpha = torch.where(mask[:, t, None], extended, alpha)
    return torch.logsumexp(alpha + transitions.end, 1) * mask[:, 0]


def viterbi(transitions: Transitions, emissions: Tensor, mask: Tensor) -> Tensor:
    """The tags with the highest score, (batch, time), 0 beyond a sentence's end.

    The back-pointers of all sentences are followed together, so that no value is transferred from a GPU in between.
    """
    batch, time, count = emissions.shape
    scores = transitions.begin + emissions[:, 0]  # (batch, n): of the best sequence that ends in this tag
    same_tag = torch.arange(count, device=emissions.device).expand(batch, count)
    back_pointers = []  # for each step the best previous tag, (batch, n)
    for t in range(1, time):
        best, previous = (scores[:, :, None] + transitions.follow).max(1)
        inside = mask[:, t, None]
        scores = torch.where(inside, best + emissions[:, t], scores)
        back_pointers.append(torch.where(inside, previous, same_tag))
    tags = [(scores + transitions.end).argmax(1)]
    for previous in reversed(back_pointers):
        tags.append(previous.gather(1, tags[-1][:, None])[:, 0])
    return torch.stack(tags[::-1], 1) * mask
