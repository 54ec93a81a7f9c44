"""Files exchanged with the original GloVe programs, in both directions.

FIRTH_PEER_GLOVE names the folder of the programs, which `make` builds in their repository. Without it the tests are
skipped. What is not compared: a defect of `cooccur`, which counts the first cell of a small text twice, and random
numbers, which differ; -checkpoint-every, whose files have the layout of the others; and -verbose.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from firth.formats import glove_binary
from firth.formats.registry import load
from firth.models.counts import Counts
from firth.models.glove import Glove
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

PROGRAMS = os.environ.get("FIRTH_PEER_GLOVE", "")
pytestmark = pytest.mark.skipif(not PROGRAMS, reason="FIRTH_PEER_GLOVE names no folder of GloVe's programs")
WINDOW, DIM = 4, 6


def call(program: str, *flags: object, source: Path | None = None, target: Path | None = None) -> None:
    stdin = None if source is None else source.open("rb")
    stdout = subprocess.DEVNULL if target is None else target.open("wb")
    command = [str(Path(PROGRAMS, program)), *map(str, flags)]
    subprocess.run(command, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL, check=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("glove")
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(60)]
    chances = 1 / np.arange(1, 61)
    lines = [" ".join(rng.choice(words, 10, p=chances / chances.sum())) for _ in range(400)]
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    call("vocab_count", "-min-count", 2, source=folder / "text.txt", target=folder / "vocab.txt")
    for symmetric in (0, 1):
        flags = "-symmetric", symmetric, "-window-size", WINDOW, "-vocab-file", folder / "vocab.txt", "-memory", 0.5
        overflow = "-overflow-file", folder / "overflow"
        call("cooccur", *flags, *overflow, source=folder / "text.txt", target=folder / f"counts{symmetric}.bin")
    return folder


@pytest.mark.parametrize("symmetric", [0, 1])
def test_counts_are_those_of_cooccur(folder: Path, symmetric: int) -> None:
    words = glove_binary.read_words(folder / "vocab.txt")
    theirs = glove_binary.read(folder / f"counts{symmetric}.bin", words).matrix.toarray()
    direction = "both" if symmetric else "right"
    recipe = Counts(
        kind="co-occurrence",
        window=WINDOW,
        weighting="harmonic",
        min_count=2,
        direction=direction,  # type: ignore[arg-type]
    )
    ours = recipe.fit(Corpus([str(folder / "text.txt")], tokenizer=Tokenizer(mode="whitespace")))
    order = [ours.rows.id(word) for word in words]  # words of equal counts are ordered otherwise
    matrix = ours.matrix.toarray()[np.ix_(order, order)]
    different = np.abs(theirs - matrix) > 1e-6
    assert different.sum() <= 1  # the first cell
    assert matrix.sum() > 1000
    assert bool((matrix == matrix.T).all()) == bool(symmetric)


@pytest.mark.parametrize("model", [0, 1, 2])
@pytest.mark.parametrize("header", [0, 1])
def test_vectors_parameters_and_squares_of_glove_open_here(folder: Path, model: int, header: int) -> None:
    flags = "-vocab-file", folder / "vocab.txt", "-input-file", folder / "counts1.bin", "-vector-size", DIM
    files = "-save-file", folder / "vectors", "-gradsq-file", folder / "gradsq", "-save-gradsq", 1, "-binary", 2
    call("glove", *flags, *files, "-model", model, "-write-header", header, "-iter", 3, "-threads", 1, "-seed", 5)
    words = glove_binary.read_words(folder / "vocab.txt")
    parameters = glove_binary.read_parameters(folder / "vectors.bin", words)
    assert parameters.dim == DIM
    expected = {
        0: np.hstack([parameters.words, parameters.contexts]),
        1: parameters.words[:, :DIM],
        2: (parameters.words + parameters.contexts)[:, :DIM],
    }[model]
    vectors = load(folder / "vectors.txt")
    assert vectors.vocabulary.words == (*words.words, "<unk>")
    np.testing.assert_allclose(vectors.matrix[:-1], expected, atol=1e-6)
    np.testing.assert_allclose(vectors["<unk>"], expected[-100:].mean(axis=0), atol=1e-6)
    squares = glove_binary.read_parameters(folder / "gradsq.bin", words)
    assert (squares.words >= 1).all()


def test_glove_continues_from_our_parameters_and_we_from_its_own(folder: Path) -> None:
    words = glove_binary.read_words(folder / "vocab.txt")
    records = glove_binary.Records(folder / "counts1.bin", words)
    recipe = Glove(dim=DIM, epochs=20, x_max=100)
    state = recipe.fit_counts_state(records, words, runtime=Runtime(1))
    glove_binary.write_parameters(state.parameters, folder / "ours.bin")
    glove_binary.write_parameters(state.squares, folder / "ours-gradsq.bin")
    flags = "-vocab-file", folder / "vocab.txt", "-input-file", folder / "counts1.bin", "-vector-size", DIM
    load_flags = "-load-init-param", 1, "-init-param-file", folder / "ours.bin"
    load_flags += "-load-init-gradsq", 1, "-init-gradsq-file", folder / "ours-gradsq.bin"
    saved = "-save-file", folder / "more", "-binary", 1, "-save-gradsq", 1, "-gradsq-file", folder / "more-gradsq"
    call("glove", *flags, *load_flags, *saved, "-iter", 1, "-threads", 1, "-x-max", 100)
    theirs = glove_binary.read_parameters(folder / "more.bin", words)
    ours = recipe.fit_counts_state(
        records, words, runtime=Runtime(1), initial=state.parameters, initial_squares=state.squares
    )
    moved = np.abs(theirs.words - state.parameters.words).max()
    assert 0 < moved < np.abs(state.parameters.words).max()  # it went on; from random rows it would be far away
    assert ours.metadata["loss"][0] < state.metadata["loss"][0] / 2
