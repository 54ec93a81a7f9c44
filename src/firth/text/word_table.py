"""Hash tables of words for the kernels of the tokenizer and the normalizer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from firth.kernels import characters as kernel
from firth.text.code_points import code_points

Table = tuple[NDArray[np.uint64], NDArray[np.uint8]]


def make_table(words: Mapping[str, int]) -> Table:
    """An open-addressing hash table: the hash of the code points of each word, and its value from 1 to 255.

    >>> keys, values = make_table({"tea": 3})
    >>> int(kernel.look_up(code_points("tea"), 0, 3, keys, values))
    3
    """
    size = 1 << (2 * max(2, len(words))).bit_length()
    keys, values = np.zeros(size, np.uint64), np.zeros(size, np.uint8)
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    numbers = np.fromiter(words.values(), np.uint8, len(words))
    kernel.fill_table(code_points("".join(words)), ends, numbers, keys, values)
    return keys, values
