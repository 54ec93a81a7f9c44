"""Two text classifiers: a biattentive classification network, and a baseline on the final states of a biRNN.

The first is that of McCann et al. (2017) without its maxout layers, as in the ELMo paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from firth.tasks.inputs import Sizes, Text
from firth.tasks.labels import LabelNetwork
from firth.tasks.layers import (
    Bidirectional,
    VariationalDropout,
    attend,
    final_states,
    masked_softmax,
    pool,
    relu_layer,
)

if TYPE_CHECKING:
    from firth.tasks.sentiment.task import Sentiment


class FinalStateClassifier(LabelNetwork):
    """A bidirectional RNN, and a linear classifier of its final states."""

    def __init__(self, sizes: Sizes, labels: list[str], task: Sentiment) -> None:
        super().__init__(labels)
        self.reader = Bidirectional(sizes.input, task.hidden, kind=task.cell, dropout=task.dropout)
        self.dropout = nn.Dropout(task.dropout)
        self.classifier = nn.Linear(self.reader.size + sizes.extra, len(labels))

    def forward(self, text: Text) -> Tensor:
        """The logits of the labels, (batch, labels)."""
        final = final_states(self.reader(text.vectors, text.lengths), text.lengths)
        if text.extra is not None:
            final = torch.cat([final, pool(text.extra, text.mask, "mean")], 1)
        logits: Tensor = self.classifier(self.dropout(final))
        return logits


class BiattentiveClassifier(LabelNetwork):
    """An encoder, attention of the text to itself, a second biRNN over both, and four poolings."""

    def __init__(self, sizes: Sizes, labels: list[str], task: Sentiment) -> None:
        super().__init__(labels)
        width = 2 * task.hidden
        self.dropout, self.between = nn.Dropout(task.dropout), VariationalDropout(task.dropout)
        self.shrink = relu_layer(sizes.input, task.hidden)
        self.reader = Bidirectional(task.hidden, task.hidden, kind=task.cell)
        self.integrator = Bidirectional(3 * (width + sizes.extra), task.hidden, kind=task.cell)
        self.attention = nn.Linear(width, 1)
        self.classifier = nn.Sequential(
            self.dropout,
            *(relu_layer(4 * width, width), self.dropout),
            *(relu_layer(width, width // 2), nn.Linear(width // 2, len(labels))),
        )

    def forward(self, text: Text) -> Tensor:
        """The logits of the labels, (batch, labels)."""
        inputs = self.shrink(self.between(text.vectors))
        encoded = text.with_extra(self.reader(inputs, text.lengths))  # (batch, time, 2 · hidden + extra)
        context = attend(encoded, encoded, text.mask)
        joined = self.between(torch.cat([encoded, encoded - context, encoded * context], 2))
        hidden = self.integrator(joined, text.lengths)  # (batch, time, 2 · hidden)
        weights = masked_softmax(self.attention(hidden)[:, :, 0], text.mask)  # (batch, time)
        attended = (weights[:, :, None] * hidden).sum(1)
        pools = [pool(hidden, text.mask, "max"), pool(hidden, text.mask, "mean"), pool(hidden, text.mask, "min")]
        logits: Tensor = self.classifier(torch.cat([*pools, attended], 1))
        return logits
