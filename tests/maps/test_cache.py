"""A map is computed once; a damaged file or another option computes it again."""

from __future__ import annotations

import numpy as np
import pytest

from firth.maps import cache
from firth.maps.layout import Layout, PointMap

QUICK = Layout(epochs=10)


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.setenv("FIRTH_CACHE", str(tmp_path))
    return np.random.default_rng(1).normal(size=(30, 4)).astype(np.float32)


def test_the_second_time_the_map_comes_from_disk(rows) -> None:
    steps = list(cache.frames_or_map(rows, QUICK))
    again = list(cache.frames_or_map(rows, QUICK))
    assert len(steps) > 2
    [result] = again
    assert isinstance(result, PointMap)
    np.testing.assert_array_equal(result.positions, steps[-1].positions)
    np.testing.assert_array_equal(result.kept, cache.cached_map(rows, QUICK).kept)


def test_a_cancelled_layout_leaves_nothing_behind(rows) -> None:
    frames = cache.frames_or_map(rows, QUICK)
    next(frames)
    frames.close()
    assert cache.read_map(cache.map_key(rows, QUICK)) is None
    assert not cache.cache_folder().exists()


def test_a_damaged_file_is_replaced(rows) -> None:
    whole = cache.cached_map(rows, QUICK)
    path = cache.cache_folder() / f"{cache.map_key(rows, QUICK)}.safetensors"
    path.write_bytes(path.read_bytes()[:100])
    np.testing.assert_array_equal(cache.cached_map(rows, QUICK).positions, whole.positions)
    assert cache.read_map(cache.map_key(rows, QUICK)) is not None


def test_other_vectors_or_options_have_another_key(rows) -> None:
    other = rows.copy()
    other[3, 1] += 1e-6
    assert len({cache.map_key(rows, QUICK), cache.map_key(other, QUICK), cache.map_key(rows, Layout())}) == 3


def test_a_folder_that_cannot_be_written_is_a_warning(rows, tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FIRTH_CACHE", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="not kept on disk"):
        cache.cached_map(rows, QUICK)


def test_the_folder_follows_the_environment(monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("FIRTH_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.cache_folder() == tmp_path / "firth" / "maps"
