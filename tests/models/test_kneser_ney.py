"""Modified Kneser-Ney against a plain reference in dictionaries, written straight from the formulas."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from firth.errors import OptionError
from firth.models.kneser_ney import estimate_discounts
from firth.models.ngram import Ngram
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

WHITESPACE = Tokenizer(mode="whitespace", normalizer=None)


def make_corpus(sentences: Sequence[Sequence[str]]) -> Corpus:
    return Corpus.of(["\n".join(" ".join(words) for words in sentences)], tokenizer=WHITESPACE)


class Reference:
    """p(w | h) = (a(hw) - D(a(hw))) / A(h) + gamma(h) p(w | h without its first word), one dictionary an order."""

    def __init__(self, sentences, order, prune=(0,), interpolate_unigrams=True):
        self.counts = [Counter() for _ in range(order + 1)]
        for sentence in sentences:
            text = ("<s>", *sentence, "</s>")
            for n in range(1, order + 1):
                self.counts[n].update(text[i : i + n] for i in range(len(text) - n + 1))
        while not self.counts[-1]:
            self.counts.pop()
        self.order = len(self.counts) - 1
        del self.counts[1][("<s>",)]
        self.words = {gram[0] for gram in self.counts[1]} | {"<unk>"}
        self.adjusted = [None, *(self.adjust(n) for n in range(1, self.order + 1))]
        self.discounts = [None, *(self.discount(n) for n in range(1, self.order + 1))]
        self.prune = [prune[min(n, len(prune) - 1)] for n in range(self.order)]
        self.interpolate_unigrams = interpolate_unigrams

    def adjust(self, n):
        if n == self.order:
            return dict(self.counts[n])
        before = defaultdict(set)
        for gram in self.counts[n + 1]:
            before[gram[1:]].add(gram[0])
        return {gram: c if gram[0] == "<s>" else len(before[gram]) for gram, c in self.counts[n].items()}

    def discount(self, n):
        found = Counter(self.adjusted[n].values())
        estimated = estimate_discounts([found[k] for k in range(5)])
        first, second, third = estimated or (0.5, 1.0, 1.5)
        return lambda a: (0.0, first, second, third)[min(a, 3)]

    def probability(self, word, context):
        if len(context) >= self.order:
            context = context[len(context) - self.order + 1 :]
        n = len(context) + 1
        seen = {gram: a for gram, a in self.adjusted[n].items() if gram[:-1] == tuple(context)}
        if n > 1 and not seen:
            return self.probability(word, context[1:])
        kept = {gram: a for gram, a in seen.items() if n == 1 or self.counts[n][gram] > self.prune[n - 1]}
        discount, total = self.discounts[n], sum(seen.values())
        left = (sum(map(discount, kept.values())) + total - sum(kept.values())) / total
        gram = (*context, word)
        own = (kept[gram] - discount(kept[gram])) / total if gram in kept else 0.0
        if n > 1:
            return own + left * self.probability(word, context[1:])
        if self.interpolate_unigrams:
            return own + left / len(self.words)
        return own + left * (word == "<unk>")


texts = some.lists(
    some.lists(some.sampled_from(["a", "b", "c", "d", "e", "<unk>"]), min_size=1, max_size=6), min_size=1, max_size=12
)


@settings(max_examples=60, deadline=None)
@given(texts, some.integers(1, 5), some.booleans(), some.sampled_from([(0,), (0, 1), (0, 0, 1), (0, 1, 1, 2)]))
def test_probabilities_equal_the_reference_and_sum_to_one(sentences, order, interpolate, prune):
    prune = prune[:order]
    model = Ngram(order=order, prune=prune, interpolate_unigrams=interpolate).fit(make_corpus(sentences))
    reference = Reference(sentences, order, prune, interpolate)
    contexts = {(), ("<s>",), ("a", "b", "zebra"), ("zebra",)}
    contexts |= {gram[:-1] for n in range(2, reference.order + 1) for gram in itertools.islice(reference.counts[n], 20)}
    for context in contexts:
        known = tuple(word if word in reference.words or word == "<s>" else "<unk>" for word in context)
        assert model.distribution(context).sum() == pytest.approx(1, abs=1e-6)
        for word in reference.words:
            expected = reference.probability(word, known)
            assert model.probability(word, context) == pytest.approx(expected, abs=1e-6, rel=1e-5)


def test_a_larger_text_has_estimated_discounts_and_equals_the_reference():
    rng = np.random.default_rng(3)
    words = [f"w{i}" for i in range(2000)]
    sentences = [[words[int(i)] for i in rng.zipf(1.3, rng.integers(2, 12)) % 2000] for _ in range(400)]
    model = Ngram(order=3).fit(make_corpus(sentences))
    assert model.metadata["fallback_discounts"] == []
    reference = Reference(sentences, 3)
    for context in itertools.islice(reference.counts[2], 0, 400, 40):
        assert model.distribution(context).sum() == pytest.approx(1, abs=1e-6)
        for word in words[:10]:
            assert model.probability(word, context) == pytest.approx(reference.probability(word, context), rel=1e-5)


def test_a_bigram_by_hand():
    """Text "a b / a c", order 2, fallback discounts (0.5, 1, 1.5).

    Each of the bigrams <s>a, ab, ac, b</s>, c</s> has one or two occurrences, and the unigrams follow 1 (a, b, c) or
    2 (</s>) different words: A() = 5, left over D1 + D1 + D1 + D2 = 2.5, so each of 5 words (a, b, c, </s>, <unk>) gets
    2.5 / 5 / 5 = 0.1, and a, b, c get 0.5 / 5 more, </s> gets (2 - 1) / 5 more.
    After a: A = 2, left 1 / 2; p(b | a) = 0.5 / 2 + 0.5 * 0.2 = 0.35.
    """
    model = Ngram(order=2).fit(make_corpus([["a", "b"], ["a", "c"]]))
    assert model.probability("a") == pytest.approx(0.2)
    assert model.probability("</s>") == pytest.approx(0.3)
    assert model.probability("zebra") == pytest.approx(0.1)
    assert model.probability("b", ["a"]) == pytest.approx(0.35)
    assert model.probability("a", ["<s>"]) == pytest.approx(0.5 + 0.5 * 0.2)
    assert model.probability("<s>", ["a"]) == 0


def test_a_word_that_follows_many_words_beats_one_that_follows_its_partner_only():
    sentences = [["san", "francisco"]] * 6 + [[word, "cup"] for word in "abcd"]
    model = Ngram(order=2).fit(make_corpus(sentences))
    assert model.probability("cup", ["new"]) > model.probability("francisco", ["new"])
    assert model.probability("francisco", ["san"]) > 0.5


def test_discounts_are_those_of_chen_and_goodman_or_none_where_counts_of_counts_are_degenerate():
    shared = 10 / (10 + 2 * 4)
    expected = (1 - 2 * shared * 4 / 10, 2 - 3 * shared * 2 / 4, 3 - 4 * shared * 1 / 2)
    assert estimate_discounts([0, 10, 4, 2, 1]) == pytest.approx(expected)
    assert estimate_discounts([0, 10, 0, 2, 1]) is None
    assert estimate_discounts([0, 10, 1, 9, 1]) is None  # the second discount would be negative


def test_without_a_fallback_a_tiny_text_is_an_error_that_says_what_to_do():
    with pytest.raises(OptionError, match=r"discounts of order 1 cannot be estimated.*discount_fallback"):
        Ngram(order=2, discount_fallback=None).fit(make_corpus([["a", "b"]]))
