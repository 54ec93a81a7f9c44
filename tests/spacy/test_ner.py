"""`firth_ner` in the real spaCy: entities on spaCy's tokens, as the model answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("spacy", reason="needs spaCy: pip install 'firth[spacy]'")


import firth
import spacy
from firth.errors import OptionError
from firth.spacy import ner
from firth.spacy.component import split_doc

TEXTS = [
    "Mary Smith went to Rome. She saw John in Paris.",
    "Nobody left.",
    "",
    "John and Mary met in  Oslo.\n\nRome is far away.",
]


def pipeline(folder: Path | str, **config: Any) -> Any:
    assert ner.make_ner.__name__ == "make_ner"  # registered by the import
    nlp = spacy.blank("en")
    nlp.add_pipe("firth_ner", config={"model": str(folder), **config})
    return nlp


def entities(doc: Any) -> list[tuple[str, str]]:
    return [(entity.text, entity.label_) for entity in doc.ents]


def test_entities_are_those_of_the_model(ner_folder: Path) -> None:
    nlp, model = pipeline(ner_folder), firth.open_task(ner_folder)
    assert entities(nlp(TEXTS[0])) == [("Mary Smith", "PER"), ("Rome", "LOC"), ("John", "PER"), ("Paris", "LOC")]
    for text in TEXTS:
        doc = nlp(text)
        words = [[doc[number].text for number in tokens] for tokens in split_doc(doc)]
        found = [entity for answer in model.ask(*words) for entity in answer["entities"]] if words else []
        assert entities(doc) == [(entity["text"], entity["label"]) for entity in found]
        scores = doc.spans["firth_ner"].attrs["scores"].tolist()
        assert scores == pytest.approx([entity["probability"] for entity in found], abs=1e-5)
    assert nlp.pipe_labels == {"firth_ner": ["LOC", "MISC", "ORG", "PER"]}
    assert nlp.analyze_pipes()["problems"] == {"firth_ner": []}


def test_names_of_several_tokens_are_one_entity() -> None:
    doc = pipeline("ner")(TEXTS[0])
    assert [token.ent_iob_ for token in doc[:6]] == ["B", "I", "O", "O", "B", "O"]
    assert [sentence.start for sentence in doc.spans["firth_ner"]] == [0, 4, 8, 10]


def test_a_stream_gives_what_single_documents_give(ner_folder: Path) -> None:
    nlp = pipeline(ner_folder)
    expected = [entities(nlp(text)) for text in TEXTS * 2]
    assert [entities(doc) for doc in nlp.pipe(TEXTS * 2, batch_size=3)] == expected


def test_a_pipeline_on_disk_has_the_model_and_its_sources(ner_folder: Path, tmp_path: Path) -> None:
    nlp = pipeline(ner_folder)
    expected = [entities(nlp(text)) for text in TEXTS]
    nlp.to_disk(tmp_path / "pipeline")
    content = nlp.to_bytes()
    hidden = ner_folder.parent.with_name("hidden")
    ner_folder.parent.rename(hidden)
    try:
        opened = spacy.load(tmp_path / "pipeline")
        assert [entities(opened(text)) for text in TEXTS] == expected
        again = pipeline(ner_folder).from_bytes(content)
        assert [entities(again(text)) for text in TEXTS] == expected
    finally:
        hidden.rename(ner_folder.parent)


def test_a_folder_may_have_a_plus_in_its_name_and_no_other_models(ner_folder: Path, tmp_path: Path) -> None:
    nlp = pipeline(ner_folder)
    nlp.to_disk(tmp_path / "one+two")
    assert entities(spacy.load(tmp_path / "one+two")(TEXTS[0])) == entities(nlp(TEXTS[0]))
    sources = tmp_path / "one+two" / "firth_ner" / ner.SOURCES
    (sources / "notes").mkdir()  # not ours
    spacy.load(tmp_path / "one+two")
    firth.save(firth.Phrases().fit(["strong tea"] * 9), sources / "2")
    with pytest.raises(OptionError, match="is neither word vectors nor the only biLM"):
        spacy.load(tmp_path / "one+two")


def test_entities_of_others_are_kept_where_they_are_not_overwritten(ner_folder: Path) -> None:
    patterns = [{"label": "CITY", "pattern": "Rome"}, {"label": "VERB", "pattern": "went"}]
    for overwrite, expected in (
        (True, [("Mary Smith", "PER"), ("Rome", "LOC")]),
        (False, [("Mary Smith", "PER"), ("went", "VERB"), ("Rome", "CITY")]),
    ):
        nlp = pipeline(ner_folder, overwrite=overwrite)
        nlp.add_pipe("entity_ruler", first=True).add_patterns(patterns)
        assert entities(nlp("Mary Smith went to Rome")) == expected


def test_a_threshold_leaves_out_what_is_unsure(ner_folder: Path) -> None:
    assert pipeline(ner_folder, threshold=1.1)(TEXTS[0]).ents == ()
    low = pipeline(ner_folder, threshold=0.0, spans_key="mine")(TEXTS[0])
    assert len(low.spans["mine"]) == len(low.ents) == 4


def test_a_model_of_another_task_is_refused() -> None:
    with pytest.raises(OptionError, match="holds a model of sentiment, but firth_ner needs one of ner"):
        pipeline("sentiment")("tea")
