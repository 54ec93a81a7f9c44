"""The map of a model: computed once, in a thread, and packed for the browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from firth.errors import OptionError, UnknownWord
from firth.explorer.answers import word_map
from firth.maps.cache import cached_map
from firth.maps.layout import Frame, Layout, PointMap
from firth.maps.scatter import unpack
from firth.vectors.words import WordVectors


@pytest.fixture(scope="module")
def models() -> Any:
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(60)]
    table = {
        "first": WordVectors(words, rng.normal(size=(60, 8)).astype(np.float32)),
        "second": WordVectors([*words[10:], "new"], rng.normal(size=(51, 5)).astype(np.float32)),
        "none": SimpleNamespace(),
    }
    return SimpleNamespace(load=table.__getitem__, table=table)


def test_a_packed_map_has_words_positions_clusters_and_kept_neighbors(models: Any) -> None:
    word_map.MAPS.job(models, "first").done.wait()
    head, arrays = unpack(word_map.pack_map(models, {"model": "first", "cluster": "خوشه‌ها"}))
    assert head["names"] == list(models.load("first").vocabulary)
    assert [field["key"] for field in head["fields"]] == ["cluster", "frequency", "kept"]
    assert head["fields"][0]["label"] == "خوشه‌ها"
    expected = cached_map(models.load("first").unit)
    np.testing.assert_array_equal(arrays[0].reshape(-1, 2), expected.positions)
    np.testing.assert_array_equal(arrays[3], expected.kept)
    frame = np.frombuffer(word_map.pack_frame(models, {"model": "first"}), "<f4")
    np.testing.assert_array_equal(frame, expected.positions.ravel())
    kept = np.frombuffer(word_map.pack_kept(models, {"model": "first"}), "<f4")
    np.testing.assert_array_equal(kept, expected.kept)


def test_visitors_who_come_together_share_one_map(models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    maps = word_map.Maps()
    monkeypatch.setattr(word_map.MapJob, "start", lambda job: (made.append(job), job.first.set()))
    threads = [threading.Thread(target=maps.job, args=(models, "first")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_the_second_map_is_turned_to_the_first(models: Any) -> None:
    first, second = (word_map.MAPS.job(models, name) for name in ("first", "second"))
    second.done.wait()
    turned = word_map.turned(models, second, {"other": "first"})
    common = np.array([(id, int(word[1:])) for id, word in enumerate(second.words) if word != "new"])
    assert first.positions is not None
    target = first.positions[common[:, 1]]

    def gap(positions: np.ndarray) -> float:
        return float(((positions[common[:, 0]] - target) ** 2).sum())

    assert second.positions is not None
    assert gap(turned) < gap(second.positions)
    best = min(gap(turned @ np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])) for a in np.linspace(0, 6, 50))
    assert gap(turned) <= best + 1e-6


def test_the_place_between_two_words_is_the_cosine_with_their_difference(models: Any) -> None:
    vectors = models.load("first")
    values = word_map.place_between(vectors, "w3", "w9")
    direction = vectors.unit[9] - vectors.unit[3]
    order = np.argsort(vectors.unit @ direction)
    assert values[9] > 0.5 > values[3]
    assert (np.diff(values[order]) >= -1e-6).all()
    packed = word_map.pack_direction(models, {"model": "first", "low": "w3", "high": "w9"})
    np.testing.assert_array_equal(np.frombuffer(packed, "<f4"), values)
    with pytest.raises(UnknownWord):
        word_map.place_between(vectors, "w3", "nowhere")


def test_what_has_no_map_is_an_error(models: Any) -> None:
    with pytest.raises(OptionError, match="has no word vectors"):
        word_map.MAPS.job(models, "none")
    with pytest.raises(OptionError, match="no layout is called 'pca'"):
        word_map.MAPS.job(models, "first", "pca")


def test_words_beyond_the_landmarks_are_on_the_map_too(models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout(landmarks=40, neighbors=5, epochs=20)
    monkeypatch.setitem(word_map.METHODS, "umap", layout)
    maps = word_map.Maps()
    monkeypatch.setattr(word_map, "MAPS", maps)
    job = maps.job(models, "first", count=55)
    job.done.wait()
    assert (job.step, job.share, len(job.words)) == ("placing", 1.0, 55)
    head, arrays = unpack(word_map.pack_map(models, {"model": "first", "words": "55"}))
    assert head["size"] == 55
    expected = layout.fit(models.load("first").unit[:55])
    np.testing.assert_array_equal(arrays[0].reshape(-1, 2), expected.positions)
    assert len(word_map.pack_direction(models, {"model": "first", "words": "55", "low": "w1", "high": "w2"})) == 4 * 55


def test_a_map_is_stopped_and_made_again_on_demand(models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = threading.Event()

    def frames(unit: np.ndarray, layout: Layout) -> Iterator[Frame | PointMap]:
        none = np.zeros((0, 0), np.int64)
        yield Frame("pca", 1, 1, unit[:, :2], none)
        shown.wait(20)
        yield Frame("layout", 1, 2, unit[:, 1:3], none)
        yield PointMap(unit[:, :2], np.ones(len(unit), np.float32))

    monkeypatch.setattr(word_map, "frames_or_map", frames)
    maps = word_map.Maps()
    job = maps.job(models, "first")
    job.stop()
    shown.set()
    assert job.done.wait(20)
    assert (job.stopped, job.result, job.step) == (True, None, "layout")
    assert maps.job(models, "first") is job
    again = maps.job(models, "first", again=True)
    assert again is not job
    assert again.done.wait(20)
    assert again.result is not None
    again.stop()
    assert not again.stopped
