"""ESIM and decomposable attention against their formulas; padding never counts."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from firth.tasks.entailment.data import EntailmentExample
from firth.tasks.entailment.network import DecomposableAttention, Esim
from firth.tasks.inputs import Sizes, Text
from firth.tasks.labels import LabelNetwork
from firth.tasks.layers import sequence_mask

LABELS = ["entailment", "neutral", "contradiction"]
SIZES = Sizes(5, 2)


def made(kind: type[Esim] | type[DecomposableAttention], variational: bool = True) -> LabelNetwork:
    torch.manual_seed(3)
    if kind is DecomposableAttention:
        return DecomposableAttention(SIZES, LABELS, 4, 0.2).eval()
    return Esim(SIZES, LABELS, 4, 0.5, variational=variational).eval()


def text_of(rows: list[Tensor]) -> Text:
    lengths = torch.tensor([len(row) for row in rows])
    padded = torch.nn.utils.rnn.pad_sequence([*rows, torch.zeros(1, 7)], batch_first=True)[:-1]
    return Text(padded[:, :, :5], lengths, sequence_mask(lengths, padded.shape[1]), padded[:, :, 5:])


def sentences(*lengths: int, seed: int) -> list[Tensor]:
    torch.manual_seed(seed)
    return [torch.randn(length, 7) for length in lengths]


@pytest.mark.parametrize("kind", [Esim, DecomposableAttention])
def test_a_pair_is_judged_alike_alone_and_in_a_batch(kind: type[Esim] | type[DecomposableAttention]) -> None:
    premises, hypotheses = sentences(7, 2, 4, seed=1), sentences(1, 6, 3, seed=2)
    network = made(kind)
    together = network(text_of(premises), text_of(hypotheses))
    alone = [network(text_of([a]), text_of([b])) for a, b in zip(premises, hypotheses)]
    torch.testing.assert_close(together, torch.cat(alone))


@pytest.mark.parametrize("kind", [Esim, DecomposableAttention])
def test_a_text_without_words_can_be_judged(kind: type[Esim] | type[DecomposableAttention]) -> None:
    scores = made(kind)(text_of(sentences(3, 2, seed=1)), text_of([torch.zeros(0, 7), *sentences(2, seed=4)]))
    assert scores.isfinite().all()


@pytest.mark.parametrize(("kind", "variational"), [(Esim, True), (Esim, False), (DecomposableAttention, True)])
def test_every_number_of_a_network_learns(kind: type[Esim] | type[DecomposableAttention], variational: bool) -> None:
    network = made(kind, variational).train()
    torch.manual_seed(5)
    texts = text_of(sentences(*[5] * 8, seed=1)), text_of(sentences(*[4] * 8, seed=2))
    network.loss(texts, [EntailmentExample((), (), LABELS[i % 3]) for i in range(8)]).backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


def test_esim_is_what_its_formula_says() -> None:
    network = made(Esim)
    assert isinstance(network, Esim)
    (premise,), (hypothesis,) = sentences(4, seed=1), sentences(3, seed=2)

    def read(reader: torch.nn.Module, words: Tensor) -> Tensor:
        return reader.layers[0](words[None])[0][0]

    a = torch.cat([read(network.reader, premise[:, :5]), premise[:, 5:]], 1)
    b = torch.cat([read(network.reader, hypothesis[:, :5]), hypothesis[:, 5:]], 1)
    pooled = []
    for x, y in ((a, b), (b, a)):
        other = torch.stack([torch.softmax(y @ word, 0) @ y for word in x])
        compared = torch.relu(network.comparison(torch.cat([x, other, x - other, x * other], 1)))
        composed = read(network.composition, compared)
        pooled += [composed.mean(0), composed.max(0).values]
    hidden = torch.tanh(network.judge[1](torch.cat(pooled)))
    torch.testing.assert_close(network(text_of([premise]), text_of([hypothesis]))[0], network.judge[4](hidden))


def test_decomposable_attention_does_not_see_the_order_of_words() -> None:
    (premise,), (hypothesis,) = sentences(4, seed=1), sentences(5, seed=2)
    order = torch.tensor([3, 0, 4, 1, 2])
    network, other = made(DecomposableAttention), made(Esim)
    one, two = text_of([hypothesis]), text_of([hypothesis[order]])
    torch.testing.assert_close(network(text_of([premise]), one), network(text_of([premise]), two))
    assert not torch.allclose(other(text_of([premise]), one), other(text_of([premise]), two))


def test_an_answer_has_a_probability_for_each_label_and_they_sum_to_one() -> None:
    texts = text_of(sentences(4, 3, seed=1)), text_of(sentences(3, 3, seed=2))
    for answer in made(Esim).answers(texts, [EntailmentExample((), ())] * 2):
        assert sum(answer.values()) == pytest.approx(1)
        assert list(answer) == list(LABELS)
