"""A cluster without Ray, a text in several files, and a real cluster of two nodes on loopback."""

from __future__ import annotations

import gzip
import json
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firth.distributed.tasks import TaskFailure, run_task
from firth.models import cooccurrence, ngram_counts, segmenter
from firth.runtime import Runtime
from firth.text import corpus


@dataclass(frozen=True)
class PickledTasks(Runtime):
    """Tasks run here, but what they get and return passes through bytes, as between the processes of a cluster."""

    slots: int = 3
    calls: list[str] = field(default_factory=list)

    @property
    def workers(self) -> int:
        return self.slots

    def scatter(
        self, function: Any, items: Iterable[Any], *, shared: Any = None, stage: str = "", in_order: bool = True
    ) -> Iterator[Any]:
        self.calls.append(stage)
        for item in items:
            task = pickle.loads(pickle.dumps((function, shared, item)))  # noqa: S301
            result = pickle.loads(pickle.dumps(run_task(*task)))  # noqa: S301
            if isinstance(result, TaskFailure):
                raise result.error()
            yield result


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks so small that a short text has many."""
    monkeypatch.setattr(corpus, "SHARD", 2000)
    monkeypatch.setattr(cooccurrence, "TASK_WORDS", 700)
    monkeypatch.setattr(ngram_counts, "CHUNK", 900)
    monkeypatch.setattr(segmenter, "TASK_CHARACTERS", 500)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Plain, compressed and empty files: about 9,000 words of 300 types with the frequencies of a language."""
    folder = tmp_path / "text"
    folder.mkdir()
    draw = np.random.default_rng(7)
    words = [f"w{number}" if number % 7 else f"ق{number}" for number in range(300)]
    weights = 1 / np.arange(1, 301)
    lines = [" ".join(draw.choice(words, draw.integers(1, 14), p=weights / weights.sum())) + "." for _ in range(1200)]
    folder.joinpath("a.txt").write_text("\n".join(lines[:700]) + "\n", encoding="utf-8")
    folder.joinpath("b.txt.gz").write_bytes(gzip.compress("\n".join(lines[700:1000]).encode(), mtime=0))
    folder.joinpath("c.txt").write_text("", encoding="utf-8")
    folder.joinpath("d.txt").write_text("\r\n".join(lines[1000:]), encoding="utf-8")  # no end of the last line
    tmp_path.joinpath("lines.jsonl").write_text(
        "".join(json.dumps({"text": line}) + "\n" for line in lines[:300]), encoding="utf-8"
    )
    return folder


@pytest.fixture
def fake() -> PickledTasks:
    return PickledTasks(threads=1)


def arrays_of(artifact: Any) -> dict[str, np.ndarray]:
    parts = artifact.to_parts()
    words = {name: np.array(list(vocabulary)) for name, vocabulary in parts.vocabularies.items()}
    return {**parts.arrays, **words}


def compare(one: Any, other: Any) -> None:
    expected, found = arrays_of(one), arrays_of(other)
    assert expected.keys() == found.keys()
    for name, array in expected.items():
        assert array.dtype == found[name].dtype, name
        np.testing.assert_array_equal(array, found[name], err_msg=name)


@pytest.fixture
def assert_equal() -> Callable[[Any, Any], None]:
    """Whether two artifacts have the same words and arrays, to the bit."""
    return compare
