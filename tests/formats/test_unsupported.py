"""Files that firth recognizes and does not open: the error says what to do."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from pathlib import Path

import pytest

from firth.errors import FormatError
from firth.formats.registry import load
from firth.formats.unsupported import refuse


def build_archive(name: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr(name, b"x")
    return made.getvalue()


@pytest.mark.parametrize(
    "content, problem",
    [
        (pickle.dumps({"gensim": 1}), "gensim model saved as a pickle"),
        (pickle.dumps([1]), "is a Python pickle"),
        (build_archive("archive/data.pkl"), "PyTorch"),
        (build_archive("vectors.npy"), "NumPy archive"),
        (build_archive("glove.txt"), "zip archive"),
        (b"\x93NUMPY\x01\x00", "NumPy array"),
        (b"\x89HDF\r\n\x1a\n123", "HDF5"),
        (b"FIRTHTOK" + bytes(60), "token file"),
        (b'{"a": 1}\n', "looks like JSON"),
        (b"<html>\n<body>\n", "markup"),
        (b"hello world\nthis is text\n", "it begins 'hello world'"),
        (bytes(range(256)), "unknown binary data"),
        (struct.pack("<Q", 40) + b'{"a":{"data_offsets":[0,1]}}' + b" " * 12 + b"x", "Open the folder"),
    ],
)
def test_other_files_are_refused_with_the_way_out(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(FormatError) as caught:
        load(tmp_path / "file")
    assert problem in str(caught.value)


def test_files_of_vectors_pass() -> None:
    for head in (b"tea 1 2\n", b"2747 10\nthe \xb9\xc8", b"\n\\data\\\n"):
        refuse("file", head)
