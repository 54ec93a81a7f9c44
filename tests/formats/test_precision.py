"""Numbers kept smaller in a file: how much is lost, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from firth.errors import FormatError, OptionError
from firth.formats import safetensors
from firth.formats.precision import reduce_precision, restore, round_arrays
from firth.formats.registry import load, save
from firth.models.quantization import quantize_rows
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

HALF_A_STEP = 0.501 / 127


@settings(max_examples=60, deadline=None)
@given(arrays(np.float32, (5, 40), elements=st.floats(-1000, 1000, width=32)))
def test_no_number_moves_by_more_than_half_a_step_of_its_row(array: np.ndarray) -> None:
    small, coded = reduce_precision({"weight": array}, "int8")
    again = restore(small, coded)["weight"]
    largest = np.abs(array).max(axis=1, keepdims=True)
    # A scale that float16 cannot hold to three digits is kept as float32, so the bound holds for any size of row.
    assert np.all(np.abs(again - array) <= HALF_A_STEP * largest + 1e-30)


def test_what_was_rounded_once_is_not_moved_again() -> None:
    array = np.random.default_rng(1).standard_normal((20, 64)).astype(np.float32)
    for precision in ("int8", "float16"):
        once = round_arrays({"weight": array, "bias": array[0]}, precision)
        twice = round_arrays(once, precision)
        assert all(np.array_equal(once[name], twice[name]) for name in ("weight", "bias"))
        assert once["bias"].dtype == np.float32
        assert not np.array_equal(once["weight"], array)


def test_scales_beyond_float16_are_float32() -> None:
    array = np.full((2, 40), 1e-9, np.float32)
    array[1] = 1e9
    small, coded = reduce_precision({"weight": array}, "int8")
    assert small["weight.scales"].dtype == np.float32
    assert np.allclose(restore(small, coded)["weight"], array)
    assert reduce_precision({"bias": np.array([1e9], np.float32)}, "float16")[0]["bias"].dtype == np.float32


def test_short_rows_and_vectors_become_float16_and_whole_numbers_stay() -> None:
    given = {"table": np.ones((262, 4), np.float32), "bias": np.ones(64, np.float32), "ids": np.arange(3)}
    small, coded = reduce_precision(given, "int8")
    assert coded == []
    assert [array.dtype.name for array in small.values()] == ["float16", "float16", "int64"]


def test_a_filter_of_three_axes_keeps_its_shape() -> None:
    array = np.random.default_rng(1).standard_normal((8, 16, 5)).astype(np.float32)
    small, coded = reduce_precision({"filters": array}, "int8")
    assert small["filters.codes"].shape == (8, 16, 5)
    assert small["filters.scales"].shape == (8,)
    assert np.abs(restore(small, coded)["filters"] - array).max() < 0.03


def test_numbers_that_are_none_are_not_written() -> None:
    with pytest.raises(OptionError, match="'weight' has numbers that are NaN"):
        reduce_precision({"weight": np.full((2, 40), np.nan, np.float32)}, "int8")


@pytest.mark.parametrize(
    "codes, scales, problem",
    [
        (np.zeros((2, 3), np.int8), np.ones(3, np.float32), "a scale for each of their rows"),
        (np.zeros((2, 3), np.int16), np.ones(2, np.float32), "needs int8 codes"),
        (np.zeros((2, 3), np.int8), np.ones(2, np.int32), "a scale for each"),
        (np.zeros((), np.int8), np.ones((), np.float32), "a scale for each"),
        (np.zeros((2, 3), np.int8), np.array([1, np.nan], np.float32), "NaN or infinite"),
        (np.zeros((2, 3), np.int8), np.array([np.inf, 1], np.float16), "NaN or infinite"),
    ],
)
def test_codes_and_scales_that_do_not_fit_are_refused(codes: np.ndarray, scales: np.ndarray, problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        restore({"w.codes": codes, "w.scales": scales}, ["w"])


def test_word_vectors_in_int8_have_packed_words_and_come_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    words = Vocabulary(["tea", "two words", "line\nend", "back\\slash", "caf\udc82", ""], [9, 8, 7, 6, 5, 4])
    vectors = WordVectors(words, rng.standard_normal((6, 50)))
    save(vectors, tmp_path / "small", precision="int8")
    assert sorted(file.name for file in (tmp_path / "small").iterdir()) == [
        "config.json",
        "model.safetensors",
        "vocab.xz",
    ]
    again = load(tmp_path / "small")
    assert again.vocabulary == words
    assert again.vocabulary.counts.tolist() == words.counts.tolist()
    assert again.rows.dtype_name == "int8"
    assert again.metadata["quantized"]["worst_cosine"] > 0.999


def test_rows_that_are_smaller_already_stay_as_they_are(tmp_path: Path) -> None:
    rows = quantize_rows(np.random.default_rng(1).standard_normal((310, 4)).astype(np.float32))
    subwords = Subwords(3, 6, 2000, pruned={7 * i: i for i in range(280)})
    vectors = SubwordVectors([f"word{i}" for i in range(10)], rows, subwords)
    save(vectors, tmp_path / "small", precision="int8")
    again = load(tmp_path / "small")
    assert again.subwords == subwords
    assert safetensors.read(tmp_path / "small" / "model.safetensors")["pruned"].dtype == np.int32
    assert np.array_equal(again.rows.codes, rows.codes)
    assert np.array_equal(again["unseenwords"], vectors["unseenwords"])


def test_other_formats_and_kinds_say_what_they_cannot(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="precision is 'int4', but must be one of 'float16', 'int8' or none"):
        save(WordVectors(["tea"], [[1.0]]), tmp_path / "a", precision="int4")  # type: ignore[arg-type]
    save(WordVectors(["tea"], [[1.0, 0.3]]), tmp_path / "a.bin", precision="int8")
    assert load(tmp_path / "a.bin")["tea"].tolist() == pytest.approx([1.0, 38 / 127])


@pytest.fixture(scope="module")
def bilm_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    from firth.neural.architecture import Architecture
    from firth.neural.bilm import BiLM

    folder = tmp_path_factory.mktemp("bilm")
    sizes = Architecture(filters=((1, 16), (3, 48)), cell=64, dim=32, highways=1)
    words = Vocabulary(["</S>", "<S>", "<UNK>", "tea", "rain"], [5, 5, 4, 3, 2])
    bilm = BiLM(sizes, vocabulary=words, metadata={"made": "here"})
    save(bilm, folder / "whole")
    save(bilm, folder / "small", precision="int8")
    save(bilm, folder / "half", precision="float16")
    return folder


@pytest.mark.parametrize("name, most", [("small", 0.02), ("half", 0.0005)])
def test_a_small_bilm_says_almost_the_same(bilm_folder: Path, name: str, most: float) -> None:
    whole, small = load(bilm_folder / "whole"), load(bilm_folder / name)
    sentence = [["tea", "and", "rain"]]
    expected, found = (model.embed(sentence, layers="all")[0] for model in (whole, small))
    assert np.abs(expected - found).max() < most * np.abs(expected).max()
    assert small.score(sentence)[0].log_prob == pytest.approx(whole.score(sentence)[0].log_prob, abs=0.05)
    assert small.metadata == {"made": "here"}
    assert small.vocabulary == whole.vocabulary


def test_a_small_bilm_is_a_quarter_of_the_size(bilm_folder: Path) -> None:
    sizes = {name: (bilm_folder / name / "model.safetensors").stat().st_size for name in ("whole", "small", "half")}
    assert sizes["half"] < 0.55 * sizes["whole"]
    assert sizes["small"] < 0.36 * sizes["whole"]  # a model this small has many short rows


@pytest.mark.parametrize(
    "name, broken, problem",
    [
        ("forward_layers.0.input.scales", np.full(256, np.nan, np.float16), "scales that are NaN"),
        ("forward_layers.0.input.scales", np.ones(255, np.float16), "a scale for each of their rows"),
        ("forward_layers.0.input.codes", np.zeros((256, 31), np.int8), "256 × 31, but the architecture needs"),
        ("forward_layers.0.input.codes", None, "'forward_layers.0.input.codes' is missing"),
        ("forward_layers.0.bias", np.full(256, np.inf, np.float16), "NaN or infinite"),
    ],
)
def test_a_hostile_bilm_is_refused_by_name(
    bilm_folder: Path, tmp_path: Path, name: str, broken: np.ndarray | None, problem: str
) -> None:
    for file in (bilm_folder / "small").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    arrays = dict(safetensors.read(tmp_path / "model.safetensors"))
    arrays.pop(name)
    if broken is not None:
        arrays[name] = broken
    safetensors.write(arrays, tmp_path / "other")
    (tmp_path / "other").rename(tmp_path / "model.safetensors")
    with pytest.raises(FormatError, match=problem):
        load(tmp_path)


def test_hostile_settings_and_lists_are_refused(bilm_folder: Path, tmp_path: Path) -> None:
    for file in (bilm_folder / "small").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    for hostile in ("all of them", [1, 2], {"a": 1}):
        (tmp_path / "config.json").write_text(json.dumps(config | {"coded": hostile}))
        with pytest.raises(FormatError, match="do not fit together"):
            load(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "vocab.xz").write_bytes((tmp_path / "vocab.xz").read_bytes()[:-20])
    with pytest.raises(FormatError, match="xz data is corrupt"):
        load(tmp_path)
