"""firth's own folders: what is saved comes back, memory-mapped; broken folders are refused."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import numpy as np
import pytest

from firth.errors import FirthError, FormatError, OptionError
from firth.formats.registry import detect, load, save
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary
from firth.vectors.rows import DenseRows, Int8Rows
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

WORDS = Vocabulary(["tea", "two words", "line\nend", "tab\tbed", "back\\slash", "caf\udc82", ""], [9, 8, 7, 6, 5, 4, 3])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = np.arange(21, dtype=np.float32).reshape(7, 3)
    save(WordVectors(WORDS, rows, metadata={"made": "here"}), tmp_path / "model")
    return tmp_path / "model"


def test_a_folder_holds_settings_words_and_arrays(folder: Path) -> None:
    assert detect(folder) == "native"
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "model.safetensors", "vocab"]
    config = json.loads((folder / "config.json").read_text())
    assert (config["library"], config["format_version"], config["kind"]) == ("firth", 1, "word-vectors")


def test_any_word_count_number_and_fact_comes_back(folder: Path) -> None:
    opened = load(folder)
    assert opened.vocabulary == WORDS
    assert opened.metadata == {"made": "here"}
    assert opened.matrix.tolist() == np.arange(21).reshape(7, 3).tolist()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_type_of_the_numbers_is_kept(tmp_path: Path, dtype: str) -> None:
    save(WordVectors(["a"], np.array([[1.5, -2]], dtype)), tmp_path / "model")
    assert load(tmp_path / "model").rows.dtype_name == dtype


def test_bytes_and_subwords_come_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = Int8Rows.from_rows(DenseRows(rng.standard_normal((12, 4)).astype(np.float32)))
    save(SubwordVectors(["tea", "rain"], rows, Subwords(3, 6, 10)), tmp_path / "model")
    opened = load(tmp_path / "model")
    assert opened.subwords == Subwords(3, 6, 10)
    assert np.array_equal(opened.rows.codes, rows.codes)


def test_arrays_are_mapped_and_stay_whole_when_the_model_is_saved_over_itself(folder: Path) -> None:
    opened = load(folder)
    assert not opened.rows.array.flags.owndata
    save(opened, folder)
    assert load(folder).matrix.tolist() == opened.matrix.tolist()


def test_a_part_of_a_folder(folder: Path) -> None:
    assert load(folder, limit=2).vocabulary.words == ("tea", "two words")
    assert not load(folder, limit=2).rows.array.flags.owndata
    assert load(folder, vocabulary=["tab\tbed", "absent"]).matrix.tolist() == [[9, 10, 11]]


@pytest.mark.parametrize(
    "change, problem",
    [
        ({"library": "other"}, "not the config.json of a firth model"),
        ({"format_version": 2}, "Update firth"),
        ({"format_version": "x"}, "format version 'x'"),
        ({"kind": "spaceship"}, "'spaceship'"),
        ({"vocabularies": ["../vocab"]}, "invalid names of word lists"),
        ({"vocabularies": ["labels"]}, "labels: is missing"),
        ({"vocabularies": []}, "do not fit together"),
        ({"config": {"rows": {"kind": "product"}}}, "do not fit together"),
        ({"config": {"rows": 5}}, "do not fit together"),
        ({"config": []}, "not a JSON object"),
    ],
)
def test_a_config_that_is_wrong_is_refused(folder: Path, change: dict[str, object], problem: str) -> None:
    config = json.loads((folder / "config.json").read_text()) | change
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(FormatError) as caught:
        load(folder)
    assert problem in str(caught.value)


def test_a_damaged_folder_loads_or_raises_our_error(folder: Path) -> None:
    rng = np.random.default_rng(5)
    contents = {path: path.read_bytes() for path in folder.iterdir()}
    for path, whole in contents.items():
        for i in range(80):
            damaged = bytearray(whole[: rng.integers(1, len(whole))] if i % 3 == 0 else whole)
            damaged[rng.integers(len(damaged))] = rng.integers(256)
            path.write_bytes(damaged)
            with contextlib.suppress(FirthError):
                assert load(folder).dim >= 0
        path.write_bytes(whole)


def test_a_failed_save_leaves_what_was_there(folder: Path) -> None:
    broken = WordVectors(["a"], np.ones((1, 1), np.float32), metadata={"unwritable": object()})
    with pytest.raises(TypeError):
        save(broken, folder)
    assert load(folder).vocabulary == WORDS
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_a_folder_of_other_files_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(OptionError, match="contains other files"):
        save(WordVectors(["a"], [[1.0]]), tmp_path)
