from __future__ import annotations

import pytest
import torch
from sklearn.metrics import f1_score

from firth.probes.readers import StaticReader, WordSpan, read_spans
from firth.probes.sense_files import AnnotatedSentence, Annotation
from firth.probes.senses import F1, SenseMeans, fill_missing, most_frequent_senses, score_answers
from firth.probes.wordnet import Lexeme, WordNet
from firth.vectors.words import WordVectors

RIVER, MONEY, TEA = "bank%1:17:01::", "bank%1:14:00::", "tea%1:13:00::"
BANK = Lexeme("bank", "NOUN")


class Context:
    """A reader for which a word is the mean of its sentence."""

    names = ("context",)
    device = torch.device("cpu")

    def __init__(self) -> None:
        vectors = WordVectors(["water", "loan", "bank", "shore"], [[1, 0], [0, 1], [0.5, 0.5], [0.8, 0.2]])
        self.static = StaticReader("x", vectors)

    def read(self, sentences: list[list[str]]) -> torch.Tensor:
        if not sentences:
            return torch.zeros(1, 0, 2)
        parts = [self.static.read([words]).mean(1, keepdim=True).expand(1, len(words), 2) for words in sentences]
        return torch.cat(parts, dim=1)


def tagged(words: str, *keys: str) -> AnnotatedSentence:
    parts = tuple(words.split())
    place = parts.index("bank")
    return AnnotatedSentence(parts, (Annotation(place, place + 1, "bank", "NOUN", keys),))


TEXT = [tagged("water bank", RIVER), tagged("the bank", MONEY), tagged("loan bank loan", MONEY), tagged("bank x")]
COUNTS = {RIVER: 1, MONEY: 2}


def test_a_word_has_the_sense_whose_mean_is_nearest() -> None:
    means = SenseMeans.read(Context(), TEXT, COUNTS)
    vectors = read_spans(
        Context(), [WordSpan(("shore", "bank"), 1, 2), WordSpan(("bank", "loan"), 0, 1), WordSpan(("bank",), 0, 1)]
    )
    lexemes = [BANK, BANK, Lexeme("tea", "NOUN")]
    assert means.nearest(vectors, lexemes) == [[RIVER, MONEY, None]]


def test_the_mean_of_a_sense_is_by_hand_that_of_its_occurrences() -> None:
    means = SenseMeans.read(Context(), TEXT, COUNTS)
    expected = torch.tensor([0.25, 0.25]) + torch.tensor([0.5 / 3, 2.5 / 3])
    assert torch.allclose(means.means[0, means.senses.index(MONEY)], expected / expected.norm())


@pytest.mark.parametrize("first", [RIVER, MONEY])
def test_a_tie_goes_to_the_sense_that_wordnet_has_first(first: str) -> None:
    senses = [first, *({RIVER, MONEY} - {first})]
    wordnet = WordNet.of([(key, number) for number, key in enumerate(senses, 1)])
    text = [tagged("bank", RIVER), tagged("bank", MONEY)]
    means = SenseMeans.read(Context(), text, COUNTS, wordnet)
    assert means.nearest(read_spans(Context(), [WordSpan(("bank",), 0, 1)]), [BANK]) == [[first]]


def test_blocks_of_any_size_give_the_same_means(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = SenseMeans.read(Context(), TEXT * 5, COUNTS)
    monkeypatch.setattr("firth.probes.senses.block_size", lambda reader: 3)
    parts = SenseMeans.read(Context(), TEXT * 5, COUNTS)
    assert torch.allclose(whole.means, parts.means, atol=1e-6)


def test_F1_is_that_of_scikit_learn_where_all_is_answered_and_by_hand_where_not() -> None:
    gold = [RIVER, MONEY, MONEY, TEA]
    annotations = [Annotation(0, 1, "bank", "NOUN", (key,)) for key in gold]
    said = [RIVER, RIVER, MONEY, TEA]
    assert score_answers(said, annotations).value == pytest.approx(100 * f1_score(gold, said, average="micro"))
    precision, recall = 2 / 3, 2 / 4
    found = score_answers([RIVER, None, MONEY, MONEY], annotations)
    assert found.value == pytest.approx(100 * 2 * precision * recall / (precision + recall))
    assert F1(0, 0, 0).value == 0


def test_the_most_frequent_sense_is_that_of_the_counts() -> None:
    said = most_frequent_senses([BANK, Lexeme("tea", "NOUN")], COUNTS)
    assert fill_missing(said, ["no", TEA]) == [MONEY, TEA]
