"""The scan of text against `bytes.split` and a dict, and its UTF-8 check against Python's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from firth.kernels import text_to_ids as kernel
from firth.text.chunks import NO_LENGTHS, NO_MARKS, PADDING, WordTable
from firth.text.tokenize import EncodedTokens

BLANKS = [b" ", b"\n", b"\t", b"\r", b"\v", b"\f", b"\0"]
pieces = st.one_of(st.sampled_from(BLANKS), st.sampled_from([b"the", b"of", b"a"]), st.binary(max_size=40))
texts = st.lists(pieces, max_size=60).map(b"".join)


def reference(text: bytes) -> tuple[list[int], list[int], dict[bytes, int]]:
    """Ids by first sight, ids before each line's end, and counts."""
    ids: list[int] = []
    ends: list[int] = []
    seen: dict[bytes, int] = {}
    counts: dict[bytes, int] = {}
    lines = text.split(b"\n")
    for number, line in enumerate(lines):
        words = line.replace(b"\0", b" ").split()  # of bytes: at ASCII white space alone
        for word in words:
            ids.append(seen.setdefault(word, len(seen)))
            counts[word] = counts.get(word, 0) + 1
        if words and number < len(lines) - 1:
            ends.append(len(ids))
    return ids, ends, counts


@settings(deadline=None)  # the first call compiles
@given(texts)
@example(b"eightbyt sixteen-bytes-xx sixteen-bytes-xxy \x00 a\x00b \x1f \xff\xff")
def test_a_scan_gives_the_words_that_split_gives(text: bytes) -> None:
    table = WordTable(0, room=2)  # so small that it has to grow again and again
    ids, ends = table.scan(text + PADDING, len(text))
    expected_ids, expected_ends, counts = reference(text)
    assert (ids.tolist(), ends.tolist()) == (expected_ids, expected_ends)
    vocabulary, ranks = table.rank_words()
    assert sum(counts.values()) == vocabulary.total
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    raw = [vocabulary.blob[a:b].tobytes() for a, b in zip(vocabulary.starts, vocabulary.ends)]
    assert raw == ordered
    assert [raw[rank] for rank in ranks[ids]] == text.replace(b"\0", b" ").split()


@settings(deadline=None)  # the first call compiles
@given(texts, texts)
def test_two_tables_merged_are_one_table_of_both_texts(first: bytes, second: bytes) -> None:
    one, two, both = WordTable(0, room=4), WordTable(1, room=4), WordTable(2, room=4)
    one.scan(first + PADDING, len(first))
    ids, _ = two.scan(second + PADDING, len(second))
    joined, _ = both.scan(first + b" " + second + PADDING, len(first) + 1 + len(second))
    renamed = one.absorb(two)
    assert one.rank_words()[0] == both.rank_words()[0]
    assert one.rank_words()[1][renamed[ids]].tolist() == both.rank_words()[1][joined[len(joined) - len(ids) :]].tolist()


broken = st.one_of(st.binary(max_size=40), st.text(max_size=20).map(str.encode))


@settings(deadline=None)  # the first call compiles
@given(st.lists(broken, max_size=4).map(b"".join))
@example(b"\xed\xa0\x80")
@example(b"a" * 17 + b"\xf4\x90\x80\x80")
@example("نیم‌فاصله 東京 😀".encode()[:-1])
def test_the_first_broken_byte_is_where_python_says(text: bytes) -> None:
    try:
        text.decode()
        place = -1
    except UnicodeDecodeError as error:
        place = error.start
    assert kernel.find_invalid_utf8(np.frombuffer(text + PADDING, np.uint8), len(text)) == place


@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 16, 17, 24, 25, 1000])
def test_words_that_differ_in_one_byte_are_two_words(length: int) -> None:
    table = WordTable(0)
    text = b" ".join(b"x" * i + b"y" + b"x" * (length - 1 - i) for i in range(min(length, 40)))
    ids, _ = table.scan(text + PADDING, len(text))
    assert ids.tolist() == list(range(min(length, 40)))


def test_renumbering_is_a_look_up() -> None:
    ids = np.array([2, 0, 2], np.uint32)
    kernel.renumber(ids, np.array([5, 6, 7], np.uint32))
    assert ids.tolist() == [7, 5, 7]


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0",
    reason="NumPy 1 makes floats of uint64 and a Python integer; the compiled scan has the types of numba",
)
def test_the_python_body_of_the_scan_gives_what_the_compiled_one_gives() -> None:
    text = np.frombuffer(b"to be or not to be a-rather-long-word a-rather-long-word\n" + PADDING, np.uint8)
    results = []
    for scan in (kernel.scan, kernel.scan.py_func):
        table = WordTable(0)
        ids, ends = np.zeros(30, np.uint32), np.zeros(30, np.uint32)
        with np.errstate(over="ignore"):
            arrays = table.slots, table.entries, table.starts, table.blob, table.state
            scan(text, 57, NO_LENGTHS, NO_MARKS, *arrays, ids, ends)
        results.append((ids.tolist(), ends.tolist(), table.state.tolist()))
    assert results[0] == results[1]


@settings(deadline=None)
@given(st.lists(st.tuples(st.binary(min_size=1, max_size=40), st.booleans()), max_size=60))
def test_tokens_of_known_length_are_counted_as_words_between_blanks_are(tokens: list[tuple[bytes, bool]]) -> None:
    table, ids, ends = WordTable(0, room=2), list[int](), list[int]()
    data, lengths, last = (
        b"".join(raw for raw, _ in tokens),
        [len(raw) for raw, _ in tokens],
        [end for _, end in tokens],
    )
    block = EncodedTokens(np.frombuffer(data, np.uint8), np.array(lengths, np.int64), np.array(last, np.uint8))
    seen: dict[bytes, int] = {}
    for number, (raw, is_last) in enumerate(tokens, 1):
        ids.append(seen.setdefault(raw, len(seen)))
        ends += [number] * is_last
    found_ids, found_ends = table.count([block])
    assert (found_ids.tolist(), found_ends.tolist(), len(table)) == (ids, ends, len(seen))
