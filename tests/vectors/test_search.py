"""The exact index and the faiss graph over the same rows; tests/kernels/test_search.py compares with a plain scan."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from firth.errors import MissingExtra, OptionError
from firth.vectors.rows import DenseRows
from firth.vectors.search import FaissIndex, NeighborIndex, select_best

MATRIX = np.random.default_rng(0).standard_normal((300, 20)).astype(np.float32)


def test_best_orders_by_score_then_by_id_and_drops_nan() -> None:
    scores = np.array([0.5, np.nan, 0.9, 0.5, 0.9, 0.1], np.float32)
    ids, found = select_best(np.arange(6), scores, 4)
    assert ids.tolist() == [2, 4, 0, 3]
    assert found.tolist() == pytest.approx([0.9, 0.9, 0.5, 0.5])
    assert select_best(np.arange(6), scores, 1)[0].tolist() == [2]


def test_a_memory_map_is_searched_as_an_array_is(tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(b"xyz" + MATRIX.tobytes())
    mapped = np.memmap(tmp_path / "rows", np.float32, "r", offset=3, shape=MATRIX.shape)
    found = NeighborIndex.of(DenseRows(mapped)).search(MATRIX[:5], 10)
    np.testing.assert_array_equal(found, NeighborIndex.of(DenseRows(MATRIX)).search(MATRIX[:5], 10))


def test_a_negative_id_cannot_be_allowed() -> None:
    with pytest.raises(OptionError, match="at least 0"):
        NeighborIndex.of(DenseRows(MATRIX)).search(MATRIX[:1], 3, allowed=[4, -1])


def test_without_faiss_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtra, match=r"firth\[ann\]"):
        FaissIndex.of(NeighborIndex.of(DenseRows(MATRIX)))
