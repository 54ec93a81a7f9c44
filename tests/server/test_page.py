from __future__ import annotations

from firth.server.page import describe_api


def test_texts_of_the_description_are_escaped_and_references_followed() -> None:
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tea"}}}}
    fields = {"cup": {"type": "array", "items": {"type": "string"}, "description": "a <b>cup</b>"}}
    openapi = {
        "info": {"title": "<firth>", "version": "1"},
        "paths": {"/tea/{name}": {"post": {"requestBody": body, "parameters": [{"name": "name", "in": "path"}]}}},
        "components": {"schemas": {"Tea": {"properties": fields, "required": ["cup"], "example": {"cup": ["a&b"]}}}},
    }
    page = describe_api(openapi)
    assert "&lt;firth&gt;" in page
    assert "a &lt;b&gt;cup&lt;/b&gt;" in page
    assert "list of string" in page
    assert "a&amp;b" in page
    assert '<input data-name="name">' in page
    assert 'data-path="./tea/{name}"' in page  # also "./" is an address, not this page
