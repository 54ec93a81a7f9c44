from __future__ import annotations

from pathlib import Path

import numpy as np

from firth.distributed.result_store import ResultStore


def test_results_are_found_again(tmp_path: Path) -> None:
    store = ResultStore(tmp_path, "reading")
    store.save(0, {"ids": np.arange(5, dtype=np.uint32), "none": np.zeros((0, 2), np.float32)})
    found = store.load(0)
    assert found["ids"].tolist() == [0, 1, 2, 3, 4]
    assert found["none"].shape == (0, 2)
    assert store.load(1) is None


def test_lists_keep_their_order_and_empty_members(tmp_path: Path) -> None:
    store = ResultStore(tmp_path, "counting")
    store.save(7, [{"keys": np.full(2, number)} for number in range(12)])
    assert [part["keys"].tolist() for part in store.load(7)] == [[number] * 2 for number in range(12)]


def test_a_damaged_result_is_computed_again(tmp_path: Path) -> None:
    store = ResultStore(tmp_path, "reading")
    store.save(0, {"ids": np.arange(50)})
    [path] = tmp_path.rglob("*.safetensors")
    data = bytearray(path.read_bytes())
    for place in range(len(data)):
        damaged = data.copy()
        damaged[place] ^= 0x40
        path.write_bytes(damaged)
        found = store.load(0)
        assert found is None or found["ids"].tolist() == list(range(50))  # a bit of the header without a meaning
    path.write_bytes(data[:-1])
    assert store.load(0) is None
