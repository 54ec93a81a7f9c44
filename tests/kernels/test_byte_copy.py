"""Memory that is laid together."""

from __future__ import annotations

import numpy as np

from firth.kernels import byte_copy as kernel


def test_pieces_lie_one_behind_the_other() -> None:
    rng = np.random.default_rng(1)
    arrays = [rng.integers(0, 256, size, dtype=np.uint8) for size in (5, 0, 1, 4096, 77)]
    addresses = np.array([array.ctypes.data for array in arrays], np.uint64)
    sizes = np.array([array.nbytes for array in arrays], np.int64)
    out = np.full(sizes.sum() + 3, 7, np.uint8)
    assert kernel.gather(addresses, sizes, out) == sizes.sum()
    assert np.array_equal(out[:-3], np.concatenate(arrays))
    assert (out[-3:] == 7).all()
