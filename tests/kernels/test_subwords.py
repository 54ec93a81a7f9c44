"""Character n-grams of a word and means of rows, by hand."""

from __future__ import annotations

import numpy as np

from firth.kernels import subwords


def cut(word: bytes, minn: int, maxn: int) -> tuple[list[bytes], np.ndarray]:
    blob, wrapped = np.frombuffer(word, np.uint8), np.zeros(len(word) + 2, np.uint8)
    size = subwords.wrap(blob, 0, len(blob), wrapped, False)
    starts, ends, hashes = np.zeros(99, np.int64), np.zeros(99, np.int64), np.zeros(99, np.uint32)
    count = subwords.cut(wrapped, size, minn, maxn, starts, ends, hashes)
    return [wrapped[a:b].tobytes() for a, b in zip(starts[:count], ends[:count])], hashes[:count]


def test_an_ngram_is_whole_characters_and_a_lone_bracket_is_none():
    assert cut("né".encode(), 1, 2)[0] == [b"<n", b"n", "né".encode(), "é".encode(), "é>".encode()]
    assert cut(b"</s>", 1, 6)[0] == []


def test_the_hash_is_fnv_1a_with_sign_extended_bytes():
    hash = 2166136261
    for byte in "é".encode():
        hash = ((hash ^ (byte | 0xFFFFFF00)) * 16777619) % 2**32
    assert cut("é".encode(), 1, 1)[1].tolist() == [hash]


def test_a_vector_is_the_mean_of_its_rows_and_zero_without_rows():
    matrix, means = np.array([[1, 2], [3, 6], [5, 5]], np.float32), np.empty((2, 2), np.float32)
    rows, pointers, lengths = np.array([0, 1]), np.array([0, 2]), np.array([2, 0])
    subwords.mean_rows(matrix, rows, pointers, lengths, means)
    assert means.tolist() == [[2, 4], [0, 0]]
