"""The map of a model: PCA at once, then a layout that is computed in a thread, once for all visitors."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import FirthError, OptionError
from firth.explorer.models import Models
from firth.explorer.problems import PageError
from firth.maps.alignment import Alignment
from firth.maps.cache import frames_or_map
from firth.maps.clusters import Clusters
from firth.maps.layout import Layout, PointMap
from firth.maps.scatter import PlotField, ScatterData
from firth.vectors.neighbors import unit_rows
from firth.vectors.words import WordVectors

MOST = 100_000  # words on a map: the most frequent ones
METHODS = {"umap": Layout(), "tsne": Layout(method="tsne")}


@dataclass
class MapJob:
    """A map that is being made. `version` grows with every frame; `result` is there at the end."""

    words: list[str]
    unit: NDArray[np.float32]
    layout: Layout
    step: str = "pca"
    share: float = 0.0
    version: int = 0
    positions: NDArray[np.float32] | None = None
    result: PointMap | None = None
    error: FirthError | None = None
    first: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Computes in a thread that does not keep the process alive."""
        threading.Thread(target=self.run, name="map", daemon=True).start()

    def run(self) -> None:
        """Computes all frames."""
        try:
            for frame in frames_or_map(self.unit, self.layout):
                self.positions = frame.positions
                if isinstance(frame, PointMap):
                    self.result = frame
                else:
                    self.step, self.share = frame.step, frame.done / frame.total
                self.version += 1
                self.first.set()
        except FirthError as error:
            self.error = error
        finally:
            self.first.set()
            self.done.set()


class Maps:
    """The maps and clusters of models, each computed once, also if two visitors ask at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[tuple[int, str, str], MapJob] = {}
        self._clusters: dict[tuple[int, str], tuple[Clusters, list[str]]] = {}

    def job(self, models: Models, name: str, method: str = "umap") -> MapJob:
        """The map of a model, started on first use."""
        if method not in METHODS:
            raise OptionError(f"no layout is called {method!r}. There are: {', '.join(METHODS)}")
        words, unit = take_words(models, name)
        with self._lock:
            key = id(models), name, method
            job = self._jobs.get(key)
            if job is None or job.error is not None:
                job = self._jobs[key] = MapJob(words, unit, METHODS[method])
                job.start()
        job.first.wait()
        if job.error is not None:
            raise job.error
        return job

    def clusters(self, models: Models, name: str) -> tuple[Clusters, list[str]]:
        """The clusters of a model and their names."""
        words, unit = take_words(models, name)
        with self._lock:
            key = id(models), name
            if key not in self._clusters:
                clusters = Clusters.of(unit)
                self._clusters[key] = clusters, clusters.names(words)
            return self._clusters[key]


MAPS = Maps()


def take_words(models: Models, name: str) -> tuple[list[str], NDArray[np.float32]]:
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
    return list(vectors.vocabulary[:MOST]), vectors.unit[:MOST]


def pack_map(models: Models, parameters: Mapping[str, str]) -> bytes:
    """The data of a map: its latest positions, words, clusters, ranks and, at the end, kept neighbors.

    With `other`, the positions are turned to match the map of that model.
    """
    name = parameters.get("model", "")
    job = MAPS.job(models, name, parameters.get("method", "umap"))
    clusters, names = MAPS.clusters(models, name)
    size = len(job.words)
    rank = 1 - np.log1p(np.arange(size)) / np.log1p(size)
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
    job = MAPS.job(models, parameters.get("model", ""), parameters.get("method", "umap"))
    return np.ascontiguousarray(turned(models, job, parameters), "<f4").tobytes()


def turned(models: Models, job: MapJob, parameters: Mapping[str, str]) -> NDArray[Any]:
    """Positions, turned by orthogonal Procrustes such that common words lie as near as possible to those of `other`."""
    positions = job.positions
    assert positions is not None
    if not parameters.get("other"):
        return positions
    target = MAPS.job(models, parameters["other"], parameters.get("method", "umap"))
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
    job = MAPS.job(models, parameters.get("model", ""), parameters.get("method", "umap"))
    job.done.wait()
    if job.result is None:
        raise PageError("unfinished")
    return np.ascontiguousarray(job.result.kept, "<f4").tobytes()


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
    return np.ascontiguousarray(values[:MOST], "<f4").tobytes()


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
