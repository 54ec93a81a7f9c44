"""Scripts of words, and warnings of text in another one."""

from __future__ import annotations

import pytest

from firth.formats.registry import load
from firth.tasks.scripts import common_scripts, find_script, warn_of_script


@pytest.mark.parametrize(
    ("word", "script"),
    [("'tis", "LATIN"), ("Élan", "LATIN"), ("می‌کند", "ARABIC"), ("Ωμέγα", "GREEK"), ("...", None), ("", None)],
)
def test_the_script_of_a_word_is_that_of_its_first_letter(word: str, script: str | None) -> None:
    assert find_script(word) == script


@pytest.mark.parametrize(("name", "script"), [("glove-en", "LATIN"), ("fasttext-fa", "ARABIC")])
def test_shipped_vectors_have_one_script(name: str, script: str) -> None:
    assert common_scripts(load(name).vocabulary[:1000]) == {script}


def test_half_of_the_words_or_signs_and_numbers_give_no_warning() -> None:
    assert warn_of_script(["tea", "چای"], {"LATIN"}) is None
    assert warn_of_script(["42", "!", "😀"], {"LATIN"}) is None
    assert warn_of_script([], {"LATIN"}) is None
    assert warn_of_script(["tea", "چای", "چای"], {"LATIN"}) is not None


def test_without_a_known_script_there_is_no_warning() -> None:
    assert warn_of_script(["چای"], ()) is None
