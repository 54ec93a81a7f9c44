from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from firth.server import schemas

REQUESTS = [
    one
    for one in vars(schemas).values()
    if isinstance(one, type) and issubclass(one, BaseModel) and "Request" in one.__name__
]


@pytest.mark.parametrize("request_type", REQUESTS, ids=lambda one: one.__name__)
def test_the_example_of_every_request_is_valid(request_type: type[BaseModel]) -> None:
    extra: Any = request_type.model_config["json_schema_extra"]
    request_type.model_validate(extra["example"])


@pytest.mark.parametrize("request_type", REQUESTS, ids=lambda one: one.__name__)
def test_only_the_request_of_openai_ignores_unknown_fields(request_type: type[BaseModel]) -> None:
    extra: Any = request_type.model_config["json_schema_extra"]
    body = extra["example"] | {"no_such_field": 1}
    if request_type is schemas.OpenAiRequest:
        request_type.model_validate(body)
    else:
        with pytest.raises(ValidationError, match="no_such_field"):
            request_type.model_validate(body)


def test_weights_are_numbers() -> None:
    with pytest.raises(ValidationError):
        schemas.MixWeights(weights=[float("nan")])
