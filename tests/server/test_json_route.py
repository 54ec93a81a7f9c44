from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError
from tests.server.running import RunningServer

from firth.server import schemas
from firth.server.json_route import dump, dump_list, read_body

EMBED: TypeAdapter[Any] = TypeAdapter(schemas.EmbedRequest)


def test_float32_numbers_are_written_so_that_they_come_back() -> None:
    numbers = np.random.default_rng(1).standard_normal((3, 50)).astype(np.float32)
    assert np.array_equal(np.array(json.loads(dump(numbers)), np.float32), numbers)
    assert json.loads(dump_list(list(numbers))) == json.loads(dump(numbers))


def test_lone_surrogates_are_read_though_the_fast_parser_refuses_them() -> None:
    content = b'{"inputs": "tea \\ud800"}'
    with pytest.raises(ValidationError):
        EMBED.validate_json(content)
    assert read_body(EMBED, content).inputs == "tea \ud800"


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100_000, b'{"inputs": "\xff"}', b"null", b'{"inputs": NaN}'])
def test_what_is_no_body_is_a_validation_error(content: bytes) -> None:
    with pytest.raises(ValidationError):
        read_body(EMBED, content)


def test_a_body_is_json_whatever_its_content_type_says(server: RunningServer) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded"}  # what curl -d sends
    assert server.client.post("/embed", content=b'{"inputs": "tea"}', headers=headers).status_code == 200


def test_the_path_of_an_address_reaches_its_function(server: RunningServer) -> None:
    answer = server.post("/predict/no%2Dsuch", {"inputs": "tea"})
    assert answer.status_code == 404
    assert "'no-such'" in answer.json()["error"]["message"]
