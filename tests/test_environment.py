"""Commands in a hostile environment: a full disk, no place to write, a closed pipe, no home, ASCII, no assertions.

Each ends in one clear line, or works. Trainings on full disks and under signals are in test_hostile_training.py.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import firth
from firth.cli.main import main
from firth.files import atomic_folder

ROOT = Path(__file__).resolve().parents[1]
TEXT = "\n".join(f"__label__{i % 2} w{i % 50} w{i % 7} tea rain" for i in range(400)) + "\n"
SMALL = "--dim 4 --min-count 1 --epochs 1 --tokens whitespace --threads 1"
COMMANDS = {
    "tokens": "tokens text.txt --out {out}.txt",
    "vocab": "vocab text.txt --out {out}.txt",
    "phrases": "phrases phrases text.txt --out {out}.txt",
    "word2vec": f"train word2vec text.txt {SMALL} --out {{out}}",
    "counts": "train counts text.txt --threads 1 --out {out}",
    "ngram": "train ngram text.txt --order 2 --threads 1 --out {out}",
    "convert": "convert vectors.txt {out}",
    "convert to a file": "convert vectors.txt {out}.bin",
    "quantize": "quantize fasttext.bin {out}.ftz",
    "embed, HDF5": "embed vectors.txt text.txt --tokens whitespace --out {out}.hdf5",
    "embed, safetensors": "embed vectors.txt text.txt --tokens whitespace --out {out}.safetensors",
    "embed, Parquet": "embed vectors.txt text.txt --tokens whitespace --out {out}.parquet",
    "report": "report vectors.txt --out {out}.html",
    "map": "map vectors.txt --out {out}.tsv",
    "task": "task sentiment --train opinions.tsv --network plain --hidden 4 --embedding none --embedding-words 4 "
    "--epochs 1 --threads 1 --out {out}",
}
NEEDS = {"embed, HDF5": "h5py", "embed, Parquet": "pyarrow", "task": "torch"}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a text and small models."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "text.txt").write_text(TEXT)
    (folder / "opinions.tsv").write_text("good\ta fine film\nbad\ta poor film\n" * 4)
    rng = np.random.default_rng(1)
    vectors = firth.WordVectors([f"w{i}" for i in range(60)], rng.standard_normal((60, 8)).astype(np.float32))
    firth.save(vectors, folder / "vectors.txt")
    firth.save(firth.Phrases(threshold=0.1, delta=1).fit(folder / "text.txt"), folder / "phrases")
    firth.save(
        firth.FastText(dim=4, min_count=1, epochs=1, buckets=300).fit(folder / "text.txt"), folder / "fasttext.bin"
    )
    return folder


@pytest.fixture
def here(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with links to the inputs, and a temporary directory of its own."""
    for path in inputs.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "aside").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "aside"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file may grow beyond a size: to a program that writes, this is a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def fail(capsys: pytest.CaptureFixture[str], line: str) -> str:
    """Runs a command that fails; returns the one line that it prints."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main(line.split())
    assert stop.value.code == 2
    lines = capsys.readouterr().err.splitlines()  # on a slow machine, lines of progress come before it
    assert [line.startswith("firth: ") for line in lines] == [False] * (len(lines) - 1) + [True], lines
    return lines[-1]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_told_in_one_line_and_leaves_no_half_output(
    here: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    main(COMMANDS[name].format(out="warm").split())  # compiled kernels are files, too
    before = sorted(os.listdir())
    with largest_file(64):
        error = fail(capsys, COMMANDS[name].format(out="out"))
    assert "File too large" in error or "No space left" in error
    left = [one for one in sorted(os.listdir()) if one not in before and not one.endswith(".part")]  # to be resumed
    assert left == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_place_that_cannot_be_written_is_told_in_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    if not Path("/proc/self").is_dir():
        pytest.skip("needs a folder where not even the administrator can write")
    assert "/proc/firth" in fail(capsys, COMMANDS[name].format(out="/proc/firth/out"))


@pytest.mark.parametrize("name", COMMANDS)
def test_an_input_that_has_vanished_is_told_in_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    words = COMMANDS[name].format(out="out").split()
    for path in here.iterdir():
        if path.is_symlink() and path.name in words:
            path.unlink()
    fail(capsys, " ".join(words))
    assert not list(here.glob("out*"))


def test_the_last_of_two_writers_of_one_model_wins_whole(tmp_path: Path) -> None:
    path = tmp_path / "model"
    with atomic_folder(path) as first, atomic_folder(path) as second:
        for draft, text in ((first, "first"), (second, "second")):
            (draft / "config.json").write_text('{"library": "firth"}')
            (draft / "content").write_text(text)
    assert (path / "content").read_text() == "first"  # it ended last
    assert [one.name for one in tmp_path.iterdir()] == ["model"]


def run(line: str, *, cwd: Path | None = None, **variables: str | None) -> subprocess.CompletedProcess[bytes]:
    """A command in a shell; a variable that is None is not set."""
    environment = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(ROOT / "src"), **variables}
    kept = {name: value for name, value in environment.items() if value is not None}
    return subprocess.run(["bash", "-c", line], env=kept, cwd=cwd, capture_output=True, stdin=subprocess.DEVNULL)


def test_a_reader_that_closes_the_pipe_ends_the_command_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("strong tea and rain\n" * 50_000)
    ended = run('"$PYTHON" -m firth tokens text.txt | head -n 1; echo "${PIPESTATUS[0]}"', cwd=tmp_path)
    assert (ended.stdout, ended.stderr) == (b"strong tea and rain\n0\n", b"")


def test_without_a_home_in_the_language_of_c_and_without_assertions_commands_answer(tmp_path: Path) -> None:
    """All at once: no HOME, no cache that can be written, LANG=C, and neither assertions nor docstrings."""
    (tmp_path / "file").write_text("")
    poor = {"HOME": None, "XDG_CACHE_HOME": str(tmp_path / "file"), "LC_ALL": "C", "PYTHONOPTIMIZE": "1"}
    harder = {**poor, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONOPTIMIZE": "2"}
    ended = run('"$PYTHON" -m firth neighbors fasttext-fa کتاب --top 1', cwd=tmp_path, **poor)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout.startswith("کتاب\t".encode())
    ended = run('"$PYTHON" -m firth train word2vec --help', cwd=tmp_path, **harder)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"--window" in ended.stdout
