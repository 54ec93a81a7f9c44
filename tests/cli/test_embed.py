"""Bulk embedding and an index from the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import firth
from firth.bulk.shards import Shards
from firth.cli.embed import RunOptions
from firth.cli.flags import ClusterOptions, TextOptions
from firth.errors import OptionError


def test_word_vectors_are_embedded(answer: Callable[..., Any], vectors: str, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("boat tea kettle\n\nship\n")
    out = str(tmp_path / "out.safetensors")
    summary = answer("embed", vectors, str(tmp_path / "text.txt"), "--out", out, "--dtype", "float16")
    assert (summary["sentences"], summary["tokens"], summary["zero_rows"]) == (3, 4, 1)
    assert Shards(out)[0].tolist()[1] == [1, np.float16(0.1), 0]


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_a_bilm_is_embedded_layer_by_layer(
    answer: Callable[..., Any], three_lines: str, bilm: str, tmp_path: Path
) -> None:
    out = str(tmp_path / "out.safetensors")
    assert answer("embed", bilm, three_lines, "--out", out, "--layers", "all")["row"] == [3, 32]
    sentences = [line.split() for line in Path(three_lines).read_text().splitlines()]
    wanted = firth.load(bilm).embed(sentences, layers="all")
    assert all(np.array_equal(a, b) for a, b in zip(Shards(out), wanted))


def test_an_index_has_the_occurrences_of_chosen_words(
    answer: Callable[..., Any], three_lines: str, bilm: str, tmp_path: Path
) -> None:
    values = answer("index", bilm, three_lines, "--out", str(tmp_path / "index"), "--words", "play", "--words", "ball")
    assert (values["occurrences"], values["dim"]) == (3, 32)


def test_mistakes_are_one_line(
    mistake: Callable[..., str], three_lines: str, vectors: str, bilm: str, tmp_path: Path
) -> None:
    out = str(tmp_path / "o.hdf5")
    assert "names no format" in mistake("embed", vectors, three_lines, "--out", str(tmp_path / "o.csv"))
    wrong_device = mistake("embed", vectors, three_lines, "--out", out, "--device", "cpu")
    assert "--device is for contextual models" in wrong_device
    wrong_precision = mistake("embed", vectors, three_lines, "--out", out, "--precision", "int8")
    assert "precision is for contextual models" in wrong_precision
    assert "layers is 7" in mistake("embed", bilm, three_lines, "--out", out, "--layers", "7")


def test_a_driver_without_a_gpu_opens_the_model_for_a_cluster_with_gpus(bilm: str) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    run = RunOptions(device="cuda")
    with pytest.raises(OptionError, match="--device cuda"):
        run.load(bilm, TextOptions(), ClusterOptions())
    model, _ = run.load(bilm, TextOptions(), ClusterOptions(cluster="auto"))
    assert next(model.parameters()).device.type == "cpu"


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_a_stateful_run_gives_the_numbers_of_the_original_programs_every_time(
    answer: Callable[..., Any], mistake: Callable[..., str], three_lines: str, bilm: str, tmp_path: Path
) -> None:
    sentences = [line.split() for line in Path(three_lines).read_text().splitlines()]
    wanted, _ = firth.load(bilm).embed(sentences, stateful=True, batch_size=1)
    out = str(tmp_path / "out.safetensors")
    for _ in range(2):  # the second run starts again from a blank state
        values = answer("embed", bilm, three_lines, "--out", out, "--stateful", "--batch-size", "1", "--force")
        assert values["resumed"] == 0
        assert all(np.array_equal(a, b) for a, b in zip(Shards(out), wanted, strict=True))
    assert "batch_size is for stateful" in mistake("embed", bilm, three_lines, "--out", out, "--batch-size", "1")


def test_the_vectors_of_a_vocabulary_are_written_as_bilm_tf_does(
    answer: Callable[..., Any], mistake: Callable[..., str], vectors: str, bilm: str, tmp_path: Path
) -> None:
    (tmp_path / "vocab.txt").write_text("<S>\n</S>\n<UNK>\nplay\n")
    out = str(tmp_path / "vocab.hdf5")
    values = answer("embed", bilm, str(tmp_path / "vocab.txt"), "--out", out, "--token-embeddings")
    assert (values["words"], values["dim"]) == (4, 16)
    with h5py.File(out) as file:
        assert list(file) == ["embedding"]
        found = file["embedding"][()]
    [array] = firth.load(bilm).embed([["play"]], layers=0)
    assert np.abs(found[3] - array[0, :16]).max() <= 1e-6
    wrong = mistake("embed", vectors, str(tmp_path / "vocab.txt"), "--out", out, "--token-embeddings", "--force")
    assert "is for ELMo models" in wrong
