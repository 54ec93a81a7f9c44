"""Two networks that weigh a premise against a hypothesis, word by word.

Both align every word of one text with a mean of the words of the other, compare the word with what it was aligned to,
and judge the sum of the comparisons. ESIM (Chen et al. 2017) reads the texts with LSTMs before and after; decomposable
attention (Parikh et al. 2016) never looks at the order of words, and is small and quick.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from firth.tasks.inputs import Sizes, Text
from firth.tasks.layers import Bidirectional, masked_softmax, pool


class Pair(Protocol):
    """An example with two texts and, where it is known, a label."""

    @property
    def label(self) -> str | None: ...


class PairNetwork(nn.Module):
    """What judges a pair: a loss and answers from the scores that `forward` gives each label, (batch, labels)."""

    def __init__(self, labels: Sequence[str]) -> None:
        super().__init__()
        self.labels = list(labels)
        self.ids = {label: id for id, label in enumerate(labels)}

    def loss(self, texts: tuple[Text, ...], examples: Sequence[Pair]) -> Tensor:
        """The mean cross-entropy of the labels."""
        premise, hypothesis = texts
        scores = self(premise, hypothesis)
        wanted = [self.ids[example.label] for example in examples if example.label is not None]
        return functional.cross_entropy(scores, torch.tensor(wanted, device=scores.device))

    def answers(self, texts: tuple[Text, ...], examples: Sequence[Pair]) -> list[dict[str, float]]:
        """The probability of every label, the likeliest first."""
        premise, hypothesis = texts
        probabilities = torch.softmax(self(premise, hypothesis), 1).tolist()
        return [dict(sorted(zip(self.labels, row), key=itemgetter(1), reverse=True)) for row in probabilities]


class Esim(PairNetwork):
    """Read, align, compare, read again, pool, judge.

        a, b = LSTM(premise), LSTM(hypothesis)                              one LSTM for both
        e_ij = a_i · b_j,   ã_i = Σ_j softmax_j(e_ij) b_j                   and b̃ the other way
        m_i  = relu(F [a_i; ã_i; a_i − ã_i; a_i ⊙ ã_i])
        v    = [mean; max] of a second LSTM's reading of m
        tanh layer over the v of both, then a score for each label

    ELMo's second mix joins a and b.
    """

    def __init__(self, sizes: Sizes, labels: Sequence[str], hidden: int, dropout: float, *, variational: bool) -> None:
        super().__init__(labels)
        reading = dropout if variational else 0.0
        self.reader = Bidirectional(sizes.input, hidden, dropout=reading)
        self.comparison = nn.Linear(4 * (2 * hidden + sizes.extra), hidden)
        self.composition = Bidirectional(hidden, hidden, dropout=reading)
        self.dropout = nn.Dropout(0.0 if variational else dropout)  # before each LSTM, where they have none
        self.judge = nn.Sequential(
            *(nn.Dropout(dropout), nn.Linear(8 * hidden, hidden), nn.Tanh()),
            *(nn.Dropout(dropout), nn.Linear(hidden, len(labels))),
        )
        initialize(self)

    def forward(self, premise: Text, hypothesis: Text) -> Tensor:
        """The scores of the labels, (batch, labels)."""
        texts = premise, hypothesis
        read = self._read(self.reader, texts, [text.vectors for text in texts])
        a, b = (text.with_extra(said) for text, said in zip(texts, read))  # (batch, time, 2 · hidden + extra)
        other_a, other_b = align(a @ b.transpose(1, 2), a, b, premise.mask, hypothesis.mask)
        compared = [torch.cat([x, y, x - y, x * y], 2) for x, y in ((a, other_a), (b, other_b))]
        composed = self._read(self.composition, texts, [functional.relu(self.comparison(one)) for one in compared])
        pools = [pool(one, text.mask, how) for text, one in zip(texts, composed) for how in ("mean", "max")]
        scores: Tensor = self.judge(torch.cat(pools, 1))
        return scores

    def _read(self, reader: Bidirectional, texts: tuple[Text, Text], vectors: list[Tensor]) -> list[Tensor]:
        """What an LSTM says of both texts. It reads them as one batch, which takes as long as the longer one alone."""
        time = max(one.shape[1] for one in vectors)
        both = torch.cat([functional.pad(one, (0, 0, 0, time - one.shape[1])) for one in vectors])
        said = reader(self.dropout(both), torch.cat([text.lengths for text in texts]))
        halves = said.split([len(one) for one in vectors])
        return [half[:, : one.shape[1]] for half, one in zip(halves, vectors)]


class DecomposableAttention(PairNetwork):
    """Align, compare, sum, judge; no RNN.

        a, b = projections of the words' vectors, which are made unit length
        e_ij = F(a_i) · F(b_j),   ã_i = Σ_j softmax_j(e_ij) b_j
        v    = Σ_i G([a_i; ã_i])
        H([v_a; v_b]) gives the scores; F, G and H have two layers of relu each

    ELMo's second mix joins a and b before they are compared.
    """

    def __init__(self, sizes: Sizes, labels: Sequence[str], hidden: int, dropout: float) -> None:
        super().__init__(labels)
        self.projection = nn.Linear(sizes.input, hidden, bias=False)
        size = hidden + sizes.extra
        self.attending = feed_forward(hidden, hidden, dropout)
        self.comparison = feed_forward(2 * size, hidden, dropout)
        self.judge = nn.Sequential(feed_forward(2 * hidden, hidden, dropout), nn.Linear(hidden, len(labels)))
        initialize(self)

    def forward(self, premise: Text, hypothesis: Text) -> Tensor:
        """The scores of the labels, (batch, labels)."""
        # Unit length, as in the paper: long vectors would make hard choices of the alignment before it is learnt.
        a, b = (self.projection(functional.normalize(text.vectors, dim=2)) for text in (premise, hypothesis))
        values = premise.with_extra(a), hypothesis.with_extra(b)
        scores = self.attending(a) @ self.attending(b).transpose(1, 2)
        to_hypothesis, to_premise = align(scores, *values, premise.mask, hypothesis.mask)
        left = self.comparison(torch.cat([values[0], to_hypothesis], 2))
        right = self.comparison(torch.cat([values[1], to_premise], 2))
        both = torch.cat([pool(left, premise.mask, "sum"), pool(right, hypothesis.mask, "sum")], 1)
        judged: Tensor = self.judge(both)
        return judged


def align(scores: Tensor, a: Tensor, b: Tensor, a_mask: Tensor, b_mask: Tensor) -> tuple[Tensor, Tensor]:
    """For each word of a the mean of b's words, weighted by the softmax of their scores; and for b those of a.

    >>> a, b = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[5.0, 0.0], [0.0, 3.0]]])
    >>> both = torch.ones(1, 2, dtype=torch.bool)
    >>> to_b, to_a = align(torch.zeros(1, 1, 2), a, b, both[:, :1], both)
    >>> to_b.tolist()[0], to_a.tolist()[0]
    ([[2.5, 1.5]], [[1.0, 2.0], [1.0, 2.0]])
    """
    to_b = masked_softmax(scores, b_mask[:, None, :], 2) @ b
    to_a = masked_softmax(scores, a_mask[:, :, None], 1).transpose(1, 2) @ a
    return to_b, to_a


def feed_forward(size: int, hidden: int, dropout: float) -> nn.Sequential:
    """Two layers of relu, with dropout after each."""
    return nn.Sequential(
        *(nn.Linear(size, hidden), nn.ReLU(), nn.Dropout(dropout)),
        *(nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(dropout)),
    )


def initialize(network: nn.Module) -> None:
    """Even weights and no bias for the linear layers; LSTMs have drawn theirs."""
    for layer in network.modules():
        if isinstance(layer, nn.Linear):
            nn.init.xavier_uniform_(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
