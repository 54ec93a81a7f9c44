"""Bulk embedding: every format, after any kill, from any model."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firth.bulk.embed_file import BulkOptions, check_target, embed_file
from firth.bulk.embedder import embedder
from firth.bulk.shards import Shards
from firth.errors import FormatError, MissingExtra, OptionError
from firth.text.tokenize import Tokenizer
from firth.vectors.words import WordVectors

WHITESPACE = Tokenizer(mode="whitespace")
LINES = ["tea and rain .", "", "rain", "more rain and tea", "tea"] * 7


class Reader:
    """A stand-in for a contextual model: layer j of a word is its length plus 10 times its place, plus 100 j."""

    def __init__(self, die_at: int | None = None) -> None:
        self.calls, self.die_at = 0, die_at

    def embed(self, sentences: Any, *, layers: Any, pooling: Any) -> list[Any]:
        self.calls += 1
        if self.calls - 1 == self.die_at:
            raise KeyboardInterrupt
        return [self._one(words, layers, pooling) for words in sentences]

    def _one(self, words: list[str], layers: Any, pooling: Any) -> Any:
        rows = np.array([[len(word), 10 * i] for i, word in enumerate(words)], np.float32).reshape(-1, 2)
        both = np.stack([rows, rows + 100])
        chosen = both if layers == "all" else both[{"mix": 0, "top": 1}.get(layers, layers)]
        if pooling is None:
            return chosen
        return chosen.mean(axis=-2) if len(words) else np.zeros((*chosen.shape[:-2], 2), np.float32)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


@pytest.fixture
def vectors() -> WordVectors:
    return WordVectors(["tea", "rain", "."], np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32))


def read(path: Path) -> list[Any]:
    """The arrays of a result, whatever its format."""
    if path.suffix == ".safetensors":
        return list(Shards(path))
    h5py = pytest.importorskip("h5py")
    with h5py.File(path) as file:
        return [file[str(i)][()] for i in range(len(file) - ("sentence_to_index" in file))]


@pytest.mark.parametrize("ending", ["hdf5", "safetensors"])
@pytest.mark.parametrize("layers", ["mix", "all", "1"])
@pytest.mark.parametrize("pooling", [None, "mean"])
def test_arrays_come_back_in_order_as_the_model_gave_them(
    tmp_path: Path, text: Path, ending: str, layers: str, pooling: Any
) -> None:
    out = tmp_path / f"out.{ending}"
    done = embed_file(
        Reader(), text, out, BulkOptions(layers=layers, pooling=pooling), tokenizer=WHITESPACE, block_tokens=9
    )
    chosen = int(layers) if layers == "1" else layers
    wanted = Reader().embed([line.split() for line in LINES], layers=chosen, pooling=pooling)
    found = read(out)
    assert [array.shape for array in found] == [array.shape for array in wanted]
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted))
    assert (done.sentences, done.tokens) == (len(LINES), sum(len(line.split()) for line in LINES))


def test_a_function_splits_lines(tmp_path: Path, text: Path, vectors: WordVectors) -> None:
    embed_file(vectors, text, tmp_path / "words.safetensors", BulkOptions(), tokenizer=WHITESPACE)
    embed_file(vectors, text, tmp_path / "split.safetensors", BulkOptions(), tokenizer=str.split)
    words, split = (read(tmp_path / f"{name}.safetensors") for name in ("words", "split"))
    assert all(np.array_equal(one, other) for one, other in zip(words, split, strict=True))


def test_word_vectors_go_the_same_way_and_unknown_words_are_counted(
    tmp_path: Path, text: Path, vectors: WordVectors
) -> None:
    done = embed_file(vectors, text, tmp_path / "out.safetensors", BulkOptions(dtype="float16"), tokenizer=WHITESPACE)
    found = read(tmp_path / "out.safetensors")
    assert done.zero_rows == 3 * 7  # and, more, and
    assert np.array_equal(found[3], vectors.embed([LINES[3].split()])[0].astype(np.float16))
    assert found[1].shape == (0, 4)


def files_of(path: Path) -> dict[str, bytes]:
    paths = sorted(path.rglob("*")) if path.is_dir() else [path]
    return {str(one.relative_to(path)): one.read_bytes() for one in paths if one.is_file()}


@pytest.mark.parametrize("ending", ["hdf5", "safetensors", "parquet"])
def test_a_stopped_run_goes_on_and_ends_with_the_same_bytes(tmp_path: Path, text: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    choices: dict[str, Any] = {"tokenizer": WHITESPACE, "block_tokens": 6}
    embed_file(Reader(), text, tmp_path / f"whole.{ending}", BulkOptions(), **choices)
    out = tmp_path / f"parts.{ending}"
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            embed_file(Reader(die_at=3), text, out, BulkOptions(), **choices)  # the first call only asks for the shape
        assert not out.exists()
    model = Reader()
    done = embed_file(model, text, out, BulkOptions(), **choices)
    assert files_of(out) == files_of(tmp_path / f"whole.{ending}")
    assert 0 < done.resumed < len(LINES)
    assert model.calls - 1 < done.tokens / 6 / 2, "finished blocks were done again"


UNTIL_KILLED = """
import json, os, signal, sys
from contextlib import contextmanager
from pathlib import Path
from firth.cli.main import main
from firth.show import terminal

journal = Path(sys.argv[1])

@contextmanager
def kill_itself(shown=True):
    def report(now):
        if journal.exists() and json.loads(journal.read_bytes())["state"]:
            os.kill(os.getpid(), signal.SIGKILL)
    yield report

terminal.progress = kill_itself
main(sys.argv[2:])
"""


def test_a_killed_program_goes_on_and_ends_with_the_same_bytes(tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"w{i} {i} {i * i}\n" for i in range(50)))
    text = tmp_path / "text.txt"
    text.write_text("".join(f"w{i % 50} w{i % 7}\n" for i in range(150_000)))
    out = tmp_path / "out.hdf5"
    command = [sys.executable, "-c", "from firth.cli.main import main; main()", "embed", str(vectors), str(text)]
    flags = ["--tokens", "whitespace", "--json", "--out"]
    journal = tmp_path / "out.hdf5.part" / "journal.json"
    killed = subprocess.run([sys.executable, "-c", UNTIL_KILLED, str(journal), *command[3:], *flags, str(out)])
    assert killed.returncode == -signal.SIGKILL
    assert not out.exists()
    again = json.loads(subprocess.run([*command, *flags, str(out)], check=True, capture_output=True).stdout)
    assert 0 < again["resumed"] < 150_000
    subprocess.run([*command, *flags, str(tmp_path / "whole.hdf5")], check=True, capture_output=True)
    assert out.read_bytes() == (tmp_path / "whole.hdf5").read_bytes()


def test_an_empty_text_makes_an_empty_result(tmp_path: Path, vectors: WordVectors) -> None:
    (tmp_path / "empty.txt").touch()
    for ending in ("hdf5", "safetensors"):
        done = embed_file(vectors, tmp_path / "empty.txt", tmp_path / f"out.{ending}")
        assert (done.sentences, read(tmp_path / f"out.{ending}")) == (0, [])


def test_shards_are_cut_by_size(tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firth.bulk.shards.SHARD", 100)
    embed_file(Reader(), text, tmp_path / "out.safetensors", BulkOptions(), tokenizer=WHITESPACE, block_tokens=9)
    files = sorted(path.name for path in (tmp_path / "out.safetensors").glob("embeddings-*"))
    assert len(files) > 2
    load_file = pytest.importorskip("safetensors.numpy").load_file
    rows = np.concatenate([load_file(tmp_path / "out.safetensors" / name)["vectors"] for name in files])
    assert np.array_equal(rows, np.concatenate(read(tmp_path / "out.safetensors")))


@pytest.mark.parametrize("layers", ["mix", "all"])
def test_parquet_has_a_row_a_word(tmp_path: Path, text: Path, layers: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    embed_file(
        Reader(), text, tmp_path / "out.parquet", BulkOptions(layers=layers), tokenizer=WHITESPACE, block_tokens=9
    )
    table = parquet.read_table(tmp_path / "out.parquet").to_pydict()
    words = [(i, j, word) for i, line in enumerate(LINES) for j, word in enumerate(line.split())]
    assert list(zip(table["sentence"], table["position"], table["word"])) == words
    last = table["vector" if layers == "mix" else "layer_1"]
    assert last[2] == ([4, 20] if layers == "mix" else [104, 120])


def test_parquet_has_a_row_a_pooled_sentence(tmp_path: Path, text: Path, vectors: WordVectors) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    embed_file(vectors, text, tmp_path / "out.parquet", BulkOptions(pooling="mean"), tokenizer=WHITESPACE)
    table = parquet.read_table(tmp_path / "out.parquet").to_pydict()
    assert table["text"] == LINES
    assert table["vector"][1] == [0, 0, 0, 0]


def test_parquet_without_its_library_names_the_extra(
    tmp_path: Path, text: Path, vectors: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'firth\[arrow\]'"):
        embed_file(vectors, text, tmp_path / "out.parquet")


@pytest.mark.parametrize(
    "choices, out, message",
    [
        ({"layers": "best"}, "o.hdf5", "must be mix, all, top, context or the number of a layer"),
        ({"layers": "1"}, "o.hdf5", "one layer only"),
        ({"pooling": "first-last"}, "o.hdf5", "bidirectional models"),
        ({}, "o.npz", "names no format"),
        ({"use_sentence_keys": True}, "o.safetensors", "use_sentence_keys is for hdf5"),
        ({"dtype": "int8"}, "o.hdf5", "dtype is 'int8'"),
    ],
)
def test_a_mistake_is_told_before_any_work(
    tmp_path: Path, text: Path, vectors: WordVectors, choices: dict[str, Any], out: str, message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        embed_file(vectors, text, tmp_path / out, BulkOptions(**choices))
    assert not (tmp_path / out).exists()


def test_a_place_that_is_taken_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "diary.txt").touch()
    (tmp_path / "file").touch()
    for name, folder in (("folder", False), ("folder", True), ("file", True)):
        with pytest.raises(OptionError):
            check_target(tmp_path / name, folder)
    check_target(tmp_path / "file", folder=False)


def test_a_number_too_large_for_float16_is_an_error(tmp_path: Path, text: Path) -> None:
    large = WordVectors(["tea"], np.array([[1e6]], np.float32))
    with pytest.raises(OptionError, match="too large for float16"):
        embed_file(large, text, tmp_path / "o.hdf5", BulkOptions(dtype="float16"))


def test_an_error_leaves_no_thread_behind(tmp_path: Path, text: Path) -> None:
    large = WordVectors(["tea"], np.array([[1e6]], np.float32))
    before = set(threading.enumerate())
    with pytest.raises(OptionError) as error:
        embed_file(large, text, tmp_path / "o.hdf5", BulkOptions(dtype="float16"), tokenizer=WHITESPACE, block_tokens=3)
    new = {thread.name for thread in threading.enumerate() if thread not in before}
    assert error.value.__traceback__  # which holds on to all that was under way
    assert not [name for name in new if not name.startswith("firth")]


def test_what_cannot_embed_is_named() -> None:
    with pytest.raises(OptionError, match="a dict has no vectors for sentences"):
        embedder({})


def test_a_folder_that_holds_no_shards_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="is not a folder of embeddings"):
        Shards(tmp_path)


def test_official_models_give_their_stored_vectors(tmp_path: Path, data: Path) -> None:
    pytest.importorskip("torch")
    h5py = pytest.importorskip("h5py")
    from firth.formats.registry import load

    folder = data / "fixtures" / "elmo"
    rows = json.loads((folder / "allennlp" / "sentences.json").read_text())
    places = [(i, k) for k in range(3) for i in range(10)]
    (tmp_path / "text.txt").write_text("".join(" ".join(rows[k][i].split()) + "\n" for i, k in places))
    model = load(folder / "allennlp")
    done = embed_file(
        model,
        tmp_path / "text.txt",
        tmp_path / "o.hdf5",
        BulkOptions(layers="all"),
        tokenizer=WHITESPACE,
        block_tokens=200,
    )
    assert done.tokens == 744
    wanted = np.load(folder / "derived" / "allennlp_2.10.1_expected.npz")
    with h5py.File(tmp_path / "o.hdf5") as file:
        for number, (i, k) in enumerate(places):
            assert np.abs(file[str(number)] - wanted[f"reset.{i}.{k}"][:, 1:-1]).max() < 2e-6
