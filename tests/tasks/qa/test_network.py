"""The network that points at answers, part by part against plain arithmetic, and as a whole."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from firth.tasks.inputs import Sizes, Text
from firth.tasks.qa import windows
from firth.tasks.qa.data import Passage, QaExample
from firth.tasks.qa.network import AttentionFlow, QaNetwork, SelfAttention, Trilinear, best_span, marginal_loss
from firth.tasks.qa.task import Qa
from firth.text.tokenize import Tokenizer

SIZES = Sizes(6, 3)


def row_of(text: Text, row: int) -> Text:
    """One sentence of a batch, alone."""
    return text.select([row], int(text.lengths[row]))


def question_of(length: int, *spans: tuple[int, int]) -> QaExample:
    passage = Passage.of(" ".join(f"w{i}" for i in range(length)), Tokenizer())
    return QaExample(passage, ("why", "?"), tuple(passage.cut(*span) for span in spans), spans)


def network(longest: int = 50, overlap: int = 20, answer_words: int = 5) -> QaNetwork:
    torch.manual_seed(7)
    task = Qa(hidden=4, answer_words=answer_words, longest=longest, overlap=overlap)
    return QaNetwork(SIZES, task).eval()


def test_a_trilinear_score_is_the_product_of_one_weight_with_three_vectors() -> None:
    torch.manual_seed(1)
    score = Trilinear(4)
    h, q = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    weight = torch.cat([score.u, score.v, score.w])
    for b, i, j in product(range(2), range(3), range(5)):
        expected = weight @ torch.cat([h[b, i], q[b, j], h[b, i] * q[b, j]])
        assert score(h, q)[b, i, j].item() == pytest.approx(expected.item(), abs=1e-5)


def test_attention_flow_is_what_its_formula_says() -> None:
    torch.manual_seed(2)
    flow = AttentionFlow(4, 3)
    h, q = torch.randn(1, 3, 4), torch.randn(1, 2, 4)
    scores = flow.score(h, q)[0]
    d = torch.softmax(scores.max(1).values, 0) @ h[0]
    rows = []
    for i in range(3):
        c = torch.softmax(scores[i], 0) @ q[0]
        rows.append(torch.relu(flow.merge(torch.cat([h[0, i], c, h[0, i] * c, d * c]))))
    every = torch.ones(1, 3, dtype=torch.bool)
    torch.testing.assert_close(flow(h, q, every, every[:, :2])[0], torch.stack(rows))


def test_self_attention_is_a_trilinear_softmax_over_the_other_words() -> None:
    torch.manual_seed(3)
    attention = SelfAttention(4, 3)
    h = torch.randn(4, 4)
    rows = []
    for i in range(4):
        others = [j for j in range(4) if j != i]
        scores = torch.stack([attention.v @ h[j] + attention.w @ (h[i] * h[j]) for j in others])
        c = torch.softmax(scores, 0) @ h[others]
        rows.append(torch.relu(attention.merge(torch.cat([h[i], c, h[i] * c]))))
    torch.testing.assert_close(attention(h[None], torch.ones(1, 4, dtype=torch.bool))[0], torch.stack(rows))


def test_a_passage_of_one_word_can_be_read(text_of: Callable[..., Text]) -> None:
    network().loss((text_of([1]), text_of([2])), [question_of(1, (0, 0))]).backward()
    answer = network().answers((text_of([1]), text_of([2])), [question_of(1)])[0]
    assert answer["text"] == "w0"
    assert answer["probability"] == pytest.approx(1)


numbers = st.floats(-5, 5, width=32)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8), st.integers(1, 10))
def test_the_best_span_is_the_best_of_all_spans(scores: list[tuple[float, float]], longest: int) -> None:
    first, last = torch.tensor(scores).T
    begins, ends, sums = best_span(first[None], last[None], longest)
    spans = [(i, j) for i in range(len(scores)) for j in range(i, min(i + longest, len(scores)))]
    assert (begins[0], ends[0]) in spans
    assert sums[0] == max((first[i] + last[j]).item() for i, j in spans)
    assert sums[0] == (first[begins[0]] + last[ends[0]]).item()


def test_the_loss_sums_the_probabilities_of_all_places_of_the_answer() -> None:
    scores = torch.tensor([[1.0, 2.0, 0.5], [0.0, 0.0, -9e9]])
    gold = torch.tensor([[True, True, False], [True, False, False]])
    shares = torch.softmax(scores, 1)
    expected = -(torch.log(shares[0, 0] + shares[0, 1]) + torch.log(shares[1, 0])) / 2
    torch.testing.assert_close(marginal_loss(scores, gold), expected)


def test_a_question_is_answered_alike_alone_and_in_a_batch(text_of: Callable[..., Text]) -> None:
    passages, questions = text_of([9, 4, 1]), text_of([2, 5, 3], seed=50)
    examples = [question_of(9, (2, 3)), question_of(4, (0, 0), (2, 3)), question_of(1, (0, 0))]
    model = network()
    together = model.answers((passages, questions), examples)
    losses = []
    for row, example in enumerate(examples):
        alone = row_of(passages, row), row_of(questions, row)
        (answer,) = model.answers(alone, [example])
        assert answer["text"] == together[row]["text"]
        assert answer["probability"] == pytest.approx(together[row]["probability"], rel=1e-4)
        losses.append(model.loss(alone, [example]))
    torch.testing.assert_close(model.loss((passages, questions), examples), torch.stack(losses).mean())


def test_the_scores_of_the_last_word_depend_on_those_of_the_first_and_not_the_reverse(
    text_of: Callable[..., Text],
) -> None:
    model = network()
    first, last = model(text_of([6]), text_of([3]))
    gradients = torch.autograd.grad(last.sum(), model.first_reader.parameters(), retain_graph=True)
    assert all(gradient.abs().sum() > 0 for gradient in gradients)
    missing = torch.autograd.grad(first.sum(), model.last_reader.parameters(), allow_unused=True)
    assert all(gradient is None for gradient in missing)


def test_every_number_of_the_network_learns(text_of: Callable[..., Text]) -> None:
    model = network()
    model.loss((text_of([6, 9]), text_of([3, 2])), [question_of(6, (1, 2)), question_of(9, (8, 8))]).backward()
    for name, parameter in model.named_parameters():
        if name not in ("first.bias", "last.bias"):  # what is added to all words alike changes nothing
            assert parameter.grad is not None, name
            assert parameter.grad.abs().sum() > 0, name


def test_a_long_passage_is_learnt_and_answered_in_windows_of_bounded_length(text_of: Callable[..., Text]) -> None:
    model, longest = network(longest=12, overlap=6), 12
    seen: list[tuple[int, int]] = []

    def watch(module: torch.nn.Module, given: tuple[Tensor, ...]) -> None:
        seen.append((given[0].shape[0], given[0].shape[1]))

    model.rereader.register_forward_pre_hook(watch)
    passages, questions = text_of([40, 7]), text_of([3, 4], seed=50)
    examples = [question_of(40, (30, 31), (2, 2)), question_of(7, (1, 1))]
    assert model.loss((passages, questions), examples).item() < 20  # the answer is in the window
    answers = model.answers((passages, questions), examples)
    assert max(rows for rows, _ in seen) <= 2
    assert max(time for _, time in seen) <= longest
    assert answers[0]["text"] == examples[0].passage.text[answers[0]["start"] : answers[0]["end"]]
    best = max(
        model.answers(
            (windows.cut_windows(passages, [0], [begin], longest), row_of(questions, 0)), [question_of(longest)]
        )[0]["probability"]
        for begin in windows.window_starts(40, longest, 6)
    )
    assert answers[0]["probability"] < best  # it is shared with all the other windows


def test_an_answer_that_is_longer_than_a_window_is_still_learnt(text_of: Callable[..., Text]) -> None:
    loss = network(longest=4, overlap=1).loss((text_of([20]), text_of([3])), [question_of(20, (3, 14))])
    assert loss.item() < 10


def test_answers_may_be_longer_than_the_passage() -> None:
    first, last = torch.tensor([[0.0, 5.0, 1.0]]), torch.tensor([[9.0, 0.0, 2.0]])
    assert best_span(first, last, 2**31 - 1) == best_span(first, last, 3)
