"""Beam search against trying every text."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import pytest
import torch
from torch import Tensor

from firth.tasks.seq2seq.beam import search

END, WORDS, LONGEST = 0, 4, 3


@dataclass(frozen=True)
class PrefixState:
    """All words of each row so far."""

    prefix: Tensor

    def rows(self, places: Tensor) -> PrefixState:
        return PrefixState(self.prefix[places])


def log_probs(source: int, prefix: tuple[int, ...]) -> Tensor:
    """log P of the next word: random by source and prefix, so that only a search finds the best text."""
    seed = 1 + source + sum((word + 1) * 7**place for place, word in enumerate(prefix))
    return torch.log_softmax(2 * torch.randn(WORDS, generator=torch.Generator().manual_seed(seed)), 0)


def step(words: Tensor, state: PrefixState) -> tuple[Tensor, PrefixState]:
    prefix = torch.cat([state.prefix, words[:, None]], 1)
    rows = [log_probs(int(row[0]), tuple(row[2:].tolist())) for row in prefix]
    return torch.stack(rows), PrefixState(prefix)


def found_by(width: int, penalty: float, sources: int = 3) -> tuple[list[list[int]], list[float]]:
    begin = PrefixState(torch.arange(sources).repeat_interleave(width)[:, None])
    begins = torch.full((sources,), 9)
    found = search(step, begin, begins, end=END, width=width, longest=LONGEST, penalty=penalty)
    texts = [[word for word in row[0] if word >= 0] for row in found.words.tolist()]
    return texts, found.scores[:, 0].tolist()


def by_trying_all(source: int, penalty: float) -> tuple[float, list[int]]:
    tried = []
    for length in range(LONGEST + 1):
        for text in product(range(1, WORDS), repeat=length):
            spoken = *text, END
            total = sum(float(log_probs(source, text[:place])[word]) for place, word in enumerate(spoken))
            tried.append((total / len(spoken) ** penalty, list(text)))
    return max(tried)


@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0])
def test_a_beam_that_holds_every_text_finds_the_best(penalty: float) -> None:
    texts, scores = found_by(WORDS**LONGEST, penalty)
    best = [by_trying_all(source, penalty) for source in range(3)]
    assert texts == [text for _, text in best]
    assert scores == pytest.approx([score for score, _ in best], abs=1e-5)


def test_a_beam_of_one_takes_the_likeliest_word_each_time() -> None:
    texts, _ = found_by(1, 0.0)
    for source, text in enumerate(texts):
        prefix: list[int] = []
        while len(prefix) < LONGEST and (word := int(log_probs(source, tuple(prefix)).argmax())) != END:
            prefix.append(word)
        assert text == prefix


def test_a_source_is_answered_alike_alone_and_beside_others() -> None:
    assert [found_by(3, 1.0, sources)[0][0] for sources in (1, 2, 3)] == [found_by(3, 1.0)[0][0]] * 3


def test_the_texts_of_a_beam_come_with_falling_scores() -> None:
    begin = PrefixState(torch.zeros(4, 1, dtype=torch.int64))
    found = search(step, begin, torch.tensor([9]), end=END, width=4, longest=LONGEST, penalty=1.0)
    scores = found.scores[0].tolist()
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(row) for row in found.words[0].tolist()}) == 4


def test_a_long_limit_costs_nothing_where_texts_end_early() -> None:
    begin = PrefixState(torch.zeros(4, 1, dtype=torch.int64))
    found = search(step, begin, torch.tensor([9]), end=END, width=4, longest=10**9, penalty=0.0)
    assert found.words.shape[2] < 200  # the steps that were taken
