"""Lines of ARPA files, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from firth.kernels import arpa, words
from firth.kernels.decimals import LONGEST

NAMES = b"teahot"
NAME_STARTS, NAME_ENDS = np.array([0, 3]), np.array([3, 6])


def read_words(text: bytes) -> tuple[int, int, int, list[bytes], np.ndarray, np.ndarray]:
    starts, ends = np.zeros(9, np.int64), np.zeros(9, np.int64)
    log10, backoffs = np.zeros(9, np.float32), np.zeros(9, np.float32)
    at, row, problem = arpa.read_words(np.frombuffer(text, np.uint8), 0, 0, starts, ends, log10, backoffs)
    return at, row, problem, [text[a:b] for a, b in zip(starts[:row], ends[:row])], log10[:row], backoffs[:row]


def read_bigrams(text: bytes) -> tuple[int, int, np.ndarray, np.ndarray, np.ndarray]:
    names, slots = np.frombuffer(NAMES, np.uint8), np.zeros(4, np.uint64)
    words.index(names, NAME_STARTS, NAME_ENDS, slots)
    keys, log10, backoffs = np.zeros(9, np.uint64), np.zeros(9, np.float32), np.zeros(9, np.float32)
    vocabulary = names, NAME_STARTS, NAME_ENDS, slots
    trie = np.array([2, 2, 2]), np.array([0, 1], np.uint32)
    _, row, problem = arpa.read_ngrams(
        np.frombuffer(text, np.uint8), 0, 0, 2, vocabulary, *trie, 0, keys, log10, backoffs
    )
    return row, problem, keys[:row], log10[:row], backoffs[:row]


def test_words_are_read_up_to_an_empty_line():
    at, row, problem, found, log10, backoffs = read_words(b"-1.5\ttea\t-0.25\n-2 hot \r\n\n-1\tx\n")
    assert (at, row, problem, found) == (24, 2, arpa.FINE, [b"tea", b"hot"])
    assert (log10.tolist(), backoffs.tolist()) == ([-1.5, -2], [-0.25, 0])


@pytest.mark.parametrize(
    "line, problem",
    [
        (b"x tea", arpa.NO_NUMBER),
        (b"1 tea", arpa.POSITIVE),
        (b"-1", arpa.FEW_FIELDS),
        (b"-1 tea x", arpa.NO_BACKOFF),
        (b"-1 tea -1 -1", arpa.MANY_FIELDS),
    ],
)
def test_a_wrong_line_is_reported_with_its_offset_and_problem(line, problem):
    assert read_words(b"-1 tea\n" + line + b"\n")[:3] == (7, 1, problem)


def test_the_key_of_an_ngram_is_its_prefix_and_its_last_word():
    row, problem, keys, log10, backoffs = read_bigrams(b"-0.5 tea hot -3\n-1 hot hot\n")
    assert (row, problem, keys.tolist()) == (2, arpa.FINE, [0 * 2 + 1, 1 * 2 + 1])
    assert (log10.tolist(), backoffs.tolist()) == ([-0.5, -1], [-3, 0])
    assert read_bigrams(b"-1 tea cold\n")[:2] == (0, arpa.NO_WORD)
    assert read_bigrams(b"-1 tea\n")[:2] == (0, arpa.FEW_FIELDS)


def test_words_are_written_as_lines_until_the_buffer_is_full():
    log10, backoffs = np.array([-1.5, -2], np.float32), np.array([-0.25, 0], np.float32)
    arrays = np.frombuffer(NAMES, np.uint8), NAME_STARTS, NAME_ENDS, np.array([2, 2, 2]), np.array([0, 1], np.uint32)
    out = np.zeros(200, np.uint8)
    node, size = arpa.write_ngrams(0, 2, np.zeros(1, np.int64), np.array([0]), *arrays, log10, backoffs, out)
    assert (node, out[:size].tobytes()) == (2, b"-1.5\ttea\t-0.25\n-2\thot\t0\n")
    small = out[: 2 * LONGEST + 7]  # room for one line of three letters
    assert arpa.write_ngrams(0, 2, np.zeros(1, np.int64), np.array([0]), *arrays, log10, backoffs, small)[0] == 1
