"""Distillation: a biLM in training learns the distributions of a larger one, its teacher, over the next word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from firth.errors import OptionError
from firth.neural.layers import UNKNOWN, find_mark
from firth.neural.softmax import count_targets, logits_of, needs_grad, split_rows
from firth.neural.state import BiLMState
from firth.neural.training.lstm import LayerInputs, run_layers
from firth.neural.training.softmax_gpu import LossFunction
from firth.neural.training.streams import StreamBatch
from firth.neural.training.vocabulary import TrainingVocabulary
from firth.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM


@dataclass
class Teacher:
    """A biLM that reads the batches of a training, without gradients. `states` are those of each part of a batch."""

    bilm: BiLM
    types: TrainingVocabulary
    linear: nn.Linear  # the softmax of the teacher
    student: nn.Linear  # the softmax of the biLM in training
    unknown: int  # id of <UNK>: it gets the probability of the words that the student's softmax lacks
    states: list[BiLMState]

    @classmethod
    def of(cls, bilm: BiLM, student: BiLM, words: Vocabulary, parts: Sequence[int]) -> Teacher:
        """A teacher of a text with these words. Its softmax must begin with the words of the student's softmax."""
        linear, own, device = bilm.softmax, student.softmax, next(student.parameters()).device
        if not isinstance(linear, nn.Linear) or not isinstance(own, nn.Linear):
            raise OptionError("distillation needs a teacher and a student with a plain softmax, not an adaptive one")
        shared = student.vocabulary.words if student.vocabulary is not None else ()
        if bilm.vocabulary is None or bilm.vocabulary.words[: len(shared)] != shared:
            raise OptionError(
                "the softmax of the teacher must begin with the words of the student's softmax, in the same order. "
                "Start from a model with the first words of the teacher's vocabulary"
            )
        unknown = find_mark(bilm.vocabulary, UNKNOWN)
        bilm = bilm.to(device)
        return cls(bilm, TrainingVocabulary(bilm, words), linear, own, unknown, [bilm.blank(rows) for rows in parts])

    @torch.no_grad()
    def read(self, part: int, batch: StreamBatch, fresh: Tensor | None, precision: torch.dtype) -> Tensor:
        """The top hidden states of both directions at the tokens of a part of a batch, (2 · tokens, dim)."""
        vectors = self.types.vectors(batch.words, precision)
        forward, backward = (functional.embedding(ids, vectors) for ids in (batch.forward, batch.backward))
        inputs = LayerInputs(forward, backward, self.states[part], None, fresh)
        forward_hidden, backward_hidden, self.states[part] = run_layers(self.bilm, inputs)
        return torch.cat([forward_hidden, backward_hidden]).flatten(0, 1)

    def loss(self, hidden: Tensor, goal: Tensor, targets: Tensor) -> Tensor:
        """The mean cross-entropy of the student with the teacher's distributions, where there is a target.

        `hidden`, (n, dim), are the hidden states of the student, `goal` those of the teacher.
        """
        student, teacher = ((one.weight, one.bias) for one in (self.student, self.linear))
        last = self.unknown, targets, needs_grad(hidden, self.student.weight)
        total: Tensor = DistillationLoss.apply(hidden, *student, goal, *teacher, *last)  # type: ignore[no-untyped-call]
        return total / count_targets(targets)


class DistillationLoss(LossFunction):
    """Σ_n Σ_w -q_n(w) log p_n(w), with the teacher's q = softmax(goal_weight · goal + goal_bias), some rows at a time.

    What the teacher gives to words that the student lacks counts for `unknown`. The gradient of the logits is p - q.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor,
        goal: Tensor,
        goal_weight: Tensor,
        goal_bias: Tensor,
        unknown: int,
        targets: Tensor,
        needs_grad: bool,
    ) -> Tensor:
        factors, goal_factors = weight.to(hidden.dtype), goal_weight.to(goal.dtype)
        total = torch.zeros((), dtype=torch.float32, device=hidden.device)
        grad_hidden, grad_weight, grad_bias = torch.empty_like(hidden), torch.zeros_like(weight), torch.zeros_like(bias)
        start = 0
        for rows, goal_rows, target in zip(*split_rows(len(goal_weight), hidden, goal, targets)):
            is_target = (target >= 0).to(bias.dtype)[:, None]
            q = logits_of(goal_rows, goal_factors, goal_bias).softmax(1).mul_(is_target)
            if len(goal_weight) > len(weight):
                q[:, unknown] += q[:, len(weight) :].sum(1)
                q = q[:, : len(weight)]
            log_p = logits_of(rows, factors, bias).log_softmax(1)
            total -= (q * log_p).sum()
            if needs_grad:
                error = log_p.exp_().mul_(is_target).sub_(q)
                grad_bias += error.sum(0)
                error = error.to(rows.dtype)
                grad_weight += error.T @ rows
                grad_hidden[start : start + len(rows)] = error @ factors
            start += len(rows)
        if needs_grad:
            ctx.save_for_backward(grad_hidden, grad_weight, grad_bias)
        return total
