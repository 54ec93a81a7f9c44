"""Every recipe has its name, survives a round trip, and explains its options in sentences."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from firth.models.recipes import RECIPES


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_survives_json(name):
    recipe = RECIPES[name]()
    assert type(recipe).from_dict(json.loads(json.dumps(recipe.as_dict()))) == recipe


@pytest.mark.parametrize("name", ["word2vec", "fasttext", "glove", "classifier", "elmo"])
def test_help_texts_are_sentences(name):
    for field in fields(RECIPES[name]):
        text = field.metadata["help"]
        assert text[0].isupper(), field.name
        assert text.endswith("."), field.name
