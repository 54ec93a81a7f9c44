"""A corpus with the ids of a chosen vocabulary."""

from __future__ import annotations

import pytest

from firth.errors import OptionError
from firth.text.corpus import Corpus
from firth.text.mapped_tokens import choose_words
from firth.text.vocabulary import Vocabulary

TOKENS = Corpus.of([["a", "b", "a", "c"], ["c", "a"]]).tokens()


def test_ids_are_those_of_the_chosen_words_and_all_others_are_unknown():
    mapped = choose_words(TOKENS, Vocabulary(["c", "a"], [2, 7]))
    assert mapped.vocabulary.most_common(2) == [("a", 7), ("c", 2)]
    assert mapped.ids.tolist() == [0, 2, 0, 1, 1, 0]
    assert mapped.sentences.tolist() == TOKENS.sentences.tolist()
    assert len(mapped) == len(TOKENS)


def test_other_counts_have_another_fingerprint():
    prints = {choose_words(TOKENS, counts).fingerprint for counts in ({"a": 1}, {"a": 2}, {"b": 1})}
    assert len(prints | {TOKENS.fingerprint}) == 4


@pytest.mark.parametrize(
    "words, message",
    [("a", "must be a list of words"), (["z"], "none of the words"), ({"a": 0}, "count below 1")],
)
def test_a_vocabulary_that_cannot_be_is_an_error(words, message):
    with pytest.raises(OptionError, match=message):
        choose_words(TOKENS, words)
