"""The methods of word vectors that convert them: thin, lazy, with an error that names what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

import firth
from firth.vectors.words import WordVectors

TEA = WordVectors(["tea"], [[1.0]])


def test_word_vectors_import_none_of_the_other_packages() -> None:
    code = (
        "import sys, firth; firth.load('svd-en').to_frame; "
        "loaded = {'gensim', 'pyarrow', 'pandas', 'polars', 'faiss', 'huggingface_hub', 'firth.exchange.frames'};"
        "assert not loaded & set(sys.modules), loaded & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "module,call,line",
    [
        ("pyarrow", lambda: TEA.to_frame(), r"pip install 'firth\[arrow\]'"),
        ("faiss", lambda: TEA.to_faiss(), r"pip install 'firth\[ann\]'"),
        ("gensim", lambda: TEA.to_gensim(), "pip install gensim"),
        ("hnswlib", lambda: TEA.to_hnswlib(), "pip install hnswlib"),
        ("polars", lambda: TEA.to_frame("polars"), "pip install polars"),
    ],
)
def test_a_missing_package_is_an_error_with_the_line_that_installs_it(
    module: str, call: object, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if module == "polars":
        pytest.importorskip("pyarrow")
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(firth.FirthError, match=line):
        call()  # type: ignore[operator]
