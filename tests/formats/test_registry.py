"""Which file is what: by content, never by name; and what to say of files that are none of ours."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from firth.errors import FormatError, OptionError
from firth.formats.registry import FORMATS, detect, load, save
from firth.text.subwords import Subwords
from firth.vectors.rows import ProductRows
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

PLAIN = WordVectors(["tea", "rain"], np.array([[1, 2.5], [3, 4]], np.float32))
ARPA = rb"""
\data\
ngram 1=3

\1-grams:
-0.5 <s>
-0.5 tea
-0.5 </s>

\end\
"""


@pytest.mark.parametrize("format", ["native", "word2vec", "word2vec-binary", "glove", "vec", "fasttext"])
def test_a_misleading_name_misleads_nobody(tmp_path: Path, format: str) -> None:
    save(PLAIN, tmp_path / "model.jpg", format=format)
    assert detect(tmp_path / "model.jpg") == format
    assert load(tmp_path / "model.jpg").matrix.tolist() == PLAIN.matrix.tolist()


@pytest.mark.parametrize(
    "name, format",
    [
        ("a.txt", "word2vec"),
        ("a.txt.gz", "word2vec"),
        ("glove.a.txt", "glove"),
        ("a.vec.zst", "vec"),
        ("a.bin", "word2vec-binary"),
        ("a", "native"),
    ],
)
def test_the_name_says_what_to_write(tmp_path: Path, name: str, format: str) -> None:
    save(PLAIN, tmp_path / name)
    assert detect(tmp_path / name) == format


def test_subword_vectors_called_bin_are_a_fasttext_model(tmp_path: Path) -> None:
    save(SubwordVectors(["tea"], np.ones((11, 2), np.float32), Subwords(3, 3, 10)), tmp_path / "a.bin")
    assert detect(tmp_path / "a.bin") == "fasttext"


def test_quantized_rows_can_be_written_as_ftz_and_as_text(tmp_path: Path) -> None:
    rows = ProductRows(np.zeros((1, 1), np.uint8), np.ones(512, np.float32), 2, 2)
    made = SubwordVectors(["tea"], rows, Subwords(0, 0, 0))
    save(made, tmp_path / "a.ftz")
    assert load(tmp_path / "a.ftz").rows.dtype_name == rows.dtype_name
    save(made, tmp_path / "a.vec")
    assert load(tmp_path / "a.vec")["tea"].tolist() == [1, 1]


def test_an_arpa_file_is_known_by_its_first_section(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(ARPA)
    assert detect(tmp_path / "model") == "arpa"
    assert load(tmp_path / "model").order == 1
    with pytest.raises(OptionError, match="limit"):
        load(tmp_path / "model", limit=3)


def archive(name: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr(name, b"x")
    return made.getvalue()


@pytest.mark.parametrize(
    "content, problem",
    [
        (pickle.dumps({"gensim": 1}), "gensim model saved as a pickle"),
        (pickle.dumps([1]), "is a Python pickle"),
        (archive("archive/data.pkl"), "PyTorch"),
        (archive("vectors.npy"), "NumPy archive"),
        (archive("glove.txt"), "zip archive"),
        (b"\x93NUMPY\x01\x00", "NumPy array"),
        (b"\x89HDF\r\n\x1a\n123", "HDF5"),
        (b"FIRTHTOK" + bytes(60), "token file"),
        (b'{"a": 1}\n', "looks like JSON"),
        (b"<html>\n<body>\n", "markup"),
        (struct.pack("<Q", 40) + b'{"a":{"data_offsets":[0,1]}}' + b" " * 12 + b"x", "Open the folder"),
    ],
)
def test_other_files_are_refused_with_the_way_out(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(FormatError) as caught:
        load(tmp_path / "file")
    assert problem in str(caught.value)


def test_places_that_hold_no_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no such file"):
        load(tmp_path / "absent")
    with pytest.raises(OptionError, match="no such file"):
        load(tmp_path / "absent", format="glove")
    with pytest.raises(FormatError, match=r"no config\.json"):
        load(tmp_path)


def test_options_that_cannot_be_are_refused(tmp_path: Path) -> None:
    save(PLAIN, tmp_path / "a.txt")
    for wrong in ({"limit": 0}, {"format": "poem"}, {"vocabulary": tmp_path / "absent"}):
        with pytest.raises(OptionError):
            load(tmp_path / "a.txt", **wrong)
    with pytest.raises(OptionError, match=r"the ending \.poem"):
        save(PLAIN, tmp_path / "a.poem")
    with pytest.raises(OptionError, match="cannot be written as arpa"):
        save(PLAIN, tmp_path / "a.arpa")
    with pytest.raises(OptionError, match="no format is called"):
        save(PLAIN, tmp_path / "a", format="poem")


def test_the_wrong_format_said_by_name_is_an_error_and_no_crash(tmp_path: Path) -> None:
    save(WordVectors(["tea", "rain"], np.full((2, 9), 0.125)), tmp_path / "a.txt")
    for format in ("word2vec-binary", "fasttext", "ftz", "native"):
        with pytest.raises(FormatError):
            load(tmp_path / "a.txt", format=format)


def test_every_golden_file_is_known_or_refused_with_a_reason(data: Path) -> None:
    kinds = {}
    for path in sorted((data / "fixtures" / "vectors").iterdir()):
        try:
            kinds[path.name] = detect(path)
        except FormatError:
            kinds[path.name] = "refused"
    assert kinds.pop("fb-ngrams.txt") in FORMATS  # lines of n-grams and numbers, told apart only when they are read
    assert {name: kind for name, kind in kinds.items() if kind == "refused"} == {
        "crime-and-punishment.txt": "refused",
        "toy-data.txt": "refused",
    }
