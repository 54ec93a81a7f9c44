"""Distillation: the loss against a plain computation, what a student learns, and checkpoints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from firth.errors import OptionError
from firth.models.elmo import Elmo
from firth.neural.bilm import BiLM
from firth.neural.training.distillation import DistillationLoss, Teacher
from firth.neural.training.pretrain import Pretraining
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenfile import TokenFile
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary
from firth.training.checkpoints import Checkpoints
from firth.training.monitor import Monitor

SIZES = {"preset": "tiny", "character_dim": 3, "filters": (1, 4, 2, 6), "cell": 8, "dim": 6}
STUDENT = Elmo(
    **SIZES, softmax="full", batch=4, unroll=5, min_count=1, epochs=3, dropout=0.0, learning_rate=0.02, log_every=1
)
ONE = Runtime(1)


def make_tokens() -> TokenFile:
    lines = "the king rules the land .\na queen drinks tea .\nrain falls in the land .\n" * 12
    return Corpus.of([lines], tokenizer=Tokenizer(mode="whitespace")).tokens()


def test_the_loss_and_its_gradients_are_those_of_a_plain_computation() -> None:
    torch.manual_seed(1)
    hidden, goal = torch.randn(7, 4, requires_grad=True), torch.randn(7, 5)
    student, teacher = nn.Linear(4, 6), nn.Linear(5, 9)
    targets = torch.tensor([0, 3, -1, 5, 2, -1, 1])
    goals = goal, teacher.weight, teacher.bias

    def compute(q: Tensor) -> Tensor:
        log_p = student(hidden).log_softmax(1)
        return -(q * log_p).sum(1)[targets >= 0].sum()

    q = teacher(goal).detach().softmax(1)
    folded = q[:, :6].clone()
    folded[:, 2] += q[:, 6:].sum(1)
    parameters = hidden, student.weight, student.bias
    expected = compute(folded)
    plain = torch.autograd.grad(expected, parameters)
    loss = DistillationLoss.apply(*parameters, *goals, 2, targets, True)
    found = torch.autograd.grad(loss, parameters)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    for one, other in zip(found, plain):
        assert torch.allclose(one, other, atol=1e-5)


def test_a_student_learns_the_distributions_of_its_teacher() -> None:
    tokens = make_tokens()
    teacher = STUDENT.new(tokens)
    with torch.no_grad():  # a teacher with a strong opinion that the text does not have
        teacher.softmax.bias[teacher.vocabulary.id("tea")] = 6.0  # type: ignore[union-attr]
    chances = []
    for weight in (0.0, 1.0):
        recipe = replace(STUDENT, distillation=weight, epochs=8)
        bilm = recipe.fit(Corpus.of(["the king rules the land ."] * 40), start=STUDENT.new(tokens), teacher=teacher)
        chances.append(float(bilm.distributions(["the", "king"])[0][bilm.vocabulary.id("tea")]))
    assert chances[1] > 10 * chances[0]


def test_the_teacher_reads_all_parts_of_a_batch_and_its_state_is_in_the_checkpoint(tmp_path: Path) -> None:
    tokens = make_tokens()
    teacher = replace(STUDENT, seed=5).new(tokens)

    def make(folder: Path, steps: int, **more: int) -> Pretraining:
        recipe = replace(STUDENT, steps=steps, save_every=3, warmup=0, cooldown=0.0, **more)  # a constant rate
        monitor = Monitor(checkpoints=Checkpoints(folder, {"a": 1}))
        return Pretraining(recipe.new(tokens), tokens, recipe.plan(ONE), ONE, monitor=monitor, teacher=teacher)

    whole, parts, resumed = make(tmp_path / "a", 6), make(tmp_path / "b", 6, accumulation=2), make(tmp_path / "c", 3)
    for one in (whole, parts, resumed):
        one.run()
    resumed = make(tmp_path / "c", 6)
    resumed.run()
    losses = [[point["loss"] for point in one.record.curve] for one in (whole, parts, resumed)]
    assert losses[2] == losses[0]
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)


def test_a_teacher_with_other_words_or_a_sampled_softmax_is_refused() -> None:
    tokens = make_tokens()
    student = STUDENT.new(tokens)
    other = BiLM(student.architecture, vocabulary=Vocabulary(("<S>", "</S>", "<UNK>", "fog"), (4, 3, 2, 1)))
    with pytest.raises(OptionError, match="must begin with the words of the student"):
        Teacher.of(other, student, tokens.vocabulary, [4])
    recipe = replace(STUDENT, softmax="sampled", negatives=2)
    with pytest.raises(OptionError, match="softmax='full'"):
        Pretraining(recipe.new(tokens), tokens, recipe.plan(ONE), ONE, teacher=student)
