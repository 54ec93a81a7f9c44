"""Tags of documents as arrays."""

from __future__ import annotations

import pytest

from firth.errors import OptionError
from firth.models.document_tags import DocumentTags


def test_tags_are_numbered_in_order_of_appearance_and_counted_once_a_document():
    tags = DocumentTags.of([["b", "a", "b"], "c", ("a",)], 3)
    assert tags.vocabulary.words == ("b", "a", "c")
    assert list(tags.vocabulary.counts) == [1, 2, 1]
    assert [tags.ids[i:j].tolist() for i, j in zip(tags.starts, tags.starts[1:])] == [[0, 1], [2], [1]]
    assert (tags.fewest, tags.most) == (1, 2)


def test_other_tags_have_another_fingerprint():
    same, moved = DocumentTags.of(["a", ["b", "c"]], 2), DocumentTags.of([["a", "b"], "c"], 2)
    assert DocumentTags.of(["a", ("b", "c")], 2).fingerprint == same.fingerprint != moved.fingerprint


@pytest.mark.parametrize(
    "tags, message",
    [
        (["a"], "there are tags for 1 documents, but the text has 2"),
        (["a", []], "document 1 has no tag"),
        (["a", ["b", ""]], "document 1 has an empty tag"),
        (["a", [7]], "the tags of document 1 is"),
    ],
)
def test_tags_that_do_not_fit_are_errors(tags, message):
    with pytest.raises(OptionError, match=message):
        DocumentTags.of(tags, 2)
