from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from firth.server import schemas
from firth.server.body_errors import explain


@pytest.mark.parametrize(
    ("body_type", "body", "problem", "place"),
    [
        (schemas.EmbedRequest, [], "the body is a list, but must be an object", None),
        (schemas.EmbedRequest, {}, "the field 'inputs' is missing", "inputs"),
        (schemas.EmbedRequest, {"input": "tea"}, "there is no field 'input'. Did you mean 'inputs'?", "input"),
        (schemas.EmbedRequest, {"inputs": 5}, "inputs is 5, but must be a text or a list", "inputs"),
        (schemas.EmbedRequest, {"inputs": ["a", 5]}, "inputs.1 is 5, but must be a text", "inputs.1"),
        (schemas.EmbedRequest, {"inputs": []}, "inputs has 0 items, but must have at least 1", "inputs"),
        (schemas.EmbedRequest, {"inputs": "a", "layers": 99}, "layers is 99, but must be at most 64", "layers"),
        (
            schemas.EmbedRequest,
            {"inputs": "a", "pooling": "sum"},
            "pooling is \"sum\", but must be 'mean', 'max', 'sif' or 'none'",
            "pooling",
        ),
        (
            schemas.EmbedRequest,
            {"inputs": "a", "mix": {"weights": [1, float("inf")]}},
            "mix.weights.1 is Infinity, but must be a finite number",
            "mix.weights.1",
        ),
        (schemas.EmbedRequest, {"inputs": "a", "mix": {"gama": 1}}, "there is no field 'mix.gama'", "mix.gama"),
        (schemas.EmbedRequest, {"inputs": "a", "prompt_name": {}}, "prompt_name is an object, but must be null", None),
        (schemas.PredictRequest, {"inputs": "a", "raw_scores": True}, "raw_scores is true, but must be false", None),
        (schemas.NeighborsRequest, {"words": ["a"], "top": 1.5}, "top is 1.5, but must be a whole number", "top"),
        (
            schemas.NeighborsRequest,
            {"words": ["a" * 1001]},
            "words.0 has 1,001 characters, but must have at most",
            None,
        ),
        (schemas.OpenAiRequest, {"input": ["a", 5]}, "input: has token ids", "input"),
        (
            schemas.SimilarityRequest,
            {"inputs": {"sentences": []}},
            "the field 'inputs.source_sentence' is missing",
            None,
        ),
    ],
)
def test_an_error_names_field_value_and_what_it_must_be(
    body_type: type[BaseModel], body: Any, problem: str, place: str | None
) -> None:
    with pytest.raises(ValidationError) as raised:
        body_type.model_validate(body)
    message, found = explain(raised.value.errors(), body, body_type.model_fields)
    assert message.startswith(problem)
    assert found == place or place is None


def test_values_are_cut_and_a_body_that_only_one_parser_reads_is_explained() -> None:
    error = {"type": "string_type", "loc": ("model",), "input": 5}
    assert explain([{**error, "type": "int_type", "input": "tea" * 999}], {"model": "tea" * 999})[0].count("tea") < 30
    assert explain([error], None) == ("the body is 5, but must be a text", None)
    broken = {"type": "json_invalid", "loc": (), "ctx": {"error": "EOF at line 1"}}
    assert explain([broken], None) == ("the body is not valid JSON: EOF at line 1", None)
