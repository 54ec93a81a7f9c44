"""Lists of words as token arrays."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from firth.models.token_lists import TokenLists
from firth.text.tokenize import Tokenizer

documents = st.lists(st.lists(st.lists(st.sampled_from("abc"), max_size=4), max_size=3), max_size=4)


@given(documents)
def test_ids_and_offsets_give_the_documents_back(texts):
    lists = TokenLists.of(texts)
    words = [lists.vocabulary[int(id)] for id in lists.ids]
    sentences = [words[start:stop] for start, stop in zip(lists.sentences, lists.sentences[1:])]
    assert [sentences[start:stop] for start, stop in zip(lists.documents, lists.documents[1:])] == texts


def test_the_tokenizer_is_whitespace_unless_another_is_given():
    assert TokenLists.of([]).tokenizer == Tokenizer(mode="whitespace")
    assert TokenLists.of([], Tokenizer()).tokenizer == Tokenizer()


def test_the_vocabulary_counts_the_words():
    lists = TokenLists.of([[["a", "b"], ["b"]]])
    assert lists.vocabulary.words == ("b", "a")
    assert lists.vocabulary.counts.tolist() == [2, 1]
    assert lists.tokens() is lists
