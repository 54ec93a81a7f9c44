"""Vocabularies: order, cut, merge, and a text file that gives back every byte."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.errors import FormatError, OptionError, UnknownWord
from firth.kernels import words as kernel
from firth.text.vocabulary import (
    Vocabulary,
    read_counts,
    read_word_list,
    scan_large,
    scan_small,
    to_bytes,
    to_word,
    unescape_small,
)

odd_words = st.lists(
    st.one_of(st.binary(max_size=12).map(to_word), st.text("a\\n\n\t\r\0", max_size=6)), unique_by=to_bytes, max_size=20
)
counted = st.dictionaries(st.binary(max_size=10).map(to_word), st.integers(1, 5), max_size=20)


def test_ids_fall_with_counts_and_ties_are_broken_by_bytes() -> None:
    vocabulary = Vocabulary.from_counts({"b": 2, "é": 2, "a": 2, "z": 7, "rare": 1})
    assert vocabulary.words == ("z", "a", "b", "é", "rare")
    assert vocabulary.total == 14


def test_a_cut_keeps_the_ids_of_the_words_it_keeps() -> None:
    vocabulary = Vocabulary.from_counts({"the": 9, "cat": 2, "mat": 2, "sat": 1})
    short = vocabulary.cut(2)
    assert short.words == ("the", "cat", "mat")
    assert [short.id(word) for word in short] == [vocabulary.id(word) for word in short]
    assert short.ids(["sat"]).tolist() == [-1]


@pytest.mark.parametrize(("min_count", "size"), [(0, 3), (1, 3), (2, 1), (9, 1), (10, 0)])
def test_a_cut_keeps_words_seen_at_least_so_often(min_count: int, size: int) -> None:
    assert len(Vocabulary(["the", "cat", "mat"], [9, 1, 1]).cut(min_count)) == size


def test_a_cut_needs_counts_in_falling_order() -> None:
    with pytest.raises(OptionError, match="no counts"):
        Vocabulary(["a"]).cut(1)
    with pytest.raises(OptionError, match="not ordered"):
        Vocabulary(["a", "b"], [1, 2]).cut(1)


def test_take_and_top_choose_words() -> None:
    vocabulary = Vocabulary(["a", "b", "c"], [3, 2, 1])
    assert vocabulary.take([2, 0]) == Vocabulary(["c", "a"], [1, 3])
    assert vocabulary.top(2) == Vocabulary(["a", "b"], [3, 2])
    assert vocabulary.top(9) == vocabulary


def test_as_many_counts_as_words_are_needed() -> None:
    with pytest.raises(OptionError, match="2 words has 1 counts"):
        Vocabulary(["a", "b"], [1])


@settings(deadline=None)  # the first call compiles
@given(counted, counted)
def test_a_merge_is_the_sum_of_two_counters(first: dict[str, int], second: dict[str, int]) -> None:
    total = {word: first.get(word, 0) + second.get(word, 0) for word in first | second}
    merged = Vocabulary.from_counts(first).merge(Vocabulary.from_counts(second))
    assert merged == Vocabulary.from_counts(total)
    assert merged == Vocabulary.from_counts(second).merge(Vocabulary.from_counts(first))


def test_a_vocabulary_without_counts_cannot_be_merged() -> None:
    with pytest.raises(OptionError, match="without counts"):
        Vocabulary(["a"]).merge(Vocabulary(["a"], [1]))


@settings(deadline=None)  # the first call compiles
@given(odd_words, st.data())
def test_what_is_saved_is_loaded(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("vocabulary") / "vocab"
    counts = data.draw(st.none() | st.lists(st.integers(1, 10**15), min_size=len(words), max_size=len(words)))
    vocabulary = Vocabulary(words, counts)
    vocabulary.save(path)
    loaded = Vocabulary.load(path)
    assert loaded.words == vocabulary.words
    assert (loaded.counts is None) == (counts is None or not words)
    assert loaded.ids(words).tolist() == list(range(len(words)))
    assert loaded.fingerprint == vocabulary.fingerprint


def test_the_saved_file_is_readable_text(tmp_path: Path) -> None:
    Vocabulary(["the", "a\nb", "\\"], [3, 2, 1]).save(tmp_path / "vocab")
    assert (tmp_path / "vocab").read_text() == "the\t3\na\\nb\t2\n\\\\\t1\n"


def test_a_broken_file_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "vocab").write_text("the\t3\ncat\n")
    with pytest.raises(FormatError, match="vocab:2: expected a word, a tab and a count"):
        Vocabulary.load(tmp_path / "vocab")


def test_an_unknown_word_names_near_spellings() -> None:
    vocabulary = Vocabulary(["Queen", "queens", "quern", "king"])
    with pytest.raises(UnknownWord, match="Near spellings: 'Queen'"):
        vocabulary.id("queen")
    assert vocabulary.near("queenz") == ["queens", "Queen", "quern"]
    assert vocabulary.near("x" * 200) == []
    assert vocabulary.near("zzzzzz") == []


def test_a_word_is_found_by_membership_and_not_by_type() -> None:
    vocabulary = Vocabulary(["a", ""])
    assert "a" in vocabulary
    assert "" in vocabulary
    assert "b" not in vocabulary
    assert 1 not in vocabulary  # type: ignore[comparison-overlap]


def test_equal_vocabularies_have_equal_hashes_and_fingerprints() -> None:
    one, two = Vocabulary(["a", "b"], [2, 1]), Vocabulary.from_counts({"b": 1, "a": 2})
    assert one == two
    assert (hash(one), one.fingerprint) == (hash(two), two.fingerprint)
    assert one != Vocabulary(["a", "b"])
    assert one.fingerprint != Vocabulary(["ab"]).fingerprint
    assert one != "a"


def test_slices_negative_ids_and_repr() -> None:
    vocabulary = Vocabulary(["a", "b", "c", "d"], [4, 3, 2, 1])
    assert vocabulary[-1] == "d"
    assert vocabulary[1:3] == ("b", "c")
    assert repr(vocabulary) == "Vocabulary(4 words, 10 tokens: a, b, c, …)"
    assert repr(Vocabulary(["a"])) == "Vocabulary(1 words: a)"
    assert np.array_equal(vocabulary.ids(iter(["d", "x"])), [3, -1])


def test_a_word_list_may_carry_counts(tmp_path: Path) -> None:
    (tmp_path / "words").write_bytes(b"the\t3\r\ncat\n\nmat")
    assert read_word_list(tmp_path / "words") == ["the", "cat", "mat"]


@given(
    st.lists(
        st.tuples(st.binary(max_size=3), st.sampled_from([b"\t7", b"\t", b"", b"\t-1", b"\t" + b"9" * 18])), max_size=4
    )
)
def test_short_and_long_lists_are_read_alike(lines: list[tuple[bytes, bytes]]) -> None:
    raw = b"\n".join(word + count for word, count in lines)
    for end in (b"", b"\n"):
        if raw + end:
            small, large = scan_small(raw + end), scan_large(np.frombuffer(raw + end, np.uint8))
            assert small[0] == large[0]
            read = len(small[1]) if small[0] >= 0 else None
            assert all(ours.tolist() == theirs[:read].tolist() for ours, theirs in zip(small[1:], large[1:]))


@pytest.mark.parametrize("digits", [19, 5000])
def test_a_count_that_no_text_can_have_is_read_as_no_count(tmp_path: Path, digits: int) -> None:
    (tmp_path / "words").write_text(f"tea\t2\nrain\t{'9' * digits}\n")
    assert read_counts(tmp_path / "words") == ["tea", "rain"]


@given(words=st.lists(st.text("a\\n", max_size=6), min_size=1, max_size=8))
def test_escaped_words_are_read_alike_with_and_without_a_kernel(words: list[str]) -> None:
    raw = "\t".join(words).encode()
    ends = np.cumsum([len(word) + 1 for word in words]) - 1
    starts = ends - [len(word) for word in words]
    blob, *places = unescape_small(raw, starts, ends)
    plain = np.empty(len(raw), np.uint8)
    used = int(kernel.unescape(np.frombuffer(raw, np.uint8), starts, ends, plain))
    assert blob.tobytes() == plain[:used].tobytes()
    assert [place.tolist() for place in places] == [starts.tolist(), ends.tolist()]
