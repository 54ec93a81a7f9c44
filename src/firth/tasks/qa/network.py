"""A network that points at the answer to a question in a passage: attention flow with self-attention.

The design is that of Clark and Gardner (2017), which the ELMo paper lifts with its vectors:

    read       one GRU for the passage and the question; ELMo's second mix joins what it says
    ask        each word of the passage attends to the question, and the passage as a whole to its words that matter
    reread     a GRU, then each word attends to all the other words of the passage; the result is added
    point      a GRU scores the words as first of the answer; a second one, which hears the first, as last
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from firth.tasks.inputs import Sizes, Text
from firth.tasks.layers import Bidirectional, VariationalDropout, masked_softmax
from firth.tasks.qa import windows
from firth.tasks.qa.data import Place, QaExample


class Trilinear(nn.Module):
    """a_ij = u · h_i + v · q_j + w · (h_i ⊙ q_j), computed without the three-way product."""

    def __init__(self, size: int) -> None:
        super().__init__()
        edge = (6 / (3 * size + 1)) ** 0.5
        self.u, self.v, self.w = (nn.Parameter(torch.empty(size).uniform_(-edge, edge)) for _ in range(3))

    def forward(self, h: Tensor, q: Tensor) -> Tensor:
        """The scores (batch, m, n) of h (batch, m, size) against q (batch, n, size)."""
        scores: Tensor = (h @ self.u)[:, :, None] + (q @ self.v)[:, None, :] + (h * self.w) @ q.transpose(1, 2)
        return scores


class AttentionFlow(nn.Module):
    """What the question says to each word of the passage: [h_i; c_i; h_i ⊙ c_i; d ⊙ c_i], through a layer of relu.

    c_i is the mean of the question's words, weighted by softmax_j(a_ij); d is the mean of the passage's words,
    weighted by softmax_i(max_j a_ij).
    """

    def __init__(self, size: int, out: int) -> None:
        super().__init__()
        self.score = Trilinear(size)
        self.merge = nn.Linear(4 * size, out)

    def forward(self, h: Tensor, q: Tensor, h_mask: Tensor, q_mask: Tensor) -> Tensor:
        scores = self.score(h, q)  # (batch, passage, question)
        c = masked_softmax(scores, q_mask[:, None, :]) @ q
        best = scores.masked_fill(~q_mask[:, None, :], torch.finfo(scores.dtype).min).amax(2)
        d = masked_softmax(best, h_mask)[:, None, :] @ h  # (batch, 1, size)
        return functional.relu(self.merge(torch.cat([h, c, h * c, d * c], 2)))


class SelfAttention(nn.Module):
    """What the rest of the passage says to each word: [h_i; c_i; h_i ⊙ c_i], through a layer of relu.

    c_i is the mean of the other words, weighted by softmax_j(a_ij), i ≠ j. In a softmax over j the term u · h_i of a_ij
    falls out, so a_ij is the product of (w ⊙ h_i + v) with h_j. That is what torch's fused attention computes, which
    keeps no share of the square of the passage's length but the mask.
    """

    def __init__(self, size: int, out: int) -> None:
        super().__init__()
        edge = (6 / (3 * size + 1)) ** 0.5
        self.v, self.w = (nn.Parameter(torch.empty(size).uniform_(-edge, edge)) for _ in range(2))
        self.merge = nn.Linear(3 * size, out)

    def forward(self, h: Tensor, mask: Tensor) -> Tensor:
        asked, keys = (h * self.w + self.v)[:, None], h[:, None]  # (batch, 1, time, size): one head
        allowed = self_attention_mask(mask)[:, None]
        c = functional.scaled_dot_product_attention(asked, keys, keys, attn_mask=allowed, scale=1.0)[:, 0]
        return functional.relu(self.merge(torch.cat([h, c, h * c], 2)))


def self_attention_mask(mask: Tensor) -> Tensor:
    """Which words a word may attend to: all but itself. The only word of a passage has nothing else.

    >>> self_attention_mask(torch.tensor([[True, True, False], [True, False, False]])).int().tolist()
    [[[0, 1, 0], [1, 0, 0], [1, 1, 0]], [[1, 0, 0], [1, 0, 0], [1, 0, 0]]]
    """
    time = mask.shape[1]
    itself = torch.eye(time, dtype=torch.bool, device=mask.device)
    alone = mask.sum(1) == 1
    return mask[:, None, :] & (~itself | alone[:, None, None])


class QaNetwork(nn.Module):
    """The whole network. Its scores are those of each word of the passage as first and as last of the answer."""

    def __init__(
        self, sizes: Sizes, *, hidden: int, dropout: float, answer_words: int, longest: int, overlap: int
    ) -> None:
        super().__init__()
        self.answer_words, self.longest, self.overlap = answer_words, longest, overlap
        out = 2 * hidden
        self.dropout = VariationalDropout(dropout)
        self.reader = Bidirectional(sizes.input, hidden, kind="gru", dropout=dropout)
        self.flow = AttentionFlow(out + sizes.extra, out)
        self.rereader = Bidirectional(out, hidden, kind="gru", dropout=dropout)
        self.attention = SelfAttention(out, out)
        self.first_reader = Bidirectional(out, hidden, kind="gru", dropout=dropout)
        self.last_reader = Bidirectional(2 * out, hidden, kind="gru", dropout=dropout)
        self.first, self.last = nn.Linear(out, 1), nn.Linear(out, 1)
        for layer in (self.flow.merge, self.attention.merge, self.first, self.last):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, passage: Text, question: Text) -> tuple[Tensor, Tensor]:
        """Log-odds (batch, time) of each word as first and as last word of the answer; very low beyond the passage."""
        h, q = (self.dropout(self._read(text)) for text in (passage, question))
        x = self.flow(h, q, passage.mask, question.mask)  # (batch, time, 2 · hidden)
        reread = self.dropout(self.rereader(x, passage.lengths))
        x = x + self.attention(reread, passage.mask)
        heard = self.first_reader(x, passage.lengths)
        heard_again = self.last_reader(torch.cat([x, heard], 2), passage.lengths)
        lowest = torch.finfo(x.dtype).min
        first, last = self.first(heard), self.last(heard_again)
        return first.squeeze(2).masked_fill(~passage.mask, lowest), last.squeeze(2).masked_fill(~passage.mask, lowest)

    def _read(self, text: Text) -> Tensor:
        return text.with_extra(self.reader(text.vectors, text.lengths))

    def loss(self, texts: tuple[Text, ...], examples: Sequence[QaExample]) -> Tensor:
        """−log p(first) − log p(last), the mean of the batch; each p is summed over all places of the answer.

        Of a passage that is too long, the window is taken that has the answer nearest to its middle.
        """
        passage, question = texts
        lengths = passage.lengths.tolist()
        sides = self.longest, self.overlap
        begins = [windows.choose_window(length, *sides, *one.spans[0]) for length, one in zip(lengths, examples)]
        if max(lengths) > self.longest:
            passage = windows.cut_windows(passage, range(len(lengths)), begins, self.longest)
        first, last = self(passage, question)
        shape = first.shape
        firsts, lasts = torch.zeros(shape, dtype=torch.bool), torch.zeros(shape, dtype=torch.bool)
        for row, (begin, length, example) in enumerate(zip(begins, passage.lengths.tolist(), examples)):
            for number, (start, end) in enumerate(example.spans):
                inside = begin <= start and end < begin + length
                if inside or number == 0:  # the window was chosen for this one, which may be longer than the window
                    firsts[row, max(start - begin, 0)] = lasts[row, min(end - begin, length - 1)] = True
        return marginal_loss(first, firsts) + marginal_loss(last, lasts)

    def answers(self, texts: tuple[Text, ...], examples: Sequence[QaExample]) -> list[dict[str, Any]]:
        """The likeliest piece of each passage: its text, its characters start:end, and its probability.

        A passage that is too long is answered window by window, and the best score of all windows wins. As many
        windows are looked at together as there are examples, so that memory has the bound it has in training.
        """
        passage, question = texts
        begins = [windows.window_starts(length, self.longest, self.overlap) for length in passage.lengths.tolist()]
        places = [(row, begin) for row, all_of_row in enumerate(begins) for begin in all_of_row]
        found: list[tuple[Any, ...]] = []
        for at in range(0, len(places), len(examples)):
            rows, chosen = zip(*places[at : at + len(examples)])
            asked = windows.cut_windows(question, rows, [0] * len(rows), int(question.lengths.max()))
            first, last = self(windows.cut_windows(passage, rows, chosen, self.longest), asked)
            found += zip(rows, chosen, *best_span(first, last, self.answer_words), *_totals(first, last))
        return [_answer(example, [one for one in found if one[0] == row]) for row, example in enumerate(examples)]


def marginal_loss(scores: Tensor, gold: Tensor) -> Tensor:
    """−log Σ p over the gold places, the mean of the rows, where p is the softmax of the scores (batch, time).

    >>> marginal_loss(torch.zeros(1, 4), torch.tensor([[True, False, True, False]])).exp().item()
    2.0
    """
    chosen = scores.masked_fill(~gold.to(scores.device), torch.finfo(scores.dtype).min)
    return (scores.logsumexp(1) - chosen.logsumexp(1)).mean()


def best_span(first: Tensor, last: Tensor, longest: int) -> tuple[list[int], list[int], list[float]]:
    """The words from and to which first + last is highest, to not before from, at most so many words; and that sum.

    >>> best_span(torch.tensor([[0.0, 5.0, 1.0]]), torch.tensor([[9.0, 0.0, 2.0]]), 2)
    ([0], [0], [9.0])
    """
    time = first.shape[1]
    padded = functional.pad(last, (0, longest - 1), value=torch.finfo(last.dtype).min)
    ends, lengths = padded.unfold(1, longest, 1).max(2)  # (batch, time): the best end for each beginning
    sums, begins = (first + ends).max(1)
    stops = begins + lengths.gather(1, begins[:, None]).squeeze(1)
    return begins.tolist(), stops.clamp(max=time - 1).tolist(), sums.tolist()


def _totals(first: Tensor, last: Tensor) -> tuple[list[float], list[float]]:
    return first.logsumexp(1).tolist(), last.logsumexp(1).tolist()


def _answer(example: QaExample, found: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """The best of an example's windows, each (row, begin, first, last, score, total of firsts, total of lasts)."""
    _, begin, first, last, score, *_ = max(found, key=lambda one: float(one[4]))
    totals = torch.tensor([one[5:] for one in found]).logsumexp(0).sum().item()
    span: Place = (begin + first, begin + last)
    start, end = example.passage.places[span[0]][0], example.passage.places[span[1]][1]
    probability = torch.tensor(score - totals).exp().item()
    return {"text": example.passage.text[start:end], "start": start, "end": end, "probability": probability}
