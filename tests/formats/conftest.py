"""Fixtures of the tests of file formats."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from firth.errors import FirthError
from firth.formats.registry import load, save
from firth.vectors.words import WordVectors

if TYPE_CHECKING:
    from torch import Tensor

    from firth.neural.bilm import BiLM

SENTENCES = [["The", "first", "sentence", "."], ["Naïve"], []]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny biLM in ELMo's official layout."""
    pytest.importorskip("torch")
    from firth.neural.architecture import PRESETS
    from firth.neural.bilm import BiLM

    save(BiLM(PRESETS["tiny"]), tmp_path / "model", format="elmo")
    return tmp_path / "model"


@pytest.fixture(scope="session")
def embed() -> Callable[[BiLM], Tensor]:
    """All layers of a biLM on a few sentences."""
    torch = pytest.importorskip("torch")

    def run(bilm: BiLM) -> Tensor:
        with torch.no_grad():
            return bilm(SENTENCES)[0]

    return run


@pytest.fixture(scope="session")
def read_tensors() -> Callable[[Path], dict[str, np.ndarray]]:
    """The tensors of an HDF5 file by name."""
    h5py = pytest.importorskip("h5py")

    def read(path: Path) -> dict[str, np.ndarray]:
        tensors: dict[str, np.ndarray] = {}
        with h5py.File(path) as file:
            file.visititems(lambda name, item: tensors.update({name: item[()]}) if hasattr(item, "shape") else None)
        return tensors

    return read


@pytest.fixture
def check_damaged(tmp_path: Path) -> Callable[[bytes], None]:
    """Loads a file of vectors with random bytes changed or cut off: it loads, or raises an error of ours."""

    def check(whole: bytes) -> None:
        rng = np.random.default_rng(4)
        for i in range(120):
            damaged = bytearray(whole[: rng.integers(len(whole))] if i % 3 == 0 else whole)
            for _ in range(rng.integers(1, 4)):
                place = rng.integers(min(len(damaged), 300)) if i % 2 else rng.integers(len(damaged))
                damaged[place] = rng.integers(256)
            (tmp_path / "damaged").write_bytes(damaged)
            with contextlib.suppress(FirthError):
                assert load(tmp_path / "damaged").rows.shape[1] >= 1

    return check


@pytest.fixture
def check_many_blocks(tmp_path: Path) -> Callable[[str], None]:
    """Writes and reads a file that is longer than several blocks: its words and numbers come back in order."""

    def check(format: str) -> None:
        rng = np.random.default_rng(0)
        whole = WordVectors([f"w{i}" for i in range(20000)], rng.standard_normal((20000, 60), np.float32))
        save(whole, tmp_path / "file", format=format)
        again = load(tmp_path / "file")
        assert again.vocabulary.words == whole.vocabulary.words
        assert np.array_equal(again.matrix, whole.matrix)

    return check
