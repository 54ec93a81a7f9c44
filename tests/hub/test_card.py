"""Cards for the hub: metadata that the hub's own parser reads, for every kind of model."""

from __future__ import annotations

from typing import Any

import pytest

import firth
from firth.errors import OptionError
from firth.hub.card import hub_card
from firth.vectors.words import WordVectors

TEA = WordVectors(["tea"], [[1.0]])


def parse(page: str) -> dict[str, Any]:
    cards = pytest.importorskip("huggingface_hub", reason="needs pip install 'firth[hub]'")
    values: dict[str, Any] = cards.ModelCard(page).data.to_dict()
    return values


@pytest.mark.parametrize(
    "name,pipeline,tag",
    [
        ("word2vec-en", "feature-extraction", "word2vec"),
        ("fasttext-fa", "feature-extraction", "fasttext"),
        ("elmo-en", "feature-extraction", "elmo"),
        ("task-ner", "token-classification", "ner"),
        ("task-srl", None, "srl"),
    ],
)
def test_the_card_of_a_shipped_model_is_read_by_the_hub(name: str, pipeline: str | None, tag: str) -> None:
    pytest.importorskip("torch")
    page = hub_card(firth.load(name), f"ada/{name}", license="cc-by-sa-4.0", language="en")
    metadata = parse(page)
    assert metadata["library_name"] == "firth"
    assert metadata["license"] == "cc-by-sa-4.0"
    assert metadata["language"] == ["en"]
    assert metadata.get("pipeline_tag") == pipeline
    assert {"firth", "word-representations", tag} <= set(metadata["tags"])
    assert f'firth.from_pretrained("ada/{name}")' in page


def test_the_languages_no_and_on_stay_texts() -> None:
    assert parse(hub_card(TEA, "ada/tea", language=["no", "fa", "pt-BR"]))["language"] == ["no", "fa", "pt-BR"]


def test_a_licence_that_the_hub_does_not_know_keeps_its_name() -> None:
    metadata = parse(hub_card(TEA, "ada/tea", license="Tea House Terms"))
    assert (metadata["license"], metadata["license_name"]) == ("other", "tea-house-terms")
    assert "license" not in parse(hub_card(TEA, "ada/tea"))


def test_a_text_of_ones_own_replaces_the_body_and_keeps_the_metadata() -> None:
    page = hub_card(TEA, "ada/tea", text="---\nlicense: evil\n---\n\n# My tea\n", tags=["چای"])
    assert page.endswith("---\n\n# My tea\n")
    assert "evil" not in page
    assert "چای" in parse(page)["tags"]


def test_the_scores_of_a_model_are_in_its_card() -> None:
    page = hub_card(firth.load("word2vec-en"), "ada/w")
    assert "| wordsim353 | spearman | 0.6964 | 347 of 353 |" in page


@pytest.mark.parametrize("wrong", [{"language": "English"}, {"tags": ["a\nb: c"]}, {"language": "e\nn"}])
def test_values_that_would_break_the_metadata_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        hub_card(TEA, "ada/tea", **wrong)


def test_a_licence_cannot_add_lines() -> None:
    assert parse(hub_card(TEA, "ada/tea", license="mit\nlibrary_name: evil"))["library_name"] == "firth"
