"""A layout keeps neighbors, the same for the same seed; its frames; its measure of quality."""

from __future__ import annotations

import numpy as np
import pytest

from firth.errors import MissingExtra, OptionError
from firth.maps.layout import KEPT, Frame, Layout, PointMap, neighbors_kept, principal_axes, search_blocks, weigh_edges
from firth.vectors.neighbors import unit_rows


@pytest.fixture(scope="module")
def vectors():
    """Six groups of forty directions in 16 dimensions."""
    rng = np.random.default_rng(2)
    return (np.repeat(rng.normal(size=(6, 16)), 40, axis=0) + 0.4 * rng.normal(size=(240, 16))).astype(np.float32)


@pytest.fixture(scope="module")
def finished(vectors):
    return Layout().fit(vectors)


def test_groups_stay_together_and_more_neighbors_are_kept_than_by_pca(vectors, finished) -> None:
    groups = np.arange(240) // 40
    distances = np.linalg.norm(finished.positions[:, None] - finished.positions[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (groups[distances.argmin(axis=1)] == groups).mean() > 0.98
    frames = list(Layout(epochs=1).frames(vectors))
    pca = neighbors_kept(frames[0].positions, frames[-1].neighbors)
    assert finished.quality > 1.3 * pca.mean()


def test_the_same_seed_gives_the_same_map(vectors, finished) -> None:
    again = Layout().fit(vectors)
    np.testing.assert_array_equal(again.positions, finished.positions)
    other = Layout(seed=2).fit(vectors)
    assert np.abs(other.positions - finished.positions).max() > 0.1


def test_frames_tell_the_step_and_can_be_left_at_any_time(vectors) -> None:
    frames = Layout(epochs=30).frames(vectors)
    first = next(frames)
    assert (first.step, first.positions.shape) == ("pca", (240, 2))
    np.testing.assert_allclose(np.abs(first.positions).max(), 10, rtol=1e-5)
    rest = list(frames)
    assert [frame.step for frame in rest] == ["neighbors", "layout", "layout", "layout"]
    assert [frame.done for frame in rest] == [240, 10, 20, 30]
    assert len({id(frame.positions) for frame in rest[1:]}) == 3  # a frame does not change later
    cancelled = Layout().frames(vectors)
    next(cancelled)
    cancelled.close()


def test_the_neighbors_are_the_exact_ones(vectors) -> None:
    unit = unit_rows(vectors)
    cosines = unit.astype(np.float64) @ unit.T.astype(np.float64)
    np.fill_diagonal(cosines, -np.inf)
    [(done, ids, _)] = search_blocks(unit, 3)
    assert done == 240
    np.testing.assert_array_equal(ids, np.argsort(-cosines, axis=1)[:, :3])


def test_kept_neighbors_are_counted_as_by_hand(vectors) -> None:
    rng = np.random.default_rng(3)
    positions = rng.normal(size=(60, 2)).astype(np.float32)
    neighbors = np.stack([rng.permutation(np.delete(np.arange(60), i))[:12] for i in range(60)])
    kept = neighbors_kept(positions, neighbors)
    for i in range(60):
        distances = np.linalg.norm(positions - positions[i], axis=1)
        near = [j for j in np.argsort(distances).tolist() if j != i][:KEPT]
        assert kept[i] == pytest.approx(len(set(near) & set(neighbors[i, :KEPT].tolist())) / KEPT)


def test_points_on_one_place_do_not_count_themselves() -> None:
    kept = neighbors_kept(np.zeros((30, 2), np.float32), np.tile(np.arange(1, 11), (30, 1)))
    assert kept.shape == (30,)
    assert kept.max() <= 1


def test_edges_go_both_ways_and_the_strongest_is_sampled_in_every_epoch() -> None:
    neighbors = np.array([[1, 2], [0, 2], [1, 0]])
    distances = np.array([[0.1, 0.5], [0.1, 0.4], [0.4, 0.5]], np.float32)
    heads, tails, every = weigh_edges(neighbors, distances, 100)
    pairs = set(zip(heads.tolist(), tails.tolist()))
    assert pairs == {(tail, head) for head, tail in pairs}
    assert every.min() == 1


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_a_few_points_have_a_map_too(size: int) -> None:
    result = Layout().fit(np.eye(size, 3, dtype=np.float32))
    assert result.positions.shape == (size, 2)
    assert np.isfinite(result.positions).all()
    assert 0 <= result.quality <= 1


def test_vectors_of_one_dimension_lie_on_a_line() -> None:
    positions = next(Layout().frames(np.array([[1.0], [-1.0], [2.0], [-3.0]]))).positions
    np.testing.assert_array_equal(positions[:, 1], 0)


def test_what_has_no_map_is_an_error() -> None:
    for wrong in (np.zeros((0, 4)), np.zeros(4), np.full((5, 2), np.nan)):
        with pytest.raises(OptionError, match="a layout needs"):
            Layout().fit(wrong)
    with pytest.raises(OptionError, match="neighbors is 1"):
        Layout(neighbors=1)


def test_the_principal_axes_are_those_of_the_svd(vectors) -> None:
    centered = vectors - vectors.mean(axis=0)
    expected = np.linalg.svd(centered.astype(np.float64), full_matrices=False)[2][:2].T
    np.testing.assert_allclose(np.abs((principal_axes(vectors) * expected).sum(axis=0)), 1, rtol=1e-4)


def test_tsne_is_fed_with_the_exact_neighbors(vectors) -> None:
    pytest.importorskip("openTSNE")
    frames = list(Layout(method="tsne", epochs=100).frames(vectors[:80]))
    assert frames[-1].positions.shape == (80, 2)
    assert PointMap.of(frames[-1]).quality > 0.3


def test_tsne_without_its_package_names_the_extra(vectors, monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openTSNE", None)
    with pytest.raises(MissingExtra, match=r"firth\[tsne\]"):
        Layout(method="tsne").fit(vectors)


def test_a_map_of_a_first_frame_has_no_neighbors_to_lose() -> None:
    frame = Frame("pca", 0, 1, np.zeros((2, 2), np.float32), np.zeros((2, 0), np.int64))
    assert PointMap.of(frame).quality == 1.0


def test_points_beyond_the_landmarks_are_placed_among_their_neighbors(vectors) -> None:
    order = np.random.default_rng(3).permutation(240)
    layout = Layout(landmarks=120, epochs=100)
    frames = list(layout.frames(vectors[order]))
    assert [frame.step for frame in frames[-2:]] == ["layout", "placing"]
    assert all(frame.positions.shape == (240, 2) for frame in frames)
    result = PointMap.of(frames[-1])
    alone = Layout(epochs=100).fit(vectors[order[:120]])
    np.testing.assert_array_equal(result.positions[:120], alone.positions)  # the landmarks do not see the others
    np.testing.assert_array_equal(result.kept[:120], alone.kept)
    assert result.kept[120:].mean() > 0.8 * alone.kept.mean()
    groups = order // 40
    distances = np.linalg.norm(result.positions[120:, None] - result.positions[None, :120], axis=2)
    assert (groups[:120][distances.argmin(axis=1)] == groups[120:]).mean() > 0.95
    again = layout.fit(vectors[order])
    np.testing.assert_array_equal(again.positions, result.positions)
