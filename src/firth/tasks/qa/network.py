"""Bidirectional attention flow with self-attention, after Clark and Gardner (2017).

encode     one GRU for the passage and the question; ELMo's second mix is concatenated to its output
attend     each word of the passage attends to the question, and the question to the passage
self       a GRU, then each word attends to all other words of the passage; the result is added
predict    a GRU scores the words as the first of the answer; a second GRU, on top of the first, as the last
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from firth.tasks.inputs import Sizes, Text
from firth.tasks.layers import Bidirectional, VariationalDropout, initialize_linear, masked_softmax, require_finite
from firth.tasks.qa import windows
from firth.tasks.qa.data import QaExample

if TYPE_CHECKING:
    from firth.tasks.qa.task import Qa


class Trilinear(nn.Module):
    """a_ij = u · h_i + v · q_j + w · (h_i ⊙ q_j), computed without the three-way product."""

    def __init__(self, size: int) -> None:
        super().__init__()
        bound = (6 / (3 * size + 1)) ** 0.5
        self.u, self.v, self.w = (nn.Parameter(torch.empty(size).uniform_(-bound, bound)) for _ in range(3))

    def forward(self, h: Tensor, q: Tensor) -> Tensor:
        """The scores (batch, m, n) of h (batch, m, size) against q (batch, n, size)."""
        scores: Tensor = (h @ self.u)[:, :, None] + (q @ self.v)[:, None, :] + (h * self.w) @ q.transpose(1, 2)
        return scores


class AttentionFlow(nn.Module):
    """Attention between passage and question: relu(W [h_i; c_i; h_i ⊙ c_i; d ⊙ c_i]) for each word of the passage.

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
    """Attention within the passage: relu(W [h_i; c_i; h_i ⊙ c_i]) for each word.

    c_i is the mean of the other words, weighted by softmax_j(a_ij), i ≠ j. In a softmax over j the term u · h_i of a_ij
    cancels, so a_ij is the product of (w ⊙ h_i + v) with h_j. This is the form of torch's fused attention, whose only
    memory quadratic in the length of the passage is the mask.
    """

    def __init__(self, size: int, out: int) -> None:
        super().__init__()
        bound = (6 / (3 * size + 1)) ** 0.5
        self.v, self.w = (nn.Parameter(torch.empty(size).uniform_(-bound, bound)) for _ in range(2))
        self.merge = nn.Linear(3 * size, out)

    def forward(self, h: Tensor, mask: Tensor) -> Tensor:
        queries, keys = (h * self.w + self.v)[:, None], h[:, None]  # (batch, 1, time, size): one head
        attention_mask = self_attention_mask(mask)[:, None]
        c = functional.scaled_dot_product_attention(queries, keys, keys, attn_mask=attention_mask, scale=1.0)[:, 0]
        return functional.relu(self.merge(torch.cat([h, c, h * c], 2)))


def self_attention_mask(mask: Tensor) -> Tensor:
    """Which words a word may attend to: all but itself. The only word of a passage attends to itself.

    >>> self_attention_mask(torch.tensor([[True, True, False], [True, False, False]])).int().tolist()
    [[[0, 1, 0], [1, 0, 0], [1, 1, 0]], [[1, 0, 0], [1, 0, 0], [1, 0, 0]]]
    """
    time = mask.shape[1]
    diagonal = torch.eye(time, dtype=torch.bool, device=mask.device)
    is_single = mask.sum(1) == 1
    return mask[:, None, :] & (~diagonal | is_single[:, None, None])


class QaNetwork(nn.Module):
    """The network of the task: the logits of each word of the passage as the first and as the last of the answer."""

    def __init__(self, sizes: Sizes, task: Qa) -> None:
        super().__init__()
        self.task, hidden, dropout = task, task.hidden, task.dropout
        out = 2 * hidden
        self.dropout = VariationalDropout(dropout)
        self.reader = Bidirectional(sizes.input, hidden, kind="gru", dropout=dropout)
        self.flow = AttentionFlow(out + sizes.extra, out)
        self.rereader = Bidirectional(out, hidden, kind="gru", dropout=dropout)
        self.attention = SelfAttention(out, out)
        self.first_reader = Bidirectional(out, hidden, kind="gru", dropout=dropout)
        self.last_reader = Bidirectional(2 * out, hidden, kind="gru", dropout=dropout)
        self.first, self.last = nn.Linear(out, 1), nn.Linear(out, 1)
        initialize_linear(self.flow.merge, self.attention.merge, self.first, self.last)

    def forward(self, passage: Text, question: Text) -> tuple[Tensor, Tensor]:
        """Logits (batch, time) of each word as the first and as the last of the answer; very low beyond the passage."""
        h, q = (self.dropout(self._encode(text)) for text in (passage, question))
        x = self.flow(h, q, passage.mask, question.mask)  # (batch, time, 2 · hidden)
        hidden = self.dropout(self.rereader(x, passage.lengths))
        x = x + self.attention(hidden, passage.mask)
        first_hidden = self.first_reader(x, passage.lengths)
        last_hidden = self.last_reader(torch.cat([x, first_hidden], 2), passage.lengths)
        lowest = torch.finfo(x.dtype).min
        first, last = self.first(first_hidden), self.last(last_hidden)
        return first.squeeze(2).masked_fill(~passage.mask, lowest), last.squeeze(2).masked_fill(~passage.mask, lowest)

    def _encode(self, text: Text) -> Tensor:
        return text.with_extra(self.reader(text.vectors, text.lengths))

    def loss(self, texts: tuple[Text, ...], examples: Sequence[QaExample]) -> Tensor:
        """−log p(first) − log p(last), the mean over the batch; each p is summed over all gold spans.

        Of a passage longer than a window, the window with the answer nearest to its middle is used.
        """
        passage, question = texts
        lengths = passage.lengths.tolist()
        begins = [
            windows.choose_window(length, self.task.longest, self.task.overlap, *example.spans[0])
            for length, example in zip(lengths, examples)
        ]
        if max(lengths) > self.task.longest:
            passage = windows.cut_windows(passage, range(len(lengths)), begins, self.task.longest)
        first, last = self(passage, question)
        shape = first.shape
        firsts, lasts = torch.zeros(shape, dtype=torch.bool), torch.zeros(shape, dtype=torch.bool)
        for row, (begin, length, example) in enumerate(zip(begins, passage.lengths.tolist(), examples)):
            for number, (start, end) in enumerate(example.spans):
                inside = begin <= start and end < begin + length
                if inside or number == 0:  # the first may be longer than its window
                    firsts[row, max(start - begin, 0)] = lasts[row, min(end - begin, length - 1)] = True
        return marginal_loss(first, firsts) + marginal_loss(last, lasts)

    def answers(self, texts: tuple[Text, ...], examples: Sequence[QaExample]) -> list[dict[str, Any]]:
        """The likeliest span of each passage: an `AnswerSpan` as a dict, and the logits of its first and last word.

        A passage longer than a window is answered window by window, and the best score of all windows wins. A batch
        has as many windows as there are examples, so that memory is bounded as in training.
        """
        passage, question = texts
        places = [
            (row, begin)
            for row, length in enumerate(passage.lengths.tolist())
            for begin in windows.window_starts(length, self.task.longest, self.task.overlap)
        ]
        candidates: list[tuple[Any, ...]] = []
        for at in range(0, len(places), len(examples)):
            rows, begins = zip(*places[at : at + len(examples)])
            questions = windows.cut_windows(question, rows, [0] * len(rows), int(question.lengths.max()))
            first, last = map(
                require_finite, self(windows.cut_windows(passage, rows, begins, self.task.longest), questions)
            )
            totals = first.logsumexp(1).tolist(), last.logsumexp(1).tolist()
            firsts, lasts, scores = best_span(first, last, self.task.answer_words)
            logits = [(first[i, a].item(), last[i, b].item()) for i, (a, b) in enumerate(zip(firsts, lasts))]
            candidates += zip(rows, begins, firsts, lasts, scores, logits, *totals)
        windows_of = [[one for one in candidates if one[0] == row] for row in range(len(examples))]
        return list(map(_best_answer, examples, windows_of))


def marginal_loss(logits: Tensor, gold: Tensor) -> Tensor:
    """−log Σ p over the gold words, the mean over rows, where p is the softmax of the logits (batch, time).

    >>> marginal_loss(torch.zeros(1, 4), torch.tensor([[True, False, True, False]])).exp().item()
    2.0
    """
    gold_logits = logits.masked_fill(~gold.to(logits.device), torch.finfo(logits.dtype).min)
    return (logits.logsumexp(1) - gold_logits.logsumexp(1)).mean()


def best_span(first: Tensor, last: Tensor, longest: int) -> tuple[list[int], list[int], list[float]]:
    """First word, last word and score of the best span of at most `longest` words; a score is first + last.

    >>> best_span(torch.tensor([[0.0, 5.0, 1.0]]), torch.tensor([[9.0, 0.0, 2.0]]), 2)
    ([0], [0], [9.0])
    """
    time = first.shape[1]
    longest = min(longest, time)
    padded = functional.pad(last, (0, longest - 1), value=torch.finfo(last.dtype).min)
    best_last, lengths = padded.unfold(1, longest, 1).max(2)  # (batch, time): for each first word
    scores, firsts = (first + best_last).max(1)
    lasts = firsts + lengths.gather(1, firsts[:, None]).squeeze(1)
    return firsts.tolist(), lasts.clamp(max=time - 1).tolist(), scores.tolist()


def _best_answer(example: QaExample, candidates: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """The best of an example's windows, each (row, begin, first, last, score, logits, totals of firsts and lasts)."""
    _, begin, first, last, score, logits, *_ = max(candidates, key=lambda one: float(one[4]))
    totals = torch.tensor([one[6:] for one in candidates]).logsumexp(0).sum().item()
    probability = min(1.0, math.exp(score - totals))
    span = example.passage.span(begin + first, begin + last + 1, probability)
    return {**span.as_dict(), "logits": list(logits)}
