"""AllenNLP itself opens what we write, and finds our vectors in it.

AllenNLP needs older packages than firth, so it lives in an environment of its own: FIRTH_ALLENNLP names its python
(`benchmarks/allennlp_peer.py` says how to make one). Where there is none, these tests are skipped.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from firth.formats.registry import load, save
from firth.neural.architecture import PRESETS
from firth.neural.bilm import BiLM

PEER = Path(__file__).resolve().parents[2] / "benchmarks" / "allennlp_peer.py"
TINY = PRESETS["tiny"]
ODD = [
    ["", "<S>", "</S>", "<UNK>", "a" * 48, "b" * 49, "c" * 60],
    ["😀", "東京タワー", "naïve", "می‌روم", "\ud800", "x\ud800y", "\x00", "\t", "Ｆｕｌｌ", "é" * 30],
    [],
    ["."],
    ["word"] * 120,
]


@pytest.fixture(scope="module")
def python() -> str:
    """The python of an environment that has AllenNLP."""
    named = os.environ.get("FIRTH_ALLENNLP")
    if named is None and importlib.util.find_spec("allennlp") is None:
        pytest.skip("needs AllenNLP: set FIRTH_ALLENNLP to the python of an environment that has it")
    return named or sys.executable


def in_allennlp(
    python: str, model: Path, folder: Path, sentences: Sequence[Sequence[str]], **asked: Any
) -> list[np.ndarray]:
    """All layers of each sentence, as AllenNLP finds them with the files of our model."""
    out = folder / "theirs.npz"
    question = json.dumps({"sentences": sentences, "out": str(out), **asked})
    command = [python, str(PEER), str(model / "options.json"), str(model / "weights.hdf5")]
    done = subprocess.run(command, input=question, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    with np.load(out) as arrays:
        return [arrays[str(number)] for number in range(len(sentences))]


def largest_difference(ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> float:
    assert [one.shape for one in ours] == [one.shape for one in theirs]
    return max(float(np.abs(one - other).max(initial=0.0)) for one, other in zip(ours, theirs))


def fifty_sentences() -> list[list[str]]:
    """Words of many lengths from few letters, in sentences of many lengths."""
    rng = np.random.default_rng(1)
    words = ["".join(rng.choice(list("abcdeäж漢"), size)) for size in rng.integers(1, 15, 300)]
    return [*ODD, *([words[id] for id in rng.integers(0, 300, length)] for length in rng.integers(1, 40, 45))]


@pytest.mark.parametrize(
    "sizes",
    [
        TINY,
        dataclasses.replace(TINY, layers=3, highways=1, activation="tanh", cell_clip=0.0, projection_clip=0.0),
        dataclasses.replace(TINY, layers=1, highways=0, filters=((3, 40),), cell=40, dim=24),
        PRESETS["small"],
    ],
    ids=["tiny", "three layers", "one layer", "small"],
)
def test_allennlp_opens_what_we_write_and_finds_our_vectors(python: str, tmp_path: Path, sizes: Any) -> None:
    sentences = fifty_sentences() if sizes.cell < 1000 else ODD
    bilm = BiLM(sizes, seed=3)
    save(bilm, tmp_path / "model", format="elmo")
    theirs = in_allennlp(python, tmp_path / "model", tmp_path, sentences, batch=16, reset=True)
    assert largest_difference(bilm.embed(sentences, layers="all"), theirs) <= 2e-6


def test_allennlp_finds_the_vectors_of_its_own_model_in_our_copy_of_it(python: str, data: Path, tmp_path: Path) -> None:
    folder = data / "fixtures" / "elmo" / "allennlp"
    bilm = load(folder)
    save(bilm, tmp_path / "model", format="elmo")
    sentences = [text.split() for column in json.loads((folder / "sentences.json").read_text()) for text in column]
    sentences += ODD
    theirs = in_allennlp(python, tmp_path / "model", tmp_path, sentences, reset=True)
    assert largest_difference(bilm.embed(sentences, layers="all"), theirs) <= 2e-6


def test_the_carried_state_is_that_of_allennlp(python: str, tmp_path: Path) -> None:
    """Five rows that go on from batch to batch; the last batch has fewer."""
    sentences = fifty_sentences()[:48]
    bilm = BiLM(TINY, seed=4)
    save(bilm, tmp_path / "model", format="elmo")
    ours, _ = bilm.embed(sentences, layers="all", stateful=True, batch_size=5)
    assert largest_difference(ours, in_allennlp(python, tmp_path / "model", tmp_path, sentences, batch=5)) <= 2e-6
    alone = bilm.embed(sentences, layers="all")
    assert largest_difference(ours, alone) > 1e-3  # the state has been carried indeed


def test_every_number_has_its_place(python: str, tmp_path: Path) -> None:
    """A model before training has biases of zero, which would hide one that is lost or has the wrong sign."""
    bilm = BiLM(TINY)
    with torch.no_grad():
        for parameter in bilm.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)))
        bilm.encoder.table[0] = 0  # where no word is there is nothing, in AllenNLP too
    save(bilm, tmp_path / "model", format="elmo")
    sentences = fifty_sentences()[:12]
    theirs = in_allennlp(python, tmp_path / "model", tmp_path, sentences, reset=True)
    assert largest_difference(bilm.embed(sentences, layers="all"), theirs) <= 2e-6
