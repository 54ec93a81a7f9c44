from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import firth
from firth.bulk.index import index_file
from firth.bulk.remote_embedder import WorkerEmbedder
from firth.errors import FormatError, OptionError
from firth.runtime import Runtime


@dataclass(frozen=True)
class OneWorker(Runtime):
    """A cluster whose tasks run here."""

    @property
    def workers(self) -> int:
        return 1

    def scatter(self, function: Any, items: Iterable[Any], *, shared: Any = None, **_: Any) -> Iterator[Any]:
        return (function(shared, item) for item in items)


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "lines.txt"
    path.write_text("hot tea\ncold rain\n\nno such zzzword\n" * 40, encoding="utf-8")
    return path


def test_output_is_that_of_one_machine(lines: Path, tmp_path: Path) -> None:
    outputs = []
    for name, runtime in (("a.hdf5", None), ("b.hdf5", OneWorker(1))):
        report = firth.embed_file("svd-en", lines, tmp_path / name, runtime=runtime, block_tokens=64)
        outputs.append((tmp_path / name).read_bytes())
        assert (report.sentences, report.zero_rows) == (160, 40)
    assert outputs[0] == outputs[1]


def test_index(lines: Path, tmp_path: Path) -> None:
    alone = index_file("svd-en", lines, tmp_path / "a", block_tokens=64)
    together = index_file("svd-en", lines, tmp_path / "b", block_tokens=64, runtime=OneWorker(1))
    assert len(alone) == len(together)
    assert (tmp_path / "a" / "model.safetensors").read_bytes() == (tmp_path / "b" / "model.safetensors").read_bytes()


def test_the_model_is_a_path(lines: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="each worker opens the model itself"):
        firth.embed_file(firth.load("svd-en"), lines, tmp_path / "a.hdf5", runtime=OneWorker(1))


def test_stateful_runs_are_refused(lines: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    with pytest.raises(OptionError, match="cannot run on a cluster"):
        firth.embed_file("elmo-en", lines, tmp_path / "a.hdf5", runtime=OneWorker(1), stateful=True)


def test_another_model_on_a_worker() -> None:
    with pytest.raises(FormatError, match="another model on a worker"):
        WorkerEmbedder("svd-en", "another", "mix", None, (), "cpu").embed([["tea"]])
