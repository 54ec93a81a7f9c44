"""Two networks for a pair of texts, which both align the words of the texts and compare each word with its alignment.

ESIM (Chen et al. 2017) has LSTMs before and after. Decomposable attention (Parikh et al. 2016) ignores the order of
words; it is smaller and faster.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from firth.tasks.inputs import Sizes, Text
from firth.tasks.labels import LabelNetwork
from firth.tasks.layers import Bidirectional, initialize_linear, masked_softmax, pool


class Esim(LabelNetwork):
    """Encode, align, compare, compose, pool, classify.

        a, b = biLSTM(premise), biLSTM(hypothesis)                          shared weights
        e_ij = a_i · b_j,   ã_i = Σ_j softmax_j(e_ij) b_j                   and b̃ likewise
        m_i  = relu(F [a_i; ã_i; a_i − ã_i; a_i ⊙ ã_i])
        v    = [mean; max] over time of a second biLSTM over m
        logits: a tanh layer over both v, then a linear layer

    ELMo's second mix is concatenated to a and b.
    """

    def __init__(self, sizes: Sizes, labels: Sequence[str], hidden: int, dropout: float, *, variational: bool) -> None:
        super().__init__(labels)
        lstm_dropout = dropout if variational else 0.0
        self.reader = Bidirectional(sizes.input, hidden, dropout=lstm_dropout)
        self.comparison = nn.Linear(4 * (2 * hidden + sizes.extra), hidden)
        self.composition = Bidirectional(hidden, hidden, dropout=lstm_dropout)
        self.dropout = nn.Dropout(0.0 if variational else dropout)  # before each LSTM, where these have none
        self.judge = nn.Sequential(
            *(nn.Dropout(dropout), nn.Linear(8 * hidden, hidden), nn.Tanh()),
            *(nn.Dropout(dropout), nn.Linear(hidden, len(labels))),
        )
        initialize_linear(*(layer for layer in self.modules() if isinstance(layer, nn.Linear)))

    def forward(self, premise: Text, hypothesis: Text) -> Tensor:
        """The logits of the labels, (batch, labels)."""
        texts = premise, hypothesis
        encoded = self._encode(self.reader, texts, [text.vectors for text in texts])
        a, b = (text.with_extra(hidden) for text, hidden in zip(texts, encoded))  # (batch, time, 2 · hidden + extra)
        aligned_a, aligned_b = align(a @ b.transpose(1, 2), a, b, premise.mask, hypothesis.mask)
        compared = [torch.cat([x, y, x - y, x * y], 2) for x, y in ((a, aligned_a), (b, aligned_b))]
        composed = self._encode(self.composition, texts, [functional.relu(self.comparison(one)) for one in compared])
        pools = [pool(hidden, text.mask, how) for text, hidden in zip(texts, composed) for how in ("mean", "max")]
        logits: Tensor = self.judge(torch.cat(pools, 1))
        return logits

    def _encode(self, lstm: Bidirectional, texts: tuple[Text, Text], inputs: list[Tensor]) -> list[Tensor]:
        """The hidden states of both texts, run as one batch, which takes no longer than the longer text alone."""
        time = max(one.shape[1] for one in inputs)
        batch = torch.cat([functional.pad(one, (0, 0, 0, time - one.shape[1])) for one in inputs])
        hidden = lstm(self.dropout(batch), torch.cat([text.lengths for text in texts]))
        halves = hidden.split([len(one) for one in inputs])
        return [half[:, : one.shape[1]] for half, one in zip(halves, inputs)]


class DecomposableAttention(LabelNetwork):
    """Attend, compare, aggregate; no RNN.

        a, b = projections of the word vectors, normalized to unit length
        e_ij = F(a_i) · F(b_j),   ã_i = Σ_j softmax_j(e_ij) b_j
        v    = Σ_i G([a_i; ã_i])
        logits: H([v_a; v_b]); F, G and H have two relu layers each

    ELMo's second mix is concatenated to a and b before the comparison.
    """

    def __init__(self, sizes: Sizes, labels: Sequence[str], hidden: int, dropout: float) -> None:
        super().__init__(labels)
        self.projection = nn.Linear(sizes.input, hidden, bias=False)
        size = hidden + sizes.extra
        self.attending = feed_forward(hidden, hidden, dropout)
        self.comparison = feed_forward(2 * size, hidden, dropout)
        self.judge = nn.Sequential(feed_forward(2 * hidden, hidden, dropout), nn.Linear(hidden, len(labels)))
        initialize_linear(*(layer for layer in self.modules() if isinstance(layer, nn.Linear)))

    def forward(self, premise: Text, hypothesis: Text) -> Tensor:
        """The logits of the labels, (batch, labels)."""
        # Unit length, as in the paper: longer vectors would make the first alignments hard choices.
        a, b = (self.projection(functional.normalize(text.vectors, dim=2)) for text in (premise, hypothesis))
        values = premise.with_extra(a), hypothesis.with_extra(b)
        scores = self.attending(a) @ self.attending(b).transpose(1, 2)
        aligned_a, aligned_b = align(scores, *values, premise.mask, hypothesis.mask)
        compared_a = self.comparison(torch.cat([values[0], aligned_a], 2))
        compared_b = self.comparison(torch.cat([values[1], aligned_b], 2))
        sums = torch.cat([pool(compared_a, premise.mask, "sum"), pool(compared_b, hypothesis.mask, "sum")], 1)
        logits: Tensor = self.judge(sums)
        return logits


def align(scores: Tensor, a: Tensor, b: Tensor, a_mask: Tensor, b_mask: Tensor) -> tuple[Tensor, Tensor]:
    """For each word of a the mean of b's words, weighted by the softmax of the scores; and for b those of a.

    >>> a, b = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[5.0, 0.0], [0.0, 3.0]]])
    >>> both = torch.ones(1, 2, dtype=torch.bool)
    >>> aligned_a, aligned_b = align(torch.zeros(1, 1, 2), a, b, both[:, :1], both)
    >>> aligned_a.tolist()[0], aligned_b.tolist()[0]
    ([[2.5, 1.5]], [[1.0, 2.0], [1.0, 2.0]])
    """
    aligned_a = masked_softmax(scores, b_mask[:, None, :], 2) @ b
    aligned_b = masked_softmax(scores, a_mask[:, :, None], 1).transpose(1, 2) @ a
    return aligned_a, aligned_b


def feed_forward(size: int, hidden: int, dropout: float) -> nn.Sequential:
    """Two relu layers, with dropout after each."""
    return nn.Sequential(
        *(nn.Linear(size, hidden), nn.ReLU(), nn.Dropout(dropout)),
        *(nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(dropout)),
    )
