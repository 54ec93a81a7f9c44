"""`firth_elmo` in the real spaCy: the vectors of `embed` on spaCy's tokens."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("spacy", reason="needs spaCy: pip install 'firth[spacy]'")

from spacy.tokens import Doc, DocBin

import spacy
from firth.errors import OptionError
from firth.spacy import elmo
from firth.spacy.component import split_doc
from firth.spacy.elmo import add_extensions

TEXTS = ["Ann went to Rome. She saw Bob there.", "Nobody left.", "", "Bob and Ann met in  Oslo.\n\nRome is far."]


def pipeline(folder: Path, **config: Any) -> Any:
    nlp = spacy.blank("en")
    nlp.add_pipe(elmo.NAME, config={"model": str(folder), **config})
    return nlp


def expect(bilm: Any, doc: Doc, layers: Any = "mix") -> Any:
    """The vectors of the tokens by `embed`, sentence by sentence; white space is zero."""
    rows = np.zeros((len(doc), 32), np.float32)
    for tokens in split_doc(doc):
        rows[tokens] = bilm.embed([[doc[number].text for number in tokens]], layers=layers)[0]
    return rows


def test_tokens_have_the_vectors_of_embed(bilm: Any, bilm_folder: Path) -> None:
    nlp = pipeline(bilm_folder)
    for text in TEXTS:
        doc = nlp(text)
        assert np.allclose(doc._.elmo, expect(bilm, doc), atol=1e-6)
        assert np.array_equal(doc.tensor, doc._.elmo)
        assert all(np.array_equal(token._.elmo, doc._.elmo[token.i]) for token in doc)
    doc = nlp(TEXTS[3])
    blank = next(token for token in doc if token.is_space)
    assert not blank._.elmo.any()
    assert np.array_equal(doc[1:3]._.elmo, doc._.elmo[1:3])


def test_sentences_that_are_set_are_kept(bilm: Any, bilm_folder: Path) -> None:
    nlp = pipeline(bilm_folder)
    nlp.add_pipe("sentencizer", first=True, config={"punct_chars": ["Rome"]})
    doc = nlp("Ann went to Rome now.")
    assert len(list(doc.sents)) == 2
    alone = bilm.embed([["now", "."]])[0]
    assert np.allclose(doc._.elmo[4:], alone, atol=1e-6)


def test_a_stream_is_embedded_in_batches(bilm_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = pipeline(bilm_folder)
    one_by_one = [nlp(text).tensor for text in TEXTS]
    model, calls = nlp.get_pipe(elmo.NAME).firth_model, []
    embed = model.embed
    monkeypatch.setattr(
        type(model), "embed", lambda self, words, **more: calls.append(len(words)) or embed(words, **more)
    )
    found = [doc.tensor for doc in nlp.pipe(TEXTS * 2, batch_size=4)]
    assert calls == [5, 5]  # sentences
    assert all(np.allclose(first, second, atol=1e-6) for first, second in zip(found, one_by_one * 2, strict=True))


@pytest.mark.parametrize("layers", ["top", 0, "all"])
def test_layers_are_chosen_in_the_config(bilm: Any, bilm_folder: Path, layers: Any) -> None:
    doc = pipeline(bilm_folder, layers=layers)("Hot tea.")
    if layers == "all":
        assert doc._.elmo.shape == (3, 3, 32)
        assert doc[1]._.elmo.shape == (3, 32)
        assert np.allclose(doc.tensor, doc._.elmo.mean(axis=0))
        assert np.allclose(doc._.elmo[2], expect(bilm, doc, "top"), atol=1e-6)
    else:
        assert np.allclose(doc.tensor, expect(bilm, doc, layers), atol=1e-6)


def test_a_pipeline_on_disk_and_as_bytes_has_its_model(bilm_folder: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    bilm_folder.rename(moved)  # the path in the config is not there when the pipeline is read
    try:
        nlp = pipeline(moved, layers="top")
        expected = nlp(TEXTS[0]).tensor
        nlp.to_disk(tmp_path / "pipeline")
        nlp.to_disk(tmp_path / "pipeline")  # over the first one
        content = nlp.to_bytes()
    finally:
        moved.rename(bilm_folder)
    opened = spacy.load(tmp_path / "pipeline")
    assert opened.config["components"]["firth_elmo"]["layers"] == "top"
    assert np.array_equal(opened(TEXTS[0]).tensor, expected)
    again = pipeline(moved, layers="top")
    with pytest.raises(OptionError, match="'firth_elmo' has no model"):
        again(TEXTS[0])
    assert np.array_equal(again.from_bytes(content)(TEXTS[0]).tensor, expected)


def test_documents_keep_their_vectors_when_they_are_stored(bilm_folder: Path) -> None:
    nlp = pipeline(bilm_folder)
    doc = nlp(TEXTS[0])
    stored = DocBin(attrs=["ORTH"], store_user_data=True, docs=[doc]).to_bytes()
    [again] = DocBin().from_bytes(stored).get_docs(nlp.vocab)
    assert np.array_equal(again[2]._.elmo, doc[2]._.elmo)


PROCESSES = """
import json, multiprocessing, sys
import numpy as np
import spacy
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[4])
    nlp = spacy.blank("en")
    nlp.add_pipe("firth_elmo", config={"model": sys.argv[1]})
    docs = nlp.pipe(json.loads(sys.argv[2]), n_process=2, batch_size=2)
    np.savez(sys.argv[3], *(doc.tensor for doc in docs))
"""


@pytest.mark.parametrize("start", ["fork", "spawn"])  # spawn on Windows and macOS; Python 3.14 forks nowhere by default
def test_several_processes_give_the_same(start: str, bilm_folder: Path, tmp_path: Path) -> None:
    """In a process of its own: spaCy forks it, and children of one in which Ray has run crash in Ray."""
    nlp = pipeline(bilm_folder)
    expected = [nlp(text).tensor for text in TEXTS * 3]
    script = tmp_path / "processes.py"
    script.write_text(PROCESSES)
    arguments = [str(bilm_folder), json.dumps(TEXTS * 3), str(tmp_path / "found.npz"), start]
    subprocess.run([sys.executable, script, *arguments], check=True)
    found = list(np.load(tmp_path / "found.npz").values())
    assert all(np.allclose(first, second, atol=1e-6) for first, second in zip(found, expected, strict=True))


def test_attributes_of_others_and_other_models_are_refused(bilm_folder: Path, ner_folder: Path) -> None:
    spacy.tokens.Token.set_extension("taken", default=1, force=True)
    with pytest.raises(OptionError, match="belongs to another extension"):
        add_extensions("taken")
    doc = pipeline(bilm_folder, attribute="second")("tea")
    assert doc[0]._.second.shape == (32,)
    with pytest.raises(OptionError, match="holds a TaskModel, but firth_elmo needs a biLM"):
        pipeline(ner_folder)("tea")
    assert spacy.blank("en")("tea")[0]._.elmo is None
