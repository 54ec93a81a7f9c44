"""What the components share: batches, errors, sentences and files."""

from __future__ import annotations

import gc
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("spacy", reason="needs spaCy: pip install 'firth[spacy]'")

import numpy as np
import srsly
from spacy.tokens import Doc

import spacy
from firth.errors import OptionError
from firth.spacy.component import FirthComponent, split_doc
from firth.spacy.elmo import NAME


class Failing(FirthComponent):
    """Fails at documents with the word "bad", and notes the sizes of its batches."""

    def __init__(self) -> None:
        super().__init__("failing", "none")
        self.batches: list[int] = []

    def annotate(self, docs: Any) -> None:
        self.batches.append(len(docs))
        for doc in docs:
            if "bad" in doc.text:
                raise ValueError(doc.text)


def test_a_document_that_fails_does_not_take_its_batch_with_it() -> None:
    nlp, component, failed = spacy.blank("en"), Failing(), []
    docs = [nlp(text) for text in ("one", "bad", "three", "four", "five")]
    with pytest.raises(ValueError, match="bad"):
        list(component.pipe(docs, batch_size=3))
    component.set_error_handler(lambda name, proc, those, error: failed.extend((name, doc.text) for doc in those))
    assert component.get_error_handler() is component.error_handler
    component.batches.clear()
    assert [doc.text for doc in component.pipe(docs, batch_size=3)] == ["one", "three", "four", "five"]
    assert failed == [("failing", "bad")]
    assert component.batches == [3, 1, 1, 1, 2]


def test_sentences_are_those_of_the_document_or_of_firth() -> None:
    nlp = spacy.blank("en")
    text = "Dr. Ann left.  She said: no.\n\nBye."
    assert [[token.text for token in map(nlp(text).__getitem__, part)] for part in split_doc(nlp(text))] == [
        ["Dr.", "Ann", "left", "."],
        ["She", "said", ":", "no", "."],
        ["Bye", "."],
    ]
    doc = nlp(text)
    for token in doc:
        token.is_sent_start = token.i == 0
    assert split_doc(doc) == [[token.i for token in doc if not token.is_space]]
    assert split_doc(nlp("")) == []
    assert split_doc(nlp(" \n ")) == []
    words = Doc(nlp.vocab, words=["New York", "is", "big"], spaces=[True, True, False])
    assert split_doc(words) == [[0, 1, 2]]


def test_bytes_cannot_write_outside_of_their_folder(tmp_path: Path) -> None:
    for name in ("../stolen", str(tmp_path / "stolen"), "a/../../stolen"):
        with pytest.raises(OptionError, match="outside its folder"):
            Failing().from_bytes(srsly.msgpack_dumps({name: b"x"}))
    with pytest.raises(OptionError, match="damaged"):
        Failing().from_bytes(b"\xc1")
    with pytest.raises(OptionError, match="damaged"):
        Failing().from_bytes(srsly.msgpack_dumps([1]))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "files",
    [
        {"model\0": b"x"},
        {"": b"x"},
        {"x" * 300: b"x"},
        {"model": b"x", "model/vocab": b"x"},
        {"model": "text"},
        {"model": np.zeros(2)},
        {7: b"x"},
        "text",
    ],
)
def test_bytes_that_are_no_files_are_errors_and_leave_nothing(files: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(OptionError, match="the bytes of the component 'failing'"):
        Failing().from_bytes(srsly.msgpack_dumps(files))
    assert not list(tmp_path.iterdir())


def test_damaged_bytes_neither_stop_the_garbage_collector_nor_make_arrays() -> None:
    array = srsly.msgpack_dumps({b"nd": True, b"type": "(99,99,9)f8", b"kind": b"", b"shape": [1], b"data": b"x"})
    for data in (b"\xc1", b"", b"\x91" * 5000, b"\x81\x90\xc0", array):
        with pytest.raises(OptionError, match=r"damaged|outside its folder"):
            Failing().from_bytes(data)
    assert gc.isenabled()


def test_a_model_that_is_not_there_is_named_with_its_component() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME, name="context", config={"model": "elmo-em"})
    with pytest.raises(OptionError, match=r"the component 'context' has no model: elmo-em.*Did you mean 'elmo-en'"):
        nlp("tea")


def test_a_component_in_a_pipeline_opens_no_model_before_it_is_used() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME, name="context", config={"model": "elmo-em"})
    component = nlp.get_pipe("context")
    assert not hasattr(component, "model")  # of spaCy's protocols: asking for it must not open anything
    assert component.opened is None


def test_components_are_found_without_an_import() -> None:
    if "firth_elmo" not in {one.name for one in entry_points(group="spacy_factories")}:
        pytest.skip("the installed package has no entry points for spaCy: install it again")
    code = (
        "import spacy; nlp = spacy.blank('en')\n"
        "for name in ('firth_elmo', 'firth_ner', 'firth_vectors'): nlp.add_pipe(name)\n"
        "assert nlp.pipe_names == ['firth_elmo', 'firth_ner', 'firth_vectors']"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_spacy_that_is_not_installed_is_an_extra() -> None:
    code = (
        "import sys; sys.modules['spacy'] = None\n"
        "try:\n    import firth.spacy.elmo\n"
        "except ImportError as error: assert \"pip install 'firth[spacy]'\" in str(error), error\n"
        "else: raise SystemExit(1)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
