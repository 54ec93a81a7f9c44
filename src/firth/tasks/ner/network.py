"""The biLSTM-CRF tagger (Huang et al. 2015, Lample et al. 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor, nn

from firth.neural.inference.transfer import to_device
from firth.tasks.crf import Crf, span_probabilities, viterbi
from firth.tasks.inputs import Sizes, Text
from firth.tasks.layers import Bidirectional, VariationalDropout, initialize_linear, require_finite
from firth.tasks.ner.data import NerExample
from firth.tasks.tags import decode_spans, encode_tags, tag_ids, tag_list

if TYPE_CHECKING:
    from firth.tasks.ner.task import Ner


class NerTagger(nn.Module):
    """Bidirectional LSTMs over a sentence, a linear layer to the tags, and a CRF over these."""

    def __init__(self, sizes: Sizes, kinds: list[str], task: Ner) -> None:
        super().__init__()
        self.scheme = task.scheme
        self.tags = tag_list(kinds, task.scheme)
        self.ids = {tag: id for id, tag in enumerate(self.tags)}
        widths = [sizes.input, *(2 * hidden for hidden in task.hidden)]
        self.readers = nn.ModuleList(
            Bidirectional(width, hidden, dropout=task.dropout) for width, hidden in zip(widths, task.hidden)
        )
        self.dropout = VariationalDropout(task.dropout)
        self.scores = nn.Linear(widths[-1] + sizes.extra, len(self.tags))
        initialize_linear(self.scores)
        self.crf = Crf(kinds, task.scheme)

    def forward(self, text: Text) -> Tensor:
        """The logits of each word's tags, (batch, time, tags)."""
        hidden = text.vectors
        for lstm in self.readers:
            hidden = lstm(hidden, text.lengths)
        logits: Tensor = self.scores(self.dropout(text.with_extra(hidden)))
        return logits

    def loss(self, texts: tuple[Text, ...], examples: Sequence[NerExample]) -> Tensor:
        """-log p(tags), the mean over sentences."""
        (text,) = texts
        ids = np.zeros(text.mask.shape, np.int64)
        for row, example in enumerate(examples):
            tags = encode_tags(example.gold, len(example.words), self.scheme)
            ids[row, : len(tags)] = tag_ids(tags, self.ids)
        return -self.crf.log_likelihood(self(text), to_device(ids, text.mask.device), text.mask).mean()

    def answers(self, texts: tuple[Text, ...], examples: Sequence[NerExample]) -> list[dict[str, Any]]:
        """The BIO tags of each sentence, and the probability of each entity."""
        (text,) = texts
        # Decoding takes small operations word by word, for which a GPU takes longer than a CPU.
        emissions, mask = require_finite(self(text)).cpu(), text.mask.cpu()
        transitions = self.crf.transitions.cpu()
        best = viterbi(transitions, emissions, mask)
        spans = [
            decode_spans(self.tags[id] for id in ids[: len(example.words)])
            for ids, example in zip(best.tolist(), examples)
        ]
        probabilities = span_probabilities(transitions, emissions, mask, best, spans, self.tags)
        return [
            {"tags": encode_tags(found, len(example.words)), "probabilities": shares}
            for found, shares, example in zip(spans, probabilities, examples)
        ]
