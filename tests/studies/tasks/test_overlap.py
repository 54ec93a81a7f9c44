"""Test sentences in the text of a biLM."""

import json

import pytest

pytest.importorskip("torch")
from firth.errors import FormatError
from firth.studies.tasks.overlap import count_overlap, hash_sentence, hash_test_part, read_overlap


def test_sentences_are_found_whatever_their_case_and_punctuation(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("We drank tea in the rain .\nNo one came at all .\n")
    tests = {
        "one": {hash_sentence("we drank Tea, in the rain"), hash_sentence("We drank tea in the snow")},
        "none": {hash_sentence("drank tea in the rain")},
    }
    found = count_overlap(tests, [text])
    assert found == {"one": {"sentences": 2, "found": 1}, "none": {"sentences": 1, "found": 0}}


def test_persian_sentences_are_found_whatever_their_letters(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("علي كتاب را در سال 1399 خواند .\n", encoding="utf-8")
    tests = {"one": {hash_sentence("علی کتاب را در سال ۱۳۹۹ خواند.", persian=True)}}
    assert count_overlap(tests, [text], persian=True)["one"]["found"] == 1
    assert count_overlap(tests, [text])["one"]["found"] == 0


def test_the_sentences_of_a_test_part_are_hashed(data):
    assert len(hash_test_part("sentiment")) > 2000


def test_percentages_are_read(tmp_path):
    path = tmp_path / "overlap.json"
    path.write_text(json.dumps({"sets": {"srl": {"sentences": 200, "found": 3}}}))
    assert read_overlap(path) == {"srl": 1.5}
    path.write_text("[]")
    with pytest.raises(FormatError, match=r"scripts/overlap\.py"):
        read_overlap(path)
