"""firth's own folders: what is saved comes back, memory-mapped; broken folders are refused."""

from __future__ import annotations

import contextlib
import json
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firth.errors import FirthError, FormatError, OptionError
from firth.formats import safetensors
from firth.formats.native import locate_segmenter
from firth.formats.registry import detect, load, save
from firth.models.classifier_model import Classifier
from firth.models.counts import Counts
from firth.models.ngram import Ngram
from firth.models.phrases import Phrases
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary
from firth.vectors.occurrences import Occurrences
from firth.vectors.rows import DenseRows, Int8Rows, ProductRows
from firth.vectors.subwords import Output, SubwordVectors
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


def edit_config(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    config = json.loads((folder / "config.json").read_text())
    change(config["config"])
    (folder / "config.json").write_text(json.dumps(config))


def edit_arrays(folder: Path, **changes: object) -> None:
    arrays = {name: array.copy() for name, array in safetensors.read(folder / "model.safetensors").items()}
    for name, value in changes.items():
        if callable(value):
            arrays[name] = value(arrays[name])
        else:
            arrays[name] = np.asarray(value)
    safetensors.write(arrays, folder / "model.safetensors")


LINES = ["the tea is hot", "the rain is cold", "hot tea and cold rain"]
ARTIFACTS: dict[str, Callable[[], Any]] = {
    "count-matrix": lambda: Counts(kind="co-occurrence", min_count=1).fit(LINES),
    "tf-idf": lambda: Counts(kind="tf-idf", min_count=1).fit(LINES),
    "ngram": lambda: Ngram(order=3).fit(LINES),
    "phrases": lambda: Phrases(threshold=0.1, delta=0).fit(LINES),
    "occurrences": lambda: Occurrences(
        ["tea", "hot"], [0, 1, 0], [0, 2, 3], np.eye(2, dtype=np.float32), places=np.array([0, 2])
    ),
    "classifier": lambda: SubwordVectors(
        ["tea", "hot"],
        np.ones((22, 2), np.float32),
        Subwords(2, 3, 20),
        output=Output(DenseRows(np.ones((2, 2), np.float32)), Vocabulary(["a", "b"], [2, 1]), "supervised", "softmax"),
        metadata={"fasttext": {"wordNgrams": 2}},
    ),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    for name, make in ARTIFACTS.items():
        save(make(), folder / name)
    return folder


def put(place: int, value: float) -> Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    def change(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        array.reshape(-1)[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("count-matrix", {"indptr": put(2, 10**6)}),  # runs forward and back: once a crash in a compiled loop
        ("count-matrix", {"indptr": put(1, -1)}),
        ("count-matrix", {"indices": put(0, 99)}),
        ("count-matrix", {"indices": put(0, -1)}),
        ("count-matrix", {"data": lambda array: array[:-1]}),
        ("count-matrix", {"data": lambda array: array[:, None]}),
        ("count-matrix", {"indptr": lambda array: array.astype(np.float32)}),
        ("tf-idf", {"idf": lambda array: array[:1]}),
        ("ngram", {"starts": put(3, 10**6)}),
        ("ngram", {"starts": lambda array: np.r_[array[0], np.full(len(array) - 2, array[-1]), array[-1]]}),
        ("ngram", {"words": put(-1, 2**31)}),
        ("ngram", {"words": lambda array: array[:, None]}),
        ("ngram", {"log10": put(4, np.nan)}),
        ("ngram", {"log10": put(4, 1e30)}),
        ("ngram", {"backoffs": put(0, np.inf)}),
        ("ngram", {"backoffs": lambda array: array[:-1]}),
        ("phrases", {"passes": put(0, 2**40)}),
        ("phrases", {"lefts": put(0, 99)}),
        ("phrases", {"words": lambda array: array.astype(np.float32)}),
        ("phrases", {"scores": lambda array: array[:, None]}),
        ("occurrences", {"ids": put(0, 2)}),
        ("occurrences", {"places": put(1, 3)}),
        ("occurrences", {"places": lambda array: array.astype(np.float64)}),
        ("occurrences", {"starts": put(1, 2**40)}),
        ("occurrences", {"starts": lambda array: array[:, None]}),
        ("classifier", {"output.vectors": lambda array: array[:, :1]}),
        ("classifier", {"output.vectors": lambda array: array[:1]}),
        ("classifier", {"vectors": lambda array: array[:5]}),
        ("classifier", {"vectors": lambda array: array.astype(np.int32)}),
    ],
)
def test_arrays_that_contradict_each_other_are_refused_before_any_kernel_sees_them(
    saved: Path, tmp_path: Path, kind: str, changes: dict[str, object]
) -> None:
    shutil.copytree(saved / kind, tmp_path / "model")
    load(tmp_path / "model")  # it opens before the change
    edit_arrays(tmp_path / "model", **changes)
    with pytest.raises(FormatError, match="do not fit together"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("ngram", lambda config: config.update(levels=[float("inf")])),
        ("ngram", lambda config: config.update(levels=[1] * 2000)),
        ("ngram", lambda config: config.update(levels=5)),
        ("ngram", lambda config: config.update(metadata={"tokenizer": 0.5})),
        ("count-matrix", lambda config: config.update(metadata=3)),
        ("count-matrix", lambda config: config.update(metadata={"recipe": "x"})),
        ("tf-idf", lambda config: config["metadata"]["recipe"].pop("tf")),
        ("tf-idf", lambda config: config["metadata"]["recipe"].update(log=[])),
        ("classifier", lambda config: config["metadata"]["fasttext"].update(wordNgrams=2**62)),  # the heap overwritten
        ("classifier", lambda config: config["metadata"]["fasttext"].update(wordNgrams="x")),
        ("classifier", lambda config: config["metadata"].update(fasttext=5)),
        ("classifier", lambda config: config["subwords"].update(maxn=0, buckets=10**9)),
        ("classifier", lambda config: config["subwords"].update(maxn=9 * 10**12)),
        ("classifier", lambda config: config["subwords"].update(minn=float("inf"))),
        ("classifier", lambda config: config["subwords"].update(sentence_end=[])),
        ("classifier", lambda config: config["output"].update(loss="none")),
        ("classifier", lambda config: config["output"].update(rows=4)),
        ("classifier", lambda config: config["rows"].update(kind="product", dim=2**40, dsub=1)),
    ],
)
def test_settings_that_contradict_the_arrays_are_refused(
    saved: Path, tmp_path: Path, kind: str, change: Callable[[dict[str, Any]], object]
) -> None:
    shutil.copytree(saved / kind, tmp_path / "model")
    edit_config(tmp_path / "model", change)
    with pytest.raises(FormatError, match="do not fit together"):
        load(tmp_path / "model")


def test_a_classifier_with_long_word_ngrams_needs_no_more_rows_than_its_lines(saved: Path, tmp_path: Path) -> None:
    shutil.copytree(saved / "classifier", tmp_path / "model")
    edit_config(tmp_path / "model", lambda config: config["metadata"]["fasttext"].update(wordNgrams=2**31 - 1))
    assert len(Classifier(load(tmp_path / "model")).predict("hot tea", k=2)) == 2


def test_quantized_rows_must_be_of_their_types_and_sizes(tmp_path: Path) -> None:
    codes, centroids = np.zeros((3, 2), np.uint8), np.zeros(4 * 256, np.float32)
    rows = ProductRows(codes, centroids, 4, 2, np.zeros(3, np.uint8), np.zeros(256, np.float32))
    save(WordVectors(["a", "b", "c"], rows), tmp_path / "good")
    for name, change in {
        "codes": lambda array: array.astype(np.bool_),
        "centroids": lambda array: array[:-1],
        "norm_codes": lambda array: array[:, None],
        "norm_centroids": lambda array: array[:1],
    }.items():
        shutil.copytree(tmp_path / "good", tmp_path / name)
        edit_arrays(tmp_path / name, **{name: change})
        with pytest.raises(FormatError, match="do not fit together"):
            load(tmp_path / name)


def test_a_kind_that_is_no_text_is_refused(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "kind": []}))
    with pytest.raises(FormatError, match="but only these are known"):
        load(folder)


def test_a_packed_word_list_needs_no_more_memory_than_its_words(tmp_path: Path) -> None:
    save(WordVectors(["tea"], np.ones((1, 2), np.float32)), tmp_path / "model", precision="int8")
    tracemalloc.start()
    load(tmp_path / "model")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50 << 20  # once a gibibyte was reserved


@pytest.mark.parametrize("name", ["x" * 100_000, "a\0b", "\ud800", "..", "", "icu", 3, None, ["a"]])
def test_any_name_of_a_segmenter_can_stand_in_a_model(name: object, tmp_path: Path) -> None:
    metadata = {"tokenizer": {"segment": name}}
    (tmp_path / "icu").mkdir()
    (tmp_path / "icu" / "config.json").write_text("{}")
    locate_segmenter(metadata, tmp_path / "model")
    assert metadata == {"tokenizer": {"segment": name}}
    locate_segmenter({"tokenizer": name}, tmp_path / "model")
    locate_segmenter(name, tmp_path / "model")
