"""A linear-chain conditional random field (Lafferty et al. 2001): the tags of a sentence are predicted jointly.

The score of a tag sequence is the sum of its emissions (the logits of the words) and of its transitions:

    score(tags) = begin[tag 0] + Σ emissions[t, tag t] + Σ follow[tag t-1, tag t] + end[tag n]

Its probability is exp(score) over the sum of exp(score) of all sequences, which one pass over the words computes. A
sequence that the tag scheme forbids has probability 0, in training and in decoding.

The probability of a span is the sum of the probabilities of all sequences that contain exactly this span. The passes
forward and backward give it (Rabiner 1989): with α the sum over the words up to its first tag, β over those after its
last, and the score of its own tags between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from firth.errors import OptionError
from firth.neural.device import work_sizes
from firth.tasks.tags import Scheme, Span, allowed_transitions, split_tag, tag_list

TINY = 1e-300  # keeps a logarithm finite
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

    def cpu(self) -> Transitions:
        """The same scores on the CPU."""
        return Transitions(self.begin.cpu(), self.follow.cpu(), self.end.cpu())


class Crf(nn.Module):
    """A CRF layer. Its parameters are the transition scores; the tag scheme masks forbidden transitions.

    >>> crf = Crf(["PER"], "BIO")  # O, B-PER, I-PER
    >>> emissions = torch.tensor([[[0.0, 1.0, 3.0], [0.0, 1.0, 3.0]]])
    >>> viterbi(crf.transitions, emissions, torch.ones(1, 2, dtype=torch.bool)).tolist()  # no sentence begins with I
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
        is_small = emissions.numel() * emissions.shape[2] ** 2 <= work_sizes(emissions.device).joined_scores
        partition = log_partition_by_halves if is_small else log_partition
        return score_tags(transitions, emissions, tags, mask) - partition(transitions, emissions, mask)


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


def log_partition_by_halves(transitions: Transitions, emissions: Tensor, mask: Tensor) -> Tensor:
    """As `log_partition`: neighboring steps are joined until one is left, which takes few and large operations.

    A step is a matrix, the scores of each tag after each tag. A word beyond the end of a sentence changes no tag.

    >>> transitions, emissions = Transitions.of(["PER"], "BIO"), torch.randn(2, 5, 3)
    >>> mask = torch.tensor([[True] * 5, [True, True, False, False, False]])
    >>> both = [log(transitions, emissions, mask) for log in (log_partition, log_partition_by_halves)]
    >>> torch.allclose(*both, atol=1e-5)
    True
    """
    stay = torch.full_like(transitions.follow, NEVER).fill_diagonal_(0)
    steps = torch.where(mask[:, 1:, None, None], transitions.follow + emissions[:, 1:, None], stay)
    while steps.shape[1] > 1:
        if steps.shape[1] % 2:
            steps = torch.cat([steps, stay.expand(len(steps), 1, -1, -1)], 1)
        steps = torch.logsumexp(steps[:, 0::2, :, :, None] + steps[:, 1::2, None], 3)
    alpha = transitions.begin + emissions[:, 0]
    if steps.shape[1]:
        alpha = torch.logsumexp(alpha[:, :, None] + steps[:, 0], 1)
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


def forward_backward(transitions: Transitions, emissions: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """log α and log β, (batch, time, n), in float64.

    α is the sum of exp(score) of all beginnings of a sequence that end in a tag of a word, its emission included; β of
    all continuations after it. Sums are products with a matrix of exp(transition), and are scaled at each word.
    """
    emissions = emissions.double()
    largest = emissions.amax(2, keepdim=True)
    likelihoods = torch.exp(emissions - largest)
    begin, follow, end = (torch.exp(part.double()) for part in (transitions.begin, transitions.follow, transitions.end))
    time = emissions.shape[1]
    alpha, scale = begin * likelihoods[:, 0], largest[:, 0]
    alphas = []
    for t in range(time):
        if t:
            alpha, scale = (alpha @ follow) * likelihoods[:, t], scale + largest[:, t]
        total = alpha.sum(1, keepdim=True).clamp(min=TINY)
        alpha, scale = alpha / total, scale + total.log()
        alphas.append(alpha.log() + scale)
    is_last = torch.arange(time, device=mask.device) == mask.sum(1, keepdim=True) - 1  # (batch, time)
    beta, scale = end.expand(len(emissions), -1), torch.zeros_like(largest[:, 0])
    betas = [beta.log() + scale]
    for t in range(time - 2, -1, -1):
        extended, grown = (likelihoods[:, t + 1] * beta) @ follow.T, scale + largest[:, t + 1]
        total = extended.sum(1, keepdim=True).clamp(min=TINY)
        ends = is_last[:, t, None]
        beta = torch.where(ends, end, extended / total)
        scale = torch.where(ends, torch.zeros_like(scale), grown + total.log())
        betas.append(beta.log() + scale)
    return torch.stack(alphas, 1), torch.stack(betas[::-1], 1)


@torch.no_grad()
def span_probabilities(
    transitions: Transitions,
    emissions: Tensor,
    mask: Tensor,
    tags: Tensor,
    spans: Sequence[Sequence[Span]],
    names: Sequence[str],
) -> list[list[float]]:
    """The probability of each span of each sentence: that its words have their `tags`, and that it ends there.

    >>> transitions = Transitions.of(["PER"], "BIO")  # no scores: all sequences that BIO allows are equally likely
    >>> tags, mask = torch.tensor([[1, 0]]), torch.ones(1, 2, dtype=torch.bool)
    >>> spans, names = [[Span("PER", 0, 1)]], tag_list(["PER"])
    >>> shares = span_probabilities(transitions, torch.zeros(1, 2, 3), mask, tags, spans, names)
    >>> round(shares[0][0], 6)  # B O, B B; not B I, O O, O B
    0.4
    """
    if not any(spans):
        return [[] for _ in spans]
    log_alpha, log_beta = (part.cpu().numpy() for part in forward_backward(transitions, emissions, mask))
    emitted = emissions.double().cpu().numpy()
    follow, end = transitions.follow.double().cpu().numpy(), transitions.end.double().cpu().numpy()
    begins_anew = np.array([split_tag(name)[0] not in "IE" for name in names])
    lengths, ids = mask.sum(1).tolist(), tags.tolist()
    probabilities: list[list[float]] = []
    for row, found in enumerate(spans):
        shares = []
        for span in found:
            path = ids[row][span.start : span.end]
            score = log_alpha[row, span.start, path[0]]
            for t, (before, after) in enumerate(pairwise(path), span.start + 1):
                score += follow[before, after] + emitted[row, t, after]
            if span.end == lengths[row]:
                score += end[path[-1]]
            else:
                after_it = follow[path[-1]] + emitted[row, span.end] + log_beta[row, span.end]
                score += np.logaddexp.reduce(after_it[begins_anew])
            total = np.logaddexp.reduce(log_alpha[row, lengths[row] - 1] + end)
            share = float(np.exp(score - total))
            if np.isnan(share):
                raise OptionError("the probability of a span is NaN: the scores of its tags are beyond all sense")
            shares.append(min(1.0, share))
        probabilities.append(shares)
    return probabilities
