"""Models whose arrays are in several files of a limited size."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from firth.array_names import MOST, array_files
from firth.errors import FormatError, OptionError
from firth.formats.array_files import HEADER_BYTES, divide_arrays
from firth.formats.registry import load, save
from firth.serialization import Artifact
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary
from firth.vectors.subwords import SubwordVectors


@pytest.fixture
def vectors() -> SubwordVectors:
    rows = np.arange(60_000, dtype=np.float32).reshape(-1, 10)
    return SubwordVectors(Vocabulary(["tea", "cup"]), rows, Subwords(2, 3, 5998))


def largest(model: Artifact) -> int:
    """The size of a file that the largest array of a model fits into."""
    return HEADER_BYTES + max(array.nbytes for array in model.to_parts().arrays.values())


def test_a_model_comes_back_from_several_files_of_a_limited_size(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from firth.neural.architecture import Architecture
    from firth.neural.bilm import BiLM

    bilm = BiLM(Architecture.named("tiny"), seed=1)
    limit = largest(bilm)
    save(bilm, tmp_path / "whole")
    save(bilm, tmp_path / "parts", file_bytes=limit)
    files = sorted((tmp_path / "parts").glob("*.safetensors"))
    assert len(files) > 1
    assert [file.name for file in files] == array_files({"files": len(files)})
    assert max(file.stat().st_size for file in files) <= limit
    one, other = (load(tmp_path / name).embed(["A cup of tea ."]) for name in ("whole", "parts"))
    assert np.array_equal(one[0], other[0])
    save(load(tmp_path / "parts"), tmp_path / "parts")  # over itself, in one file
    assert [file.name for file in (tmp_path / "parts").glob("*.safetensors")] == ["model.safetensors"]


def test_an_array_is_not_divided(vectors: SubwordVectors, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"needs a file of .* not 1,000\. Allow larger files"):
        save(vectors, tmp_path / "model", file_bytes=1000)
    assert not (tmp_path / "model").exists()


def test_other_formats_have_one_file(vectors: SubwordVectors, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="only firth's own format, a folder, can be divided"):
        save(vectors, tmp_path / "model.vec", file_bytes=10**6)


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2", None, MOST + 1])
def test_a_number_of_files_that_is_wrong_is_refused(count: object, tmp_path: Path, vectors: SubwordVectors) -> None:
    with pytest.raises(OptionError, match="number of files"):
        array_files({"files": count})
    save(vectors, tmp_path / "model")
    config = tmp_path / "model" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"files": count}))
    with pytest.raises(FormatError, match=r"config\.json.*number of files"):
        load(tmp_path / "model")


def test_a_missing_file_and_an_array_in_two_files_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from firth.neural.architecture import Architecture
    from firth.neural.bilm import BiLM

    bilm = BiLM(Architecture.named("tiny"), seed=1)
    save(bilm, tmp_path / "model", file_bytes=largest(bilm))
    first, second = sorted((tmp_path / "model").glob("*.safetensors"))[:2]
    whole = second.read_bytes()
    second.write_bytes(first.read_bytes())
    with pytest.raises(FormatError, match="is in another file already"):
        load(tmp_path / "model")
    second.unlink()
    with pytest.raises(FormatError, match="is missing from the folder"):
        load(tmp_path / "model")
    second.write_bytes(whole)
    assert load(tmp_path / "model")


def test_a_model_of_too_many_files_is_refused() -> None:
    arrays = {str(number): np.zeros(1, np.int8) for number in range(MOST + 1)}
    with pytest.raises(OptionError, match="more than 1,000"):
        divide_arrays(arrays, 600)
