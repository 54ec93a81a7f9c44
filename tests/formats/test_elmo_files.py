"""Which files make an ELMo model: options, weights, softmax and vocabulary."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from firth.errors import FormatError, OptionError
from firth.formats.elmo_files import contains_elmo, find_files, has_many_languages, read_number
from firth.formats.registry import detect, load, save
from firth.neural.architecture import PRESETS
from firth.neural.bilm import BiLM
from firth.text.vocabulary_file import read_vocabulary

TINY = PRESETS["tiny"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(BiLM(TINY), tmp_path / "model", format="elmo")
    return tmp_path / "model"


def test_a_model_is_opened_by_its_folder_its_weights_or_its_options(folder: Path) -> None:
    for place in (folder, folder / "weights.hdf5", folder / "options.json"):
        assert detect(place) == "elmo"
        assert load(place).architecture == TINY
    with pytest.raises(OptionError, match="limit"):
        load(folder, limit=3)


def test_two_models_in_one_folder_are_told_apart_by_name(folder: Path, tmp_path: Path) -> None:
    for name in ("elmo_small", "elmo_large"):
        shutil.copy(folder / "weights.hdf5", tmp_path / f"{name}_weights.hdf5")
        shutil.copy(folder / "options.json", tmp_path / f"{name}_options.json")
    found = find_files(tmp_path / "elmo_large_weights.hdf5")
    assert found.options.name == "elmo_large_options.json"
    assert find_files(tmp_path / "elmo_small_options.json").weights.name == "elmo_small_weights.hdf5"
    with pytest.raises(FormatError, match="Name the weights"):
        find_files(tmp_path)


@pytest.mark.parametrize(
    "text, problem",
    [
        ("{", "is not JSON"),
        ("[]", "no section 'lstm'"),
        ('{"lstm": 5}', "lstm is 5, but must be a table"),
        ('{"lstm": {"dim": 64, "projection_dim": 16}}', "'embedding' is missing"),
        ('{"lstm": {"dim": 64}, "bidirectional": false}', "two directions"),
    ],
)
def test_a_file_without_options_is_refused(folder: Path, text: str, problem: str) -> None:
    (folder / "options.json").write_text(text)
    with pytest.raises(FormatError) as caught:
        load(folder)
    assert problem in str(caught.value)


def test_a_part_of_a_model_alone_says_what_is_missing(folder: Path) -> None:
    (folder / "options.json").unlink()
    with pytest.raises(FormatError, match=r"no options\.json here"):
        load(folder / "weights.hdf5")
    with pytest.raises(FormatError, match="contains no"):
        load(folder)


def test_a_folder_of_many_languages_is_recognized(tmp_path: Path) -> None:
    for name in ("encoder.pkl", "token_embedder.pkl", "config.json", "char.dic", "word.dic"):
        (tmp_path / name).write_bytes(b"")
    assert has_many_languages(tmp_path)
    assert contains_elmo(tmp_path)
    with pytest.raises(FormatError, match=r"config\.json: is not JSON"):
        load(tmp_path)


def test_a_vocabulary_is_read_by_line(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_bytes("<S>\n</S>\n!!!MAXTERMID\nnaïve \r\n".encode())
    assert read_vocabulary(tmp_path / "vocab.txt").words == ("<S>", "</S>", "naïve")


def test_a_whole_number_may_be_written_as_a_float() -> None:
    assert read_number("options.json", "lstm", {"dim": 64.0}, "dim") == 64
    assert read_number("options.json", "lstm", {}, "dim", 3) == 3
    with pytest.raises(FormatError, match=r"lstm\.dim is 0\.5, but must be a whole number"):
        read_number("options.json", "lstm", {"dim": 0.5}, "dim")
