"""The conditional random field, against all sequences written out."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
import torch
from torch import Tensor

from firth.tasks.crf import (
    NEVER,
    Crf,
    Transitions,
    log_partition,
    log_partition_by_halves,
    score_tags,
    span_probabilities,
    viterbi,
)
from firth.tasks.tags import Scheme, decode_spans, may_follow, tag_list

LENGTHS = [3, 1, 4, 2]


@pytest.fixture(params=["BIO", "BIOES"])
def scheme(request: pytest.FixtureRequest) -> Scheme:
    return request.param


def drawn(scheme: Scheme, labels: list[str]) -> tuple[Crf, Tensor, Tensor]:
    """A CRF with weights drawn at random, scores of four sentences, and their mask."""
    rng = torch.Generator().manual_seed(3)
    crf = Crf(labels, scheme).double()
    with torch.no_grad():
        for parameter in crf.parameters():
            parameter.normal_(generator=rng)
    words = torch.randn(len(LENGTHS), max(LENGTHS), len(tag_list(labels, scheme)), generator=rng, dtype=torch.float64)
    return crf, words, torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]


def sequences(length: int, labels: list[str], scheme: Scheme) -> list[tuple[int, ...]]:
    """Every sequence of so many tags that the scheme allows."""
    tags = tag_list(labels, scheme)
    found = []
    for ids in product(range(len(tags)), repeat=length):
        sequence = [None, *(tags[id] for id in ids), None]
        if all(may_follow(before, after, scheme) for before, after in pairwise(sequence)):
            found.append(ids)
    return found


def test_probabilities_of_all_allowed_sequences_sum_to_one(scheme: Scheme) -> None:
    crf, words, mask = drawn(scheme, ["X"])
    for row, length in enumerate(LENGTHS):
        total = 0.0
        for ids in sequences(length, ["X"], scheme):
            tags = torch.tensor([[*ids, *[0] * (max(LENGTHS) - length)]])
            total += crf.log_likelihood(words[row : row + 1], tags, mask[row : row + 1]).exp().item()
        assert total == pytest.approx(1, abs=1e-12)


def test_the_best_sequence_is_the_best_of_all_written_out(scheme: Scheme) -> None:
    crf, words, mask = drawn(scheme, ["X", "Y"])
    found = viterbi(crf.transitions, words, mask)
    for row, length in enumerate(LENGTHS):
        every = torch.tensor(sequences(length, ["X", "Y"], scheme))
        several = words[row : row + 1, :length].expand(len(every), -1, -1)
        best = score_tags(crf.transitions, several, every, torch.ones_like(every, dtype=torch.bool)).argmax()
        assert found[row].tolist() == [*every[best].tolist(), *[0] * (max(LENGTHS) - length)]


def test_a_sentence_scores_the_same_alone_and_beside_longer_ones(scheme: Scheme) -> None:
    crf, words, mask = drawn(scheme, ["X"])
    tags = viterbi(crf.transitions, words, mask)
    together = crf.log_likelihood(words, tags, mask)
    for row, length in enumerate(LENGTHS):
        one = slice(row, row + 1), slice(0, length)
        assert torch.allclose(crf.log_likelihood(words[one], tags[one], mask[one]), together[row], atol=1e-12)


def test_the_slopes_are_those_of_small_steps(scheme: Scheme) -> None:
    crf, words, mask = drawn(scheme, ["X"])
    tags = viterbi(crf.transitions, words, mask)
    words.requires_grad_()
    assert torch.autograd.gradcheck(lambda *_: crf.log_likelihood(words, tags, mask), (words, *crf.parameters()))


def test_forbidden_neighbors_learn_nothing_and_are_never_answered() -> None:
    crf, words, mask = drawn("BIO", ["X"])
    crf.log_likelihood(words, viterbi(crf.transitions, words, mask), mask).sum().backward()
    outside, inside = 0, 2
    assert crf.follow.grad is not None
    assert crf.follow.grad[outside, inside] == 0
    assert crf.follow.grad[outside, outside] != 0
    wants_inside = torch.tensor([0.0, 0.0, 50.0]).expand(1, 3, 3)
    assert viterbi(crf.float().transitions, wants_inside, torch.ones(1, 3, dtype=torch.bool)).tolist() == [[1, 2, 2]]


def test_large_scores_stay_numbers() -> None:
    crf, words, mask = drawn("BIOES", ["X", "Y"])
    crf, large = crf.float(), (words.float() * 500).requires_grad_()
    loss = -crf.log_likelihood(large, viterbi(crf.transitions, large, mask), mask).sum()
    loss.backward()
    assert loss.item() == pytest.approx(0, abs=1e-2)
    assert large.grad is not None
    assert torch.isfinite(large.grad).all()


def test_a_sentence_without_words_costs_nothing() -> None:
    crf = Crf(["X"], "BIO")
    words, mask = torch.randn(1, 1, 3), torch.zeros(1, 1, dtype=torch.bool)
    assert crf.log_likelihood(words, torch.zeros(1, 1, dtype=torch.long), mask).item() == 0
    assert viterbi(crf.transitions, words, mask).tolist() == [[0]]


def test_a_chain_alone_only_forbids() -> None:
    chain = Transitions.of(["X"], "BIO")
    assert chain.begin.tolist() == [0, 0, NEVER]
    assert chain.follow.tolist() == [[0, 0, NEVER], [0, 0, 0], [0, 0, 0]]
    words = torch.tensor([[[1.0, 0.0, 9.0], [0.0, 0.0, 2.0]]])
    assert viterbi(chain, words, torch.ones(1, 2, dtype=torch.bool)).tolist() == [[1, 2]]


def test_a_span_has_the_total_probability_of_the_sequences_that_contain_it(scheme: Scheme) -> None:
    crf, words, mask = drawn(scheme, ["X", "Y"])
    names = tag_list(["X", "Y"], scheme)
    found = 0
    for row, length in enumerate(LENGTHS):
        every = sequences(length, ["X", "Y"], scheme)
        tags = torch.tensor(every)
        several = words[row : row + 1, :length].expand(len(every), -1, -1)
        log_probs = crf.log_likelihood(several, tags, torch.ones_like(tags, dtype=torch.bool))
        spans = [decode_spans(names[id] for id in ids) for ids in every]
        for ids, of_ids in zip(every[::7], spans[::7]):
            padded = torch.tensor([[*ids, *[0] * (max(LENGTHS) - length)]])
            shares = span_probabilities(
                crf.transitions, words[row : row + 1], mask[row : row + 1], padded, [of_ids], names
            )[0]
            for span, share in zip(of_ids, shares, strict=True):
                containing = torch.tensor([span in others for others in spans])
                assert share == pytest.approx(log_probs.exp()[containing].sum().item(), rel=1e-9)
                found += 1
    assert found > 20


def test_spans_of_sentences_without_words_or_with_huge_scores_are_certain_or_absent() -> None:
    transitions, names = Transitions.of(["X"], "BIO"), tag_list(["X"])
    mask = torch.tensor([[False, False], [True, True]])
    emissions = torch.tensor([[[0.0, 0.0, 0.0]] * 2, [[0.0, 9e3, 0.0], [0.0, 0.0, 9e3]]])
    tags = viterbi(transitions, emissions, mask)
    spans = [decode_spans([]), decode_spans(names[id] for id in tags[1].tolist())]
    assert span_probabilities(transitions, emissions, mask, tags, spans, names) == [[], [1.0]]


@pytest.mark.parametrize("time", [1, 2, 4])
def test_joining_steps_by_halves_gives_the_sum_and_the_gradients_of_one_after_another(
    scheme: Scheme, time: int
) -> None:
    crf, words, mask = drawn(scheme, ["X"])
    found = []
    for log in (log_partition, log_partition_by_halves):
        crf.zero_grad()
        emissions = words[:, :time].clone().requires_grad_()
        total = log(crf.transitions, emissions, mask[:, :time])
        total.sum().backward()
        assert emissions.grad is not None
        found.append([total, emissions.grad, *(one.grad for one in crf.parameters() if one.grad is not None)])
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, atol=1e-10)
