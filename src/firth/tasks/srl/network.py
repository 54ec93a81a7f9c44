"""The role labeler of He et al. (2017), and a predicate finder beside it.

A deep alternating LSTM, with an embedding that marks the predicate, gives each word logits over BIO tags; the answer is
the best sequence that BIO allows. A small biLSTM learns which words are predicates, so that plain text can be labeled.
It takes the same input vectors and sends no gradient into them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from firth.neural.inference.transfer import to_device
from firth.tasks.columns import PREDICATE
from firth.tasks.crf import NEVER, Transitions, log_partition, score_tags, span_probabilities, viterbi
from firth.tasks.inputs import Sizes, Text
from firth.tasks.layers import Bidirectional, VariationalDropout, initialize_linear, require_finite
from firth.tasks.srl.alternating_lstm import AlternatingLstm
from firth.tasks.srl.data import SrlExample
from firth.tasks.tags import Span, decode_spans, encode_tags, tag_ids, tag_list

if TYPE_CHECKING:
    from firth.tasks.srl.task import Srl

IGNORED = -100  # a target that cross_entropy ignores


AUXILIARIES = frozenset(
    (
        *("be", "am", "is", "are", "was", "were", "been", "being", "'m", "'s", "'re"),
        *("have", "has", "had", "having", "'ve", "'d", "do", "does", "did", "done", "doing"),
    )
)


def is_auxiliary(words: Sequence[str], place: int, predicates: Sequence[int], roles: Sequence[Span]) -> bool:
    """Whether a predicate is only an auxiliary: a form of be, have or do, without arguments, before another predicate.

    >>> words, predicates = "She has slept".split(), [1, 2]
    >>> is_auxiliary(words, 1, predicates, [Span("V", 1, 2)])
    True
    >>> is_auxiliary(words, 1, predicates, [Span("ARG0", 0, 1), Span("V", 1, 2)])
    False
    """
    has_arguments = any(role.label != PREDICATE for role in roles)
    return words[place].lower() in AUXILIARIES and not has_arguments and max(predicates) > place


class SrlTagger(nn.Module):
    """The role of each word for a predicate, and which words are predicates."""

    may_begin: Tensor
    may_follow: Tensor
    may_end: Tensor

    def __init__(self, sizes: Sizes, roles: list[str], task: Srl) -> None:
        super().__init__()
        self.tags = tag_list(roles)
        self.ids = {tag: id for id, tag in enumerate(self.tags)}
        self.dropout = VariationalDropout(task.dropout)
        self.is_predicate = nn.Embedding(2, task.predicate_dim)
        self.reader = AlternatingLstm(
            sizes.input + task.predicate_dim,
            task.hidden,
            layers=task.layers,
            dropout=task.recurrent_dropout,
            highway=task.highway,
        )
        self.scores = nn.Linear(task.hidden + sizes.extra, len(self.tags))
        self.finder = Bidirectional(sizes.input, task.finder, dropout=task.dropout)
        self.finds = nn.Linear(2 * task.finder, 1)
        initialize_linear(self.scores, self.finds)
        for name, scores in vars(Transitions.of(roles, "BIO")).items():
            self.register_buffer(f"may_{name}", scores, persistent=False)

    def forward(self, text: Text, predicates: Sequence[int | None]) -> Tensor:
        """The logits of each word's tags, (batch, time, tags), for one predicate in each row."""
        is_predicate = np.zeros(text.mask.shape, np.int64)
        for row, place in enumerate(predicates):
            if place is not None:
                is_predicate[row, place] = 1
        marks = self.is_predicate(to_device(is_predicate, text.mask.device))  # (batch, time, predicate_dim)
        hidden = self.reader(self.dropout(torch.cat([text.vectors, marks], 2)), text.lengths)
        logits: Tensor = self.scores(text.with_extra(hidden))
        return logits

    def predicate_logits(self, text: Text) -> Tensor:
        """The logit of each word being a predicate, (batch, time)."""
        logits: Tensor = self.finds(self.finder(text.vectors.detach(), text.lengths))[:, :, 0]
        return logits

    def loss(self, texts: tuple[Text, ...], examples: Sequence[SrlExample]) -> Tensor:
        """-log p(tag), the mean over words, plus the cross-entropy of being a predicate."""
        (text,) = texts
        ids = np.full(text.mask.shape, IGNORED, np.int64)
        are_predicates, weights = (np.zeros(text.mask.shape, np.float32) for _ in range(2))
        for row, example in enumerate(examples):
            length = len(example.words)
            if example.predicate is not None:
                ids[row, :length] = tag_ids(encode_tags(example.gold, length), self.ids)
            if example.predicates is not None:
                # A sentence comes once for each predicate, and counts once.
                weights[row, :length] = 1 / max(len(example.predicates), 1)
                are_predicates[row, list(example.predicates)] = 1
        logits = self(text, [example.predicate for example in examples])
        targets, is_gold, weight = (to_device(part, logits.device) for part in (ids, are_predicates, weights))
        labeling = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")
        finding = functional.binary_cross_entropy_with_logits(
            self.predicate_logits(text), is_gold, weight=weight, reduction="sum"
        )
        return labeling / (targets != IGNORED).sum().clamp(min=1) + finding / weight.sum().clamp(min=1)

    def answers(self, texts: tuple[Text, ...], examples: Sequence[SrlExample]) -> list[dict[str, Any]]:
        """The predicates that the finder finds, and the frame of the example's predicate, or of all that are found."""
        (text,) = texts
        logits = require_finite(self.predicate_logits(text))
        are_predicates, found = ((logits > 0) & text.mask).tolist(), torch.sigmoid(logits).tolist()
        predicates = [[place for place, is_predicate in enumerate(row) if is_predicate] for row in are_predicates]
        frames = [
            (row, place)
            for row, example in enumerate(examples)
            for place in (predicates[row] if example.predicate is None else [example.predicate])
        ]
        answers: list[dict[str, Any]] = [{"predicates": places, "frames": []} for places in predicates]
        if not frames:
            return answers
        rows = [row for row, _ in frames]
        if rows != list(range(len(examples))):
            text = text.select(rows)
        scores = self.tag_scores(text, [place for _, place in frames])
        transitions = Transitions(self.may_begin, self.may_follow, self.may_end)
        ids = viterbi(transitions, scores, text.mask)
        joint = score_tags(transitions, scores, ids, text.mask) - log_partition(transitions, scores, text.mask)
        tags = [
            [self.tags[id] for id in tag_ids[: len(examples[row].words)]]
            for (row, _), tag_ids in zip(frames, ids.tolist())
        ]
        spans = list(map(decode_spans, tags))
        probabilities = span_probabilities(transitions, scores, text.mask, ids, spans, self.tags)
        for number, (row, place) in enumerate(frames):
            if examples[row].predicate is None and is_auxiliary(
                examples[row].words, place, predicates[row], spans[number]
            ):
                continue
            frame = {"predicate": place, "tags": tags[number], "found": found[row][place]}
            frame |= {"probability": min(1.0, float(joint[number].exp())), "probabilities": probabilities[number]}
            answers[row]["frames"].append(frame)
        return answers

    def tag_scores(self, text: Text, predicates: Sequence[int]) -> Tensor:
        """log p of each word's tags, (batch, time, tags), with the predicate, and no other word, tagged B-V.

        The probability of a tag sequence is the product of its words, over the sum for all sequences that BIO allows.
        """
        scores = require_finite(self(text, predicates)).log_softmax(2)
        verb = self.ids[f"B-{PREDICATE}"]
        rows, places = torch.arange(len(predicates), device=scores.device), torch.tensor(predicates).to(scores.device)
        verb_scores = scores[rows, places, verb]
        scores[:, :, verb] = NEVER
        scores[rows, places] = NEVER
        scores[rows, places, verb] = verb_scores
        return scores
