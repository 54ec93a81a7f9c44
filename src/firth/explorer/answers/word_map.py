"""The map of a model: PCA at once, then a layout that is computed in a thread, once for all visitors."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.explorer.models import Models
from firth.explorer.problems import PageError
from firth.maps.alignment import Alignment
from firth.maps.cache import frames_or_map
from firth.maps.clusters import Clusters
from firth.maps.layout import Layout, PointMap
from firth.maps.scatter import PlotField, ScatterData
from firth.maps.table import NEIGHBORS, pack_parquet
from firth.vectors.neighbors import unit_rows
from firth.vectors.words import WordVectors

FIRST = 100_000  # words on a map, the most frequent ones, unless others are asked for
MOST = 1_000_000
METHODS = {"umap": Layout(), "tsne": Layout(method="tsne")}


@dataclass
class MapJob:
    """A map that is being made. `version` grows when points move; at the end, `result` is there or it was stopped."""

    words: list[str]
    unit: NDArray[np.float32]
    layout: Layout
    step: str = "pca"
    share: float = 0.0
    version: int = 0
    positions: NDArray[np.float32] | None = None
    result: PointMap | None = None
    error: Exception | None = None
    stopped: bool = False
    first: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Computes in a thread that does not keep the process alive."""
        threading.Thread(target=self.run, name="map", daemon=True).start()

    def stop(self) -> None:
        """Stops after the frame that is being computed; the points stay where they are."""
        self.stopped = self.result is None

    def run(self) -> None:
        """Computes all frames."""
        try:
            for frame in frames_or_map(self.unit, self.layout):
                moved = frame.positions is not self.positions
                self.positions = frame.positions
                if isinstance(frame, PointMap):
                    self.result = frame
                else:
                    self.step, self.share = frame.step, frame.done / frame.total
                self.version += moved  # the progress of a search moves no point
                self.first.set()
                if self.stopped:
                    break
        except Exception as error:  # the page that asks shows it
            self.error = error
        finally:
            self.stopped = self.stopped and self.result is None  # the last frame may have come before the stop
            self.first.set()
            self.done.set()


class Maps:
    """The maps and clusters of models, each computed once, also if two visitors ask at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[tuple[int, str, str, int], MapJob] = {}
        self._clusters: dict[tuple[int, str, int], tuple[Clusters, list[str]]] = {}

    def job(
        self, models: Models, name: str, method: str = "umap", count: int = FIRST, *, again: bool = False
    ) -> MapJob:
        """The map of the first words of a model, started on first use; with `again` also if it was stopped."""
        if method not in METHODS:
            raise OptionError(f"no layout is called {method!r}. There are: {', '.join(METHODS)}")
        words, unit = take_words(models, name, count)
        with self._lock:
            key = id(models), name, method, len(words)
            job = self._jobs.get(key)
            if job is None or job.error is not None or (again and job.stopped):
                job = self._jobs[key] = MapJob(words, unit, METHODS[method])
                job.start()
        job.first.wait()
        if job.error is not None:
            raise job.error
        return job

    def clusters(self, models: Models, name: str, count: int = FIRST) -> tuple[Clusters, list[str]]:
        """The clusters of the first words of a model, and their names."""
        words, unit = take_words(models, name, count)
        with self._lock:
            key = id(models), name, len(words)
            if key not in self._clusters:
                clusters = Clusters.of(unit)
                self._clusters[key] = clusters, clusters.names(words)
            return self._clusters[key]


MAPS = Maps()


def read_count(text: str) -> int:
    """The number of words of a map, from an address.

    >>> read_count(""), read_count("20000"), read_count("all"), read_count("1e9")
    (100000, 20000, 100000, 100000)
    """
    return min(max(int(text), 1), MOST) if text.isdecimal() and len(text) < 12 else FIRST


def find_job(models: Models, parameters: Mapping[str, str], name: str = "model") -> MapJob:
    """The map that the parameters of a route ask for."""
    count = read_count(parameters.get("words", ""))
    return MAPS.job(models, parameters.get(name, ""), parameters.get("method", "umap"), count)


def take_words(models: Models, name: str, count: int = FIRST) -> tuple[list[str], NDArray[np.float32]]:
    """The most frequent words of a model and their unit vectors.

    >>> words, unit = take_words(Models(), "fasttext-fa")
    >>> len(words) == len(unit) > 1000
    True
    """
    vectors = models.load(name)
    if not isinstance(vectors, WordVectors):
        raise PageError("no-vectors", name=name)
    if not len(vectors):
        raise PageError("empty-model", name=name)
    return list(vectors.vocabulary[:count]), vectors.unit[:count]


def pack_map(models: Models, parameters: Mapping[str, str]) -> bytes:
    """The data of a map: its latest positions, words, clusters, ranks and, at the end, kept neighbors.

    With `other`, the positions are turned to match the map of that model.
    """
    name = parameters.get("model", "")
    job = find_job(models, parameters)
    size = len(job.words)
    clusters, names = MAPS.clusters(models, name, size)
    rank = 1 - np.sqrt(np.arange(size) / size)  # most words are rare: shades for all of them
    labels = {key: parameters.get(key, key) for key in ("cluster", "frequency", "rare", "frequent")}
    fields = [
        PlotField("cluster", labels["cluster"], "category", clusters.labels, names),
        PlotField("frequency", labels["frequency"], "ramp", rank, low=labels["rare"], high=labels["frequent"]),
    ]
    if job.result is not None:
        fields.append(kept_field(job.result, parameters.get("kept", "kept")))
    return ScatterData([turned(models, job, parameters)], names=job.words, fields=fields).pack()


def kept_field(result: PointMap, label: str) -> PlotField:
    """The share of kept neighbors as a color.

    >>> kept_field(PointMap(np.zeros((1, 2), np.float32), np.array([0.5], np.float32)), "kept").values.tolist()
    [0.5]
    """
    return PlotField("kept", label, "ramp", result.kept, low="0", high="10")


def pack_frame(models: Models, parameters: Mapping[str, str]) -> bytes:
    """The latest positions of a map."""
    job = find_job(models, parameters)
    return np.ascontiguousarray(turned(models, job, parameters), "<f4").tobytes()


def turned(models: Models, job: MapJob, parameters: Mapping[str, str]) -> NDArray[Any]:
    """Positions, turned by orthogonal Procrustes such that common words lie as near as possible to those of `other`."""
    positions = job.positions
    assert positions is not None
    if not parameters.get("other"):
        return positions
    target = find_job(models, parameters, "other")
    target.done.wait()
    if target.positions is None:
        return positions
    places = {word: id for id, word in enumerate(target.words)}
    pairs = np.array([(id, places[word]) for id, word in enumerate(job.words) if word in places], np.int64)
    if len(pairs) < 3:
        return positions
    return Alignment.of(positions[pairs[:, 0]], target.positions[pairs[:, 1]]).apply(positions)


def pack_kept(models: Models, parameters: Mapping[str, str]) -> bytes:
    """The share of kept neighbors of each point of a finished map."""
    job = find_job(models, parameters)
    job.done.wait()
    if job.result is None:
        raise PageError("unfinished")
    return np.ascontiguousarray(job.result.kept, "<f4").tobytes()


def pack_table(models: Models, parameters: Mapping[str, str]) -> bytes:
    """A finished map as a Parquet file; with the neighbors of each word, unless there are very many words."""
    job = find_job(models, parameters)
    job.done.wait()
    if job.result is None:
        raise PageError("unfinished")
    near = NEIGHBORS if len(job.words) <= FIRST else 0
    return pack_parquet(models.load(parameters.get("model", "")), job.result, neighbors=near)


def pack_direction(models: Models, parameters: Mapping[str, str]) -> bytes:
    """The place of each word between two words, as 0 to 1; see `place_between`.

    >>> packed = pack_direction(Models(), {"model": "word2vec-en", "low": "man", "high": "woman"})
    >>> values = np.frombuffer(packed, "<f4")
    >>> words = Models().load("word2vec-en").vocabulary
    >>> bool(values[words.words.index("he")] < 0.5 < values[words.words.index("she")])
    True
    """
    name = parameters.get("model", "")
    vectors = models.load(name)
    values = place_between(vectors, parameters.get("low", ""), parameters.get("high", ""))
    return np.ascontiguousarray(values[: read_count(parameters.get("words", ""))], "<f4").tobytes()


def place_between(vectors: WordVectors, low: str, high: str) -> NDArray[np.float32]:
    """How far each word lies along the direction from one word to another: 0 to 1, 0.5 if it is orthogonal to it.

    The cosine with the difference of the two unit vectors is divided by the 99th percentile of its size.

    >>> vectors = WordVectors(["man", "woman", "tea"], [[1, 0], [0, 1], [1, 1]])
    >>> place_between(vectors, "man", "woman").tolist()
    [0.0, 1.0, 0.5]
    """
    first, second = unit_rows(vectors.of([low, high]))
    [direction] = unit_rows((second - first)[None])
    cosines = vectors.unit @ direction
    reach = float(np.quantile(np.abs(cosines), 0.99)) or 1.0
    return np.asarray(np.clip(0.5 + 0.5 * cosines / reach, 0, 1), np.float32)
